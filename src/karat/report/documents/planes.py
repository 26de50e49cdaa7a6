"""The reports of `plane`: the R^2 table in the paper's layout, what to pick, and what to expect."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.report.charts.figures import chart_figure
from karat.report.charts.models import CellMark, HeatMap, Outline
from karat.report.model.table import Cell, Column, Document, Figure, Table

if TYPE_CHECKING:
    from karat.meta.plane.fit import PlaneFit
    from karat.meta.plane.predictions import Recommendation, Region
    from karat.meta.plane.study import PlaneStudy

_CELLS = (
    Column("dimension", "Dimension"),
    Column("alpha", "Alpha"),
    Column("n", "N"),
    Column("r", "r"),
    Column("r2", "R^2"),
    Column("low", "Low"),
    Column("high", "High"),
    Column("wins", "Wins"),
    Column("q2", "Left out"),
    Column("predicted", "Predicted"),
)
_POINTS = (
    Column("what", "What"),
    Column("cell", "Cell", help="AEv(alpha, N)."),
    Column(
        "r2",
        "R^2 %",
        1,
        align="right",
        help="Squared Pearson's r with the human scores.",
    ),
    Column("low", "Low", 1, align="right", help="Lower end of its 95% bootstrap interval."),
    Column("high", "High", 1, align="right", help="Upper end of its 95% bootstrap interval."),
    Column("wins", "Wins %", 1, align="right", help="Resamples in which it is the best cell."),
    Column(
        "q2",
        "Left out %",
        1,
        align="right",
        help="1 - PRESS/SST: how well its line predicts systems that were left out.",
    ),
)


_RECOMMENDED = (
    Column("metric", "Metric", help="Ready for -m."),
    Column("alpha", "Alpha"),
    Column("n", "N"),
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
    return Document(
        title=f"The plane of {name}",
        blocks=(*blocks, Table("rows", "Cells", _CELLS, rows, readers="programs")),
        command=command,
        signatures={str(found.metric): found.signature},
        notes=found.notes,
    )


def layout(key: str, title: str, rows: Mapping[int, Sequence[float]]) -> Table:
    """Return numbers as the paper prints them: N from the highest down, alpha to the right."""
    from karat.meta.plane.cells import ALPHAS

    columns = [Column("n", "N / alpha", align="right")]
    columns += [
        Column(f"alpha{k}", f"{alpha:g}", 1, align="right") for k, alpha in enumerate(ALPHAS)
    ]
    ordered = sorted(rows, reverse=True)
    cells = [{"n": n, **{f"alpha{k}": x for k, x in enumerate(rows[n])}} for n in ordered]
    known = [x for row in rows.values() for x in row if x > 0]  # a NaN is not
    largest = max(known, default=math.nan)
    top = frozenset(
        (i, f"alpha{k}")
        for i, n in enumerate(ordered)
        for k, x in enumerate(rows[n])
        if x == largest
    )
    return Table(key, title, tuple(columns), tuple(cells), emphasis=top, readers="people")


def plane_table(fit: PlaneFit) -> Table:
    """Return R^2 in percent; cells with a negative correlation have a minus sign."""
    from karat.meta.plane.cells import ORDERS

    rows = dict(zip(reversed(ORDERS), fit.table(fit.signed).tolist(), strict=True))
    return layout(f"plane-{fit.dimension}", f"R^2 in percent, {fit.dimension}", rows)


def plane_chart(fit: PlaneFit, region: Region | None) -> HeatMap:
    """Return the plane as a heat map: its maximum, its pick, BLEU's point, the prediction."""
    from karat.meta.plane.cells import ALPHAS, ORDERS

    high = list(reversed(ORDERS))
    signs = {"maximum": "*", "cross-validated pick": "+", "BLEU's point": "B"}
    named = [(sign, name, fit.points[name]) for name, sign in signs.items()]
    values = fit.table(fit.signed).tolist()
    minus = " A minus sign marks a negative correlation."
    return HeatMap(
        f"The plane: {fit.dimension}",
        "N",
        "alpha",
        [str(n) for n in high],
        [f"{alpha:g}" for alpha in ALPHAS],
        values,
        digits=1,
        marks=[
            CellMark(high.index(cell.n), ALPHAS.index(cell.alpha), sign, name)
            for sign, name, cell in named
            if cell is not None
        ],
        outline=None if region is None else _outline(region),
        low=0,
        high=100,
        caption="R^2 in percent with the human scores of systems."
        + (minus if any(x < 0 for row in values for x in row) else ""),
    )


def _outline(region: Region) -> Outline:
    from karat.meta.plane.cells import ALPHAS, ORDERS

    columns = [k for k, alpha in enumerate(ALPHAS) if region.holds(alpha, region.n_low)]
    high = list(reversed(ORDERS))
    rows = high.index(region.n_high), high.index(region.n_low)
    return Outline(rows, (columns[0], columns[-1]), "predicted by the paper")


def _points(fit: PlaneFit) -> Table:
    rows: list[dict[str, Cell]] = []
    for what, cell in fit.points.items():
        if cell is not None:
            row = fit.row(cell)
            shares = {
                "r2": row.r2,
                "low": row.low,
                "high": row.high,
                "wins": row.wins,
                "q2": row.q2,
            }
            percent = {key: 100 * share for key, share in shares.items()}
            rows.append({"what": what, "cell": str(cell), **percent})
    title = "Points of the plane"
    return Table(f"points-{fit.dimension}", title, _POINTS, tuple(rows), readers="people")


def recommendation_document(found: Recommendation, command: str) -> Document:
    """Return what the paper says of a task and a guideline, and on what that rests."""
    from karat.meta.plane.predictions import GUIDELINES, TASKS

    task, guideline = TASKS[found.task][2], GUIDELINES[found.guideline][2]
    tables = [
        layout(
            f"paper-{table.number}",
            f"The paper's Table {table.number}: R^2 in percent ({table.what}; legible rows)",
            table.rows,
        )
        for table in found.tables
    ]
    rows = tuple(row._asdict() for row in found.rows)
    return Document(
        title=f"{task.capitalize()}; {found.guideline}: {guideline}",
        blocks=(Table("rows", "Recommended", _RECOMMENDED, rows), *tables),
        command=command,
        signatures={},
        notes=found.notes,
    )
