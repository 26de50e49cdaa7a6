"""Results of `estimate`: human scores of systems, their differences, and the use of each judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan, sqrt
from typing import NamedTuple

from karat import __version__
from karat.arrays import Flags, np
from karat.estimation.planning import PlannedUnit
from karat.estimation.samples import Sample
from karat.estimation.system_estimates import BOUNDED, EXACT, NONE, RaterEffect, labels_worth
from karat.evalset.draws import Draw
from karat.results import Column, Result, number, program_columns
from karat.scoring import SYSTEM
from karat.stats.estimates import LEVEL
from karat.stats.population import Prediction
from karat.stats.raters import ANY, MIN_RATERS, THESE
from karat.stats.significance import SIGNIFICANCE_LEVEL

NOT_TESTED = "not tested"  # verdict on a difference that is known, as every unit is labelled
ESTIMATE = "estimate"  # the method that uses labels and judges


class EstimateRow(NamedTuple):
    """The human score of a system: from labels alone, and from labels and judges."""

    system: str
    people: float
    people_low: float
    people_high: float
    estimate: float
    low: float
    high: float
    ratio: float
    labels: int
    units: int  # all units
    form: str  # student, bounded, exact or none; `nuggeteer` for nuggets
    more: int | None
    bias: float  # how much higher judges rate it than people do, relative to other systems
    bias_low: float
    bias_high: float
    student_ratio: float = nan  # width over that of Student's plain interval by people alone


_RATIO = "Width of the interval, over that by people alone: below 1, judges or covariates help."
_FORM = (
    "Form of the interval: Student's t corrected for skewness; bounded, where many labels are at "
    "an end of the scale; Nuggeteer's, where other runs were judged; or none."
)
ESTIMATE_COLUMNS = (
    SYSTEM,
    number("estimate", "Estimate", help="Human score, by people's labels and the judges."),
    number("low", "Low", help="Lower end of the 95% interval."),
    number("high", "High", help="Upper end of the 95% interval."),
    number("people", "People", help="Human score by people's labels alone."),
    number("people_low", "People low", help="Lower end of the 95% interval by people alone."),
    number("people_high", "People high", help="Upper end of the 95% interval by people alone."),
    number("ratio", "Width", 2, _RATIO),
    number("labels", "Labels", help="Units that people labelled.", detail=True),
    *program_columns("units"),
    number("more", "To halve", help="Further labelled units that would halve the width."),
    Column("form", "Form", help=_FORM, detail=True),
    *program_columns("bias", "bias_low", "bias_high", "student_ratio"),
)


class EstimateDifference(NamedTuple):
    """A system against the baseline; the interval excludes 0 exactly if p is significant."""

    system: str
    baseline: str
    delta: float
    low: float
    high: float
    p: float  # NaN if nothing was tested
    labels: int
    verdict: str  # `better`, `worse`, `undecided`, or `not tested` where every unit is labelled
    form: str  # student, bounded, exact or none; `nuggeteer` for nuggets
    confidence: float  # the confidence level of the interval, by the correction: 0.95 without one


_VERDICT = f"Better or worse if p < {SIGNIFICANCE_LEVEL}: then the interval excludes 0."
_DIFFERENCE_FORM = (
    "Form of the interval: Student's t corrected for skewness; bounded, where at least half of the "
    "labelled units have the same label for both systems; Nuggeteer's; exact, where every unit is "
    "labelled; or none, where the labels show no spread."
)
DIFFERENCE_COLUMNS = (
    SYSTEM,
    *program_columns("baseline"),
    number("delta", "Difference", help="Estimate minus that of the baseline.", signed=True),
    number("low", "Low", help="Lower end of the interval, wider by the correction.", signed=True),
    number("high", "High", help="Upper end of the interval, wider by the correction.", signed=True),
    number("p", "p", 4, "Two-sided p of the difference, corrected.", positive=True),
    number("labels", "Labels", help="Units that people labelled for both systems.", detail=True),
    Column("form", "Form", help=_DIFFERENCE_FORM, detail=True),
    Column("verdict", "Verdict", help=_VERDICT),
    *program_columns("confidence"),
)


class RaterContribution(NamedTuple):
    """The part of raters in the variance of a score, or of a difference from the baseline."""

    system: str
    baseline: str | None  # None for the score of a system
    raters: int
    unit_share: float  # shares of the variance for raters in general; NaN is part of another
    rater_share: float
    rest_share: float
    error_these: float  # standard error for these raters
    error_any: float  # standard error for raters in general
    freedom: float  # Satterthwaite's degrees of freedom of the latter

    @classmethod
    def of(cls, system: str, baseline: str | None, effect: RaterEffect) -> RaterContribution:
        """Return the row of a score or a difference."""
        errors = sqrt(effect.fixed_variance), sqrt(effect.general_variance)
        return cls(system, baseline, effect.raters, *effect.parts.shares, *errors, effect.freedom)


_UNIT_SHARE = (
    "Share of the variance from the units that were labelled: 0 if all are, and with the rest if "
    "every unit has one rater."
)
CONTRIBUTION_COLUMNS = (
    SYSTEM,
    Column("baseline", "Against", help="Baseline of a difference; empty for the score itself."),
    number("raters", "Raters", help="Raters who rated the system, or either of two systems."),
    number("rater_share", "By raters", 2, "Share of the variance from differences of raters."),
    number("unit_share", "By units", 2, _UNIT_SHARE),
    number("rest_share", "Rest", 2, "Share of raters' taste for single units, and of noise."),
    number("error_these", "Error, these", 3, "Standard error for these raters."),
    number("error_any", "Error, any", 3, "Standard error for raters in general."),
    number("freedom", "Freedom", 1, "Degrees of freedom of the error for raters in general."),
)


class JudgeWorth(NamedTuple):
    """A judge: its agreement with the labels, and the intervals that it gives by itself."""

    judge: str
    r: float
    ratio: float
    missing: int
    signature: str


JUDGE_COLUMNS = (
    Column("judge", "Judge", help="A model, a metric, or scores that came with the set."),
    number("r", "r", 3, "Pearson's r with people's labels, within systems."),
    number("ratio", "Width", 2, "Mean width of intervals with this judge, over people's."),
    number("missing", "Missing", help="Outputs without a value of this judge."),
    *program_columns("signature"),
)


class CovariateUse(NamedTuple):
    """Whether covariates are used for scores and for differences."""

    in_scores: bool = False
    in_differences: bool = False


UNUSED = CovariateUse()


class CovariateWorth(NamedTuple):
    """A covariate: its agreement with the labels, and what it does for standard errors."""

    covariate: str
    r: float
    alone: float  # mean standard error with it alone, over that by people alone
    without: float  # mean standard error if it is left out, over that with all of them


_ALONE = "Mean standard error with this covariate and no judge, over people's."
_WITHOUT = "Mean standard error without it, over that with all: above 1, it adds something."
COVARIATE_COLUMNS = (
    Column("covariate", "Covariate", help="What is measured in texts."),
    number("r", "r", 3, "Pearson's r with people's labels, within systems."),
    number("alone", "Alone", 2, _ALONE),
    number("without", "Without", 2, _WITHOUT),
)


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Result):
    """Human scores of systems (`rows`), their differences, and the use of each judge."""

    name: str
    dimension: str
    rows: tuple[EstimateRow, ...]
    differences: tuple[EstimateDifference, ...]
    judges: tuple[JudgeWorth, ...]
    planned: tuple[PlannedUnit, ...]  # units to label next, if requested
    unit: str
    better: str  # the better direction of scores: higher or lower
    ends: tuple[float | None, float | None]  # ends of the scale, if known
    settings: Mapping[str, object]
    notes: tuple[str, ...] = ()
    draws: tuple[Draw, ...] = ()  # all draws so far, and those of the plan
    methods: Mapping[str, str] = field(default_factory=dict)  # by system, if methods differ
    data: str = ""  # digest of labels, judges' values and draws
    contributions: tuple[RaterContribution, ...] = ()  # where several raters are known
    covariates: tuple[CovariateWorth, ...] = ()
    uses_covariates: bool = False  # in scores: False if they do not make intervals narrower
    covariates_in_differences: bool = False

    @property
    def any_raters(self) -> bool:
        """True if intervals and tests are for raters in general."""
        return self.settings.get("raters", THESE) == ANY

    @property
    def corrected(self) -> bool:
        """True if differences are corrected for their number."""
        return any(row.confidence > LEVEL + 1e-9 for row in self.differences)

    @property
    def finite(self) -> bool:
        """True if scores are those of the set, not of new units."""
        return self.settings["population"] == "set"

    @property
    def exact(self) -> bool:
        """True if every unit is labelled, so that scores are means and not estimates."""
        return bool(self.rows) and all(row.form == EXACT for row in self.rows)

    @property
    def ranked(self) -> list[EstimateRow]:
        """The rows, best first."""
        sign = -1 if self.better == "higher" else 1
        return sorted(self.rows, key=lambda row: sign * row.estimate)

    @property
    def with_judges(self) -> list[EstimateRow]:
        """The rows that are based on labels and judges, not on another method."""
        return [row for row in self.rows if self.methods.get(row.system, ESTIMATE) == ESTIMATE]

    @property
    def ratio(self) -> float:
        """Mean width of intervals with judges divided by that without; NaN without intervals."""
        return mean_without_nan([row.ratio for row in self.with_judges])

    @property
    def student_ratio(self) -> float:
        """Mean width over that of Student's plain interval by people alone."""
        return mean_without_nan([row.student_ratio for row in self.with_judges])

    @property
    def worth(self) -> float:
        """Number of further labels that would be worth as much as the judges; NaN if undefined.

        For raters in general it is: no number of labels removes the differences between raters.
        """
        if self.any_raters:
            return nan
        rows, finite = self.with_judges, self.finite
        return mean_without_nan(
            [labels_worth(row.ratio, row.labels, row.units, finite) for row in rows]
        )

    @property
    def signature(self) -> str:
        """All settings that affect the numbers, and a digest of the data."""
        joined = {
            k: "+".join(map(str, v)) if isinstance(v, tuple) else v
            for k, v in self.settings.items()
        }
        settings = ",".join(f"{name}={value}" for name, value in joined.items())
        judges = "\n".join(judge.signature for judge in self.judges)
        method = f"estimate:{settings}|data={self.data}|karat={__version__}"
        return method + (f"\n{judges}" if judges else "")


