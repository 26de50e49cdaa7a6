"""What a classifier says of the responses of some runs, and how far off their scores may be.

Which classifier guesses is a `GuessRule`; `nuggeteer.py` makes a `Nuggeteer` by it. A score of
guesses is an expected one, less the mean error on judged runs; its interval is from errors that
were measured with as large a part of judged runs hidden as is guessed of the run (`measured.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, quoted
from karat.nuggets.agreement import Agreement, agreement
from karat.nuggets.decisions import Decided
from karat.nuggets.estimates import Returned, of_answers
from karat.nuggets.idf_sources import IdfSource
from karat.nuggets.intervals import Errors, Interval, intervals_of_runs, score_interval
from karat.nuggets.keys import Question
from karat.nuggets.measured import (
    PRIOR_ALL,
    PRIOR_DOUBT,
    AllErrors,
    Measured,
    official_scores,
    prior_errors,
)
from karat.nuggets.official import Official
from karat.nuggets.paper import Paper, PaperGuesses
from karat.nuggets.partly import WHOLE, Part, part_of
from karat.nuggets.pool import Floats, Pool
from karat.nuggets.runs import Response, Run, normal

CALIBRATED, PAPER, AUTO = "calibrated", "paper", "auto"
CLASSIFIERS = {
    CALIBRATED: "probabilities from rich evidence",
    PAPER: "a noisy threshold on Nuggeteer's score",
    AUTO: "whichever agrees better with the judgements at hand",
}
"""What may guess."""


@dataclass(frozen=True)
class GuessRule:
    """Which classifier guesses, how the paper's decides, and where both have idf from."""

    classifier: str = CALIBRATED
    paper: Paper = field(default_factory=Paper)
    idf: IdfSource = field(default_factory=IdfSource)

    def __post_init__(self) -> None:
        if self.classifier not in CLASSIFIERS:
            names = ", ".join(CLASSIFIERS)
            raise InputError(f"classifier {quoted(self.classifier)}: expected one of {names}")


class RunIntervals(NamedTuple):
    """What is uncertain about a run; F is missing where no nugget has any weight."""

    share: Interval
    """Of A."""
    macro: Interval | None
    micro: Interval | None


