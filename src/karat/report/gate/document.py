"""The report of `gate`: the verdict, the metrics, the guards, the items that lost most."""

from __future__ import annotations

from dataclasses import replace

from karat.gating.decisions import GateRow
from karat.gating.gates import GateResult
from karat.gating.guards import Change, GuardRow
from karat.gating.items import Measure
from karat.report.charts.figures import intervals_figure
from karat.report.charts.models import Interval
from karat.report.model.table import Cell, Column, Decimals, Document, Figure, Table

_SIGNED = "Score minus baseline, signed so that a loss is negative."
_ROWS = (
    Column("metric", "Metric", help="The metric's name; its full signature stands below."),
    Column("verdict", "Verdict", help="pass, fail, or undecided: the items cannot tell."),
    Column("delta", "Delta", align="right", signed=True, help=_SIGNED),
    Column("low", "Low", align="right", signed=True, help="Lower end of its 95% interval."),
    Column("high", "High", align="right", signed=True, help="Upper end of its 95% interval."),
    Column("max_drop", "Max drop", align="right", help="The tolerated loss."),
    Column("baseline", "Baseline", align="right", help="The baseline's score."),
    Column("score", "Score", align="right", help="The run's score."),
    Column(
        "decided_by",
        "Items needed",
        align="right",
        help="If undecided: an estimate of how many items like these would decide.",
    ),
)
_GUARDS = (
    Column("guard", "Guard", help="A limit that holds whatever the intervals say."),
    Column("verdict", "Verdict", help="pass or fail."),
    Column("metric", "Metric", help="The metric of the limit."),
    Column("limit", "Limit", align="right", help="The limit."),
    Column("found", "Found", align="right", help="The score, the largest loss, or what was lost."),
    Column("items", "Items", align="right", help="Items that break the limit."),
    Column("item", "Worst item", help="The item that breaks it most."),
    Column("lost", "Lost", help="What was lost, by item.", wrap=True),
)
_CHANGES = (
    Column("item", "Item", help="The number of the segment, from 1, or its id."),
    Column("delta", "Delta", align="right", signed=True, help=_SIGNED),
    Column("text", "Text", help="The reference and the outputs.", wrap=True, readers="people"),
    Column("baseline", "Baseline", align="right", help="The baseline's score there."),
    Column("score", "Score", align="right", help="The run's score there."),
    Column("reference", "Reference", readers="programs"),
    Column("output", "Output", readers="programs"),
    Column("baseline_output", "Baseline's output", readers="programs"),
)
_NUMBERS = ("baseline", "score", "delta", "low", "high", "max_drop")


def gate_document(result: GateResult, command: str) -> Document:
    """Return the verdict with its tables."""
    title = f"Gate: {result.verdict}"
    about = tuple(f"{sentence}." for sentence in result.sentences)
    rows = tuple(map(_row_cells, result.rows))
    blocks: list[Table | Figure] = [Table("rows", title, _ROWS, rows, notes=about)]
    if result.guards:
        blocks.append(Table("guards", "Guards", _GUARDS, tuple(map(_guard_cells, result.guards))))
    if result.changes:
        metric = next(row.metric for row in result.rows if str(row.metric) == result.changes_by)
        changes = tuple(_change_cells(one, metric) for one in result.changes)
        name = f"Items that lost most by {metric.of_segments()}"
        blocks.append(Table("changes", name, _CHANGES, changes))
    blocks += [_figure(result, m) for m in dict.fromkeys(row.metric for row in result.rows)]
    answer = ({"verdict": result.verdict},)
    blocks.append(Table("answer", "", (Column("verdict", "Verdict"),), answer, readers="programs"))
    return Document(title, tuple(blocks), command, result.signatures, result.notes)


def _row_cells(row: GateRow) -> dict[str, Cell]:
    numbers = {name: _decimals(row.metric, getattr(row, name)) for name in _NUMBERS}
    return {**row._asdict(), **numbers, "metric": str(row.metric)}


def _guard_cells(row: GuardRow) -> dict[str, Cell]:
    numbers: dict[str, Cell] = {"limit": row.limit, "found": row.found}
    if row.metric is not None:
        numbers = {name: _decimals(row.metric, getattr(row, name)) for name in numbers}
    metric = None if row.metric is None else str(row.metric)
    return {**row._asdict(), **numbers, "metric": metric, "lost": row.lost or None}


def _change_cells(change: Change, metric: Measure) -> dict[str, Cell]:
    texts = {"reference": change.reference, "baseline": change.baseline_output}
    texts["output"] = change.output
    shown = "\n".join(f"{name}: {text}" for name, text in texts.items() if text is not None)
    numbers = {name: _decimals(metric, getattr(change, name)) for name in _NUMBERS[:3]}
    return {**change._asdict(), **numbers, "text": shown}


def _figure(result: GateResult, metric: Measure) -> Figure:
    rows = [row for row in result.rows if row.metric == metric]
    items = [Interval(result.system, row.delta, row.low, row.high) for row in rows]
    title = f"Difference from the baseline by {metric}"
    figure = intervals_figure(title, f"difference in {metric}", items, -rows[0].max_drop)
    return replace(figure, caption="Dashed: the tolerated drop.")


def _decimals(metric: Measure, value: float) -> Decimals:
    return Decimals(value, 2 if metric.full_scale > 10 else 4)
