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

from karat.arrays import np
from karat.nuggets.scores.decisions import AnswerDecisions
from karat.nuggets.scores.official import finite_mean, sums_between
from karat.nuggets.sets.keys_and_runs import NuggetKey, Run

OKAY_WEIGHTS = {"A": 1.0, "V": 0.0, "W": 0.5}
"""Weight of an okay nugget; a vital one weighs 1."""
_OKAYS = np.array([[okay] for okay in OKAY_WEIGHTS.values()])
_EMPTY = np.zeros(0)


class NuggetShares(NamedTuple):
    """A flat row: the scores of one answer, or their means over a run."""

    run: str
    question: str
    A: float
    V: float
    W: float
    A_strict: float
    V_strict: float
    W_strict: float


def score_shares(
    run: Run, key: NuggetKey, decided: Mapping[str, AnswerDecisions]
) -> tuple[NuggetShares, ...]:
    """The scores of every answer of a run; a question without a response has no nugget.

    All answers at once: the nuggets of all questions, one after the other.
    """
    questions = list(key.questions.values())
    weights = np.where(np.concatenate([_EMPTY, *(q.is_vital for q in questions)]), 1.0, _OKAYS)
    support = np.concatenate([_EMPTY, *(decided[q.id].best for q in questions)])
    strict = np.concatenate([_EMPTY, *(decided[q.id].returned(strict=True) for q in questions)])
    parts = [weights, weights * support, weights * strict]
    ends = np.cumsum([0, *(len(q.nuggets) for q in questions)])
    table = sums_between(np.concatenate(parts), ends).T.tolist()
    rows = []
    for question, sums in zip(questions, table, strict=True):
        shared = zip(sums[3:], sums[:3] * 2, strict=True)
        found = (part / most if most else math.nan for part, most in shared)
        rows.append(NuggetShares(run.tag, question.id, *found))
    return tuple(rows)


def mean_shares(rows: Sequence[NuggetShares]) -> NuggetShares:
    """Return means over questions, each over those that have the score."""
    run = rows[0].run if rows else ""
    columns = zip(*(row[2:] for row in rows), strict=True) if rows else [()] * 6
    return NuggetShares(run, "", *map(finite_mean, columns))
