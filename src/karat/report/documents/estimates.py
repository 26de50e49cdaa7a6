"""The report of `estimate`: human scores with and without judges, and where judges are biased."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import isclose, isnan

from karat.estimation.estimate_results import (
    ESTIMATE,
    NOT_TESTED,
    Estimate,
    EstimateDifference,
    EstimateRow,
)
from karat.report.charts.models import (
    Change,
    Estimated,
    Forest,
    Pair,
    PairedIntervals,
    chart_figure,
)
from karat.report.model import (
    Block,
    Cell,
    Column,
    Decimals,
    Document,
    Figure,
    Gallery,
    Table,
    columns,
    is_missing,
    listing,
    metric_label,
    sentence_case,
    several,
    signed,
    span,
)
from karat.stats.significance import SIGNIFICANCE_LEVEL

LITTLE = 0.98
"""Width over that by people alone from which on judges add almost nothing."""

MOST_DIGITS = 6
MOST_NAMED = 4
"""Systems or judges that a sentence names before it counts them."""
_CORRECTED = {
    "holm": " with Holm's correction",
    "bh": " with Benjamini and Hochberg's correction",
    "none": "",
}


def estimate_answer(found: Estimate) -> tuple[str, ...]:
    """Return the best system, its rivals, and what the judges add."""
    told = [] if not found.rows else list(_systems(found))
    return (*told, *_judges(found))


def estimate_basis(found: Estimate) -> str:
    """Return how much was labelled, and what the intervals and verdicts are."""
    if not found.rows:
        return ""
    if found.exact:
        return f"{_labelled(found)}."
    whom = f"the {found.unit}s of the set" if found.finite else f"new {found.unit}s like these"
    sentences = [f"{_labelled(found)}. 95% intervals for {whom}."]
    tested = [one for one in found.differences if one.verdict != NOT_TESTED]
    if tested:
        correction = _CORRECTED.get(str(found.settings["correction"]), "")
        level = _percent(tested[0].confidence)
        sentences.append(
            f"A difference is decided if p < {SIGNIFICANCE_LEVEL}{correction}, that is, if its "
            f"{level} interval excludes 0."
        )
    return " ".join(sentences)


def _percent(confidence: float) -> str:
    """Return a confidence level with two digits of what it leaves out: 95%, 99.958%."""
    alpha = 100 * (1 - confidence)
    exponent = int(f"{alpha:.1e}".partition("e")[2])
    text = f"{100 - alpha:.{max(1 - exponent, 0)}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"


def digits(found: Estimate) -> int:
    """Return the decimals of scores that show two digits of the usual half of an interval."""
    halves = sorted((row.high - row.low) / 2 for row in found.rows if row.high > row.low)
    usual = halves[len(halves) // 2] if halves else 0.1
    power = int(f"{usual:e}".partition("e")[2])
    return min(max(1 - power, 0), MOST_DIGITS)


def ranked_differences(found: Estimate) -> list[EstimateDifference]:
    """Return the differences in the order of the systems, best first."""
    place = {row.system: rank for rank, row in enumerate(found.ranked)}
    return sorted(found.differences, key=lambda one: place[one.system])


def judges(found: Estimate) -> list[str]:
    """Return the names of the judges."""
    return [metric_label(one.judge) for one in found.judges]


def helpers(found: Estimate) -> list[str]:
    """Return what estimates rest on beside labels: judges, and methods of other kinds of sets."""
    methods = sorted({*found.methods.values()} - {ESTIMATE})
    return [*judges(found), *map(sentence_case, methods)]


def named(helpers: Sequence[str]) -> str:
    """Return judges and methods as a sentence names them; many are counted."""
    return listing(helpers) if len(helpers) <= MOST_NAMED else f"{len(helpers)} judges"


# ------------------------------------------------------------------------------------ systems


def _systems(found: Estimate) -> Iterator[str]:
    best, differences = found.ranked[0], ranked_differences(found)
    if found.exact:
        yield _means(found)
        yield f"To ask about new {found.unit}s like these, use --population new."
    elif len(found.rows) == 1:
        yield f"People's score of {best.system} is estimated at {_score(found, best)}."
    elif differences and differences[0].baseline == best.system:
        yield from _leader(found, best)
    else:
        yield f"{_leads(found)}."
        yield from _against(found)


def _means(found: Estimate) -> str:
    """State that nothing was estimated, and the best mean, without a word on significance."""
    score = _score(found, found.ranked[0])
    best = [row.system for row in found.rows if _score(found, row) == score]
    systems = best[0] if len(found.rows) == 1 else "these systems"  # others may have no labels
    labelled = f"Every {found.unit} of {systems} is labelled, so nothing was estimated or tested"
    if len(found.rows) == 1:
        return f"{labelled}: the mean of {best[0]} is {score}."
    verb = "has" if len(best) == 1 else "share"
    return f"{labelled}: {listing(best, MOST_NAMED)} {verb} the best mean, {score}."


def _leader(found: Estimate, best: EstimateRow) -> Iterator[str]:
    """The best system against all others."""
    score, count = _score(found, best), len(found.rows) - 1
    by_verdict, tied = _by_verdict(found), _tied(found)
    beaten, rivals = (by_verdict.get(verdict, []) for verdict in ("worse", "undecided"))
    if len(beaten) == count:
        than = beaten[0] if count == 1 else f"all {count} others"
        yield f"{best.system} is better than {than}: {score}."
    elif len(rivals) == count and len(tied) > 1:
        yield f"{_leads(found)}; no difference is decided."
    elif len(rivals) == count:
        than = rivals[0] if count == 1 else f"any of the {count} others"
        yield (
            f"{best.system} has the best estimate, {score}, but is not shown to be better than "
            f"{than}."
        )
    elif len(beaten) + len(rivals) == count:
        subject = best.system if len(tied) > 1 else "It"
        better = f"{subject} is better than {len(beaten)} of {count} others"
        undecided = f"undecided: {listing(rivals, MOST_NAMED)}"
        yield f"{_leads(found)}. {better}; {undecided}."
    else:
        yield f"{_leads(found)}."
        yield from _against(found)


def _tied(found: Estimate) -> list[str]:
    """Return the systems with the best estimate; differences by rounding alone do not count."""
    best = found.ranked[0].estimate
    return [row.system for row in found.ranked if isclose(row.estimate, best, abs_tol=1e-9)]


def _leads(found: Estimate) -> str:
    """Return which systems have the best estimate, without the full stop."""
    best, tied = found.ranked[0], _tied(found)
    if len(tied) == 1:
        return f"{best.system} has the best estimate: {_score(found, best)}"
    value = f"{best.estimate:,.{digits(found)}f}"
    if len(tied) == len(found.rows):
        everyone = listing(tied) if len(tied) == 2 else f"All {len(tied)} systems"
        return f"{everyone} have the same estimate, {value}"
    return f"{listing(tied, MOST_NAMED)} share the best estimate, {value}"


def _against(found: Estimate) -> Iterator[str]:
    """A sentence that lists the systems by what they are against the baseline."""
    groups = [
        f"{verdict}: {listing(systems, MOST_NAMED)}"
        for verdict, systems in _by_verdict(found).items()
    ]
    if not found.differences:
        yield f"No system was compared: too few {found.unit}s are labelled for two systems."
    else:
        yield f"Against {found.differences[0].baseline}, {'; '.join(groups)}."


def _by_verdict(found: Estimate) -> dict[str, list[str]]:
    """Return the systems of each verdict, best first; some may not have been compared."""
    differences = ranked_differences(found)
    systems = {
        verdict: [one.system for one in differences if one.verdict == verdict]
        for verdict in ("better", "worse", "undecided", NOT_TESTED)
    }
    compared = {name for one in differences for name in (one.system, one.baseline)}
    systems["not compared"] = [row.system for row in found.ranked if row.system not in compared]
    return {verdict: names for verdict, names in systems.items() if names}


def _score(found: Estimate, row: EstimateRow) -> str:
    places = digits(found)
    text = f"{row.estimate:,.{places}f}"
    if isnan(row.low) or isnan(row.high):
        return f"{text} (no interval)"
    return f"{text} {span(row.low, row.high, places)}" if row.high > row.low else text


def _labelled(found: Estimate) -> str:
    """The number of labelled units, over all systems."""
    fewest, most = (pick(row.labels for row in found.rows) for pick in (min, max))
    units = max(row.units for row in found.rows)
    labels = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return f"{labels} of {several(units, found.unit)} labelled"


# ------------------------------------------------------------------------------------- judges


def _judges(found: Estimate) -> Iterator[str]:
    if not found.judges or isnan(found.ratio):
        return
    some = len(found.with_judges) < len(found.rows)
    of = f" of {len(found.with_judges)} of {len(found.rows)} systems" if some else ""
    who = named(judges(found))
    told = f"intervals{of} are {found.ratio:.2f} times as wide as by people alone"
    if found.ratio > LITTLE:
        verb = "adds" if len(found.judges) == 1 else "add"
        yield f"{who} {verb} almost nothing: {told}."
        return
    more = 0 if isnan(found.worth) else round(found.worth)
    labels = several(more, f"more labelled {found.unit}")
    yield f"With {who}, {told}" + (f": worth {labels}." if more else ".")


_VERDICT = f"Better or worse if p < {SIGNIFICANCE_LEVEL}: then the interval excludes 0."
_number = partial(Column, align="right")
_RATIO = "Width of the interval, over that by people alone: below 1, judges help."
_FORM = (
    "Form of the interval: Student's t corrected for skewness; bounded, where many labels are at "
    "an end of the scale; Nuggeteer's, where other runs were judged; or none."
)
_DIFFERENCE_FORM = (
    "Form of the interval: Student's t corrected for skewness; bounded, where at least half of the "
    "labelled units have the same label for both systems; Nuggeteer's; exact, where every unit is "
    "labelled; or none, where the labels show no spread."
)
_BIASED = "How much higher judges rate the system than people do, beside the other systems."
_SYSTEM = Column("system", "System", help="The name of the system.")
_LOW = _number("low", "Low", help="Lower end of the 95% interval.")
_HIGH = _number("high", "High", help="Upper end of the 95% interval.")
_ROWS = (
    _SYSTEM,
    _number("estimate", "Estimate", help="Human score, by people's labels and the judges."),
    *(_LOW, _HIGH),
    _number("people", "People", help="Human score by people's labels alone."),
    _number("people_low", "People low", help="Lower end of the 95% interval by people alone."),
    _number("people_high", "People high", help="Upper end of the 95% interval by people alone."),
    _number("ratio", "Width", 2, help=_RATIO),
    _number("labels", "Labels", help="Units that people labelled.", detail=True),
    _number("units", "Units", readers="programs"),
    _number("more", "To halve", help="Further labelled units that would halve the width."),
    Column("form", "Form", help=_FORM, detail=True),
    *columns("programs", bias="Bias", bias_low="Bias low", bias_high="Bias high"),
)
_BIAS = (
    _SYSTEM,
    _number("bias", "Bias", signed=True, help=_BIASED),
    _number("bias_low", "Low", signed=True, help="Lower end of the 95% interval."),
    _number("bias_high", "High", signed=True, help="Upper end of the 95% interval."),
    Column("side", "Rated", help="How judges rate it where the interval excludes 0."),
)
_DIFFERENCES = (
    _SYSTEM,
    Column("baseline", "Baseline", readers="programs"),
    _number("delta", "Difference", signed=True, help="Estimate minus that of the baseline."),
    _number("low", "Low", signed=True, help="Lower end of the interval, wider by the correction."),
    _number(
        "high", "High", signed=True, help="Upper end of the interval, wider by the correction."
    ),
    _number("p", "p", 4, help="Two-sided p of the difference, corrected.", positive=True),
    _number("labels", "Labels", help="Units that people labelled for both systems.", detail=True),
    Column("form", "Form", help=_DIFFERENCE_FORM, detail=True),
    Column("verdict", "Verdict", help=_VERDICT),
    Column("confidence", "Confidence", readers="programs"),
)
_JUDGES = (
    Column("judge", "Judge", help="A model, a metric, or scores that came with the set."),
    _number("r", "r", 3, help="Pearson's r with people's labels, within systems."),
    _number("ratio", "Width", 2, help="Mean width of intervals with this judge, over people's."),
    _number("missing", "Missing", help="Outputs without a value of this judge."),
    Column("signature", "Signature", readers="programs"),
)
_PLANNED = (
    Column("unit", "Unit", help="The segment or group to label."),
    _number("probability", "Probability", 4, help="Probability with which it was drawn."),
    Column("reason", "Reason", help="Useful: likelier, as its prediction is less sure."),
)


def estimate_document(found: Estimate, command: str) -> Document:
    """Return the answer, the intervals and biases as pictures, and the tables."""
    first, *others = found.signature.split("\n")
    signatures = {"estimate": first, **dict(zip(judges(found), others, strict=False))}
    blocks = (_pictures(found), *_tables(found))
    told = estimate_answer(found), estimate_basis(found)
    title = f"Human scores of {found.name}: {found.dimension}"
    return Document(title, blocks, command, signatures, found.notes, {}, *told)


# ------------------------------------------------------------------------------------- tables


def _tables(found: Estimate) -> Iterator[Table]:
    cells = partial(_cells, places=digits(found))
    rows = [cells(row) for row in found.ranked]
    biased = [cells(row) | {"side": _side(row)} for row in _biased(found)]
    shown = _ROWS if helpers(found) else tuple(map(_alone, _ROWS))
    yield Table("rows", "Systems", shown, rows, open=True)
    if found.differences:
        title = f"Differences from {found.differences[0].baseline}"
        yield Table(
            "differences", title, _DIFFERENCES, [cells(one) for one in ranked_differences(found)]
        )
    if biased:
        title = f"Bias of {named(judges(found))}"
        yield Table("bias", title, _BIAS, biased, readers="people")
    if found.judges:
        yield Table("judges", "Judges", _JUDGES, [one._asdict() for one in found.judges])
    if found.planned:
        title = f"{found.unit.capitalize()}s to label next"
        units = [one._asdict() for one in found.planned]
        yield Table("planned", title, _PLANNED, units, open=True)


def _alone(column: Column) -> Column:
    """A column where there is no judge: people's own scores are the estimates."""
    same = column.key.startswith("people") or column.key == "ratio"
    return replace(column, readers="programs") if same else column