def mean_without_nan(values: Sequence[float]) -> float:
    """Return the mean of the values that are not NaN; NaN if there are none."""
    numbers = [value for value in values if not isnan(value)]
    return sum(numbers) / len(numbers) if numbers else nan


FEW_RATERS = 5  # with fewer raters, a note warns that intervals for raters in general are rough
FAR = 3.3  # standard errors between labelled and other units at which a note warns


def notes_of(
    sample: Sample,
    rows: Sequence[EstimateRow],
    worths: Sequence[tuple[int, str]],
    by_judges: Prediction | None,
    finite: bool,
    raters: str = THESE,
    use: CovariateUse = UNUSED,
) -> Iterator[str]:
    """Yield the notes on estimates."""
    yield from sample.notes
    yield from _sampling_notes(sample, finite)
    bounded = [row.system for row in rows if row.form == BOUNDED]
    if bounded:
        yield (
            f"For {len(bounded)} of {len(rows)} systems, at least a quarter of the labels are at "
            "one end of the scale, or all labels are equal: their intervals have the bounded form, "
            "which allows for values that were not seen."
        )
    without = [row.system for row in rows if row.form == NONE]
    if raters == ANY:
        yield from _notes_on_raters(sample, without)
    elif without:
        yield (
            f"No interval for {', '.join(without)}: all labels are equal, and the ends of the "
            "scale are not known."
        )
    for name, (missing, _) in zip(sample.judges, worths, strict=True):
        if missing:
            yield (
                f"{name} has no value for {missing:,} outputs: the mean of its values for the "
                "system is used instead."
            )
    if by_judges is None:
        if use.in_scores:
            yield "No judge was named: estimates are those of people and covariates."
        elif use.in_differences:
            yield (
                "No judge was named: scores are those of people alone, and differences those of "
                "people and covariates."
            )
        elif not rows or any(row.form != EXACT for row in rows):
            yield "No judge was named: estimates are those of people alone."
    elif by_judges.correlation < 0:
        yield "Warning: higher values of the judge go with lower labels. Is its direction right?"


