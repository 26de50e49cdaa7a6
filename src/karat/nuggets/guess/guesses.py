"""What a classifier says of the responses of some runs, and how far off their scores may be.

Which classifier guesses is a `GuessRule`; `nuggeteer.py` makes a `Nuggeteer` by it. A score of
guesses is an expected one, less the mean error on judged runs; its interval is from errors that
were measured with as large a part of judged runs hidden as is guessed of the run (`measured.py`).
Where none could be measured, it allows for a base rate that is unknown (`shifted.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError, quoted
from karat.nuggets.guess.agreement import Agreement, agreement
from karat.nuggets.guess.calibrated.logistic import logit
from karat.nuggets.guess.known_labels import strictly
from karat.nuggets.guess.model_labels import Heard
from karat.nuggets.guess.paper.paper import Paper, PaperGuesses
from karat.nuggets.guess.pool import Floats, Pool
from karat.nuggets.intervals.base_rates import PRIOR_SPREAD, SetShift, Spread, learn_shift
from karat.nuggets.intervals.expected_scores import Answers, of_answers, pseudo_values
from karat.nuggets.intervals.intervals import Errors, Interval, intervals_of_runs, score_interval
from karat.nuggets.intervals.measured_errors import AllErrors, Measured, official_scores
from karat.nuggets.intervals.partly_judged_runs import WHOLE, Part, part_of
from karat.nuggets.intervals.shifted_scores import GuessedRun, shifted_f, shifted_share
from karat.nuggets.scores.decisions import Decided
from karat.nuggets.scores.idf_sources import IdfSource
from karat.nuggets.scores.official import Official
from karat.nuggets.sets.keys import Question
from karat.nuggets.sets.runs import Response, Run, normal

CALIBRATED, PAPER, AUTO = "calibrated", "paper", "auto"
CLASSIFIERS = {
    CALIBRATED: "probabilities from rich evidence",
    PAPER: "a noisy threshold on Nuggeteer's score",
    AUTO: "whichever agrees better with the judgements at hand",
}
"""What may guess."""

FEWEST_RUNS = 5
"""Judged runs whose errors tell enough by themselves."""


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
    heard: Heard | None = None
    """Models that helped, where any labelled responses."""
    strict: bool = False
    """Whether it guesses full support: support in part is then none."""
    spread: Spread = PRIOR_SPREAD
    """The variances of shifts of its guesses, for intervals where errors were not measured."""
    _errors: dict[tuple[Official, Part], AllErrors] = field(default_factory=dict)
    _with_help: dict[tuple[Official, Part], AllErrors] = field(default_factory=dict)

    def errors(self, how: Official, part: Part = WHOLE) -> AllErrors:
        """The errors of scores of which a part is its guesses, as far as they were measured."""
        if (how, part) not in self._errors:
            told = self.measured
            self._errors[how, part] = told.errors(how, part) if told else AllErrors()
        return self._errors[how, part]

    @cached_property
    def _told(self) -> Measured | None:
        """Judged runs, with labels as they were learned from."""
        if self.measured is None or not self.strict:
            return self.measured
        return replace(self.measured, labels=strictly(self.measured.labels))

    @cached_property
    def doubt(self) -> float:
        """The weight of a pair known from an identical response beside a guess, as measured."""
        return self._told.doubt() if self._told else 1.0

    @cached_property
    def shift(self) -> SetShift:
        """The shift of the base rate of this set, from whatever was judged.

        A classifier of several judged runs knows as much itself; what it learned from so few is not
        as good as the built-in one, and may be as far off.
        """
        if self.measured is not None:
            return SetShift(0.0, self.spread.question)
        labels = strictly(self.labels) if self.strict else self.labels
        judged = np.flatnonzero(~np.isnan(labels))
        question, run = self.pool.cell_question[judged], self.pool.cell_run[judged]
        logits, yes = logit(self.probabilities[judged]), labels[judged] > 0
        return learn_shift(logits, yes, question, run, self.spread)

    @cached_property
    def agreement(self) -> Agreement | None:
        """With assessors, on judged runs that it had not seen; scores of runs are expected ones."""
        if (told := self._told) is None:
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

        Scores whose errors judgements do not tell have intervals that allow for an unknown base
        rate, by what is known of the calibrated classifier; those of the paper's have none. Errors
        of fewer than `FEWEST_RUNS` judged runs tell little: then the narrower interval counts.

        None for a run that answered nothing; if `general`, from one question, which is no sample;
        and where nothing tells how wrong the paper's classifier is.
        """
        questions = [q for q in self.pool.questions if q.nuggets]
        if general and len(questions) < 2:
            return None
        answered = sum(len(decided[q.id].values) > 0 for q in questions) / max(len(questions), 1)
        if not answered:
            return None
        errors = self._errors_of(run, decided, answered, how)
        chances = {q.id: self.table(run.tag, q.id, self.probabilities) for q in questions}
        guessed = GuessedRun(questions, run, decided, how, chances)
        told, shown = of_answers(*guessed)
        found = _from_errors(told, errors, how, general)
        if self.classifier != PAPER and any(few_runs(one) for one in errors):
            found = _narrower(found, self._shifted(guessed, general), errors)
        return found and _holding(shown, found, how)

    def _shifted(self, guessed: GuessedRun, general: bool) -> RunIntervals:
        """Intervals that allow for an unknown base rate.

        What was judged in other runs alone is in doubt.
        """
        tag, questions = guessed.run.tag, guessed.questions
        own = {q.id: ~np.isnan(self.table(tag, q.id, self.labels)) for q in questions}
        doubted = guessed.doubting(own)
        share = shifted_share(doubted, self.shift, self.spread, general)
        return RunIntervals(share, *shifted_f(doubted, self.shift, self.spread, general))

    def _errors_of(
        self, run: Run, decided: Mapping[str, Decided], answered: float, how: Official
    ) -> AllErrors:
        """The errors of a run of which a part was not judged itself, and of that a part guessed.

        Measured with as large a part hidden, in eighths; the little that is missing by rule.
        """
        part, guessed, borrowed = self._in_doubt(run, decided)
        near = part.rounded() if part.share else WHOLE
        errors = self.errors(how, near)
        if self.heard and self.heard.measured:
            if (how, near) not in self._with_help:
                self._with_help[how, near] = self.heard.measured.errors(how, near)
            helped = self._helped(run, decided)
            errors = self.heard.errors(errors, self._with_help[how, near], helped)
        doubtful = guessed + self.doubt * borrowed
        scale = guessed / near.share, doubtful / near.share, answered
        return AllErrors(*(one and one.scaled(*scale) for one in errors))

    def _helped(self, run: Run, decided: Mapping[str, Decided]) -> float:
        """The share of a run's guesses that models helped."""
        helped = guessed = 0
        for id, found in decided.items():
            if self.heard and found.known.size:
                mine = self.table(run.tag, id, self.heard.helped)
                helped += int((mine & ~found.known).sum())
                guessed += int((~found.known).sum())
        return helped / max(guessed, 1)

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


