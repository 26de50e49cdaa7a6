"""Nuggeteer: guesses for what nobody has judged, and how far off the scores they give may be.

With judgements of some runs, a calibrated classifier learns from them, on the descriptions and on
what was judged of the same nuggets; each judged run is guessed, too, by a model that has not seen
it, which tells how wrong scores of guesses are. Without any, a built-in model serves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.nuggets.calibrated import (
    PRIOR,
    PRIOR_ERRORS,
    Calibrated,
    cross_validate,
    fit_calibrated,
    fit_with_likeness,
)
from karat.nuggets.decisions import Decided
from karat.nuggets.evidence import evidence
from karat.nuggets.intervals import Errors, Interval, score_errors, score_interval
from karat.nuggets.judgements import Judgements
from karat.nuggets.keys import Question
from karat.nuggets.known import own_values
from karat.nuggets.likeness import Likeness
from karat.nuggets.pool import Floats, Pool, make_pool
from karat.nuggets.runs import Response, Run, make_run, normal
from karat.nuggets.sets import NuggetSet
from karat.progress import Progress, silent

FEWEST = 100
"""Judged pairs from which something can be learned."""
FEWEST_OF_A_KIND = 20
"""Carried ones among them, and ones that are not."""
FOLDS = 10
"""Groups of judged runs that are guessed without themselves."""


@dataclass(frozen=True, eq=False)
class Nuggeteer:
    """What a classifier says of all responses of some runs."""

    pool: Pool
    probabilities: Floats
    """Of every cell of the pool."""
    carried: NDArray[np.bool_]
    errors: Errors
    learned: int
    """Judged pairs that it learned from; 0 for the built-in model."""

    def table(self, run: str, question: str, cells: Floats) -> Floats:
        """The cells of a run's responses to a question: responses x nuggets."""
        at = [q.id for q in self.pool.questions].index(question)
        mine = self.pool.run[self.pool.starts[at] : self.pool.starts[at + 1]]
        found: Floats = self.pool.table(cells, at)[mine == self.pool.runs.index(run)]
        return found

    @cached_property
    def _places(self) -> dict[tuple[str, str], tuple[int, int]]:
        """(question, normalised response) -> number of the question, and the row of its table."""
        at, rows = self.pool.question.tolist(), range(len(self.pool.texts))
        found: dict[tuple[str, str], tuple[int, int]] = {}
        for q, row, text in zip(at, rows, self.pool.texts, strict=True):
            place = q, row - int(self.pool.starts[q])
            found.setdefault((self.pool.questions[q].id, normal(text)), place)
        return found

    def chances(self, question: Question, responses: Sequence[Response]) -> Floats:
        """Probabilities of responses of the pool, whoever gave them: responses x nuggets."""
        places = [self._places[question.id, response.normal] for response in responses]
        rows = [self.pool.table(self.probabilities, q)[row] for q, row in places]
        return np.array(rows).reshape(len(responses), len(question.nuggets))

    def guess(self, run: str) -> Guessing:
        """The guesses about one run, as `decide_run` takes them."""
        return Guessing(self, run)

    def interval(self, run: Run, decided: Mapping[str, Decided]) -> Interval | None:
        """A, the share of nuggets, with what judgements say in place of guesses, and its interval.

        Only the guessed share of the pairs can be wrong: the errors of guesses count by its square.
        A question without a response scores 0, and nothing is wrong there. None for a run that
        answered nothing.
        """
        scores, guessed, pairs = [], 0, 0
        for question in self.pool.questions:
            found = decided[question.id]
            if not len(found.values):
                continue
            chances = self.table(run.tag, question.id, self.probabilities)
            told = np.where(found.known, found.values, chances)
            scores.append(float(told.max(axis=0).mean()) if told.size else 0.0)
            guessed, pairs = guessed + int((~found.known).sum()), pairs + found.known.size
        if not scores:
            return None
        questions = len(self.pool.questions)
        answered, share = len(scores) / questions, guessed / max(pairs, 1)
        errors = self.errors._replace(
            bias=self.errors.bias * share * answered,
            between=self.errors.between * (share * answered) ** 2,
            within=self.errors.within * share**2 * answered,
        )
        scores += [0.0] * (questions - len(scores))
        return score_interval(np.array(scores), errors, questions)


@dataclass(frozen=True, eq=False)
class Guessing:
    """A function from a question and a run's responses to what is guessed of them."""

    nuggeteer: Nuggeteer
    run: str

    def __call__(self, question: Question, responses: Sequence[Response]) -> Floats:
        """1 where the nugget is guessed to be carried, else 0."""
        carried = self.nuggeteer.carried.astype(np.float64)
        found = self.nuggeteer.table(self.run, question.id, carried)
        if len(found) != len(responses):
            raise InputError(f"run {self.run} has other responses to {question.id} than before")
        return found

    def probabilities(self, question: Question, responses: Sequence[Response]) -> Floats:
        """The same as probabilities."""
        return self.nuggeteer.table(self.run, question.id, self.nuggeteer.probabilities)


