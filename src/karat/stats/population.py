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

from dataclasses import dataclass, replace
from math import fsum, sqrt
from typing import NamedTuple

from karat.arithmetic import exact_sum, product, solve_symmetric
from karat.arrays import Flags, Floats, Ints, np


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


FOLDS = 10
PENALTIES = (0.003, 0.03, 0.3, 3.0, 30.0)
"""Ridge penalties of standardised columns, per labelled value; the best is chosen by folds."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labels and judges' values: systems x units, of which some are labelled."""

    y: Floats
    """People's values, systems x units; NaN where there is none."""
    x: Floats
    """Judges' values of the same outputs, systems x units x judges."""
    every: Floats
    """Judges' values of all outputs of each unit, systems x units x judges."""
    sizes: Floats
    """The size of each unit, systems x units; 0 where the system has no output."""
    weights: Floats
    """The weight of each label, m / pi; 0 where there is none."""

    def with_columns(self, x: Floats, every: Floats) -> Labelled:
        """Return the same labels with other values beside them."""
        return replace(self, x=x, every=every)

    def means(self, values: Floats) -> Floats:
        """Return the mean of some values, systems x units, over each system's population."""
        found: Floats = exact_sum(values * self.sizes) / exact_sum(self.sizes)
        return found

    @property
    def known(self) -> Flags:
        """Systems x units: whether there is a label."""
        return ~np.isnan(self.y)


class Prediction(NamedTuple):
    """Predictions of units, systems x units, and of whole populations."""

    units: Floats
    """lambda f, or lambda m, of the labelled outputs of each unit; 0 where there is no label."""
    every: Floats
    """lambda f, or lambda m, of all outputs of each unit."""
    means: Floats
    """The mean of `every` over the population of each system."""
    factor: float
    """lambda."""
    correlation: float
    """Of people's values with the predictions, within systems."""

    def times(self, factor: float) -> Prediction:
        """Return the predictions times a number."""
        units, every, means = (part * factor for part in self[:3])
        return Prediction(units, every, means, self.factor * factor, self.correlation)


class Moments(NamedTuple):
    """Sums of squares and products around each system's weighted means, over systems."""

    xx: Floats
    xy: Floats
    yy: float


def moments(given: Labelled, rows: Flags) -> Moments:
    """Return the moments of some labelled values: systems x units that are marked."""
    k, _, p = given.x.shape
    xx, xy, yy = np.zeros((p, p)), np.zeros(p), []
    for system in range(k):
        mine = np.flatnonzero(rows[system])
        if not len(mine):
            continue
        w = given.weights[system, mine]
        w = w / (fsum(w.tolist()) / len(w))
        x, y = _centred(given.x[system, mine], w), _centred(given.y[system, mine], w)
        xx += product(x.T * w, x)
        xy += product(x.T * w, y)
        yy.append(fsum((w * y * y).tolist()))
    return Moments(xx, xy, fsum(yy))


def _centred(values: Floats, weights: Floats) -> Floats:
    found: Floats = values - product(weights, values) / len(weights)
    return found


def tuned(given: Labelled) -> Prediction:
    """Return the prediction of one judge: lambda times its value."""
    found = moments(given, given.known)
    spread, shared = float(found.xx[0, 0]), float(found.xy[0])
    factor = shared / spread if spread > 0 else 0.0
    r = shared / np.sqrt(spread * found.yy) if spread > 0 and found.yy > 0 else 0.0
    units = np.where(given.known, factor * given.x[:, :, 0], 0.0)
    every = factor * given.every[:, :, 0]
    return Prediction(units, every, given.means(every), factor, float(r))


def cross_fitted(given: Labelled, folds: int = FOLDS) -> Prediction:
    """Return predictions by a ridge regression that has not seen the unit it predicts.

    Folds are taken from the units in their order, every tenth to the same one.
    """
    scaled = _standardised(given)
    known = given.known
    units = np.flatnonzero(known.any(axis=0))
    fold = np.zeros(given.y.shape[1], np.int64)
    fold[units] = np.arange(len(units)) % min(folds, len(units))
    made = [_fits(scaled, known & (fold != k)) for k in range(min(folds, len(units)))]
    by_penalty = (np.stack(fits) for fits in zip(*made, strict=True))
    predicted = [_predicted(scaled.x, fits, fold) for fits in by_penalty]
    errors = [_error(given, one) for one in predicted]
    best = int(np.argmin(errors))
    chosen = np.stack([fits[best] for fits in made])
    return _power_tuned(given, scaled, predicted[best], chosen, fold)


def _standardised(given: Labelled) -> Labelled:
    """Return judges' values with a standard deviation of 1; a judge that is constant stays 0."""
    known = given.known
    centre = given.x[known].mean(axis=0)
    spread = given.x[known].std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    x, every = ((values - centre) / scale * (spread > 0) for values in (given.x, given.every))
    return given.with_columns(x, every)


def _fits(given: Labelled, rows: Flags) -> list[Floats]:
    """Return the coefficients of judges for every penalty."""
    found, n = moments(given, rows), int(rows.sum())
    unit = np.eye(len(found.xy)) * n
    return [solve_symmetric(found.xx + penalty * unit, found.xy) for penalty in PENALTIES]


def _predicted(x: Floats, coefficients: Floats, fold: Ints) -> Floats:
    """Return systems x units, each unit predicted by the fit to the other folds."""
    return np.stack([(own * coefficients[fold]).sum(axis=1) for own in x])


def _error(given: Labelled, predicted: Floats) -> float:
    """Return the squared error within systems."""
    left = replace(given, y=given.y - predicted, x=given.x[:, :, :0])
    return moments(left, given.known).yy


def _power_tuned(
    given: Labelled, scaled: Labelled, predicted: Floats, coefficients: Floats, fold: Ints
) -> Prediction:
    """Return predictions times lambda, from 0 to 1, each tuned on the other folds."""
    column = predicted[:, :, None]
    alone = given.with_columns(column, column)
    factors = [tuned_factor(alone, given.known & (fold != k)) for k in range(len(coefficients))]
    factor = np.clip(factors, 0.0, 1.0)
    fits = coefficients * factor[:, None]
    mean_fit = product(_shares(given, fold, len(factor)), fits)
    others = (scaled.every * mean_fit[:, None]).sum(axis=2)
    every = np.where(given.known, _predicted(scaled.every, fits, fold), others)
    units = np.where(given.known, predicted * factor[fold], 0.0)
    r = tuned(alone).correlation
    return Prediction(units, every, given.means(every), float(factor.mean()), r)


def _shares(given: Labelled, fold: Ints, folds: int) -> Floats:
    """Return systems x folds: the share of each system's labels, by weight."""
    sums = np.stack([np.bincount(fold, weights=own, minlength=folds) for own in given.weights])
    whole = sums.sum(axis=1, keepdims=True)
    found: Floats = sums / np.where(whole > 0, whole, 1.0)
    return found


def tuned_factor(given: Labelled, rows: Flags) -> float:
    """Return lambda of one judge from some labels; 0 for a judge that is constant."""
    found = moments(given, rows)
    spread = float(found.xx[0, 0])
    return float(found.xy[0]) / spread if spread > 0 else 0.0