@dataclass(frozen=True, eq=False)
class Nuggeteer:
    """What a classifier says of all responses of some runs."""

    pool: Pool
    probabilities: Floats
    """Of every cell of the pool."""
    carried: NDArray[np.bool_]
    labels: Floats
    """What was judged of a cell in its own run, else NaN."""
    learned: int
    """Judged pairs that it learned from; 0 for the built-in model."""
    measured: Measured | None = None
    """What tells how wrong it is, if anything does."""
    classifier: str = CALIBRATED
    rule: GuessRule = field(default_factory=GuessRule)
    """What was asked for."""
    paper: PaperGuesses | None = None
    """What the paper's classifier learned, if it is the one that guesses."""
    beside: Nuggeteer | None = None
    """What the other classifier says, where it was asked."""
    _errors: dict[tuple[Official, Part], AllErrors] = field(default_factory=dict)

    def errors(self, how: Official, part: Part = WHOLE) -> AllErrors:
        """How wrong scores are of which a part is its guesses."""
        if (how, part) not in self._errors:
            told = self.measured
            self._errors[how, part] = told.errors(how, part) if told else prior_errors(part)
        return self._errors[how, part]

    @cached_property
    def doubt(self) -> float:
        """What a pair known from an identical response counts beside a guess."""
        return self.measured.doubt() if self.measured else PRIOR_DOUBT

    @cached_property
    def agreement(self) -> Agreement | None:
        """With assessors, on judged runs that it had not seen; scores of runs are expected ones."""
        if (told := self.measured) is None:
            return None
        return agreement(told.pool, told.carried, told.labels, told.probabilities)

    @cached_property
    def covered(self) -> float | None:
        """The share of judged runs whose A lies in an interval from the errors on the others."""
        if (told := self.measured) is None:
            return None
        official = official_scores(told.pool, told.labels)
        guessed = told.pool.question_scores(told.probabilities)
        ends = intervals_of_runs(np.where(np.isnan(official), np.nan, guessed), official)
        inside = [
            one.low <= float(np.nanmean(scores)) <= one.high
            for one, scores in zip(ends, official, strict=True)
            if one is not None
        ]
        return sum(inside) / len(inside) if inside else None

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {question.id: q for q, question in enumerate(self.pool.questions)}

    @cached_property
    def _tags(self) -> dict[str, int]:
        return {tag: k for k, tag in enumerate(self.pool.runs)}

    @cached_property
    def _rows(self) -> list[list[int]]:
        """By question: where the responses of each run begin, counted from the question's first."""
        runs = np.arange(len(self.pool.runs) + 1)
        bounds = pairwise(self.pool.starts.tolist())
        return [np.searchsorted(self.pool.run[a:b], runs).tolist() for a, b in bounds]

    @cached_property
    def _first_cells(self) -> list[int]:
        cells: list[int] = self.pool.cell_starts.tolist()
        return cells

    def table(self, run: str, question: str, cells: NDArray[Any]) -> NDArray[Any]:
        """The cells of a run's responses to a question: responses x nuggets."""
        at, number = self._numbers[question], self._tags[run]
        first, last = self._rows[at][number : number + 2]
        wide, start = len(self.pool.questions[at].nuggets), self._first_cells[at]
        mine = cells[start + first * wide : start + last * wide]
        return mine.reshape(last - first, wide)

    @cached_property
    def _places(self) -> dict[tuple[str, str], int]:
        """(question, normalised response) -> the row of the question's table."""
        names = [question.id for question in self.pool.questions]
        rows = np.arange(len(self.pool.texts)) - self.pool.starts[self.pool.question]
        found: dict[tuple[str, str], int] = {}
        places = zip(self.pool.question.tolist(), rows.tolist(), self.pool.texts, strict=True)
        for q, row, text in places:
            found.setdefault((names[q], normal(text)), row)
        return found

    def chances(self, question: Question, responses: Sequence[Response]) -> Floats:
        """Probabilities of responses of the pool, whoever gave them: responses x nuggets."""
        rows = [self._places[question.id, response.normal] for response in responses]
        table = self.pool.table(self.probabilities, self._numbers[question.id])
        return table[np.array(rows, dtype=np.int64)]

    def guess(self, run: str) -> Guessing:
        """The guesses about one run, as `decide_run` takes them."""
        return Guessing(self, run)

    def interval(self, run: Run, decided: Mapping[str, Decided]) -> Interval | None:
        """The interval of A; None for a run that answered nothing."""
        found = self.intervals(run, decided, Official())
        return found and found.share

    def intervals(
        self, run: Run, decided: Mapping[str, Decided], how: Official, *, general: bool = False
    ) -> RunIntervals | None:
        """Intervals of A and of F on these questions; if `general`, on questions like these.

        They are about the score that is shown once the run is judged whole. Scores are expected
        ones, with what judgements say in place of guesses, less their bias; an interval is made to
        hold the score that decisions give, which is what reports show. Only what is guessed can be
        wrong, and, by `doubt`, what is known from another run alone. A question without a response
        scores 0, and nothing is wrong there.

        None for a run that answered nothing; if `general`, from one question, which is no sample;
        and where nothing tells how wrong the paper's classifier is: the errors that serve for lack
        of measured ones are those of the other.
        """
        questions = [q for q in self.pool.questions if q.nuggets]
        if general and len(questions) < 2:
            return None
        answered = sum(len(decided[q.id].values) > 0 for q in questions) / max(len(questions), 1)
        if not answered or (self.classifier == PAPER and self.errors(how) is PRIOR_ALL):
            return None
        errors = self._errors_of(run, decided, answered, how)
        chances = {q.id: self.table(run.tag, q.id, self.probabilities) for q in questions}
        told, shown = of_answers(questions, run, decided, how, chances)
        share = _interval(told.share, errors.share, general)
        ends = _f(told.official, shown.official, errors, how, general)
        return RunIntervals(share.around(float(shown.share.mean())), *ends)

    def _errors_of(
        self, run: Run, decided: Mapping[str, Decided], answered: float, how: Official
    ) -> AllErrors:
        """The errors of a run of which a part was not judged itself, and of that a part guessed.

        Measured with as large a part hidden, in eighths; the little that is missing by rule.
        """
        part, guessed, borrowed = self._in_doubt(run, decided)
        near = part.rounded() if part.share else WHOLE
        doubtful = guessed + self.doubt * borrowed
        scale = guessed / near.share, doubtful / near.share, answered
        return AllErrors(*(one.scaled(*scale) for one in self.errors(how, near)))

    def _in_doubt(self, run: Run, decided: Mapping[str, Decided]) -> tuple[Part, float, float]:
        """What of a run was not judged; the shares of pairs guessed, and known from another run."""
        shares, guessed, borrowed, pairs = [], 0, 0, 0
        for id, found in decided.items():
            if found.known.size:
                unjudged = np.isnan(self.table(run.tag, id, self.labels))
                shares.append(float(unjudged.mean()))
                guessed += int((~found.known).sum())
                borrowed += int((found.known & unjudged).sum())
                pairs += found.known.size
        return part_of(np.array(shares)), guessed / max(pairs, 1), borrowed / max(pairs, 1)


