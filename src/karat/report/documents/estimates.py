"""The report of `estimate`: human scores with and without judges, and where judges are biased."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from karat.estimation.estimate_results import (
    NOT_TESTED,
    Estimate,
    EstimateDifference,
    EstimateRow,
)
from karat.report.answers.estimates import (
    digits,
    estimate_answer,
    estimate_basis,
    helpers,
    judges,
    named,
    ranked_differences,
)
from karat.report.charts.figures import chart_figure
from karat.report.charts.forest import Change, Forest
from karat.report.charts.paired import Estimated, Pair, PairedIntervals
from karat.report.model.cells import is_missing
from karat.report.model.phrases import signed, span
from karat.report.model.table import (
    Block,
    Cell,
    Column,
    Decimals,
    Document,
    Figure,
    Gallery,
    Table,
    columns,
)
from karat.stats.significance import SIGNIFICANCE_LEVEL

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
