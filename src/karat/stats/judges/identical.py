"""Judges that gave equal values to everything they share: most likely one judge, counted twice.

Equal values alone are no evidence: two judges who call everything good agree on all of it. So the
chance is asked for. Honest judges who agree with a kappa of 0.8 give equal values to a unit with
probability a = e + 0.8 (1 - e), e being the chance that two values drawn from theirs are equal.
They agree on all of n units with probability a^n, and judges are identical where that is below
0.001 over the number of pairs. For constant judges a is 1, and no n is enough.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.arithmetic import power

Floats = NDArray[np.float64]
HONEST_KAPPA = 0.8
LEAST_CHANCE = 0.001
"""Below this probability a coincidence is not taken for chance."""


class IdenticalPair(NamedTuple):
    """Two judges, by their rows, and the number of units on which they are equal."""

    first: int
    second: int
    n: int


def identical_pairs(values: Floats) -> list[IdenticalPair]:
    """Return the pairs of identical judges of judges x units, NaN where there is no judgement."""
    pairs = list(combinations(range(len(values)), 2))
    found = []
    for i, j in pairs:
        shared = ~np.isnan(values[i]) & ~np.isnan(values[j])
        mine = values[i, shared]
        if (mine == values[j, shared]).all() and _chance(mine) * len(pairs) < LEAST_CHANCE:
            found.append(IdenticalPair(i, j, len(mine)))
    return found


def _chance(values: Floats) -> float:
    """The probability that two honest judges give these values to all of these units."""
    counts = np.unique(values, return_counts=True)[1]
    equal = sum(int(count) ** 2 for count in counts) / max(len(values), 1) ** 2
    return float(power(equal + HONEST_KAPPA * (1 - equal), len(values)))


def groups(values: Floats) -> list[int]:
    """Return a number for each judge, the same for identical ones: that of the first of them."""
    found = list(range(len(values)))
    for i, j, _ in identical_pairs(values):
        low, high = sorted((found[i], found[j]))
        found = [low if number == high else number for number in found]
    return found