def _notes_on_raters(sample: Sample, without: Sequence[str]) -> Iterator[str]:
    """State why systems have no interval for raters in general, and warn of few raters."""
    fewest = min((n for n in sample.ratings.numbers if n >= MIN_RATERS), default=FEW_RATERS)
    if fewest < FEW_RATERS:
        yield (
            f"{fewest} raters show little of how raters differ, so intervals are wide and "
            f"approximate: use {FEW_RATERS} raters or more."
        )
    if not without:
        return
    if sample.ratings.unknown:
        reason = sample.ratings.unknown
    else:
        numbers = dict(zip(sample.systems, sample.ratings.numbers, strict=True))
        single = [name for name in without if numbers[name] < MIN_RATERS]
        reason = "all labels are equal"
        if single:
            reason = "one rater does not show how raters differ"
        if single and len(single) < len(without):
            reason += ", or all labels are equal"
    yield (
        f"No interval for {', '.join(without)} for raters in general: {reason}. Leave out --raters "
        "any for intervals that are for these raters."
    )


def _sampling_notes(sample: Sample, finite: bool) -> Iterator[str]:
    """State how units were drawn, and warn if they do not look random."""
    labelled: Flags = np.asarray(sample.is_labelled.any(axis=0))
    n, total = int(labelled.sum()), len(labelled)
    if sample.partly is not None and sample.partly.any():
        units = int(sample.partly.any(axis=0).sum())
        if sample.compared:
            yield (
                f"People compared only some pairs of systems on {units:,} {sample.unit}s: these "
                "pairs are taken as drawn at random, and intervals are as wide as for new "
                f"{sample.unit}s."
            )
        elif finite:
            yield (
                f"Only some segments of {units:,} {sample.unit}s are labelled: intervals treat no "
                f"{sample.unit} as fully known and are slightly too wide."
            )
    has_draws = not np.isnan(sample.design.probability[labelled]).all()
    if n == total or has_draws:
        return
    yield (
        f"Labels are taken as drawn at random, {n:,} of {total:,} {sample.unit}s: no draws were "
        "given."
    )
    if labelled[:n].all() or labelled[total - n :].all():
        position = "first" if labelled[:n].all() else "last"
        yield (
            f"Warning: the labelled {sample.unit}s are the {position} {n:,} of the set. If they "
            "were not drawn at random, estimates and intervals can be wrong."
        )
    count = np.maximum(sample.present.sum(axis=0), 1)
    for j, name in enumerate(sample.judges):
        values = np.where(sample.present, sample.all_values[:, :, j], 0.0).sum(axis=0) / count
        sides = values[labelled], values[~labelled]
        if min(map(len, sides)) < 2:
            continue
        error = sqrt(sum(float(side.var(ddof=1)) / len(side) for side in sides))
        mean, other_mean = (float(side.mean()) for side in sides)
        if error > 0 and abs(mean - other_mean) > FAR * error:
            yield (
                f"Warning: {name} rates the labelled {sample.unit}s "
                f"{'higher' if mean > other_mean else 'lower'} than the others "
                f"({mean:.4g} against {other_mean:.4g}, {abs(mean - other_mean) / error:.1f} "
                "standard errors): they may not have been drawn at random."
            )
