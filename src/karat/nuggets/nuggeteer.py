"""Nuggeteer: guesses for what nobody has judged, and how far off the scores they give may be.

With judgements of some runs, a calibrated classifier learns from them, on the descriptions and on
what was judged of the same nuggets; each judged run is guessed, too, by a model that has not seen
it, which tells how wrong scores of guesses are. Without any, a built-in model serves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.nuggets.calibrated import PRIOR, PRIOR_ERRORS, cross_validate
from karat.nuggets.decisions import Decided
from karat.nuggets.evidence import evidence
from karat.nuggets.intervals import Errors, Interval, score_errors, score_interval
from karat.nuggets.judgements import Judgements
from karat.nuggets.keys import Question
from karat.nuggets.known import own_values
from karat.nuggets.likeness import Likeness
from karat.nuggets.pool import Floats, Pool, make_pool
from karat.nuggets.runs import Response, Run, make_run
from karat.nuggets.sets import NuggetSet
from karat.progress import Progress, silent

FEWEST = 100
"""Judged pairs, and FEWEST_YES carried ones among them, from which something can be learned."""
FEWEST_YES = 20
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

    def guess(self, run: str) -> Guessing:
        """The guesses about one run, as `decide_run` takes them."""
        return Guessing(self, run)

    def interval(self, run: Run, decided: Mapping[str, Decided]) -> Interval | None:
        """A, the share of nuggets, with what judgements say in place of guesses, and its interval.

        Only the guessed share of the pairs can be wrong: the errors of guesses count by its square.
        None for a run that answered nothing.
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
        share = guessed / max(pairs, 1)
        errors = self.errors._replace(
            bias=self.errors.bias * share,
            between=self.errors.between * share**2,
            within=self.errors.within * share**2,
        )
        return score_interval(np.array(scores), errors, len(scores))


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


def nuggeteer(nuggets: NuggetSet, progress: Progress = silent) -> Nuggeteer:
    """Guess all runs of a set, from its judgements if there are enough of them."""
    runs = dict(nuggets.runs)
    judged = _judged_runs(nuggets.judgements, runs)
    pool = make_pool(nuggets.key, [*runs.values(), *judged])
    X = evidence(pool, progress=progress)
    labels = own_values(pool, nuggets.judgements)
    known = ~np.isnan(labels)
    if known.sum() < FEWEST or (labels[known] > 0).sum() < FEWEST_YES:
        chances = PRIOR.probabilities(X)
        return Nuggeteer(pool, chances, chances > PRIOR.threshold, PRIOR_ERRORS, 0)
    fold = _folds(pool, labels)
    found = cross_validate(pool, X, labels, fold, Likeness(pool), progress=progress)
    judges = np.unique(pool.cell_run[known])
    guessed, official = (
        pool.question_scores(cells)[judges]
        for cells in (found.probabilities, (labels > 0).astype(np.float64))
    )
    errors = score_errors(guessed, official)
    return Nuggeteer(pool, found.probabilities, found.carried, errors, int(known.sum()))


def _judged_runs(judgements: Judgements, named: Mapping[str, Run]) -> list[Run]:
    """What other runs were judged on, as their judgements quote it."""
    found: dict[str, dict[tuple[str, str], Response]] = {}
    for row in judgements.rows:
        if row.run and row.run not in named:
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