def _cells(row: EstimateRow | EstimateDifference, places: int) -> dict[str, Cell]:
    """The cells of a row; scores and their differences have so many decimals."""
    told: dict[str, Cell] = row._asdict()
    other = {"ratio", "p", "confidence"}
    return {
        key: Decimals(x, places) if isinstance(x, float) and key not in other else x
        for key, x in told.items()
    }


# ----------------------------------------------------------------------------------- pictures


def _pictures(found: Estimate) -> Block:
    """The intervals of all systems, with the biases beside them where there are any."""
    scores = chart_figure(_intervals(found))
    changes = [_change(row, digits(found)) for row in _biased(found)]
    if not changes:
        return scores
    who = named(judges(found))
    verb = "Is" if len(found.judges) == 1 else "Are"
    bias = Forest(
        f"{verb} {who} biased?",
        "as people do",
        changes,
        caption=(
            f"Right of the line: rated higher by {who} than by people, beside other systems. "
            "Hollow dots: undecided."
        ),
        sides=("lower", "higher"),
    )
    title = f"Human scores, and the bias of {who}"
    return Gallery(title, (scores, Figure(bias.title, bias, bias.caption)))


def _intervals(found: Estimate) -> PairedIntervals:
    places, judged = digits(found), bool(helpers(found))
    names = (f"people with {named(helpers(found))}" if judged else "people", "people alone")
    pairs = [
        Pair(
            row.system,
            _estimated((row.estimate, row.low, row.high), places),
            _estimated((row.people, row.people_low, row.people_high), places) if judged else None,
        )
        for row in found.ranked
    ]
    caption = "Dots: means." if found.exact else "Dots: estimates; lines: 95% intervals."
    title = f"Human scores with and without {named(helpers(found))}" if judged else "Human scores"
    title += " (lower is better)" if found.better == "lower" else ""
    return PairedIntervals(title, found.dimension, names, pairs, found.better, caption)


def _estimated(values: tuple[float, float, float], places: int) -> Estimated:
    value, low, high = values
    return Estimated(*values, f"{value:,.{places}f}", span(low, high, places) if high > low else "")


def _biased(found: Estimate) -> list[EstimateRow]:
    """The systems for which the bias of judges is known."""
    return [row for row in found.ranked if found.judges and not is_missing(row.bias_low)]


def _change(row: EstimateRow, places: int) -> Change:
    side = _side(row)
    verdict = "undecided" if side == NOT_TESTED else side
    return Change(
        row.system, row.bias, row.bias_low, row.bias_high, signed(row.bias, places), verdict
    )


def _side(row: EstimateRow) -> str:
    """The words for how judges rate a system, where the interval of the bias excludes 0."""
    if row.bias_low == row.bias_high:
        return NOT_TESTED
    if row.bias_low > 0:
        return "higher than people do"
    return "lower than people do" if row.bias_high < 0 else "undecided"
