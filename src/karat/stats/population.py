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
    scaled = _standardise(labelled)
    n_folds, fold = _number_folds(is_labelled)
    fits_by_fold = [_fit_penalties(scaled, is_labelled & (fold != k)) for k in range(n_folds)]
    by_penalty = (np.stack(fits) for fits in zip(*fits_by_fold, strict=True))
    predicted = [_predict(scaled.x, fits, fold) for fits in by_penalty]
    errors = []  # squared errors within systems
    for prediction in predicted:
        residuals = replace(labelled, y=labelled.y - prediction, x=labelled.x[:, :, :0])
        errors.append(moments(residuals, is_labelled).yy)
    best = int(np.argmin(errors))
    chosen = np.stack([fits[best] for fits in fits_by_fold])
    column = predicted[best][:, :, None]
    alone = labelled.with_columns(column, column)
    factors = [tuned_factor(alone, is_labelled & (fold != k)) for k in range(n_folds)]
    correlation = tune_prediction(alone).correlation
    fits = _FoldFits(predicted[best], chosen, np.clip(factors, 0.0, 1.0))
    return _predict_population(scaled, fits, fold, correlation)


def _standardise(labelled: Labelled) -> Labelled:
    """Return columns with mean 0 and standard deviation 1 over all labels; constant ones are 0."""
    values = labelled.x[labelled.is_labelled]
    centre = exact_sum(values, axis=0) / len(values)
    spread = np.sqrt(exact_sum((values - centre) * (values - centre), axis=0) / len(values))
    scale = np.where(spread > 0, spread, 1.0)
    x, all_values = (
        (values - centre) / scale * (spread > 0) for values in (labelled.x, labelled.all_values)
    )
    return labelled.with_columns(x, all_values)


def _number_folds(is_labelled: Flags) -> tuple[int, Ints]:
    """Return the number of folds and the fold of each unit: labelled units take turns."""
    units = np.flatnonzero(is_labelled.any(axis=0))
    n_folds, fold = min(FOLDS, len(units)), np.zeros(is_labelled.shape[1], np.int64)
    fold[units] = np.arange(len(units)) % n_folds
    return n_folds, fold


def _fit_penalties(labelled: Labelled, rows: Flags) -> list[Floats]:
    """Return the coefficients of the judges for every penalty."""
    sums, n = moments(labelled, rows), int(rows.sum())
    unit = np.eye(len(sums.xy)) * n
    return [solve_symmetric(sums.xx + penalty * unit, sums.xy) for penalty in PENALTIES]


def _predict(x: Floats, coefficients: Floats, fold: Ints) -> Floats:
    """Return systems x units: each unit predicted by the fit to the other folds."""
    return np.stack([(judge_values * coefficients[fold]).sum(axis=1) for judge_values in x])


class _FoldFits(NamedTuple):
    """Fits to all folds but one, and what they predict."""

    predicted: Floats  # systems x units: each labelled unit by the fit to the other folds
    coefficients: Floats  # folds x columns
    factor: Floats  # lambda of each fold, from 0 to 1, tuned on the other folds


def _predict_population(
    scaled: Labelled, fits: _FoldFits, fold: Ints, correlation: float
) -> Prediction:
    """Return the predictions of all units, multiplied by lambda."""
    factor, is_labelled = fits.factor, scaled.is_labelled
    coefficients = fits.coefficients * factor[:, None]
    sums = np.stack([np.bincount(fold, row, len(factor)) for row in scaled.weights])
    totals = sums.sum(axis=1, keepdims=True)
    shares = sums / np.where(totals > 0, totals, 1.0)  # of each system's labels, in each fold
    mean_fit = product(shares, coefficients)
    unlabelled_predictions = (scaled.all_values * mean_fit[:, None]).sum(axis=2)
    predicted_all = np.where(
        is_labelled, _predict(scaled.all_values, coefficients, fold), unlabelled_predictions
    )
    units = np.where(is_labelled, fits.predicted * factor[fold], 0.0)
    means = scaled.means(predicted_all)
    return Prediction(units, predicted_all, means, float(factor.mean()), correlation)


def tuned_factor(labelled: Labelled, rows: Flags) -> float:
    """Return lambda of one judge from the labels in `rows`; 0 for a constant judge."""
    sums = moments(labelled, rows)
    spread = float(sums.xx[0, 0])
    return float(sums.xy[0]) / spread if spread > 0 else 0.0


# ------------------------------------------------------------------ predictions by covariates

BASE, DEVIATION, UNIT_MEAN = range(3)
"""Kinds of columns: the prediction of judges, and a covariate's deviations and unit means."""
LEFT_OUT = float("inf")  # the penalty of columns that are left out
COVARIATE_PENALTIES: tuple[float, ...] = (LEFT_OUT, 3.0, 0.3, 0.03)
BASE_PENALTY = 0.003
FEW_UNITS = 20  # with fewer labelled units, unit means have the largest finite penalty
CONSTANT = 1e-9  # relative spread up to which a column is constant
NEARLY = 1e-12  # relative difference of errors that are equal up to rounding
TINY = 1e-6  # least relative scale of a column without correlation


