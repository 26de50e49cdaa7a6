"""Samples of units: the mean of a population from the units that were drawn, and its deviations.

A unit is a segment, or a document or question with all its segments. Unit u has the size m_u, and
it was drawn with the probability pi_u. With the weights a_u = m_u / pi_u (Hajek 1971)

    mean = sum a_u v_u / sum a_u        z_u = a_u (v_u - mean) sqrt(1 - pi_u) n / sum a_u
    SE^2 = sum z_u^2 / (n (n - 1))

For n of N units of one size, drawn with equal probability, that is the mean of the values and
SE^2 = s^2 / n (1 - n / N). For new units like these, the factors 1 - pi_u are left out.

Units may be drawn in several rounds, each from the units that no earlier round had drawn, with
probabilities that may depend on earlier labels. Every round then estimates the mean of the whole
population: what was labelled before is known, and the rest is estimated. The rounds are averaged
with their numbers of units as weights; their errors are uncorrelated, so variances add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, sqrt
from typing import NamedTuple

from karat.arrays import Floats, Ints, np


@dataclass(frozen=True, eq=False)
class Design:
    """The units of a population, and how they were drawn."""

    sizes: Floats
    """The size of each unit, such as its number of segments."""
    probability: Floats
    """The probability with which each unit was drawn in its round; NaN for equal probabilities."""
    round: Ints
    """The round that drew each unit, from 1; 0 for a unit that none has drawn."""

    @classmethod
    def simple(cls, sizes: Floats) -> Design:
        """Return the design of one round in which all units are equally likely."""
        return cls(sizes, np.full(len(sizes), np.nan), np.ones(len(sizes), np.int64))

    def probabilities(self, units: Ints, population: int) -> Floats:
        """Return the probability of each labelled unit; that of equal ones is n / N."""
        known = self.probability[units]
        number, before = self.round[units], 0
        for one in np.unique(number).tolist():
            mine = number == one
            equal = int(mine.sum()) / max(population - before, 1)
            known = np.where(mine & np.isnan(known), equal, known)
            before += int(mine.sum())
        return known

    def weights(self, units: Ints, population: int) -> Floats:
        """Return m / pi of labelled units."""
        found: Floats = self.sizes[units] / self.probabilities(units, population)
        return found


class Expansion(NamedTuple):
    """The mean of a population, from a sample, and the deviations that its error consists of."""

    mean: float
    deviations: Floats
    """z of each labelled unit, with the finite population taken into account."""
    plain: Floats
    """z without the factors 1 - pi: for new units."""
    freedom: int
    """Labelled units less rounds."""
    fraction: float
    """The share of the population that was drawn, the mean of pi by squared weights."""

    def error(self, finite: bool = True) -> float:
        """Return the standard error of the mean."""
        z = self.deviations if finite else self.plain
        return sqrt(_sum(z * z) / (len(z) * self.freedom)) if self.freedom > 0 else float("nan")

    @property
    def skewness(self) -> float:
        """The skewness of the deviations; 0 where they do not differ."""
        z, n = self.plain, len(self.plain)
        variance = _sum(z * z) / max(self.freedom, 1)
        return _sum(z * z * z) / n / (variance * sqrt(variance)) if variance > 0 else 0.0


def expand(values: Floats, units: Ints, design: Design, population: Ints) -> Expansion:
    """Return the mean over a population of units from the values of those that were labelled."""
    sizes, n = design.sizes[units], len(units)
    probability = design.probabilities(units, len(population))
    total = _sum(design.sizes[population])
    known = known_size = mean = 0.0
    deviations, plain, weight = np.zeros((3, n))
    numbers = design.round[units]
    rounds = np.unique(numbers).tolist()
    for one in rounds:
        mine = numbers == one
        weights, own = sizes[mine] / probability[mine], values[mine]
        some = float(own[0])  # equal values have this mean, without rounding
        here = some + _sum(weights * (own - some)) / _sum(weights)
        share = (total - known_size) / total
        mean += int(mine.sum()) / n * (known / total + share * here)
        weight[mine] = share * weights * int(mine.sum()) / _sum(weights)
        z = weight[mine] * (own - here)
        plain[mine] = z
        deviations[mine] = z * np.sqrt(1 - probability[mine])
        known += _sum(sizes[mine] * own)
        known_size += _sum(sizes[mine])
    fraction = _sum(weight * weight * probability) / _sum(weight * weight)
    return Expansion(mean, deviations, plain, n - len(rounds), fraction)


def shares(units: Ints, design: Design, population: Ints) -> Floats:
    """Return the share of each labelled unit in the mean of `expand`: mean = sum share_u v_u."""
    sizes, n = design.sizes[units], len(units)
    probability = design.probabilities(units, len(population))
    total = _sum(design.sizes[population])
    numbers = design.round[units]
    found, before = np.zeros(n), np.zeros(n, bool)
    for one in np.unique(numbers).tolist():
        mine = numbers == one
        weights, part = sizes[mine] / probability[mine], int(mine.sum()) / n
        known = sizes[before] / total
        found[before] += part * known
        found[mine] = part * (1 - _sum(known)) * weights / _sum(weights)
        before |= mine
    return found


def _sum(values: Floats) -> float:
    return fsum(values.tolist())
