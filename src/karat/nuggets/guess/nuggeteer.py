"""Nuggeteer: guesses for what nobody has judged, and who makes them.

With judgements of some runs, a calibrated classifier learns from them, on the descriptions and on
what was judged of the same nuggets; each judged run is guessed, too, by a model that has not seen
it, which tells how wrong scores of guesses are. Questions that nobody was judged on have a model of
their own (`unjudged.py`). Without any judgements, a built-in model serves. The paper's classifier
can take its place, or whichever of both agreed better with assessors on judged runs that it had
not seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from karat.nuggets.guess.calibrated.batches import Asked, Models, ask, together
from karat.nuggets.guess.calibrated.evidence import EvidenceSettings, evidence
from karat.nuggets.guess.calibrated.held_out_guesses import HeldOut, hold_out
from karat.nuggets.guess.calibrated.likeness import Likeness
from karat.nuggets.guess.calibrated.model import (
    PRIOR,
    PRIOR_STRICT,
    Calibrated,
    fit_calibrated,
    fit_unjudged,
    fit_with_likeness,
)
from karat.nuggets.guess.calibrated.unjudged_questions import Unjudged
from karat.nuggets.guess.folds import known_elsewhere
from karat.nuggets.guess.guesses import AUTO, CALIBRATED, PAPER, GuessRule, Nuggeteer
from karat.nuggets.guess.known_labels import of_runs, own_values, strictly
from karat.nuggets.guess.model_labels import Guessed, ModelLabels, listen, model_labels
from karat.nuggets.guess.paper.paper import PaperGuesses, guess
from karat.nuggets.guess.pool import Floats, Ints, Pool, make_pool
from karat.nuggets.intervals.measured_errors import Measured
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response, Run, make_run, normal
from karat.progress import Progress, silent

FEWEST = 100
"""Judged pairs from which something can be learned."""
FEWEST_OF_A_KIND = 20
"""Carried ones among them, and ones that are not."""
FOLDS = 10
"""Groups of judged runs that are guessed without themselves."""


def nuggeteer(
    nuggets: NuggetSet,
    progress: Progress = silent,
    *,
    measured: bool = True,
    rule: GuessRule | None = None,
    strict: bool = False,
) -> Nuggeteer:
    """Guess all runs of a set, from its judgements if there are enough of them.

    Without `measured` one model learns from all judgements: quicker, for what needs no intervals;
    the errors are then those of the built-in model. `rule` says which classifier guesses; if it is
    not simply the calibrated one, both are asked, and the other is `beside`. If `strict`, full
    support is learned and guessed: support in part is none.
    """
    rule = rule or GuessRule()
    judgements = _of_versions(of_runs(nuggets.judgements, nuggets.runs), nuggets.runs)
    judged = _judged_runs(judgements, nuggets.runs)
    runs = sorted([*nuggets.runs.values(), *judged], key=lambda run: run.tag)
    pool = make_pool(nuggets.key, runs)  # sorted: the order they were named in says nothing
    values = own_values(pool, judgements)
    labels = strictly(values) if strict else values
    idf = rule.idf.of_classifier(pool, EvidenceSettings().classifier)
    asked = Asked(pool, labels, idf)
    models = model_labels(pool, judgements)

    def finished(found: Nuggeteer) -> Nuggeteer:
        told = _as_judged(replace(found, rule=rule, strict=strict), asked, values)
        return _with_models(told, asked, models)

    prior = PRIOR_STRICT if strict else PRIOR
    calibrated = finished(_calibrated(asked, prior, measured, progress))
    if rule.classifier == CALIBRATED:
        return calibrated
    if rule.classifier == AUTO and calibrated.measured is None:
        return calibrated  # nothing was left out: there is no contest
    paper = finished(_by_paper(asked, rule, progress))
    wins = rule.classifier == PAPER or better(paper, calibrated)
    first, second = (paper, calibrated) if wins else (calibrated, paper)
    return replace(first, beside=second)


def better(one: Nuggeteer, other: Nuggeteer) -> bool:
    """Whether one agrees better with assessors than the other, by F; of equals the first."""
    mine, theirs = one.agreement, other.agreement
    return mine is not None and (theirs is None or mine.f >= theirs.f)


def _as_judged(found: Nuggeteer, asked: Asked, values: Floats) -> Nuggeteer:
    """Measure errors against judgements as they are: A counts support in part."""
    if found.measured is None or not found.strict:
        return found
    cells = asked.pool.cells(together(asked))
    return replace(found, measured=replace(found.measured, labels=values[cells]))


def _with_models(found: Nuggeteer, asked: Asked, models: ModelLabels | None) -> Nuggeteer:
    """Let models help the guesses about pairs that they labelled."""
    if models is None:
        return found
    rows = together(asked)
    cells = asked.pool.cells(rows)
    pool, labels = asked.pool.take(rows), asked.labels[cells]
    whole = Guessed(found.probabilities, found.carried, asked.labels, np.zeros(0, np.int64))
    chances, carried = found.probabilities[cells], found.carried[cells]
    if found.measured is not None:
        chances, carried = found.measured.probabilities, found.measured.carried
    seen = Guessed(chances, carried, labels, _folds(pool, labels))
    heard = listen(models, seen, cells, whole, found.measured)
    return replace(found, probabilities=heard.probabilities, carried=heard.carried, heard=heard)


def _calibrated(asked: Asked, prior: Calibrated, measured: bool, progress: Progress) -> Nuggeteer:
    """The calibrated classifier, or the built-in one where there is too little to learn from."""
    labels = asked.labels
    known, yes = int((~np.isnan(labels)).sum()), int((labels > 0).sum())
    if known < FEWEST or min(yes, known - yes) < FEWEST_OF_A_KIND:
        return _one_model(asked, Models(prior), 0, progress)
    return _learned(asked, prior, known, measured, progress)


def _by_paper(asked: Asked, rule: GuessRule, progress: Progress) -> Nuggeteer:
    """The paper's classifier; judged runs are guessed without themselves."""
    pool, labels, _ = asked
    judged, fold = ~np.isnan(labels), _folds(pool, labels)
    found = guess(pool, labels, fold, rule.paper, rule.idf, progress)
    told = None
    if len(np.unique(pool.cell_run[judged])) > 1:
        rows = together(asked)
        cells = pool.cells(rows)
        told = _measured(pool.take(rows), labels[cells], fold[cells], found, cells)
    learned = int(judged.sum())
    guesses = found.probabilities, found.carried
    return Nuggeteer(pool, *guesses, labels, learned, told, PAPER, rule, found)


