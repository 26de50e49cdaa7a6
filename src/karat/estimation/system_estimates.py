"""The estimated human score of each system: from labels alone, and from labels and judges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, fsum, isnan, nan, sqrt
from typing import NamedTuple

from karat.arrays import Flags, Floats, Ints, np
from karat.estimation.samples import Sample
from karat.stats.distributions import student_quantile
from karat.stats.estimates import (
    ALPHA,
    MAX_BOUNDED_LABELS,
    IntervalFamily,
    MeanInterval,
    PointEstimate,
    StudentIntervals,
    bounded_intervals,
    skewed_intervals,
    spread_over_units,
)
from karat.stats.population import (
    Design,
    Expansion,
    Prediction,
    cross_fit,
    estimate_mean,
    fit_covariates,
    tune_prediction,
    tuned_factor,
    unit_shares,
)
from karat.stats.raters import ANY, THESE, RaterSpread, RaterVariance, VarianceParts, rater_spread

STUDENT, BOUNDED, EXACT, NONE = "student", "bounded", "exact", "none"
"""Forms of intervals: Student's corrected for skewness, bounded by the ends of the scale, the value
itself if all units are labelled, and no interval."""
AT_END = 0.25  # use the bounded interval of a score at or above this share of labels at an end
ALIKE = 0.5  # use the bounded interval of a difference at or above this share of equal labels


class RaterEffect(NamedTuple):
    """The part of raters in the variance of an estimate, for raters in general."""

    raters: int
    fixed_variance: float  # for these raters
    general_variance: float  # for raters in general
    parts: VarianceParts  # of the variance for raters in general
    freedom: float  # Satterthwaite's degrees of freedom of that variance


class EstimatedScore(NamedTuple):
    """The estimate of a mean, and the form of its interval."""

    interval: MeanInterval
    form: str
    labels: int  # number of labelled units
    units: int  # number of units
    effect: RaterEffect | None = None  # None if fewer than two raters are known
    fixed: float = 0.0  # share of the variance that more units would not make smaller


def predict(sample: Sample) -> Prediction | None:
    """Return predictions by judges and covariates; None without either."""
    return add_covariates(sample, predict_by_judges(sample))


def add_covariates(sample: Sample, by_judges: Prediction | None) -> Prediction | None:
    """Return predictions by judges and covariates, or those by judges if they are no worse.

    Covariates are used only if they make the intervals of scores narrower on average.
    """
    by_both = fit_sample_covariates(sample, by_judges)
    if by_both is by_judges or _total_width(sample, by_both) < _total_width(sample, by_judges):
        return by_both
    return by_judges


def fit_sample_covariates(sample: Sample, by_judges: Prediction | None) -> Prediction | None:
    """Return predictions by judges and covariates, chosen by cross-validation."""
    if not sample.covariates:
        return by_judges
    columns = sample.by_covariates
    split = columns.with_means()
    is_unit_mean = np.arange(len(split.judges)) >= len(columns.judges)
    if len(sample.systems) == 1:
        is_unit_mean[:] = True
    return fit_covariates(split.values(), is_unit_mean, by_judges)


def predict_by_judges(sample: Sample) -> Prediction | None:
    """Return predictions by the judges of a sample alone; None without judges."""
    if not sample.judges:
        return None
    if len(sample.judges) == 1:
        return tune_prediction(sample.values())
    return cross_fit(sample.by_judges.with_means().values())


def _total_width(sample: Sample, prediction: Prediction | None) -> float:
    """Return the sum of the widths of the scores' intervals, for the units of the set."""
    scores = (estimate_system(sample, k, prediction, True) for k in range(len(sample.systems)))
    widths = (score.interval.width for score in scores)
    return fsum(width for width in widths if not isnan(width))


