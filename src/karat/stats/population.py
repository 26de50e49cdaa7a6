"""Samples of units: the mean of a population, from the units that were drawn.

A unit is a segment, or a document or question with all its segments. Unit u has the size m_u, and
it was drawn with the probability pi_u. With the weights a_u = m_u / pi_u (Hajek 1971)

    mean = sum a_u v_u / sum a_u        z_u = a_u (v_u - mean) sqrt(1 - pi_u) n / sum a_u
    SE^2 = sum z_u^2 / (n (n - 1))

For n of N units of one size, drawn with equal probability, that is the mean of the values and
SE^2 = s^2 / n (1 - n / N). For new units like these, the factors 1 - pi_u are left out.

Units may be drawn in several rounds, each from the units that no earlier round has drawn, with
probabilities that may depend on earlier labels. Every round then estimates the mean of the whole
population: the units of earlier rounds are known, the others are estimated. The rounds are averaged
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

    sizes: Floats  # the size of each unit, such as its number of segments
    probability: Floats  # probability of each unit in its round; NaN if all are equal
    round: Ints  # the round that drew each unit, from 1; 0 if it was not drawn

    @classmethod
    def simple(cls, sizes: Floats) -> Design:
        """Return the design of one round in which all units are equally likely."""
        return cls(sizes, np.full(len(sizes), np.nan), np.ones(len(sizes), np.int64))

    def probabilities(self, units: Ints, population: int) -> Floats:
        """Return the probability of each labelled unit; equal probabilities are n / N."""
        probabilities = self.probability[units]
        round_of_unit, before = self.round[units], 0
        for number in np.unique(round_of_unit).tolist():
            in_round = round_of_unit == number
            equal = int(in_round.sum()) / max(population - before, 1)
            probabilities = np.where(in_round & np.isnan(probabilities), equal, probabilities)
            before += int(in_round.sum())
        return probabilities

    def weights(self, units: Ints, population: int) -> Floats:
        """Return m / pi of labelled units."""
        unit_weights: Floats = self.sizes[units] / self.probabilities(units, population)
        return unit_weights


class Expansion(NamedTuple):
    """The mean of a population, estimated from a sample, and the deviations behind its error."""

    mean: float
    deviations: Floats  # z of each labelled unit, for the finite population
    plain: Floats  # z without the factors 1 - pi, for new units
    freedom: int  # degrees of freedom: labelled units minus rounds
    fraction: float  # share of the population that was drawn: mean of pi by squared weights

    def error(self, finite: bool = True) -> float:
        """Return the standard error of the mean."""
        z = self.deviations if finite else self.plain
        return sqrt(_sum(z * z) / (len(z) * self.freedom)) if self.freedom > 0 else float("nan")

    @property
    def skewness(self) -> float:
        """The skewness of the deviations; 0 if they are all equal."""
        z, n = self.plain, len(self.plain)
        variance = _sum(z * z) / max(self.freedom, 1)
        return _sum(z * z * z) / n / (variance * sqrt(variance)) if variance > 0 else 0.0


def estimate_mean(values: Floats, units: Ints, design: Design, population: Ints) -> Expansion:
    """Estimate the mean over a population of units from the values of the labelled ones."""
    sizes, n = design.sizes[units], len(units)
    probability = design.probabilities(units, len(population))
    total = _sum(design.sizes[population])
    labelled_total = labelled_size = mean = 0.0
    deviations, plain, weight = np.zeros((3, n))
    numbers = design.round[units]
    rounds = np.unique(numbers).tolist()
    for number in rounds:
        in_round = numbers == number
        weights, round_values = sizes[in_round] / probability[in_round], values[in_round]
        first_value = float(round_values[0])  # the mean of equal values has no rounding error
        round_mean = first_value + _sum(weights * (round_values - first_value)) / _sum(weights)
        share = (total - labelled_size) / total
        mean += int(in_round.sum()) / n * (labelled_total / total + share * round_mean)
        weight[in_round] = share * weights * int(in_round.sum()) / _sum(weights)
        z = weight[in_round] * (round_values - round_mean)
        plain[in_round] = z
        deviations[in_round] = z * np.sqrt(1 - probability[in_round])
        labelled_total += _sum(sizes[in_round] * round_values)
        labelled_size += _sum(sizes[in_round])
    fraction = _sum(weight * weight * probability) / _sum(weight * weight)
    return Expansion(mean, deviations, plain, n - len(rounds), fraction)


def unit_shares(units: Ints, design: Design, population: Ints) -> Floats:
    """Return the weight of each labelled unit in `estimate_mean`: mean = sum share_u v_u."""
    sizes, n = design.sizes[units], len(units)
    probability = design.probabilities(units, len(population))
    total = _sum(design.sizes[population])
    numbers = design.round[units]
    unit_shares, before = np.zeros(n), np.zeros(n, bool)
    for number in np.unique(numbers).tolist():
        in_round = numbers == number
        weights, part = sizes[in_round] / probability[in_round], int(in_round.sum()) / n
        labelled_shares = sizes[before] / total
        unit_shares[before] += part * labelled_shares
        unit_shares[in_round] = part * (1 - _sum(labelled_shares)) * weights / _sum(weights)
        before |= in_round
    return unit_shares


def _sum(values: Floats) -> float:
    return fsum(values.tolist())


# ------------------------------------------------------------------- predictions by judges


FOLDS = 10
PENALTIES = (0.003, 0.03, 0.3, 3.0, 30.0)  # ridge penalties per label; cross-validation picks one


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labels and judges' values: systems x units, some of which are labelled."""

    y: Floats  # human labels, systems x units; NaN where there is none
    x: Floats  # judges' values of the same outputs, systems x units x judges
    all_values: Floats  # judges' values of all outputs of each unit, systems x units x judges
    sizes: Floats  # size of each unit, systems x units; 0 if the system has no output
    weights: Floats  # weight of each label, m / pi; 0 where there is none

    def with_columns(self, x: Floats, all_values: Floats) -> Labelled:
        """Return the same labels with other values of judges."""
        return replace(self, x=x, all_values=all_values)

    def means(self, values: Floats) -> Floats:
        """Return the mean of values, systems x units, over the population of each system."""
        population_means: Floats = exact_sum(values * self.sizes) / exact_sum(self.sizes)
        return population_means

    @property
    def is_labelled(self) -> Flags:
        """True where there is a label, systems x units."""
        return ~np.isnan(self.y)