def _measured(pool: Pool, labels: Floats, fold: Ints, found: PaperGuesses, cells: Ints) -> Measured:
    """Judged runs and guesses of them; identical responses of other folds are known."""
    told = known_elsewhere(pool, labels, fold)
    known = ~np.isnan(told)
    chances = np.where(known, told > 0, found.probabilities[cells])
    carried = np.where(known, told > 0, found.carried[cells])
    return Measured(pool, chances, carried, labels)


def _learned(
    asked: Asked, prior: Calibrated, learned: int, measured: bool, progress: Progress
) -> Nuggeteer:
    """Guesses of a model that learns from judgements, or of several that leave runs out."""
    rows = together(asked)
    pool, labels = asked.pool.take(rows), asked.labels[asked.pool.cells(rows)]
    X = evidence(pool, idf=asked.idf, progress=progress)
    if len(np.unique(pool.cell_run[~np.isnan(labels)])) < 2:  # none to learn from without itself
        models = Models(fit_calibrated(X, labels, prior=prior.logistic))
        return _one_model(asked, models, learned, progress)
    fold, near = _folds(pool, labels), Likeness(pool)
    if measured:
        held = hold_out(pool, X, labels, fold, near, progress)
    else:
        model, columns = fit_with_likeness(X, labels, fold, near)
        chances = model.probabilities(columns)
        held = HeldOut(model, chances, chances > model.threshold)
    held = _with_new_questions(pool, X, labels, held)
    chances, carried = _with_the_rest(asked, rows, X, labels, held, progress)
    told = Measured(pool, held.probabilities, held.carried, labels) if measured else None
    return Nuggeteer(asked.pool, chances, carried, asked.labels, learned, told)


def _with_new_questions(pool: Pool, X: Floats, labels: Floats, held: HeldOut) -> HeldOut:
    """What is said of questions that nobody was judged on comes from a model without likeness."""
    new = ~np.isin(pool.cell_question, pool.cell_question[~np.isnan(labels)])
    if not new.any():
        return held
    model, rows = fit_unjudged(X, labels, Unjudged(pool))
    chances = np.where(new, model.probabilities(rows), held.probabilities)
    carried = np.where(new, chances > model.threshold, held.carried)
    return held._replace(probabilities=chances, carried=carried)


def _with_the_rest(
    asked: Asked, rows: Ints, X: Floats, labels: Floats, held: HeldOut, progress: Progress
) -> tuple[Floats, NDArray[np.bool_]]:
    """What was said of some responses, and what the model says of the others: all cells."""
    pool = asked.pool
    if len(rows) == len(pool.texts):
        return held.probabilities, held.carried
    rest = np.setdiff1d(np.arange(len(pool.texts)), rows)
    models = Models(held.model, fit_calibrated(X, labels))
    chances = ask(asked, rest, models, progress)
    carried, here = chances > held.model.threshold, pool.cells(rows)
    chances[here], carried[here] = held.probabilities, held.carried
    return chances, carried


def _one_model(asked: Asked, models: Models, learned: int, progress: Progress) -> Nuggeteer:
    """The same model for all cells; how wrong it is here cannot be told."""
    chances = ask(asked, np.arange(len(asked.pool.texts)), models, progress)
    carried = chances > models.last.threshold
    return Nuggeteer(asked.pool, chances, carried, asked.labels, learned)


def _of_versions(judgements: Judgements, runs: Mapping[str, Run]) -> Judgements:
    """Judgements of words that a run no longer has are about another run, an earlier version."""
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
    """What other runs were judged on, as their judgements quote it."""
    found: dict[str, dict[tuple[str, str], Response]] = {}
    for row in judgements.deciding:
        if row.run not in named:
            found.setdefault(row.run, {})[row.question, row.response] = Response(row.response)
    return [
        make_run(tag, ((question, response) for (question, _), response in answers.items()))
        for tag, answers in found.items()
    ]


def _folds(pool: Pool, labels: Floats) -> Ints:
    """Judged runs in groups; responses that nobody judged are one more, learned from all of these.

    A run's own judgements are known when its other responses are guessed. Runs with responses that
    were judged in part have groups of their own: their guesses count, and few of them share one, so
    that most of what was judged is learned from.
    """
    judged = ~np.isnan(labels)
    counts = np.bincount(pool.cell_response, judged, len(pool.texts))
    widths = np.bincount(pool.cell_response, minlength=len(pool.texts))
    partly = np.unique(pool.run[(counts > 0) & (counts < widths)])
    wholly = np.setdiff1d(pool.run[counts > 0], partly)
    group = np.full(len(pool.runs), FOLDS, dtype=np.int64)
    group[wholly] = np.arange(len(wholly)) % FOLDS
    group[partly] = np.arange(len(partly)) % FOLDS + FOLDS + 1
    return np.where(counts > 0, group[pool.run], FOLDS)[pool.cell_response]