def estimate_system(
    sample: Sample, system: int, prediction: Prediction | None, finite: bool, raters: str = THESE
) -> EstimatedScore:
    """Return the estimate of a system's score; without a prediction, from labels alone.

    `raters` says whom intervals are for: these raters, or raters in general (any).
    """
    units, population = sample.labelled(system), sample.population(system)
    design, y = sample.design_of(system), sample.y[system, units]
    guess, guesses = np.zeros(len(units)), np.zeros(len(population))
    shift = more = 0.0
    if prediction is not None:
        guess, guesses = prediction.units[system, units], prediction.all_outputs[system, population]
        shift = float(prediction.means[system])
        more = 0.0 if finite else _new_units_variance(guess, len(population))
    bounds, ends = None, sample.scale.ends
    if ends is not None:
        at_ends = [(y == end).mean() for end in ends]
        if sample.at_ends is not None:
            at_ends = sample.at_ends[system].tolist()
        crowded = [share >= AT_END for share in at_ends]
        if any(crowded) or np.ptp(y) == 0:
            least, most = _extremes(guess, guesses, design.sizes[population])
            mean = float(guess.mean())
            bounds = (
                ends[0] - (most if crowded[0] else mean),
                ends[1] - (least if crowded[1] else mean),
            )
    fixed = finite and sample.wholly(system, units)
    labelled = LabelledUnits(design, units, population, y, guess, fixed, more)
    shares = unit_shares(units, design, population)
    ratings = sample.ratings.weighted(system, units, shares, guess)
    spread = None if ratings is None else rater_spread(ratings)
    family, form = labelled.intervals(bounds, spread, raters)
    interval = family.shifted(shift).interval().within(*sample.scale.turned)
    effect = labelled.rater_effect(spread)
    by_raters = effect.parts.shares.raters if effect and raters == ANY else 0.0
    constant = 0.0 if isnan(by_raters) else by_raters
    return EstimatedScore(interval, form, len(units), len(population), effect, constant)


def student_width(sample: Sample, system: int, finite: bool) -> float:
    """Return the width of Student's plain interval of a score by people alone; NaN without one."""
    units, population = sample.labelled(system), sample.population(system)
    values = sample.y[system, units]
    expansion = estimate_mean(values, units, sample.design_of(system), population)
    if expansion.freedom < 1:
        return nan
    error = expansion.error(finite and sample.wholly(system, units))
    return 2 * student_quantile(ALPHA / 2, expansion.freedom) * error


def _new_units_variance(guess: Floats, units: int) -> float:
    """Return lambda^2 Var(f) / N, the variance that new units would add."""
    return float(guess.var(ddof=1)) / units if len(guess) > 1 else 0.0


def _extremes(guess: Floats, guesses: Floats, sizes: Floats) -> tuple[float, float]:
    """Return the lowest and the highest prediction of an output that the sample may have missed.

    Outputs at a crowded end of the scale may have predictions far from it. If none of them was
    labelled, an average prediction would put them out of reach. A labelled unit represents 1 / n of
    all units, so the results are the means of the most extreme 1 / n of the predictions.

    `guess` has the predictions of labelled units; `guesses` and `sizes` are those of all units.
    """
    mean, share = float(guess.mean()), 1 / len(guess)
    lowest, highest = _lowest_mean(guesses, sizes, share), -_lowest_mean(-guesses, sizes, share)
    return min(lowest, mean), max(highest, mean)


def _lowest_mean(values: Floats, sizes: Floats, share: float) -> float:
    """Return the mean of the lowest values that make up a share of the sizes."""
    order = np.argsort(values, kind="stable")
    values, sizes = values[order], sizes[order]
    room = share * float(sizes.sum()) - (np.cumsum(sizes) - sizes)
    weights = np.clip(room, 0.0, sizes)
    return float((weights * values).sum() / weights.sum())