def _from_errors(
    told: Answers, errors: AllErrors, how: Official, general: bool
) -> RunIntervals | None:
    """Intervals from measured errors; None where there are none of A, those of F may be missing."""
    if errors.share is None:
        return None
    share = _interval(told.share, errors.share, general)
    official = told.official
    kept = official.total > 0
    if errors.macro is None or errors.micro is None or kept.sum() < 1 + general:
        return RunIntervals(share, None, None)
    macro = _interval(official.f(how.beta)[kept], errors.macro, general)
    micro = score_interval(np.array([official.summed().f(how.beta)]), errors.micro, 1)
    if general:
        micro = micro.joined(score_interval(pseudo_values(official, how.beta), errors.micro))
    return RunIntervals(share, macro, micro)


def few_runs(errors: Errors | None) -> bool:
    """Whether judged runs are too few to tell enough of errors by themselves."""
    return errors is None or errors.runs < FEWEST_RUNS


def _narrower(found: RunIntervals | None, other: RunIntervals, errors: AllErrors) -> RunIntervals:
    """The narrower one of each score whose errors tell little; the only one there is."""
    if found is None:
        return other
    share, macro, micro = (
        one.narrower(two) if one and two and few_runs(told) else one or two
        for one, two, told in zip(found, other, errors, strict=True)
    )
    return RunIntervals(share or found.share, macro, micro)


def _holding(shown: Answers, found: RunIntervals, how: Official) -> RunIntervals:
    """Return intervals that hold the scores that decisions give, too."""
    f, kept = shown.official.f(how.beta), shown.official.total > 0
    share = found.share.around(float(shown.share.mean()))
    macro = found.macro and found.macro.around(float(f[kept].mean()))
    micro = found.micro and found.micro.around(float(shown.official.summed().f(how.beta)))
    return RunIntervals(share, macro, micro)


def _interval(scores: Floats, errors: Errors, general: bool) -> Interval:
    """On these questions; or in general, which holds that on these."""
    here = score_interval(scores, errors, len(scores))
    # A few scores may by chance be more alike than their errors are large.
    return here.joined(score_interval(scores, errors)) if general else here


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
