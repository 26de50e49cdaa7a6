"""Predictions of human scores by judges: one, with a tuned weight, or several, by regression.

f are the judge's values of all N units of a system, Y people's values of the n units labelled. The
estimate of PPI++ (Angelopoulos, Duchi and Zrnic 2023) is

    theta = lambda mean_N(f) + mean_n(Y - lambda f)

which is right for every lambda; lambda = Cov(Y, f) / Var(f), pooled over systems, makes it most
precise. Several judges are first made one by a regression of Y on their values. The value of a unit
is predicted by a fit that has not seen it (cross-fitting), so that its error is not understated:

    theta = lambda mean over folds k of mean_N(m_k) + mean_n(Y - lambda m_k(unit))

where m_k is the fit to all folds but k, and lambda is tuned on the other folds, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

from karat.arithmetic import product, solve_symmetric
from karat.arrays import Flags, Floats, Ints, np

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
    means: Floats
    """Judges' mean values over the whole population, systems x judges."""
    weights: Floats
    """The weight of each label, m / pi; 0 where there is none."""

    @property
    def known(self) -> Flags:
        """Systems x units: whether there is a label."""
        return ~np.isnan(self.y)


class Prediction(NamedTuple):
    """Predictions of labelled units, systems x units, and of whole populations."""

    units: Floats
    """lambda f, or lambda m; 0 where there is no label."""
    means: Floats
    """Its mean over the population of each system."""
    factor: float
    """lambda."""
    correlation: float
    """Of people's values with the predictions, within systems."""
    slopes: Floats
    """Systems x judges: the change of a prediction with a judge's value, over all fits."""

    def of_values(self, values: Floats, given: Labelled) -> Floats:
        """Return the predictions of any units: systems x units, from judges' values of them.

        With cross-fitting a unit without a label is predicted by the mean of all fits.
        """
        apart = values - given.means[:, None]
        found: Floats = self.means[:, None] + (apart * self.slopes[:, None]).sum(axis=2)
        return found


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
    slopes = np.full((len(units), 1), factor)
    return Prediction(units, factor * given.means[:, 0], factor, float(r), slopes)


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
    centre, scale = given.x[given.known].mean(axis=0), _scale(given)
    x, means = ((values - centre) * scale for values in (given.x, given.means))
    return Labelled(given.y, x, means, given.weights)


def _scale(given: Labelled) -> Floats:
    """Return 1 over the standard deviation of each judge's values; 0 for a constant judge."""
    spread = given.x[given.known].std(axis=0)
    found: Floats = np.divide(1.0, spread, out=np.zeros(len(spread)), where=spread > 0)
    return found


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
    left = Labelled(given.y - predicted, given.x[:, :, :0], given.means[:, :0], given.weights)
    return moments(left, given.known).yy


def _power_tuned(
    given: Labelled, scaled: Labelled, predicted: Floats, coefficients: Floats, fold: Ints
) -> Prediction:
    """Return predictions times lambda, from 0 to 1, each tuned on the other folds."""
    alone = Labelled(given.y, predicted[:, :, None], given.means[:, :1], given.weights)
    factors = [tuned_factor(alone, given.known & (fold != k)) for k in range(len(coefficients))]
    factor = np.clip(factors, 0.0, 1.0)
    slopes = product(_shares(given, fold, len(factor)), coefficients * factor[:, None])
    means = (scaled.means * slopes).sum(axis=1)
    units = np.where(given.known, predicted * factor[fold], 0.0)
    r = tuned(alone).correlation
    return Prediction(units, means, float(factor.mean()), r, slopes * _scale(given))


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
