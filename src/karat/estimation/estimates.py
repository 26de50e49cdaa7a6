"""`estimate`: human scores of systems, estimated from some labels and from judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import nan
from typing import Any, NamedTuple, TypeAlias

from karat.arrays import np
from karat.errors import InputError, quoted
from karat.estimation.covariates import covariate_names, make_covariates, texts_of
from karat.estimation.estimate_results import (
    NOT_TESTED,
    CovariateUse,
    CovariateWorth,
    Estimate,
    EstimateDifference,
    EstimateRow,
    JudgeWorth,
    RaterContribution,
    mean_without_nan,
    notes_of,
)
from karat.estimation.evalset_samples import make_sample
from karat.estimation.planning import plan_draws, plan_units
from karat.estimation.samples import Sample, judge_values
from karat.estimation.settings import EstimateSettings
from karat.estimation.system_estimates import (
    EstimatedDifference,
    EstimatedScore,
    add_covariates,
    covariates_change_differences,
    difference_prediction,
    estimate_difference,
    estimate_system,
    fit_sample_covariates,
    judge_bias,
    labels_to_halve,
    predict_by_judges,
    student_width,
)
from karat.evalset.catalogue import SET_KINDS
from karat.evalset.draws import Draw
from karat.evalset.loading import SetSource, as_evalset
from karat.metrics.base import Metric
from karat.progress import Progress, silent
from karat.registry import load
from karat.settings import check_settings
from karat.stats.estimates import MeanInterval, PointEstimate
from karat.stats.population import Prediction, mean_error, tune_prediction
from karat.stats.raters import ANY, THESE
from karat.stats.significance import verdict
from karat.stats.simultaneous import SIMULTANEOUS, SingleStep
from karat.storage.digests import data_digest

MIN_LABELS = 10  # labelled units below which nothing is estimated
FindDifference: TypeAlias = Callable[[str, str], EstimatedDifference | None]
"""From the names of two systems to their difference; None if it cannot be estimated."""


def estimate(
    source: SetSource,
    dimension: str | None = EstimateSettings.dimension,
    judges: Sequence[str | Metric] | str | Metric = EstimateSettings.judges,
    *,
    population: str = EstimateSettings.population,
    unit: str = EstimateSettings.unit,
    draws: Sequence[Draw] | None = None,
    raters: str = EstimateSettings.raters,
    baseline: str | None = EstimateSettings.baseline,
    correction: str = EstimateSettings.correction,
    covariates: str | Sequence[str] = EstimateSettings.covariates,
    exclude: Iterable[str] = (),
    normalise: str = EstimateSettings.normalise,
    next: int = EstimateSettings.next,
    seed: int = EstimateSettings.seed,
    threads: int | None = None,
    progress: Progress = silent,
    **settings: Any,
) -> Estimate:
    """Estimate the human scores of systems from some labels and the values of judges.

    Args:
        source: an evaluation set, its name or path, the path of a table, a frame, or a set of
            another registered kind.
        dimension: dimension that people judged; it may be left out if there is one.
        judges: models that judged the set, scores that come with it, or metrics; by default the
            models that judged it.
        population: `set` for the segments of the set, `new` for new segments like these.
        unit: what was drawn for labelling: `segment`, `group` or `auto`.
        draws: how units were drawn; by default as the set says, else at random.
        raters: whom intervals and tests are for: `these` raters, or `any`, for raters in general.
        baseline: system to compare the others with; by default the one with the best estimate.
        correction: `simultaneous` corrects p and intervals of differences for their number; `none`.
        covariates: `auto` for all covariates that the texts allow, `none`, or their names.
        exclude: systems to leave out.
        normalise: `z` scales the labels of each judge to mean 0 and standard deviation 1.
        next: number of units to draw for labelling next, with random numbers of `seed`.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
        settings: further settings of the kind of set.
    """
    judge_names = _as_list("judges", judges, "judges or metrics")
    excluded = _as_list("exclude", exclude, "systems")
    options: dict[str, Any] = {"population": population, "unit": unit, "correction": correction}
    covariates = covariate_names(covariates)
    EstimateSettings(
        dimension=dimension, raters=raters, normalise=normalise, next=next, seed=seed, **options
    )
    is_listed = isinstance(draws, list | tuple) and all(isinstance(draw, Draw) for draw in draws)
    if draws is not None and not is_listed:
        raise InputError(f"draws={quoted(draws)}: expected a list of karat.Draw")
    if type(source).__name__ in SET_KINDS:
        estimate_kind = load(SET_KINDS[type(source).__name__].estimate)
        if normalise != "none":
            raise InputError(f"normalise={normalise}: only ratings of an evaluation set are scaled")
        if raters != THESE:
            raise InputError(
                f"raters={raters}: only ratings of an evaluation set can be generalized to other "
                "raters: leave it out"
            )
        options |= {"draws": draws, "baseline": baseline, "next": next, "seed": seed}
        options["covariates"] = covariates
        check_settings(estimate, [estimate_kind], settings)
        result: Estimate = estimate_kind(
            source, dimension, judge_names, excluded, progress=progress, **options, **settings
        )
        return result
    check_settings(estimate, [], settings)
    evalset = as_evalset(source, progress).without(*excluded)
    name = _choose_dimension(evalset, dimension)
    values = judge_values(evalset, judge_names or evalset.model_judges, name, threads, progress)
    columns = make_covariates(texts_of(evalset), covariates)
    sample = make_sample(evalset, name, values, unit, draws, normalise, columns.values)
    worths = [(judge.missing, judge.signature) for judge in values]
    options |= {"normalise": normalise, "dimension": name, "judges": sample.judges, "seed": seed}
    options["covariates"] = sample.covariates
    options["baseline"] = baseline or "best"
    if raters != THESE:  # signatures state it only where it is asked for
        options["raters"] = raters
    result = estimate_sample(sample, worths, baseline, next, options)
    return replace(result, notes=(*result.notes, *columns.notes))


def _as_list(name: str, value: Any, kind: str) -> list[Any]:
    """Return one name or several as a list."""
    if isinstance(value, str | Metric):
        return [value]
    if not isinstance(value, Iterable):
        raise InputError(f"{name}={quoted(value)}: expected names of {kind}")
    return list(value)


def _choose_dimension(evalset: Any, dimension: str | None) -> str:
    if dimension is not None:
        return str(evalset.chosen_dimensions((dimension,), differences=True)[0])
    names = evalset.chosen_dimensions()
    if len(names) > 1:
        listed = ", ".join(names)
        raise InputError(f"{evalset.name} has the dimensions {listed}: name one with --dimension")
    return str(names[0])


def estimate_sample(
    sample: Sample,
    worths: Sequence[tuple[int, str]],
    baseline: str | None,
    next: int,
    settings: Mapping[str, Any],
) -> Estimate:
    """Return the estimates of a sample; `worths` has the missing values and signature of judges."""
    if baseline is not None and baseline not in sample.systems:
        listed = ", ".join(sample.systems)
        raise InputError(f"{sample.name} has no system {quoted(baseline)} (it has {listed})")
    raters = settings.get("raters", THESE)
    data = sample.digest if raters == THESE else data_digest([sample.digest, sample.ratings.digest])
    sample, dropped = _select_labelled(sample)
    if baseline is not None and baseline not in sample.systems:
        problem = f"baseline {quoted(baseline)} has fewer than {MIN_LABELS} labels"
        raise InputError(f"{problem}: name another")
    check_judges(sample)
    finite = settings["population"] == "set"
    by_judges = predict_by_judges(sample)
    prediction = add_covariates(sample, by_judges)
    count = range(len(sample.systems))
    people = [estimate_system(sample, k, None, finite, raters) for k in count]
    with_judges = [estimate_system(sample, k, prediction, finite, raters) for k in count]
    bias = list(judge_bias(sample, by_judges, finite))
    is_complete = [finite and sample.wholly(k, sample.labelled(k)) for k in count]
    further_labels = map(labels_to_halve, with_judges, is_complete)
    by_difference = difference_prediction(sample, by_judges)
    scale, find = sample.scale, sample_differences(sample, by_difference, finite, raters)
    students = [nan if raters == ANY else student_width(sample, k, finite) for k in count]
    columns = zip(people, with_judges, bias, further_labels, students, strict=True)
    rows = tuple(
        _estimate_row(system, scale.sign, *values)
        for system, values in zip(sample.systems, columns, strict=True)
    )
    compared = differences(rows, find, baseline, settings["correction"], scale.sign)
    planned = plan_units(sample, prediction, next, settings["seed"]) if next else ()
    uses_covariates = prediction is not by_judges
    has_both = bool(compared.rows and sample.covariates)
    in_differences = has_both and covariates_change_differences(sample, by_judges, by_difference)
    use = CovariateUse(uses_covariates, in_differences)
    notes = notes_of(sample, rows, worths, by_judges, finite, raters, use)
    return Estimate(
        name=sample.name,
        dimension=sample.dimension,
        rows=rows,
        differences=compared.rows,
        judges=tuple(_judge_worths(sample, worths, people, finite, raters)),
        planned=planned,
        unit=sample.unit,
        better="higher" if scale.sign > 0 else "lower",
        ends=(scale.low, scale.high),
        settings=settings,
        notes=(*notes, *dropped, *compared.notes),
        draws=plan_draws(sample, planned) if planned else (),
        data=data,
        contributions=tuple(_rater_contributions(sample, with_judges, compared.rows, find)),
        covariates=tuple(_covariate_worths(sample, by_judges)),
        uses_covariates=use.in_scores,
        covariates_in_differences=use.in_differences,
    )


def _rater_contributions(
    sample: Sample,
    scores: Sequence[EstimatedScore],
    compared: Sequence[EstimateDifference],
    find: FindDifference,
) -> Iterable[RaterContribution]:
    """Yield what raters contribute to scores and differences, where several raters are known."""
    for system, score in zip(sample.systems, scores, strict=True):
        if score.effect:
            yield RaterContribution.of(system, None, score.effect)
    for row in compared:
        difference = find(row.system, row.baseline)
        if difference and difference.effect:
            yield RaterContribution.of(row.system, row.baseline, difference.effect)


def _select_labelled(sample: Sample) -> tuple[Sample, list[str]]:
    """Return the sample of systems with enough labels, and a note on the others."""
    counts = sample.is_labelled.sum(axis=1)
    enough, minimum = counts >= MIN_LABELS, f"{MIN_LABELS} labelled {sample.unit}s"
    if not enough.any():
        raise InputError(
            f"{sample.name}: no system has {minimum} for {quoted(sample.dimension)} (the most is "
            f"{int(counts.max(initial=0))}): label at least {MIN_LABELS}"
        )
    if enough.all():
        return sample, []
    left_out = [sample.systems[k] for k in np.flatnonzero(~enough)]
    note = f"Left out, with fewer than {minimum}: {', '.join(left_out)}."
    return sample.select(np.flatnonzero(enough)), [note]


def check_judges(sample: Sample) -> None:
    """Raise if a judge gives every output the same value."""
    for j, name in enumerate(sample.judges):
        values = sample.all_values[:, :, j][sample.present]
        if float(np.ptp(values)) == 0:
            raise InputError(
                f"judge {quoted(name)} gives every output the same value: it cannot help; leave it "
                "out"
            )


def _estimate_row(
    system: str,
    sign: int,
    people: EstimatedScore,
    with_judges: EstimatedScore,
    bias: MeanInterval,
    labels_to_halve: int | None,
    student_width: float,
) -> EstimateRow:
    intervals = people.interval, with_judges.interval, bias
    alone, combined, bias_interval = (_to_original_scale(i, sign) for i in intervals)
    ratio = combined.width / alone.width if alone.width > 0 else nan
    counts = with_judges.labels, with_judges.units, with_judges.form, labels_to_halve
    scores = *alone[:3], *combined[:3]
    student_ratio = combined.width / student_width if student_width > 0 else nan
    biases = bias_interval[:3]
    return EstimateRow._make((system, *scores, ratio, *counts, *biases, student_ratio))


def _to_original_scale(interval: MeanInterval, sign: int) -> MeanInterval:
    """Return the interval on the scale of the labels, where lower may be better."""
    mean, low, high, error = interval
    return interval if sign > 0 else MeanInterval(0.0 - mean, 0.0 - high, 0.0 - low, error)


def sample_differences(
    sample: Sample, by_difference: Prediction | None, finite: bool, raters: str = THESE
) -> FindDifference:
    """Return the function that estimates the difference of two systems of a sample.

    `by_difference` is the `difference_prediction`. The function returns None if fewer than
    `MIN_LABELS` units are labelled for both.
    """

    @cache
    def find(system: str, other: str) -> EstimatedDifference | None:
        pair = sample.systems.index(system), sample.systems.index(other)
        difference = estimate_difference(sample, pair, by_difference, finite, raters)
        return difference if difference and difference.labels >= MIN_LABELS else None

    return find


class ComparedSystems(NamedTuple):
    """Differences of systems from a baseline, and notes on their correction."""

    rows: tuple[EstimateDifference, ...]
    notes: tuple[str, ...] = ()


def differences(
    rows: Sequence[EstimateRow],
    find: FindDifference,
    baseline: str | None,
    correction: str,
    sign: int = 1,
) -> ComparedSystems:
    """Compare every system with the baseline.

    Without a baseline, the best system is used; the correction is then for all pairs of systems.
    """
    if len(rows) < 2:
        return ComparedSystems(())
    names = [row.system for row in rows]
    first = baseline or max(rows, key=lambda row: sign * row.estimate).system
    rivals = [name for name in names if name != first]
    from_first = {name: find(name, first) for name in rivals}
    compared = {name: row for name, row in from_first.items() if row is not None}
    tested = list(compared.values())
    if baseline is None and correction == SIMULTANEOUS:  # the data chose it among all pairs
        other_pairs = (find(a, b) for i, a in enumerate(rivals) for b in rivals[:i])
        tested += [difference for difference in other_pairs if difference is not None]
    single_step, notes = _correct(tested, correction)
    rows_of_pairs = []
    for name, difference in compared.items():
        interval = difference.intervals.interval(single_step.level)
        p = single_step.corrected(difference.intervals.p_value())
        decision = verdict(p, (interval.low, interval.high), difference.units)
        if interval.width == 0:
            decision = NOT_TESTED
        delta, low, high, _ = _to_original_scale(interval, sign)
        values = delta, low, high, p, difference.labels, decision, difference.form
        rows_of_pairs.append(EstimateDifference(name, first, *values, 1 - single_step.level))
    return ComparedSystems(tuple(rows_of_pairs), notes)


def _correct(
    differences: Sequence[EstimatedDifference], correction: str
) -> tuple[SingleStep, tuple[str, ...]]:
    """Return the correction for these differences, and a note if it is Bonferroni's."""
    tested = [row for row in differences if not isinstance(row.intervals, PointEstimate)]
    if correction != SIMULTANEOUS or len(tested) < 2:
        return SingleStep(1), ()
    influences = [row.influence for row in tested if row.influence is not None]
    all_influences = np.array(influences) if len(influences) == len(tested) else None
    single_step = SingleStep(len(tested), all_influences, min(row.freedom for row in tested))
    if single_step.is_joint:
        return single_step, ()
    reason = "how they move together is not known" if all_influences is None else "they are many"
    note = (
        f"The {len(tested):,} tests of differences have Bonferroni's correction, which is the most "
        f"careful one, since {reason}."
    )
    return single_step, (note,)


