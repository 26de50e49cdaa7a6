"""The full report of a meta-evaluation: one page of tables, charts and examples.

It has agreement and systems, scatter plots, the plane, reliability over pseudo-documents, the
outputs on which the first metric and the humans differ most, with their grids, and the
experiment that makes it all again.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.meta.documents.reliability import single_segments_note
from karat.report.charts.figures import chart_figure
from karat.report.charts.models import Chart, Line, Point, Scatter
from karat.report.documents.grids import grid_figures
from karat.report.documents.metas import meta_document
from karat.report.documents.planes import plane_chart
from karat.report.documents.reliability import SHUFFLED, reliability_charts
from karat.report.documents.scores import decimals
from karat.report.model.cells import several
from karat.report.model.table import Cell, Column, Decimals, Document, Link, Table, columns

if TYPE_CHECKING:
    from karat.meta.disagreements import Disagreement
    from karat.meta.full_report import MetaReport
    from karat.meta.ranking import MetaRow
    from karat.meta.system_scores import SystemScatter, SystemScore
    from karat.metrics.base import Metric

_APART = (
    Column("dimension", "Dimension", readers="programs"),
    Column("heading", "What", readers="people"),
    *columns(system="System", segment="Segment"),
    Column("human", "Humans", align="right", help="The human score, more being better."),
    Column("score", "Metric", align="right", help="The metric's score, more being better."),
    Column("gap", "Gap", 2, align="right", signed=True, help="Metric's minus humans' percentile."),
    Column("text", "Text", wrap=True, readers="people"),
    *columns("programs", output="Output", reference="Reference"),
    Column("grid", "Grid", help="The bitext grid, below.", readers="people"),
)


def report_document(report: MetaReport, command: str) -> Document:
    """Return the full report of a meta-evaluation."""
    plain = meta_document(report.evaluation, command)
    apart, metric = report.disagreements, report.evaluation.scored.metrics[0]
    title = f"Largest disagreements between {metric.of_segments()} and human scores"
    rows = tuple(_apart_row(one, metric) for one in apart)
    return replace(
        plain,
        blocks=(
            plain.blocks[0],
            _systems(report),
            *map(chart_figure, meta_charts(report)),
            *([Table("disagreements", title, _APART, rows, group="heading")] if apart else []),
            *(grid_figures(one.matching, _name(one))[0] for one in apart),
            *plain.blocks[1:],
        ),
        notes=report.notes,
        appendix={"Experiment (karat meta --experiment FILE)": str(report.evaluation.experiment)},
    )


def meta_charts(report: MetaReport) -> list[Chart]:
    """Return all charts of the report, for the page or for files."""
    planes = [plane_chart(fit, None) for fit in report.planes]
    metrics = report.evaluation.scored.metrics
    caption = f"{SHUFFLED} {single_segments_note(metrics)}".rstrip()
    curves = reliability_charts(report.reliability, caption)
    return [*map(_scatter, report.scatters), *planes, *curves]


# ------------------------------------------------------------------------------------- systems


def _systems(report: MetaReport) -> Table:
    """Every system's scores with intervals: human means and corpus scores."""
    digits = {str(m): 1 if m.full_scale > 10 else 3 for m in report.evaluation.scored.metrics}
    shown = {"system": Column("system", "System")}
    rows: dict[str, dict[str, Cell]] = {}
    for one in report.systems:
        key = f"{one.source}_{one.name}"
        keys = key, f"{key}_low", f"{key}_high"
        shown[f"{key}_shown"] = Column(f"{key}_shown", one.name, align="right", readers="people")
        shown |= {k: Column(k, one.name, readers="programs") for k in keys}
        row = rows.setdefault(one.system, {"system": one.system})
        row |= dict(zip(keys, one[3:], strict=True))
        row[f"{key}_shown"] = _shown(one, 2 if one.source == "human" else digits[one.name])
    resamples = report.evaluation.experiment.resamples
    scales = "metrics are on their own scales, on all outputs."
    scales = f"Human scores are turned so that more is better; {scales}"
    if resamples:
        drawn = several(resamples, "bootstrap resample")
        scales = f"In brackets: 95% intervals from {drawn} of segments. {scales}"
    cells = tuple(rows.values())
    return Table("systems", "Systems", tuple(shown.values()), cells, notes=(scales,))


def _shown(one: SystemScore | MetaRow, digits: int) -> str | None:
    """The value with its interval, None where it is undefined."""
    if math.isnan(one.value):
        return None
    value, low, high = (f"{x:.{digits}f}" for x in (one.value, one.low, one.high))
    return value if math.isnan(one.low) else f"{value} [{low}, {high}]"


# -------------------------------------------------------------------------------------- charts


def _scatter(found: SystemScatter) -> Scatter:
    """Human against metric scores of systems, more being better on both axes."""
    metric, row = found.metric, found.agreement
    negated = "" if metric.sign > 0 else f" {metric} is negated, as in the tables: more is better."
    return Scatter(
        f"{found.dimension} and {metric}",
        str(metric) if metric.sign > 0 else f"-{metric}",
        found.dimension,
        [Point(*point) for point in found.points],
        line=None if found.line is None else Line(*found.line),
        note=f"{row.statistic} {_shown(row, 2) or 'undefined'}" if row else "",
        caption=f"One point a system, {found.scored_on}.{negated}",
    )


# --------------------------------------------------------------------- largest disagreements


def _apart_row(one: Disagreement, metric: Metric) -> dict[str, Cell]:
    higher = "ranked higher by the metric" if one.gap > 0 else "ranked higher by the humans"
    reference = one.references[0]
    return {
        **one._asdict(),
        "heading": f"{one.dimension}: {higher}",
        "human": Decimals(one.human, 2),
        "score": decimals(metric, one.score),
        "text": f"reference: {reference}\noutput: {one.output}",
        "reference": reference,
        "grid": Link("grid", f"{_name(one)}: matching"),
    }


def _name(one: Disagreement) -> str:
    return f"{one.dimension}: {one.system}, segment {one.segment}"
