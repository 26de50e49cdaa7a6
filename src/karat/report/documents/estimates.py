"""The report of `estimate`: human scores with and without judges, and where judges are biased."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isclose, isnan

from karat.estimation.estimate_results import (
    CONTRIBUTION_COLUMNS,
    COVARIATE_COLUMNS,
    DIFFERENCE_COLUMNS,
    ESTIMATE,
    ESTIMATE_COLUMNS,
    JUDGE_COLUMNS,
    NOT_TESTED,
    Estimate,
    EstimateDifference,
    EstimateRow,
    RaterContribution,
    mean_without_nan,
)
from karat.estimation.planning import PLANNED_COLUMNS
from karat.report.charts.models import ChartRow, RowChart, chart_figure
from karat.report.model import (
    Block,
    Document,
    Figure,
    Gallery,
    Table,
    format_count,
    format_interval,
    format_signed,
    join_names,
    metric_label,
    sentence_case,
)
from karat.results import Column, Readers, interval_digits, number
from karat.scoring import SYSTEM
from karat.stats.significance import SIGNIFICANCE_LEVEL

MIN_USELESS_RATIO = 0.98
"""Relative width of intervals at which judges add almost nothing."""

MAX_DIGITS = 6
MAX_NAMED = 4
"""Systems or judges named in a sentence; more are counted."""


def estimate_answer(estimate: Estimate) -> tuple[str, ...]:
    """Return the best system, its rivals, and what the judges add."""
    systems = _system_sentences(estimate) if estimate.rows else ()
    return (*systems, *_helper_sentences(estimate))


def estimate_basis(estimate: Estimate) -> str:
    """Return how much was labelled, and what the intervals and verdicts are."""
    if not estimate.rows:
        return ""
    labels = [row.labels for row in estimate.rows]
    count = f"{min(labels):,} to {max(labels):,}" if min(labels) < max(labels) else f"{labels[0]:,}"
    units = format_count(max(row.units for row in estimate.rows), estimate.unit)
    basis = f"{count} of {units} labelled."
    about_raters = _rater_sentences(estimate)
    if estimate.exact:
        return basis + about_raters
    units = "the {}s of the set" if estimate.finite else "new {}s like these"
    basis += f" 95% intervals for {units.format(estimate.unit)}."
    tested = [difference for difference in estimate.differences if difference.verdict != NOT_TESTED]
    if tested:
        level = tested[0].confidence
        correction = ", corrected for all differences together" if estimate.corrected else ""
        basis += (
            f" A difference is decided if p < {SIGNIFICANCE_LEVEL}{correction}, that is, if its "
            f"{_percent(level)} interval excludes 0."
        )
    return basis + about_raters


def _rater_sentences(estimate: Estimate) -> str:
    """Return whom intervals are for and what raters contribute; empty without several raters."""
    rows = [row for row in estimate.contributions if row.baseline is None]
    if not rows:
        return ""
    numbers = [row.raters for row in rows]
    raters = f"these {numbers[0]} raters"
    if min(numbers) < max(numbers):
        raters = f"the {min(numbers)} to {max(numbers)} raters of each system"
    if estimate.any_raters:
        return (
            f" Intervals and tests are for raters in general, estimated from {raters}: "
            f"{_shares_clause(estimate, 'contribute')}."
        )
    if estimate.exact:
        return f" The scores are those of {raters}; for raters in general, use --raters any."
    return (
        f" Intervals and tests are for {raters}. For raters in general (--raters any), raters "
        f"{_shares_clause(estimate, 'would contribute')}."
    )


def _shares_clause(estimate: Estimate, verb: str) -> str:
    """Return what raters contribute to the variance of scores and differences, on average."""
    rows = estimate.contributions
    scores = [row for row in rows if row.baseline is None]
    differences = [row for row in rows if row.baseline is not None]
    subject = "" if verb != "contribute" else "raters "
    clause = f"{subject}{verb} {_shares_text(scores, estimate.unit, 'of the variance of scores')}"
    if differences:
        clause += f", and {_shares_text(differences, estimate.unit, 'of that of differences')}"
    return clause


def _shares_text(rows: Sequence[RaterContribution], unit: str, of: str) -> str:
    """Return the mean shares of the variance of scores or differences."""
    raters = mean_without_nan([row.rater_share for row in rows])
    units = mean_without_nan([row.unit_share for row in rows])
    if isnan(raters):
        return f"a part {of} that cannot be told from noise"
    text = f"{100 * raters:.0f}% {of}"
    return text if isnan(units) else f"{text} ({unit}s {100 * units:.0f}%)"


def _percent(confidence: float) -> str:
    """Return a confidence level with two digits of what it leaves out: 95%, 99.958%."""
    alpha = 100 * (1 - confidence)
    exponent = int(f"{alpha:.1e}".partition("e")[2])
    text = f"{100 - alpha:.{max(1 - exponent, 0)}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"


def score_places(estimate: Estimate) -> int:
    """Return the decimals of scores that show two digits of the median half interval."""
    halves = sorted((row.high - row.low) / 2 for row in estimate.rows if row.high > row.low)
    usual = halves[len(halves) // 2] if halves else 0.1
    power = int(f"{usual:e}".partition("e")[2])
    return min(max(1 - power, 0), MAX_DIGITS)


def difference_places(estimate: Estimate) -> int:
    """Return the decimals of differences, at which no interval that excludes 0 ends at 0."""
    places = score_places(estimate)
    ends = [(row.low, row.high) for row in estimate.differences]
    return max((interval_digits(*pair, places) for pair in ends), default=places)


def ranked_differences(estimate: Estimate) -> list[EstimateDifference]:
    """Return the differences in the order of the systems, best first."""
    place = {row.system: rank for rank, row in enumerate(estimate.ranked)}
    return sorted(estimate.differences, key=lambda difference: place[difference.system])


def judge_names(estimate: Estimate) -> list[str]:
    """Return the names of the judges."""
    return [metric_label(judge.judge) for judge in estimate.judges]


COVARIATES = "covariates"


def helper_names(estimate: Estimate) -> list[str]:
    """Return what estimates use in addition to labels: judges, covariates and other methods."""
    methods = sorted({*estimate.methods.values()} - {ESTIMATE})
    covariates = [COVARIATES] if estimate.uses_covariates else []
    return [*judge_names(estimate), *covariates, *map(sentence_case, methods)]


def name_helpers(helpers: Sequence[str]) -> str:
    """Join the names of judges, covariates and methods; count judges if they are many."""
    if len(helpers) <= MAX_NAMED:
        return join_names(helpers)
    judges = [name for name in helpers if name != COVARIATES]
    counted = f"{len(judges)} judges"
    return counted if len(judges) == len(helpers) else f"{counted} and {COVARIATES}"


# ------------------------------------------------------------------------------------ systems


def _system_sentences(estimate: Estimate) -> Iterator[str]:
    best, differences = estimate.ranked[0], ranked_differences(estimate)
    if estimate.exact:
        score = _score_text(estimate, best)
        tied = [row.system for row in estimate.rows if _score_text(estimate, row) == score]
        single = len(estimate.rows) == 1
        systems = tied[0] if single else "these systems"  # others may have no labels
        labelled = f"Every {estimate.unit} of {systems} is labelled"
        verb = "has" if len(tied) == 1 else "share"
        means = f"{join_names(tied, MAX_NAMED)} {verb} the best mean, {score}"
        means = f"the mean of {systems} is {score}" if single else means
        yield f"{labelled}, so nothing was estimated or tested: {means}."
        yield f"To ask about new {estimate.unit}s like these, use --population new."
    elif len(estimate.rows) == 1:
        yield f"People's score of {best.system} is estimated at {_score_text(estimate, best)}."
    elif differences and differences[0].baseline == best.system:
        yield from _leader_sentences(estimate, best)
    else:
        yield f"{_lead_clause(estimate)}."
        yield _baseline_sentence(estimate)


def _leader_sentences(estimate: Estimate, best: EstimateRow) -> Iterator[str]:
    """Yield how the best system compares with all others."""
    score, count = _score_text(estimate, best), len(estimate.rows) - 1
    by_verdict, tied = _systems_by_verdict(estimate), _tied_systems(estimate)
    beaten, rivals = (by_verdict.get(verdict, []) for verdict in ("worse", "undecided"))
    if len(beaten) == count:
        than = beaten[0] if count == 1 else f"all {count} others"
        yield f"{best.system} is better than {than}: {score}."
    elif len(rivals) == count and len(tied) > 1:
        yield f"{_lead_clause(estimate)}; no difference is decided."
    elif len(rivals) == count:
        than = rivals[0] if count == 1 else f"any of the {count} others"
        lead = f"{best.system} has the best estimate, {score}"
        yield f"{lead}, but is not shown to be better than {than}."
    elif len(beaten) + len(rivals) == count:
        subject = best.system if len(tied) > 1 else "It"
        better = f"{subject} is better than {len(beaten)} of {count} others"
        undecided = f"undecided: {join_names(rivals, MAX_NAMED)}"
        yield f"{_lead_clause(estimate)}. {better}; {undecided}."
    else:
        yield f"{_lead_clause(estimate)}."
        yield _baseline_sentence(estimate)


def _tied_systems(estimate: Estimate) -> list[str]:
    """Return the systems with the best estimate; differences by rounding alone do not count."""
    best = estimate.ranked[0].estimate
    return [row.system for row in estimate.ranked if isclose(row.estimate, best, abs_tol=1e-9)]


def _lead_clause(estimate: Estimate) -> str:
    """Return which systems have the best estimate, without the full stop."""
    best, tied = estimate.ranked[0], _tied_systems(estimate)
    if len(tied) == 1:
        return f"{best.system} has the best estimate: {_score_text(estimate, best)}"
    value = f"{best.estimate:,.{score_places(estimate)}f}"
    if len(tied) == len(estimate.rows):
        everyone = join_names(tied) if len(tied) == 2 else f"All {len(tied)} systems"
        return f"{everyone} have the same estimate, {value}"
    return f"{join_names(tied, MAX_NAMED)} share the best estimate, {value}"


def _baseline_sentence(estimate: Estimate) -> str:
    if not estimate.differences:
        return f"No system was compared: too few {estimate.unit}s are labelled for two systems."
    groups = [
        f"{verdict}: {join_names(systems, MAX_NAMED)}"
        for verdict, systems in _systems_by_verdict(estimate).items()
    ]
    return f"Against {estimate.differences[0].baseline}, {'; '.join(groups)}."


def _systems_by_verdict(estimate: Estimate) -> dict[str, list[str]]:
    """Return the systems of each verdict, best first; some may not have been compared."""
    systems: dict[str, list[str]] = {
        verdict: [] for verdict in ("better", "worse", "undecided", NOT_TESTED, "not compared")
    }
    differences = ranked_differences(estimate)
    for difference in differences:
        systems[difference.verdict].append(difference.system)
    compared = {name for row in differences for name in (row.system, row.baseline)}
    systems["not compared"] = [row.system for row in estimate.ranked if row.system not in compared]
    return {verdict: names for verdict, names in systems.items() if names}


def _score_text(estimate: Estimate, row: EstimateRow) -> str:
    places = score_places(estimate)
    text = f"{row.estimate:,.{places}f}"
    if isnan(row.low) or isnan(row.high):
        return f"{text} (no interval)"
    return f"{text} {format_interval(row.low, row.high, places)}" if row.high > row.low else text


def _helper_sentences(estimate: Estimate) -> Iterator[str]:
    """Yield how much judges and covariates add."""
    if isnan(estimate.ratio):
        return
    names = judge_names(estimate) + [COVARIATES] * estimate.uses_covariates
    if names:
        yield _width_sentence(estimate, names)
    if estimate.covariates and not estimate.uses_covariates and not estimate.exact:
        only = " only for differences" if estimate.covariates_in_differences else ""
        verb = "are used" if only else "are not used"
        yield f"Covariates of the texts do not make intervals of scores narrower, and {verb}{only}."


def _width_sentence(estimate: Estimate, names: Sequence[str]) -> str:
    """Return how wide intervals are beside those by people alone."""
    n_judged, n_systems = len(estimate.with_judges), len(estimate.rows)
    systems = f" of {n_judged} of {n_systems} systems" if n_judged < n_systems else ""
    helpers = name_helpers(names)
    width = f"intervals{systems} are {estimate.ratio:.2f} times as wide as by people alone"
    if not isnan(estimate.student_ratio):
        width += f" ({estimate.student_ratio:.2f} times as wide as Student's)"
    if estimate.ratio > MIN_USELESS_RATIO:
        verb = "adds" if names != [COVARIATES] and len(names) == 1 else "add"
        subject = sentence_case(helpers) if names == [COVARIATES] else helpers
        return f"{subject} {verb} almost nothing: {width}."
    more = 0 if isnan(estimate.worth) else round(estimate.worth)
    labels = format_count(more, f"more labelled {estimate.unit}")
    return f"With {helpers}, {width}" + (f": worth {labels}." if more else ".")


def _bias_side(row: EstimateRow) -> str:
    """Return how judges rate a system, undecided if the interval of the bias includes 0."""
    if row.bias_low == row.bias_high:
        return NOT_TESTED
    if row.bias_low > 0:
        return "higher than people do"
    return "lower than people do" if row.bias_high < 0 else "undecided"


_BIASED = "How much higher judges rate the system than people do, beside the other systems."
_RATED = "How judges rate it where the interval excludes 0."
_BIAS_COLUMNS = (
    SYSTEM,
    number("bias", "Bias", help=_BIASED, signed=True),
    number("bias_low", "Low", help="Lower end of the 95% interval.", signed=True),
    number("bias_high", "High", help="Upper end of the 95% interval.", signed=True),
    Column("side", "Rated", help=_RATED, value=_bias_side),
)


def estimate_document(estimate: Estimate) -> Document:
    """Return the answer, the intervals and biases as pictures, and the tables."""
    first, *judge_signatures = estimate.signature.split("\n")
    names = judge_names(estimate)
    biased = [row for row in estimate.ranked if estimate.judges and not isnan(row.bias_low)]
    return Document(
        f"Human scores of {estimate.name}: {estimate.dimension}",
        (_pictures(estimate, biased), *_tables(estimate, biased)),
        signatures={"estimate": first, **dict(zip(names, judge_signatures, strict=False))},
        answer=estimate_answer(estimate),
        basis=estimate_basis(estimate),
    )


def _tables(estimate: Estimate, biased: Sequence[EstimateRow]) -> Iterator[Table]:
    places = score_places(estimate)

    def with_digits(columns: Sequence[Column], digits: int = places) -> list[Column]:
        return [replace(c, digits=digits) if c.digits is None else c for c in columns]

    row_columns = with_digits(ESTIMATE_COLUMNS)
    if not helper_names(estimate):  # people's own scores are the estimates
        hidden = {"people", "people_low", "people_high", "ratio"}
        row_columns = [
            replace(c, readers="programs") if c.key in hidden else c for c in row_columns
        ]
    yield Table("rows", "Systems", row_columns, estimate.ranked, open=True)
    if estimate.differences:
        title = f"Differences from {estimate.differences[0].baseline}"
        differences = ranked_differences(estimate)
        columns = with_digits(DIFFERENCE_COLUMNS, difference_places(estimate))
        yield Table("differences", title, columns, differences)
    if biased:
        title = f"Bias of {name_helpers(judge_names(estimate))}"
        yield Table("bias", title, with_digits(_BIAS_COLUMNS), biased, readers="people")
    if estimate.contributions:
        title = "Variance for raters in general, by source"
        readers: Readers = "all" if estimate.any_raters else "programs"
        rows = estimate.contributions
        yield Table("raters", title, CONTRIBUTION_COLUMNS, rows, readers=readers)
    if estimate.judges:
        yield Table("judges", "Judges", JUDGE_COLUMNS, estimate.judges)
    if estimate.covariates and not estimate.exact:
        title = "Covariates of the texts"
        yield Table("covariates", title, COVARIATE_COLUMNS, estimate.covariates)
    if estimate.planned:
        title = f"{estimate.unit.capitalize()}s to label next"
        yield Table("planned", title, PLANNED_COLUMNS, estimate.planned, open=True)


def _pictures(estimate: Estimate, biased: Sequence[EstimateRow]) -> Block:
    """Return the intervals of all systems, with the biases of judges if there are any."""
    places, names = score_places(estimate), helper_names(estimate)
    helpers = name_helpers(names) if names else ""
    rows = []
    for row in estimate.ranked:
        people = _interval_row("", row.people, row.people_low, row.people_high, places)
        main = _interval_row(row.system, row.estimate, row.low, row.high, places)
        rows.append(main._replace(other=people if helpers else None))
    title = f"Human scores with and without {helpers}" if helpers else "Human scores"
    scores = RowChart(
        title + (" (lower is better)" if estimate.better == "lower" else ""),
        estimate.dimension,
        rows,
        "pair",
        caption="Dots: means." if estimate.exact else "Dots: estimates; lines: 95% intervals.",
        names=(f"people with {helpers}" if helpers else "people", "people alone"),
        better=estimate.better,
    )
    if not biased:
        return chart_figure(scores)
    judges = name_helpers(judge_names(estimate))
    changes = []
    for row in biased:
        side, text = _bias_side(row), format_signed(row.bias, places)
        verdict = "undecided" if side == NOT_TESTED else side
        changes.append(ChartRow(row.system, row.bias, row.bias_low, row.bias_high, text, verdict))
    title = f"{'Is' if len(estimate.judges) == 1 else 'Are'} {judges} biased?"
    bias = RowChart(title, "as people do", changes, "difference", names=("lower", "higher"))
    caption = (
        f"Right of the line: rated higher by {judges} than by people, beside other systems. Hollow "
        "dots: undecided."
    )
    figures = chart_figure(scores), Figure(title, bias, caption)
    return Gallery(f"Human scores, and the bias of {judges}", figures)


def _interval_row(label: str, value: float, low: float, high: float, places: int) -> ChartRow:
    reach = format_interval(low, high, places) if high > low else ""
    return ChartRow(label, value, low, high, f"{value:,.{places}f}", reach)