@dataclass(frozen=True, eq=False)
class LabelledUnits:
    """Labels of units minus their predictions, whose mean is estimated."""

    design: Design
    units: Ints
    population: Ints
    y: Floats  # label of each of `units`
    guess: Floats  # prediction of each of `units`
    finite: bool  # True for the mean of the finite population
    more: float  # variance that new units add to the mean prediction

    @cached_property
    def expansion(self) -> Expansion:
        """The mean over the population, and its deviations."""
        return estimate_mean(self.y - self.guess, self.units, self.design, self.population)

    @property
    def complete(self) -> bool:
        """True if every unit of the population is labelled, so that its mean is known."""
        return self.finite and len(self.units) == len(self.population)

    def intervals(
        self, bounds: tuple[float, float] | None, spread: RaterSpread | None, raters: str
    ) -> tuple[IntervalFamily, str]:
        """Return the intervals of the mean label minus its prediction, and their form.

        `bounds` are for the bounded form, `spread` and `raters` for raters in general.
        """
        expansion, mean = self.expansion, self.expansion.mean
        more, freedom, bounded_freedom = self.more, None, None
        if raters == ANY:
            if spread is None or not spread.identified:
                return PointEstimate(mean, nan), NONE
            variance = self._generalize(spread)
            more, freedom = more + variance.added, variance.freedom
            bounded_freedom = spread.freedoms.raters
        if self.complete and raters == THESE:
            return PointEstimate(mean, 0.0), EXACT
        if self.complete and freedom and more > 0:
            return StudentIntervals(mean, sqrt(more), freedom), STUDENT
        equal = float(np.ptp(self.y)) == 0  # equal labels have no spread
        if (
            bounds is not None
            and not self.complete
            and (equal or len(self.units) <= MAX_BOUNDED_LABELS)
        ):
            weights = self.design.weights(self.units, len(self.population))
            values, finite = self.y - self.guess, self.finite
            return (
                bounded_intervals(
                    values, weights, bounds, expansion, finite, more, bounded_freedom
                ),
                BOUNDED,
            )
        if equal or self.complete:
            return PointEstimate(mean, nan), NONE
        return skewed_intervals(expansion, self.finite, more, freedom), STUDENT

    @property
    def influence(self) -> Floats:
        """The influence of each of `units`; its sum of squares is the variance for these raters.

        For new units, a second half has that of the predictions.
        """
        expansion, n = self.expansion, len(self.units)
        z = expansion.deviations if self.finite else expansion.plain
        labels: Floats = z / sqrt(n * max(expansion.freedom, 1))
        if not self.more > 0:
            return np.append(labels, np.zeros(n))
        guesses = self.guess - float(self.guess.mean())
        return np.append(labels, guesses / sqrt((n - 1) * len(self.population)))

    @property
    def _sampling_variance(self) -> float:
        """The variance for these raters, without that of the mean prediction."""
        if self.complete:
            return 0.0
        error = self.expansion.error(self.finite)
        return error * error

    def _generalize(self, spread: RaterSpread) -> RaterVariance:
        fraction = 1.0 if self.complete else self.expansion.fraction if self.finite else 0.0
        return spread.generalize(self._sampling_variance, fraction, self.more)

    def rater_effect(self, spread: RaterSpread | None) -> RaterEffect | None:
        """Return what raters contribute; None if fewer than two are known."""
        if spread is None or not spread.identified:
            return None
        variance, fixed = self._generalize(spread), self._sampling_variance + self.more
        general = fixed + variance.added
        return RaterEffect(spread.raters, fixed, general, variance.parts, variance.freedom)


class EstimatedDifference(NamedTuple):
    """The difference of two systems, from the units labelled for both."""

    intervals: IntervalFamily
    form: str
    labels: int
    units: int  # number of units behind the intervals
    effect: RaterEffect | None = None  # None if fewer than two raters are known
    influence: Floats | None = None
    """The influence of every unit on the labels and on the predictions; None if it is unknown."""
    freedom: int = 1  # degrees of freedom of the sample


