"""Shifts of guesses in plain loops: of a set, from judged pairs, and how far they reach."""

from __future__ import annotations

import math
from typing import NamedTuple

from oracles.nugget_error_loops import Answer


class Pair(NamedTuple):
    """One judged pair."""

    logit: float
    yes: bool
    question: int
    run: int


def chance(logit: float) -> float:
    """1 / (1 + exp(-logit))."""
    return 1 / (1 + math.exp(-logit))


def shifted(answer: Answer, shift: float) -> Answer:
    """An answer's chances with the odds multiplied by exp(shift)."""
    odds = [[p / (1 - p) * math.exp(shift) for p in row] for row in answer]
    return [[o / (1 + o) for o in row] for row in odds]


def set_shift(pairs: list[Pair], Q: float, R: float, D: float) -> tuple[float, float]:
    """The mean and the variance of the shift of a set."""
    information: dict[int, float] = {}
    for pair in pairs:
        p = chance(pair.logit)
        information[pair.question] = information.get(pair.question, 0.0) + p * (1 - p)
    alone = {q: 1 / (D / i + Q) for q, i in information.items()}
    everything = math.fsum(alone.values())
    if not everything:
        return 0.0, Q
    runs = len({pair.run for pair in pairs})
    limited = 1 / (1 / everything + R / runs)
    weights = {q: alone[q] / information[q] * limited / everything for q in information}

    def excess(s: float) -> float:
        """Falls with s."""
        gained = math.fsum(weights[p.question] * (p.yes - chance(p.logit + s)) for p in pairs)
        return gained - s / Q

    low, high = -30.0, 30.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        if middle in (low, high) and excess(middle) == 0:
            break
    return (low + high) / 2, 1 / (1 / Q + limited)


def variance_and_freedom(
    S: float, Q: float, R: float, D: float, df: tuple[float, float], m: float, information: float
) -> tuple[float, float]:
    """The variance of the mean shift of a run's guesses, and its degrees of freedom."""
    common, chances = S + Q / m, D / information
    total = common + R + chances
    return total, total**2 / (common**2 / df[0] + R**2 / df[1])