def _judge_worths(
    sample: Sample,
    judge_info: Sequence[tuple[int, str]],
    people: Sequence[EstimatedScore],
    finite: bool,
    raters: str,
) -> Iterable[JudgeWorth]:
    """Yield how useful each judge is by itself."""
    for j, (missing, signature) in enumerate(judge_info):
        alone = sample.only(j)
        prediction = tune_prediction(alone.values())
        ratios = []
        for k, by_people in enumerate(people):
            width = estimate_system(alone, k, prediction, finite, raters).interval.width
            if by_people.interval.width > 0:
                ratios.append(width / by_people.interval.width)
        ratio = mean_without_nan(ratios)
        yield JudgeWorth(sample.judges[j], prediction.correlation, ratio, missing, signature)


def _covariate_worths(sample: Sample, by_judges: Prediction | None) -> Iterable[CovariateWorth]:
    """Yield how useful each covariate is by itself, and beside judges and other covariates."""
    labelled = sample.by_judges.values()
    by_people = mean_error(labelled, None)
    combined = mean_error(labelled, fit_sample_covariates(sample, by_judges)) or nan
    for j, name in enumerate(sample.covariates):
        alone = tune_prediction(sample.by_covariates.only(j).values())
        rest = fit_sample_covariates(sample.without_covariate(j), by_judges)
        ratios = (
            mean_error(labelled, alone) / (by_people or nan),
            mean_error(labelled, rest) / combined,
        )
        yield CovariateWorth(name, alone.correlation, *ratios)