def difference_prediction(sample: Sample, by_judges: Prediction | None) -> Prediction | None:
    """Return predictions of differences by judges and covariates; None without either.

    lambda of judges is tuned to differences of systems within units. Covariates count by what they
    differ between the systems of a unit.
    """
    has_label = sample.is_labelled
    apart = np.where(has_label, _less_unit_means(sample.y, has_label), np.nan)
    base = None
    if by_judges is not None:
        column = _less_unit_means(by_judges.units, has_label)[:, :, None]
        labelled = sample.values(np.zeros(0, np.int64)).with_columns(column, column)
        base = by_judges.times(tuned_factor(replace(labelled, y=apart), has_label))
    if not sample.covariates or len(sample.systems) < 2:
        return base
    covariates = replace(sample.by_covariates.values(), y=apart)
    if sample.compared:  # values are relative to other systems already
        return fit_covariates(covariates, np.zeros(len(sample.covariates), np.bool_), base)
    x = _less_unit_means(covariates.x, has_label[:, :, None])
    x_all = _less_unit_means(covariates.all_values, sample.present[:, :, None])
    if base is not None:
        units = _less_unit_means(base.units, has_label)
        all_outputs = _less_unit_means(base.all_outputs, sample.present)
        base = base._replace(units=units, all_outputs=all_outputs)
    is_unit_mean = np.zeros(len(sample.covariates), np.bool_)
    return fit_covariates(covariates.with_columns(x, x_all), is_unit_mean, base)


def covariates_change_differences(
    sample: Sample, by_judges: Prediction | None, by_difference: Prediction | None
) -> bool:
    """Return whether `by_difference`, the `difference_prediction`, uses covariates."""
    alone = difference_prediction(sample.by_judges, by_judges)
    if alone is None or by_difference is None:
        return by_difference is not alone
    has_label = sample.is_labelled
    both, without = (_less_unit_means(p.units, has_label) for p in (by_difference, alone))
    return bool(np.abs(both - without).max() > CHANGED * np.abs(both).max())


def _less_unit_means(values: Floats, is_counted: Flags) -> Floats:
    """Return values minus the mean of their unit over the systems that count; 0 elsewhere."""
    counted = np.where(is_counted, values, 0.0)
    means = counted.sum(axis=0) / np.maximum(is_counted.sum(axis=0), 1)
    return np.where(is_counted, counted - means, 0.0)


def estimate_difference(
    sample: Sample,
    pair: tuple[int, int],
    prediction: Prediction | None,
    finite: bool,
    raters: str = THESE,
) -> EstimatedDifference | None:
    """Return the first system's score minus the second's; None without two common labels.

    `raters` says whom intervals are for: these raters, or raters in general (any).
    """
    a, b = pair
    first, second = sample.is_labelled[a], sample.is_labelled[b]
    units = np.flatnonzero(first | second if sample.compared else first & second)
    population = np.flatnonzero(sample.present[a] & sample.present[b])
    if len(units) < 2:
        return None
    design, y = sample.design_of(a, b), _unit_differences(sample, units, pair, sample.y)
    guess, shift, more = np.zeros(len(units)), 0.0, 0.0
    if prediction is not None:
        guess = _unit_differences(sample, units, pair, prediction.units)
        guesses = prediction.all_outputs[a, population] - prediction.all_outputs[b, population]
        shift = float((guesses * design.sizes[population]).sum() / design.sizes[population].sum())
        more = 0.0 if finite else _new_units_variance(guess, len(population))
    bounds, ends = None, sample.scale.ends
    if ends is not None and (float((y == 0).mean()) >= ALIKE or np.ptp(y) == 0):
        width, mean = ends[1] - ends[0], float(guess.mean())
        bounds = -width - mean, width - mean
    fixed = finite and sample.wholly(a, units) and sample.wholly(b, units)
    labelled = LabelledUnits(design, units, population, y, guess, fixed, more)
    spread = None
    if not sample.ratings.unknown:
        shares = unit_shares(units, design, population)
        first_ratings = sample.ratings.weighted(a, units, shares, guess)
        second_ratings = sample.ratings.weighted(b, units, shares, np.zeros(len(units)))
        if first_ratings is not None:
            spread = rater_spread(first_ratings, second_ratings)
    family, form = labelled.intervals(bounds, spread, raters)
    effect = labelled.rater_effect(spread)
    influence = None
    if raters == THESE:
        of_all_units = np.zeros((2, len(sample.units)))
        of_all_units[:, units] = labelled.influence.reshape(2, -1)
        influence = of_all_units.ravel()
    return EstimatedDifference(
        *(family.shifted(shift), form, len(units), len(units), effect),
        *(influence, max(labelled.expansion.freedom, 1)),
    )


