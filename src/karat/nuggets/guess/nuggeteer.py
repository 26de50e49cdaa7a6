"""Nuggeteer: guesses for what nobody has judged.

With judgements of some runs, a calibrated classifier learns from them, on the descriptions and on
what was judged of the same nuggets; each judged run is guessed, too, by a model that has not seen
it, which tells how wrong scores of guesses are. Questions that nobody was judged on have a model of
their own (`unjudged_questions.py`). Without any judgements, a built-in model serves. Another
classifier can take its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from karat.arrays import np
from karat.nuggets.guess.calibrated import classifier
from karat.nuggets.guess.calibrated.batches import Asked, run_folds
from karat.nuggets.guess.calibrated.likeness import Likeness
from karat.nuggets.guess.calibrated.logistic import Logistic
from karat.nuggets.guess.calibrated.unjudged_questions import Unjudged
from karat.nuggets.guess.classifiers import Calibrated
from karat.nuggets.guess.guesses import Nuggeteer
from karat.nuggets.guess.labels import of_runs, own_values, strictly
from karat.nuggets.guess.model_labels import listen
from karat.nuggets.guess.paper.classifier import Paper, PaperGuesses
from karat.nuggets.guess.pool import make_pool
from karat.nuggets.guess.words import ENGLISH
from karat.nuggets.intervals.measured_errors import Measured
from karat.nuggets.scores.idf_sources import IdfSource
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response, Run, make_run, normal
from karat.progress import Progress, silent
from karat.registry import call, returned
from karat.settings import Named

FEWEST = 100
"""Judged pairs from which something can be learned."""
FEWEST_OF_A_KIND = 20
"""Carried ones among them, and ones that are not."""


def nuggeteer(
    nuggets: NuggetSet,
    progress: Progress = silent,
    *,
    rule: Named | None = None,
    strict: bool = False,
) -> Nuggeteer:
    """Guess all runs of a set, from its judgements if there are enough of them.

    `rule` is the classifier that guesses. If `strict`, full support is learned and guessed: support
    in part is none.
    """
    rule = rule or Calibrated()
    judgements = _of_versions(of_runs(nuggets.judgements, nuggets.runs), nuggets.runs)
    judged = _judged_runs(judgements, nuggets.runs)
    runs = sorted([*nuggets.runs.values(), *judged], key=lambda run: run.tag)
    pool = make_pool(nuggets.key, runs)  # sorted: the order they were named in says nothing
    values = own_values(pool, judgements)
    source = getattr(rule, "source", None) or IdfSource()
    idf = source.of_classifier(pool, ENGLISH)
    asked = Asked(pool, strictly(values) if strict else values, idf)

    def finished(found: Nuggeteer) -> Nuggeteer:
        """Measure errors by judgements as they are: A counts support in part; let models help."""
        told = found.measured and replace(found.measured, labels=values[asked.cells])
        found = replace(found, rule=rule, strict=strict, measured=told)
        if not judgements.of_models:
            return found
        heard = listen(asked, judgements, (found.probabilities, found.carried), told)
        return replace(found, probabilities=heard.probabilities, carried=heard.carried, heard=heard)

    prior = classifier.PRIOR_STRICT if strict else classifier.PRIOR
    if isinstance(rule, Calibrated):
        return finished(_calibrated(asked, prior, progress))
    return finished(_by_classifier(asked, rule, progress))


def _by_classifier(asked: Asked, rule: Any, progress: Progress) -> Nuggeteer:
    """Ask another classifier; judged runs are guessed without themselves."""
    pool, fold = asked.pool, run_folds(asked.pool, asked.labels)
    seen = replace(asked.seen, fold=fold[asked.cells])
    guesses = partial(rule.guess, pool, asked.labels, fold, progress)
    found = call(f"classifier {rule}", type(rule), guesses, returned(tuple, "two arrays"))
    chances, carried, *_ = found
    told = None
    if len(np.unique(pool.cell_run[~np.isnan(asked.labels)])) > 1:
        p, yes = (np.where(seen.known, seen.elsewhere > 0, x[asked.cells]) for x in found[:2])
        told = Measured(seen.pool, p, yes, seen.labels)
    by = Paper.name if isinstance(rule, Paper) else rule.name
    learned = int((~np.isnan(asked.labels)).sum())
    paper = found if isinstance(found, PaperGuesses) else None
    return Nuggeteer(pool, chances, carried, asked.labels, learned, told, by, paper=paper)


def _calibrated(asked: Asked, prior: Logistic, progress: Progress) -> Nuggeteer:
    """Ask the calibrated classifier, or the built-in one where there is little to learn from."""
    labels = asked.labels
    known, yes = int((~np.isnan(labels)).sum()), int((labels > 0).sum())
    if known < FEWEST or min(yes, known - yes) < FEWEST_OF_A_KIND:
        return _one_model(asked, prior, 0, progress)
    seen = asked.seen
    X = asked.evidence(seen.pool, progress)
    if len(np.unique(seen.pool.cell_run[seen.judged])) < 2:  # none to learn from without itself
        model = classifier.fit_calibrated(X, seen.labels, prior=prior)
        return _one_model(asked, model, known, progress)
    near = Likeness(seen.pool)
    model, chances, carried = classifier.hold_out(seen, X, near, progress)
    question = seen.pool.cell_question
    new = ~np.isin(question, question[seen.judged])
    if new.any():  # guesses about questions that nobody was judged on have a model without likeness
        other, rows = classifier.fit_unjudged(X, seen.labels, Unjudged(seen.pool))
        chances = np.where(new, other.probabilities(rows), chances)
        carried = np.where(new, chances > other.threshold, carried)
    told = Measured(seen.pool, chances, carried, seen.labels)
    if len(asked.together) < len(asked.pool.texts):
        rest = np.setdiff1d(np.arange(len(asked.pool.texts)), asked.together)
        together = chances, carried
        chances = asked.ask(rest, model, progress, classifier.fit_calibrated(X, seen.labels))
        carried = chances > model.threshold
        chances[asked.cells], carried[asked.cells] = together
    return Nuggeteer(asked.pool, chances, carried, labels, known, told)


def _one_model(asked: Asked, model: Logistic, learned: int, progress: Progress) -> Nuggeteer:
    """Ask the same model about all cells; how wrong it is here cannot be told."""
    chances = asked.ask(np.arange(len(asked.pool.texts)), model, progress)
    return Nuggeteer(asked.pool, chances, chances > model.threshold, asked.labels, learned)


def _of_versions(judgements: Judgements, runs: Mapping[str, Run]) -> Judgements:
    """Judgements of words that a run does not have are about an old version of it."""
    judged = [(row.run, row.question, normal(row.response)) for row in judgements.rows]
    asked = set(judged)
    have = {
        words
        for run, question in {words[:2] for words in asked if words[0] in runs}
        for response in runs[run].responses(question)
        if (words := (run, question, response.normal)) in asked
    }
    return judgements.with_rows(
        row if row.run not in runs or words in have else row._replace(run=f"{row.run} (earlier)")
        for row, words in zip(judgements.rows, judged, strict=True)
    )


def _judged_runs(judgements: Judgements, named: Mapping[str, Run]) -> list[Run]:
    """Return other runs that were judged, as their judgements quote them."""
    found: dict[str, dict[tuple[str, str], Response]] = {}
    for row in judgements.deciding:
        if row.run not in named:
            found.setdefault(row.run, {})[row.question, row.response] = Response(row.response)
    return [
        make_run(tag, ((question, response) for (question, _), response in answers.items()))
        for tag, answers in found.items()
    ]
