"""The reports of `plane`: the R^2 table in the paper's layout, what to pick, and what to expect."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.meta.plane.cells import ALPHAS, ORDERS
from karat.meta.plane.predictions import GUIDELINES, TASKS, Recommendation, Region
from karat.report.charts.figures import chart_figure
from karat.report.charts.models import CellMark, HeatMap, Outline
from karat.report.model.table import Cell, Column, Document, Figure, Table, columns

if TYPE_CHECKING:
    from karat.meta.plane.fit import PlaneFit
    from karat.meta.plane.study import PlaneStudy

_CELLS = (
    *columns(dimension="Dimension", alpha="Alpha", n="N", r="r", r2="R^2", low="Low", high="High"),
    *columns(wins="Wins", q2="Left out", predicted="Predicted"),
)
_LEFT_OUT = "1 - PRESS/SST: how well its line predicts systems that were left out."
_POINTS = (
    Column("what", "What"),
    Column("cell", "Cell", help="AEv(alpha, N)."),
    Column("r2", "R^2 %", 1, align="right", help="Squared Pearson's r with the human scores."),
    Column("low", "Low", 1, align="right", help="Lower end of its 95% bootstrap interval."),
    Column("high", "High", 1, align="right", help="Upper end of its 95% bootstrap interval."),
    Column("wins", "Wins %", 1, align="right", help="Resamples in which it is the best cell."),
    Column("q2", "Left out %", 1, align="right", help=_LEFT_OUT),
)
_RECOMMENDED = (
    Column("metric", "Metric", help="Ready for -m."),
    *columns(alpha="Alpha", n="N"),
    Column("rests_on", "Rests on", wrap=True),
)


def study_document(study: PlaneStudy, command: str) -> Document:
    """Return the planes of some dimensions of one set."""
    return _document(study, study.evalset.name, study.fits, study.region, command)


def fit_document(fit: PlaneFit, command: str) -> Document:
    """Return the plane of one dimension."""
    return _document(fit, fit.dimension, [fit], None, command)


def _document(
    found: PlaneFit | PlaneStudy,
    name: str,
    fits: Sequence[PlaneFit],
    region: Region | None,
    command: str,
) -> Document:
    blocks: list[Table | Figure] = []
    for fit in fits:
        figure = replace(chart_figure(plane_chart(fit, region)), sketch=None)  # the table says it
        blocks += [plane_table(fit), _points(fit), figure]
    rows = tuple(row._asdict() for row in found.rows)
    blocks.append(Table("rows", "Cells", _CELLS, rows, readers="programs"))
    signatures = {str(found.metric): found.signature}
    return Document(f"The plane of {name}", tuple(blocks), command, signatures, found.notes)


def layout(key: str, title: str, rows: Mapping[int, Sequence[float]]) -> Table:
    """Return numbers as the paper prints them: N from the highest down, alpha to the right."""
    heads = [Column(f"alpha{k}", f"{a:g}", 1, align="right") for k, a in enumerate(ALPHAS)]
    shown = (Column("n", "N / alpha", align="right"), *heads)
    ordered = sorted(rows, reverse=True)
    cells = [{"n": n, **{f"alpha{k}": x for k, x in enumerate(rows[n])}} for n in ordered]
    known = [x for row in rows.values() for x in row if x > 0]  # a NaN is not
    largest = max(known, default=math.nan)
    places = ((i, k, x) for i, n in enumerate(ordered) for k, x in enumerate(rows[n]))
    top = frozenset((i, f"alpha{k}") for i, k, x in places if x == largest)
    return Table(key, title, shown, tuple(cells), emphasis=top, readers="people")


def plane_table(fit: PlaneFit) -> Table:
    """Return R^2 in percent; cells with a negative correlation have a minus sign."""
    rows = dict(zip(reversed(ORDERS), fit.table(fit.signed).tolist(), strict=True))
    return layout(f"plane-{fit.dimension}", f"R^2 in percent, {fit.dimension}", rows)


def plane_chart(fit: PlaneFit, region: Region | None) -> HeatMap:
    """Return the plane as a heat map: its maximum, its pick, BLEU's point, the prediction."""
    high = list(reversed(ORDERS))
    signs = {"maximum": "*", "cross-validated pick": "+", "BLEU's point": "B"}
    named = [(sign, name, fit.points[name]) for name, sign in signs.items()]
    values = fit.table(fit.signed).tolist()
    negative = any(x < 0 for row in values for x in row)
    minus = " A minus sign marks a negative correlation." if negative else ""
    marks = [
        CellMark(high.index(cell.n), ALPHAS.index(cell.alpha), sign, name)
        for sign, name, cell in named
        if cell is not None
    ]
    outline = None
    if region is not None:
        within = [k for k, alpha in enumerate(ALPHAS) if region.holds(alpha, region.n_low)]
        rows = high.index(region.n_high), high.index(region.n_low)
        outline = Outline(rows, (within[0], within[-1]), "predicted by the paper")
    title, alphas = f"The plane: {fit.dimension}", [f"{alpha:g}" for alpha in ALPHAS]
    caption = f"R^2 in percent with the human scores of systems.{minus}"
    chart = HeatMap(title, "N", "alpha", list(map(str, high)), alphas, values, 1, marks, outline)
    return replace(chart, low=0, high=100, caption=caption)


def _points(fit: PlaneFit) -> Table:
    rows: list[dict[str, Cell]] = []
    for what, cell in fit.points.items():
        if cell is not None:
            shares = fit.row(cell)._asdict()
            percent = {key: 100 * shares[key] for key in ("r2", "low", "high", "wins", "q2")}
            rows.append({"what": what, "cell": str(cell), **percent})
    title = "Points of the plane"
    return Table(f"points-{fit.dimension}", title, _POINTS, tuple(rows), readers="people")


def recommendation_document(found: Recommendation, command: str) -> Document:
    """Return what the paper says of a task and a guideline, and on what that rests."""
    task, guideline = TASKS[found.task][2], GUIDELINES[found.guideline][2]
    rows = tuple(row._asdict() for row in found.rows)
    tables = [Table("rows", "Recommended", _RECOMMENDED, rows)]
    for table in found.tables:
        name = f"The paper's Table {table.number}: R^2 in percent ({table.what}; legible rows)"
        tables.append(layout(f"paper-{table.number}", name, table.rows))
    title = f"{task.capitalize()}; {found.guideline}: {guideline}"
    return Document(title, tuple(tables), command, {}, found.notes)
