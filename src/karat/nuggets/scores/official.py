"""The official score of an answer: F(beta) of nugget recall and length-based precision.

With r vital and a okay nuggets returned, R vital nuggets in the key and l characters in the answer,
white space not counted:

    recall = r / R      allowance = 100 (r + a)      precision = 1 if l < allowance
                                                                 allowance / l otherwise
    F(beta) = (beta^2 + 1) precision recall / (beta^2 precision + recall)

Pyramid weights (Lin and Demner-Fushman 2006) replace vital and okay by w = votes / the most votes
of any nugget of the question: recall = sum of returned w / sum of all w.

A nugget counts once, for the first response that carries it. A question whose weights are all 0 -
no vital nugget in its key - has no recall: it is skipped, and named, never scored 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, TypeAlias

from karat.arrays import Floats, Ints, np
from karat.errors import InputError, quoted, short
from karat.nuggets.scores.decisions import AnswerDecisions
from karat.nuggets.sets.keys_and_runs import NuggetKey, Question, Response, Run, characters
from karat.settings import to_text

NAME = "nugget-f"
"""Name of the score in signatures."""

ALLOWANCE = 100
"""Characters that a returned nugget may cost."""

LARGEST_BETA = 1e6
"""With this, F is recall to all digits that are shown; its square is far from overflowing."""

WEIGHTS = ("vital", "pyramid")
_NONE = np.zeros(0)


class Counts(NamedTuple):
    """Counts behind a score; those of several questions add up to those of all (micro)."""

    returned: float
    """r: the weight of the returned nuggets."""
    total: float
    """R: the weight of all nuggets."""
    allowance: float
    length: int


class OfficialMeasure(NamedTuple):
    """A score and its parts; the precision of an empty answer without nuggets is NaN."""

    recall: float
    precision: float
    f: float


class QuestionScore(NamedTuple):
    """A flat row: the score of one answer."""

    run: str
    question: str
    recall: float
    precision: float
    f: float
    vital_returned: float
    """A whole number, but for a tie between judges, which is half."""
    okay_returned: float
    vital: int
    okay: int
    length: int
    allowance: float
    responses: int
    judged: int
    """Pairs of response and nugget that a judgement decided; the others are guesses."""
    undecided: int


@dataclass(frozen=True)
class RunScore:
    """The score of a run: over questions as a whole (micro) and on average (macro)."""

    run: str
    micro: OfficialMeasure
    macro: OfficialMeasure
    questions: tuple[QuestionScore, ...]
    skipped: tuple[str, ...]
    """Questions whose key has no weight: no vital nuggets, or no votes."""


@dataclass(frozen=True)
class Official:
    """Settings of the official score; beta is 3 since 2004, it was 5 in 2003.

    `strict`: partial support does not count; else it counts in full.
    """

    beta: float = 3.0
    weights: str = "vital"
    strict: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.beta <= LARGEST_BETA:
            top = f"{LARGEST_BETA:,.0f}"
            raise InputError(f"beta={self.beta}: expected a number of at least 0 and at most {top}")
        if self.weights not in WEIGHTS:
            known = ", ".join(WEIGHTS)
            raise InputError(f"weights={quoted(self.weights)}: expected one of {known}")

    def __str__(self) -> str:
        """Every setting; what decided on responses is for `signature.signature` to say."""
        settings = ",".join(f"{f.name}={to_text(getattr(self, f.name))}" for f in fields(self))
        return f"{NAME}:{settings}"

    def score(self, run: Run, key: NuggetKey, decided: Mapping[str, AnswerDecisions]) -> RunScore:
        """Score a run from what was decided on every question."""
        questions = list(key.questions.values())
        carried = np.concatenate([_NONE, *(decided[q.id].returned(self.strict) for q in questions)])
        weight = np.concatenate([_NONE, *(nugget_weights(q, self.weights) for q in questions)])
        vital = np.concatenate([_NONE, *(q.is_vital for q in questions)])
        ends = np.cumsum([0, *(len(q.nuggets) for q in questions)])
        parts = np.stack([weight * carried, weight, carried, vital * carried, vital])
        answers = []
        for question, sums in zip(questions, sums_between(parts, ends).T.tolist(), strict=True):
            found, (returned, whole, some, some_vital, all_vital) = decided[question.id], sums
            spent = answer_length(run.responses(question.id))
            counts = Counts(returned, whole, ALLOWANCE * some, spent)
            kinds = _count(some_vital), _count(some - some_vital), int(all_vital)
            answers.append((question, counts, kinds, found.judged, found.undecided))
        return run_score(run, answers, self.beta)


def _count(nuggets: float) -> float:
    return int(nuggets) if nuggets.is_integer() else nuggets


Answer: TypeAlias = tuple[Question, Counts, tuple[float, float, int], int, int]
"""Counts of an answer; vital and okay nuggets returned, vital ones in the key; pairs that were
judged, and undecided ones."""


def run_score(run: Run, answers: Iterable[Answer], beta: float) -> RunScore:
    """Return the score of a run from its answers; those without any weight are skipped."""
    rows, counts, skipped = [], [], []
    for question, found, (vital_returned, okay_returned, vital), judged, undecided in answers:
        if not found.total:
            skipped.append(question.id)
            continue
        counts.append(found)
        cells: list[Any] = [vital_returned, okay_returned, vital, len(question.nuggets) - vital]
        cells += [found.length, found.allowance, len(run.responses(question.id)), judged, undecided]
        rows.append(QuestionScore(run.tag, question.id, *measure(found, beta), *cells))
    micro = measure(total(counts), beta)
    return RunScore(run.tag, micro, macro(rows), tuple(rows), tuple(skipped))


def sums_between(rows: Floats, ends: Ints) -> Floats:
    """Rows x groups of columns: the sum of each group, from one end to the next."""
    found = np.zeros((len(rows), len(ends) - 1))
    some = np.diff(ends) > 0  # an empty one would have its neighbour's
    if some.any():
        found[:, some] = np.add.reduceat(rows, ends[:-1][some], axis=1)
    return found


def answer_length(responses: Iterable[Response]) -> int:
    """l: the characters of an answer, white space not counted."""
    return sum(characters(response.text) for response in responses)


def nugget_weights(question: Question, kind: str = "vital") -> Floats:
    """Return the weight of each nugget in recall."""
    if kind == "vital":
        return question.is_vital.astype(np.float64)
    for nugget in question.nuggets:
        if nugget.votes is None:
            raise InputError(
                f"question {short(question.id)}, nugget {short(nugget.id)} has no votes, "
                "which pyramid weights need: give them to all nuggets, or score by vital and okay"
            )
    votes = np.array([nugget.votes for nugget in question.nuggets], dtype=np.float64)
    return np.divide(votes, max(float(votes.max(initial=0.0)), 1.0))


def total(counts: Sequence[Counts]) -> Counts:
    """Return the sums over questions."""
    returned, whole, allowance, lengths = zip(*counts, strict=True) if counts else [()] * 4
    return Counts(math.fsum(returned), math.fsum(whole), math.fsum(allowance), sum(lengths))


def measure(counts: Counts, beta: float) -> OfficialMeasure:
    """Recall, precision and F; without any weight all are NaN."""
    if not counts.total:
        return OfficialMeasure(math.nan, math.nan, math.nan)
    recall = counts.returned / counts.total
    precision = 1.0
    if counts.length >= counts.allowance:
        precision = counts.allowance / counts.length if counts.length else math.nan
    if not recall or not precision > 0:
        return OfficialMeasure(recall, precision, 0.0)
    square = beta * beta
    f = (square + 1) * precision * recall / (square * precision + recall)
    return OfficialMeasure(recall, precision, f)


def macro(rows: Sequence[QuestionScore]) -> OfficialMeasure:
    """Return means over questions; that of precision over those that have one."""
    return OfficialMeasure(
        *(finite_mean([getattr(row, part) for row in rows]) for part in OfficialMeasure._fields)
    )


def finite_mean(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
