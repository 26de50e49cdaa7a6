"""Today's scores of nugget-based RAG evaluation: shares of nuggets, without regard to length.

With s = 1 for a nugget that the answer supports, 1/2 in part (strict: 0) and 0 for one it does not:

    A = sum of s / all nuggets            V = sum of s over vital nuggets / vital nuggets
    W = (sum over vital + sum over okay / 2) / (vital nuggets + okay nuggets / 2)

A question without vital nuggets has no V: it is NaN and left out of the mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from karat.nuggets.decisions import Decided
from karat.nuggets.keys import Key, Question
from karat.nuggets.runs import Run

_OKAY = {"A": 1.0, "V": 0.0, "W": 0.5}
"""What an okay nugget weighs; a vital one weighs 1."""


class Shares(NamedTuple):
    """A flat row: the scores of one answer, or their means over a run."""

    run: str
    question: str
    A: float
    V: float
    W: float
    A_strict: float
    V_strict: float
    W_strict: float


def shares(run: str, question: Question, decided: Decided) -> Shares:
    """The six scores of an answer."""
    vital = np.array([nugget.vital for nugget in question.nuggets], dtype=np.bool_)
    weights = np.where(vital, 1.0, np.array([[okay] for okay in _OKAY.values()]))
    whole = weights.sum(axis=1).tolist()
    found = []
    for strict in (False, True):
        sums = (weights @ decided.support(strict)).tolist()
        found += [part / most if most else math.nan for part, most in zip(sums, whole, strict=True)]
    return Shares(run, question.id, *found)


def score_shares(run: Run, key: Key, decided: Mapping[str, Decided]) -> tuple[Shares, ...]:
    """The scores of every answer of a run; a question without a response has no nugget."""
    return tuple(shares(run.tag, question, decided[id]) for id, question in key.questions.items())


def mean_shares(rows: Sequence[Shares]) -> Shares:
    """Means over questions, each over those that have the score."""
    run = rows[0].run if rows else ""
    columns = zip(*(row[2:] for row in rows), strict=True) if rows else [()] * 6
    return Shares(run, "", *(_mean(column) for column in columns))


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan
