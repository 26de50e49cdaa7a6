"""The slices of a comparison: sentences, pictures and a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from karat.comparison import Comparison
from karat.report.charts.models import ChartRow, RowChart, difference_span
from karat.report.model import (
    MAX_LISTED,
    MAX_SENTENCES,
    Figure,
    Gallery,
    Table,
    format_count,
    format_difference,
    format_interval,
    format_signed,
    join_names,
    metric_label,
    score_digits,
)
from karat.results import interval_digits, people_column
from karat.score_settings import LENGTH
from karat.scoring import row_digits
from karat.slices import SLICE_COLUMNS, SliceRow
from karat.stats.significance import BETTER, WORSE

MAX_OPEN_PANELS = 6
"""Pictures beyond this number are folded up on pages."""


# ---------------------------------------------------------------------------------- sentences


def slice_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield a sentence for each system, losses first; or counts if there are many systems."""
    if comparison.slicing is None:
        return
    rows, base = comparison.slices, comparison.baseline
    if not any(row.verdict for row in rows):
        unit, needed = comparison.unit_text, min(row.min_units for row in rows)
        yield f"No slice has enough {unit}s for a verdict: at least {needed} are needed."
        return
    systems = list(dict.fromkeys(row.system for row in rows))
    losing = [name for name in systems if _rows(rows, name, WORSE)]
    if len(losing) > MAX_SENTENCES:
        count = f"{len(losing)} of {len(systems)} systems are"
        yield f"{count} worse than {base} on at least one slice: {join_names(losing)}."
    else:
        for name in losing:
            worse = _list_slices(comparison, _rows(rows, name, WORSE), with_numbers=True)
            better_rows = _rows(rows, name, BETTER)
            better = _list_slices(comparison, better_rows, with_numbers=False)
            yield f"{name} is worse than {base} {worse}{f', but better {better}' * bool(better)}."
    winning = [name for name in systems if name not in losing and _rows(rows, name, BETTER)]
    if len(winning) > MAX_SENTENCES:
        count = f"{len(winning)} of {len(systems)} systems are"
        names = join_names(winning)
        yield f"{count} better than {base} on at least one slice, and worse on none: {names}."
    else:
        for name in winning:
            better = _list_slices(comparison, _rows(rows, name, BETTER), with_numbers=False)
            yield f"{name} is better than {base} {better}, and worse on no slice."
    undecided = [name for name in systems if name not in losing and name not in winning]
    if undecided:
        yield f"No slice tells {join_names(undecided)} and {base} apart."


def _rows(rows: Sequence[SliceRow], system: str, verdict: str) -> list[SliceRow]:
    return [row for row in rows if row.system == system and row.verdict == verdict]


def _list_slices(comparison: Comparison, rows: Sequence[SliceRow], *, with_numbers: bool) -> str:
    """Return the slices with the metrics that decide: `on long segments by BLEU -1.2 [-2.0, -0.4]`.

    Slices with the same text are listed together. There are no numbers if they are too many.
    """
    text_of = _difference_text if with_numbers and len(rows) <= MAX_LISTED else _label
    labels_by: dict[str, list[str]] = {}
    for label, slice_rows in groupby(rows, key=lambda row: row.slice):
        labels_by.setdefault(join_names([text_of(row) for row in slice_rows]), []).append(label)
    return "; ".join(
        f"{_slice_phrase(comparison, labels)} by {metrics}" for metrics, labels in labels_by.items()
    )


def _label(row: SliceRow) -> str:
    return metric_label(row.metric)


def _slice_phrase(comparison: Comparison, labels: Sequence[str]) -> str:
    """Return `on long segments`, or `in domain news`."""
    if comparison.slicing == LENGTH:
        return f"on {join_names(labels)} segments"
    return f"in {comparison.slicing} {join_names(labels)}"