def _unit_differences(sample: Sample, units: Ints, pair: tuple[int, int], values: Floats) -> Floats:
    """Return the first system's values of units minus the second's."""
    if not sample.compared:
        difference: Floats = values[pair[0], units] - values[pair[1], units]
        return difference
    weights = sample.design.weights(units, len(sample.population(pair[0])))
    first, second = (
        spread_over_units(values[k, units[labelled_units]], labelled_units, weights)
        for k in pair
        for labelled_units in [np.flatnonzero(sample.is_labelled[k, units])]
    )
    return first - second


def labels_to_halve(score: EstimatedScore, finite: bool) -> int | None:
    """Return how many more labels would halve the width of the interval; None if none would.

    The variance is proportional to 1/n - 1/N, for new units to 1/n, except for the part of raters.
    """
    n, n_units = score.labels, score.units
    if isnan(score.interval.width) or n == 0 or (finite and n >= n_units):
        return None
    left = (0.25 - score.fixed) / (1 - score.fixed) if score.fixed < 0.25 else 0.0
    if not left > 0:
        return None
    if not finite:
        needed = ceil(n / left - 1e-9)
        return needed - n if needed <= n_units else None
    needed = ceil(1 / (1 / n_units + (1 / n - 1 / n_units) * left) - 1e-9)
    return max(needed - n, 0)


def labels_worth(ratio: float, labels: int, units: int, finite: bool) -> float:
    """Return how many labels a judge replaces; NaN if the ratio is NaN or 0.

    Intervals from labels alone would need that many more labels to be as narrow as those with the
    judge. `ratio` is the width with the judge divided by the width from labels alone.
    """
    if not ratio > 0:
        return nan
    if not finite:
        return labels / (ratio * ratio) - labels
    return 1 / (1 / units + ratio * ratio * (1 / labels - 1 / units)) - labels


MIN_BIAS_SYSTEMS = 3  # with fewer systems, bias and the scale of the judge look the same
CHANGED = 1e-9  # relative size of a change of predictions that is not rounding
_NO_BIAS = MeanInterval(nan, nan, nan, nan)


def judge_bias(
    sample: Sample, prediction: Prediction | None, finite: bool
) -> Iterator[MeanInterval]:
    """Yield by how much judges rate each system higher than people do, relative to other systems.

    Judges' values are put on the scale of the labels by the line that best fits the means of
    systems. lambda would not do: it shrinks an imprecise judge, which would then seem to favour bad
    systems.
    """
    if prediction is None or len(sample.systems) < MIN_BIAS_SYSTEMS:
        yield from [_NO_BIAS] * len(sample.systems)
        return
    shared = sample.is_labelled & (sample.is_labelled.sum(axis=0) > 1)
    if sample.compared:  # shares are relative to other systems already
        guess, y = prediction.units, np.where(shared, sample.y - 0.5, 0.0)
    else:
        guess, y = _less_unit_means(prediction.units, shared), _less_unit_means(sample.y, shared)
    count = np.maximum(shared.sum(axis=1), 1)
    x, means = guess.sum(axis=1) / count, y.sum(axis=1) / count
    spread = float((x * x).sum())
    slope = float((x * means).sum()) / spread if spread > 0 else 0.0
    if slope * prediction.factor < 0:  # the judge reverses the order of systems
        slope = 0.0
    for k, units in enumerate(map(np.flatnonzero, shared)):
        if len(units) < 2:
            yield _NO_BIAS
            continue
        gap = slope * guess[k, units] - y[k, units]
        expansion = estimate_mean(gap, units, sample.design_of(k), sample.population(k))
        yield skewed_intervals(expansion, finite).interval()