def _f(
    told: Returned, shown: Returned, errors: AllErrors, how: Official, general: bool
) -> tuple[Interval | None, Interval | None]:
    """The intervals of F macro and micro."""
    kept = told.total > 0
    if kept.sum() < 1 + general:
        return None, None
    f, plain = (one.f(how.beta)[kept] for one in (told, shown))
    macro = _interval(f, errors.macro, general).around(float(plain.mean()))
    whole, decided = (one.summed().f(how.beta) for one in (told, shown))
    micro = score_interval(np.array([whole]), errors.micro, 1)
    if general:
        micro = micro.joined(score_interval(_pseudo_values(told, how.beta), errors.micro))
    return macro, micro.around(float(decided))


def _interval(scores: Floats, errors: Errors, general: bool) -> Interval:
    """On these questions; or in general, which holds that on these."""
    here = score_interval(scores, errors, len(scores))
    # A few scores may by chance be more alike than their errors are large.
    return here.joined(score_interval(scores, errors)) if general else here


def _pseudo_values(told: Returned, beta: float) -> Floats:
    """The jackknife's, of F micro: n F - (n - 1) F without k, for each of n questions k.

    The variance of their mean is the jackknife's of F; their mean is F, less the jackknife's bias.
    """
    kept = np.flatnonzero(told.total > 0)
    without = [told.kept(np.arange(len(told.total)) != k).summed().f(beta) for k in kept]
    return np.asarray(len(kept) * told.summed().f(beta) - (len(kept) - 1) * np.array(without))


@dataclass(frozen=True, eq=False)
class Guessing:
    """A function from a question and a run's responses to what is guessed of them."""

    nuggeteer: Nuggeteer
    run: str

    def __call__(self, question: Question, responses: Sequence[Response]) -> Floats:
        """1 where the nugget is guessed to be carried, else 0."""
        carried = self.nuggeteer.table(self.run, question.id, self.nuggeteer.carried)
        found: Floats = carried.astype(np.float64)
        if len(found) != len(responses):
            raise InputError(f"run {self.run} has other responses to {question.id} than before")
        return found

    def probabilities(self, question: Question, responses: Sequence[Response]) -> Floats:
        """The same as probabilities."""
        return self.nuggeteer.table(self.run, question.id, self.nuggeteer.probabilities)