def nuggeteer(
    nuggets: NuggetSet, progress: Progress = silent, *, measured: bool = True
) -> Nuggeteer:
    """Guess all runs of a set, from its judgements if there are enough of them.

    Without `measured` one model learns from all judgements: much quicker, for what needs no
    intervals; the errors are then those of the built-in model.
    """
    judgements = _of_versions(nuggets.judgements, nuggets.runs)
    judged = _judged_runs(judgements, nuggets.runs)
    runs = sorted([*nuggets.runs.values(), *judged], key=lambda run: run.tag)
    pool = make_pool(nuggets.key, runs)  # sorted: the order they were named in says nothing
    X = evidence(pool, progress=progress)
    labels = own_values(pool, judgements)
    known, yes = ~np.isnan(labels), int((labels > 0).sum())
    if known.sum() < FEWEST or min(yes, known.sum() - yes) < FEWEST_OF_A_KIND:
        return _one_model(pool, X, PRIOR, 0)
    if len(np.unique(pool.cell_run[known])) < 2:  # none to learn from while it is left out
        learned = fit_calibrated(X, labels, prior=PRIOR.logistic)
        return _one_model(pool, X, learned, int(known.sum()))
    fold, near = _folds(pool, labels), Likeness(pool)
    if not measured:
        model, columns = fit_with_likeness(X, labels, fold, near)
        return _one_model(pool, columns, model, int(known.sum()))
    found = cross_validate(pool, X, labels, fold, near, progress=progress)
    errors = _errors(pool, found.probabilities, labels)
    return Nuggeteer(pool, found.probabilities, found.carried, errors, int(known.sum()))


def _one_model(pool: Pool, X: Floats, model: Calibrated, learned: int) -> Nuggeteer:
    """The same model for all cells; how wrong it is here cannot be told."""
    chances = model.probabilities(X)
    return Nuggeteer(pool, chances, chances > model.threshold, PRIOR_ERRORS, learned)


def _errors(pool: Pool, guessed: Floats, labels: Floats) -> Errors:
    """Of guesses against A; those of the built-in model if too few answers were judged whole."""
    official = official_scores(pool, labels)
    judged = (~np.isnan(official)).sum(axis=1) > 1
    if judged.sum() < 2:
        return PRIOR_ERRORS
    return score_errors(pool.question_scores(guessed)[judged], official[judged])


def official_scores(pool: Pool, labels: Floats) -> Floats:
    """Runs x questions: A, half for partial support; NaN where judgements do not tell all of it.

    Assessors may stop at the first response that carries a nugget: then the others do not matter.
    """
    told = np.nan_to_num(labels)
    best = pool.answers(told).ravel()[pool.answered]
    missing = (np.isnan(labels) & (best == 0)).astype(np.float64)
    found: Floats = np.where(pool.question_scores(missing) > 0, np.nan, pool.question_scores(told))
    return found


def _of_versions(judgements: Judgements, runs: Mapping[str, Run]) -> Judgements:
    """Judgements of words that a run no longer has are about another run, an earlier version."""
    have = {
        (tag, question, response.normal)
        for tag, run in runs.items()
        for question, some in run.answers.items()
        for response in some
    }
    return Judgements(
        tuple(
            row
            if row.run not in runs or (row.run, row.question, normal(row.response)) in have
            else row._replace(run=f"{row.run} (earlier)")
            for row in judgements.rows
        )
    )


def _judged_runs(judgements: Judgements, named: Mapping[str, Run]) -> list[Run]:
    """What other runs were judged on, as their judgements quote it."""
    found: dict[str, dict[tuple[str, str], Response]] = {}
    for row in judgements.rows:
        if row.run not in named:
            found.setdefault(row.run, {})[row.question, row.response] = Response(row.response)
    return [
        make_run(tag, ((question, response) for (question, _), response in answers.items()))
        for tag, answers in found.items()
    ]


def _folds(pool: Pool, labels: Floats) -> NDArray[np.int64]:
    """Judged runs in groups; all that nobody judged is one more, learned from all of these."""
    judged = np.unique(pool.cell_run[~np.isnan(labels)])
    group = np.full(len(pool.runs), FOLDS, dtype=np.int64)
    group[judged] = np.arange(len(judged)) % min(FOLDS, len(judged))
    return group[pool.cell_run]