class Prediction(NamedTuple):
    """Predictions of units, systems x units, and of whole populations."""

    units: Floats  # prediction for the labelled outputs of each unit; 0 if unlabelled
    all_outputs: Floats  # prediction for all outputs of each unit
    means: Floats  # the mean of `all_outputs` over the population of each system
    factor: float  # lambda, by which the predictions are multiplied
    correlation: float  # of human labels with the predictions, within systems

    def times(self, factor: float) -> Prediction:
        """Return the predictions multiplied by a factor."""
        units, all_values, means = (part * factor for part in self[:3])
        return Prediction(units, all_values, means, self.factor * factor, self.correlation)


class Moments(NamedTuple):
    """Sums of squares and products around the weighted means of systems, over all systems."""

    xx: Floats
    xy: Floats
    yy: float


def moments(labelled: Labelled, rows: Flags) -> Moments:
    """Return the moments of the labelled values in `rows`, systems x units."""
    k, _, p = labelled.x.shape
    xx, xy, yy = np.zeros((p, p)), np.zeros(p), []
    for system in range(k):
        indices = np.flatnonzero(rows[system])
        if not len(indices):
            continue
        w = labelled.weights[system, indices]
        w = w / (fsum(w.tolist()) / len(w))
        x, y = _centre(labelled.x[system, indices], w), _centre(labelled.y[system, indices], w)
        xx += product(x.T * w, x)
        xy += product(x.T * w, y)
        yy.append(fsum((w * y * y).tolist()))
    return Moments(xx, xy, fsum(yy))


def _centre(values: Floats, weights: Floats) -> Floats:
    centred: Floats = values - product(weights, values) / len(weights)
    return centred


