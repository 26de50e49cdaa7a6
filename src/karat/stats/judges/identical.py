"""Judges that gave equal values to everything they share: most likely one judge, counted twice.

Equal values alone are no evidence: two judges who call everything good agree on all of it. So the
chance is asked for. Honest judges who agree with a kappa of 0.8 give equal values to a unit with
probability a = e + 0.8 (1 - e), e being the chance that two values drawn from theirs are equal.
They agree on all of n units with probability a^n, and judges are identical where that is below
0.001 over the number of pairs. For constant judges a is 1, and no n is enough.
"""

from __future__ import annotations

from karat.arithmetic import power
from karat.arrays import Floats, np

HONEST_KAPPA = 0.8
LEAST_CHANCE = 0.001
"""Below this probability a coincidence is not taken for chance."""


def groups(values: Floats) -> list[int]:
    """Return a number for each judge (row), the same for identical ones: that of the first."""
    found = list(range(len(values)))
    pairs = len(values) * (len(values) - 1) // 2
    known = ~np.isnan(values)
    for i, mine in enumerate(values):
        shared = known[i] & known[i + 1 :]
        equal = shared.any(axis=1) & ~(shared & (values[i + 1 :] != mine)).any(axis=1)
        for j in np.flatnonzero(equal).tolist():
            if _chance(mine[shared[j]]) * pairs < LEAST_CHANCE:
                low, high = sorted((found[i], found[i + 1 + j]))
                found = [low if number == high else number for number in found]
    return found


def _chance(values: Floats) -> float:
    """Return the probability that two honest judges give these values to all of these units."""
    counts = np.unique(values, return_counts=True)[1]
    equal = sum(int(count) ** 2 for count in counts) / len(values) ** 2
    return float(power(equal + HONEST_KAPPA * (1 - equal), len(values)))