def _difference_text(row: SliceRow) -> str:
    digits = score_digits(row.metric)
    if row.delta_low is None or row.delta_high is None:
        return f"{_label(row)} {format_signed(row.delta, digits)}"
    ends = row.delta_low, row.delta_high
    return f"{_label(row)} {format_difference(row.delta, ends, digits)}"


# -------------------------------------------------------------------------- pictures and table


def slice_figures(comparison: Comparison) -> list[Figure | Gallery]:
    """Return the differences by slice as a picture; empty if no slice has a verdict."""
    panels = _panels(comparison)
    if not panels:
        return []
    title = f"Differences from {comparison.baseline} by {comparison.slicing}"
    caption = "Dots: differences; lines: 95% intervals. Right of the dashed line is better."
    if any(row.verdict is None for row in comparison.slices):
        caption += " Slices with too few units are not drawn."
    if len(panels) == 1:
        return [Figure(title, panels[0], caption)]
    figures = tuple(Figure(panel.title, panel) for panel in panels)
    return [Gallery(title, figures, caption, folded=len(panels) > MAX_OPEN_PANELS)]


def _panels(comparison: Comparison) -> list[RowChart]:
    """Return a chart with a row per slice for every system and metric."""
    tests: dict[tuple[str, object], list[SliceRow]] = {}
    for row in comparison.slices:
        if row.verdict is not None:
            tests.setdefault((row.system, row.metric), []).append(row)
    several_systems = len({row.system for row in comparison.slices}) > 1
    shared = [_chart_row(row) for rows in tests.values() for row in rows if row.metric.reads_texts]
    span = difference_span(shared) if shared else None
    charts = []
    for (system, _), rows in tests.items():
        m = rows[0].metric
        label = f"{metric_label(m)} ↓" if m.sign < 0 else metric_label(m)
        title = f"{label}, {system}" if several_systems else label
        chart_rows = [_chart_row(row) for row in rows]
        axis, shared_span = comparison.baseline, span if m.reads_texts else None
        charts.append(RowChart(title, axis, chart_rows, "difference", span=shared_span))
    return charts


def _chart_row(row: SliceRow) -> ChartRow:
    """Return a difference as a share of the metric's scale, positive if better."""
    scale = row.metric.sign / row.metric.full_scale
    ends = [x * scale for x in (row.delta_low, row.delta_high) if x is not None]
    text = format_signed(row.delta, score_digits(row.metric))
    return ChartRow(row.slice, row.delta * scale, min(ends), max(ends), text, row.verdict or "")


def slice_tables(comparison: Comparison) -> list[Table]:
    """Return the table of slices, under a heading for each; empty without slices."""
    if comparison.slicing is None:
        return []
    unit = comparison.unit_text

    def heading(row: SliceRow) -> str:
        bounds = f" ({row.bounds})" if row.bounds else ""
        size = format_count(row.segments, "segment")
        if comparison.inference is not None and comparison.inference.units is not None:
            size += f" in {format_count(row.units, unit)}"
        return f"{row.slice}{bounds}: {size}"

    def interval(row: SliceRow) -> str | None:
        if row.delta_low is None or row.delta_high is None:
            return None
        ends = row.delta_low, row.delta_high
        return format_interval(*ends, interval_digits(*ends, row_digits(row)))

    def conclusion(row: SliceRow) -> str:
        return row.verdict or f"too few, needs {format_count(row.min_units, unit)}"

    change = people_column(
        "change", "95% interval", interval, align="right", help="Interval of the difference."
    )
    help_text = "The system against the baseline, or the number of units that a verdict needs."
    columns = [people_column("slice_size", "Slice", heading, help="The slice and its size.")]
    for column in SLICE_COLUMNS:
        columns += [column, change] if column.key == "delta" else [column]
    columns.append(people_column("conclusion", "Verdict", conclusion, help=help_text))
    rows = comparison.slices
    emphasis = frozenset((i, "conclusion") for i, row in enumerate(rows) if row.verdict == WORSE)
    title = f"Comparison by {comparison.slicing}"
    return [Table("slices", title, columns, rows, group="slice_size", emphasis=emphasis)]