def tune_prediction(labelled: Labelled) -> Prediction:
    """Return the prediction of one judge: its value times lambda."""
    sums = moments(labelled, labelled.is_labelled)
    spread, shared = float(sums.xx[0, 0]), float(sums.xy[0])
    factor = shared / spread if spread > 0 else 0.0
    r = shared / np.sqrt(spread * sums.yy) if spread > 0 and sums.yy > 0 else 0.0
    units = np.where(labelled.is_labelled, factor * labelled.x[:, :, 0], 0.0)
    predicted_all = factor * labelled.all_values[:, :, 0]
    return Prediction(units, predicted_all, labelled.means(predicted_all), factor, float(r))


def cross_fit(labelled: Labelled) -> Prediction:
    """Return cross-fitted predictions: each unit by a ridge regression on the other folds.

    Every tenth labelled unit, in their order, is in the same fold.
    """
    is_labelled = labelled.is_labelled
    centre, spread = labelled.x[is_labelled].mean(axis=0), labelled.x[is_labelled].std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    x, all_values = (
        (values - centre) / scale * (spread > 0) for values in (labelled.x, labelled.all_values)
    )
    scaled = labelled.with_columns(x, all_values)  # constant judges are 0
    units = np.flatnonzero(is_labelled.any(axis=0))
    n_folds, fold = min(FOLDS, len(units)), np.zeros(labelled.y.shape[1], np.int64)
    fold[units] = np.arange(len(units)) % n_folds
    fits_by_fold = [_fit_penalties(scaled, is_labelled & (fold != k)) for k in range(n_folds)]
    by_penalty = (np.stack(fits) for fits in zip(*fits_by_fold, strict=True))
    predicted = [_predict(scaled.x, fits, fold) for fits in by_penalty]
    errors = []  # squared errors within systems
    for prediction in predicted:
        residuals = replace(labelled, y=labelled.y - prediction, x=labelled.x[:, :, :0])
        errors.append(moments(residuals, is_labelled).yy)
    best = int(np.argmin(errors))
    chosen = np.stack([fits[best] for fits in fits_by_fold])
    return _tune_power(labelled, scaled, predicted[best], chosen, fold)


def _fit_penalties(labelled: Labelled, rows: Flags) -> list[Floats]:
    """Return the coefficients of the judges for every penalty."""
    sums, n = moments(labelled, rows), int(rows.sum())
    unit = np.eye(len(sums.xy)) * n
    return [solve_symmetric(sums.xx + penalty * unit, sums.xy) for penalty in PENALTIES]


def _predict(x: Floats, coefficients: Floats, fold: Ints) -> Floats:
    """Return systems x units: each unit predicted by the fit to the other folds."""
    return np.stack([(judge_values * coefficients[fold]).sum(axis=1) for judge_values in x])


def _tune_power(
    labelled: Labelled, scaled: Labelled, predicted: Floats, coefficients: Floats, fold: Ints
) -> Prediction:
    """Return predictions multiplied by lambda, from 0 to 1, tuned on the other folds."""
    column = predicted[:, :, None]
    alone = labelled.with_columns(column, column)
    factors = [
        tuned_factor(alone, labelled.is_labelled & (fold != k)) for k in range(len(coefficients))
    ]
    factor = np.clip(factors, 0.0, 1.0)
    fits = coefficients * factor[:, None]
    sums = np.stack([np.bincount(fold, row, len(factor)) for row in labelled.weights])
    totals = sums.sum(axis=1, keepdims=True)
    shares = sums / np.where(totals > 0, totals, 1.0)  # of each system's labels, in each fold
    mean_fit = product(shares, fits)
    unlabelled_predictions = (scaled.all_values * mean_fit[:, None]).sum(axis=2)
    predicted_all = np.where(
        labelled.is_labelled, _predict(scaled.all_values, fits, fold), unlabelled_predictions
    )
    units = np.where(labelled.is_labelled, predicted * factor[fold], 0.0)
    r = tune_prediction(alone).correlation
    return Prediction(units, predicted_all, labelled.means(predicted_all), float(factor.mean()), r)


def tuned_factor(labelled: Labelled, rows: Flags) -> float:
    """Return lambda of one judge from the labels in `rows`; 0 for a constant judge."""
    sums = moments(labelled, rows)
    spread = float(sums.xx[0, 0])
    return float(sums.xy[0]) / spread if spread > 0 else 0.0