class Shrinkage(NamedTuple):
    """Penalties of the coefficients of covariates; see `fit_covariates`."""

    by_correlation: bool  # whether columns are multiplied by their correlation first
    deviations: float  # penalty per label of deviations from the mean of the unit
    unit_means: float  # penalty per label of means of the unit


@dataclass(frozen=True, eq=False)
class FoldSums:
    """Weighted sums of columns and labels in each fold, systems x folds."""

    counts: Floats  # numbers of labels
    weights: Floats
    squared: Floats  # sums of squared weights of each system
    first: Floats  # sums of columns, then of labels
    second: Floats  # sums of their products

    @classmethod
    def of(cls, labelled: Labelled, n_folds: int, fold: Ints) -> FoldSums:
        """Return the sums of all folds."""
        is_labelled = labelled.is_labelled
        units = np.flatnonzero(is_labelled.any(axis=0))
        longest = -(-len(units) // n_folds)
        places, filled = np.zeros((n_folds, longest), np.int64), np.zeros((n_folds, longest))
        for k in range(n_folds):
            members = units[fold[units] == k]
            places[k, : len(members)], filled[k, : len(members)] = members, 1.0
        y = np.where(is_labelled, labelled.y, 0.0)
        z = np.concatenate([labelled.x, y[:, :, None]], axis=2)[:, places]
        weights = np.where(is_labelled, labelled.weights, 0.0)[:, places] * filled
        systems, columns = len(z), z.shape[3]
        flat = z.reshape(systems * n_folds, longest, columns)
        weighted = np.ascontiguousarray((flat * weights.reshape(-1, longest, 1)).transpose(0, 2, 1))
        return cls(
            (is_labelled[:, places] * filled).sum(axis=2),
            weights.sum(axis=2),
            (weights * weights).sum(axis=(1, 2)),
            weighted.sum(axis=2).reshape(systems, n_folds, columns),
            product(weighted, flat).reshape(systems, n_folds, columns, columns),
        )

    def moments_without_each(self) -> tuple[Floats, Floats]:
        """Return the moments within systems of all folds but one, and their numbers of labels.

        Moments are folds x columns x columns.
        """
        n_folds = self.counts.shape[1]
        training = [np.arange(n_folds) != fold for fold in range(n_folds)]
        counts, weights, first, second = (
            np.stack([values[:, rows].sum(axis=1) for rows in training], axis=1)
            for values in (self.counts, self.weights, self.first, self.second)
        )
        total = np.where(weights > 0, weights, 1.0)
        means = first / total[:, :, None]
        within = second - first[:, :, :, None] * means[:, :, None, :]
        within = within * (counts / total)[:, :, None, None]
        return exact_sum(within, axis=0), counts.sum(axis=0)

    def total_error(self, coefficients: Floats) -> float:
        """Return the sum over systems of the standard errors of y minus its predictions.

        Errors are those for new units. `coefficients` has a row for each fold.
        """
        signs = np.concatenate([-coefficients, np.ones((len(coefficients), 1))], axis=1)
        squares = ((self.second * signs[:, None, :]).sum(axis=3) * signs).sum(axis=(1, 2))
        sums = (self.first * signs).sum(axis=(1, 2))
        totals = np.maximum(self.weights.sum(axis=1), 1e-300)
        variances = np.maximum(squares - sums * sums / totals, 0.0) / totals
        return _sum(np.sqrt(variances * self.squared / (totals * totals)))

    def factors(self) -> Floats:
        """Return lambda of one column for each fold, tuned on the others, from 0 to 1."""
        sums = self.moments_without_each()[0]
        spread, shared = sums[:, 0, 0], sums[:, 0, 1]
        factors = np.divide(shared, spread, out=np.zeros(len(sums)), where=spread > 0)
        return np.clip(factors, 0.0, 1.0)


def fit_covariates(
    labelled: Labelled, is_unit_mean: Flags, base: Prediction | None
) -> Prediction | None:
    """Return the prediction by judges (`base`) and covariates, or `base` if these do not help.

    What judges leave of a label, Y - g, is predicted by the columns c and by g itself:

        b = argmin sum (Y - g - c b)^2 + n sum_j penalty_j (b_j / s_j)^2

    Deviations from the mean of a unit and unit means have a penalty each; an infinite one leaves
    these columns out. s_j is 1, or proportional to the column's correlation with Y - g. Everything
    is fitted to the other folds. The shrinkage is that with the narrowest intervals by
    cross-validation: the smallest sum over systems of the standard error of what is left.

    Args:
        labelled: labels, and covariates in place of judges.
        is_unit_mean: whether each column has the same value for all systems of a unit.
        base: prediction by judges; None without judges.
    """
    is_labelled = labelled.is_labelled
    values = labelled.x[is_labelled]
    varies = values.std(axis=0) > CONSTANT * np.maximum(1.0, np.abs(values).max(axis=0))
    if not varies.any():
        return base
    kind = np.where(is_unit_mean, UNIT_MEAN, DEVIATION)[varies]
    columns = [labelled.x[:, :, varies], labelled.all_values[:, :, varies]]
    y = labelled.y
    if base is not None:
        kind = np.append(kind, BASE)
        predictions = base.units, base.all_outputs
        columns = [
            np.concatenate([c, p[:, :, None]], axis=2)
            for c, p in zip(columns, predictions, strict=True)
        ]
        y = y - base.units
    means = (labelled.weights * np.where(is_labelled, y, 0.0)).sum(axis=1)
    y = y - (means / np.maximum(labelled.weights.sum(axis=1), 1e-300))[:, None]
    rest = replace(labelled, y=y).with_columns(columns[0], columns[1])
    scaled = _standardise(rest)
    n_folds, fold = _number_folds(is_labelled)
    sums = FoldSums.of(scaled, n_folds, fold)
    training, labels = sums.moments_without_each()
    least, best = sums.total_error(np.zeros((n_folds, len(kind)))) * (1 - NEARLY), None
    for shrinkage in _shrinkages(kind, int(is_labelled.any(axis=0).sum())):
        coefficients = _shrunk_fits(training, labels, kind, shrinkage)
        error = sums.total_error(coefficients)
        if error < least:
            least, best = error, coefficients
    if best is None:
        return base
    predicted = _predict(scaled.x, best, fold)
    column = predicted[:, :, None]
    sums_of_best = FoldSums.of(rest.with_columns(column, column), n_folds, fold)
    fits = _FoldFits(predicted, best, sums_of_best.factors())
    added = _predict_population(scaled, fits, fold, 0.0)
    return _joined(labelled, base, added)


def _shrinkages(kind: Ints, units: int) -> list[Shrinkage]:
    """Return all ways to shrink that use some covariates, the strongest first."""
    none = COVARIATE_PENALTIES[:1]
    deviations = COVARIATE_PENALTIES if (kind == DEVIATION).any() else none
    unit_means = COVARIATE_PENALTIES if (kind == UNIT_MEAN).any() else none
    if units < FEW_UNITS:
        unit_means = unit_means[:2]
    return [
        Shrinkage(by_correlation, deviation, unit_mean)
        for by_correlation in (True, False)
        for deviation in deviations
        for unit_mean in unit_means
        if min(deviation, unit_mean) < LEFT_OUT
    ]


def _shrunk_fits(training: Floats, labels: Floats, kind: Ints, shrinkage: Shrinkage) -> Floats:
    """Return the coefficients of all columns, one row for each fold that is left out.

    `training` and `labels` are those of `FoldSums.moments_without_each`.
    """
    by_kind = np.array([BASE_PENALTY, shrinkage.deviations, shrinkage.unit_means])
    used = np.flatnonzero(by_kind[kind] < LEFT_OUT)
    xx, xy = training[:, used[:, None], used], training[:, used, -1]
    scale = np.ones(xy.shape)
    if shrinkage.by_correlation:
        is_covariate = kind[used] != BASE
        spread = np.maximum(np.diagonal(xx, axis1=1, axis2=2), TINY)
        r = np.abs(xy) / np.sqrt(spread) * is_covariate
        largest = np.maximum(r.max(axis=1, keepdims=True), 1e-300)
        scale = np.where(is_covariate, np.maximum(r / largest, TINY), 1.0)
    penalties = labels[:, None, None] * np.diag(by_kind[kind][used])
    matrices = xx * scale[:, :, None] * scale[:, None, :] + penalties
    coefficients = np.zeros((len(labels), len(kind)))
    coefficients[:, used] = solve_symmetric(matrices, (xy * scale)[:, :, None])[:, :, 0] * scale
    return coefficients


def mean_error(labelled: Labelled, prediction: Prediction | None) -> float:
    """Return the mean standard error of systems for new units; 0 if labels are equal."""
    y = labelled.y if prediction is None else labelled.y - prediction.units
    none = np.zeros((*y.shape, 0))
    sums = FoldSums.of(replace(labelled, y=y, x=none), *_number_folds(labelled.is_labelled))
    return sums.total_error(np.zeros((sums.counts.shape[1], 0))) / len(y)


def _joined(labelled: Labelled, base: Prediction | None, added: Prediction) -> Prediction:
    """Return the sum of two predictions, with its correlation."""
    units, all_outputs = added.units, added.all_outputs
    if base is not None:
        units, all_outputs = base.units + units, base.all_outputs + all_outputs
    column = units[:, :, None]
    correlation = tune_prediction(labelled.with_columns(column, column)).correlation
    means = labelled.means(all_outputs)
    return Prediction(units, all_outputs, means, added.factor, correlation)
