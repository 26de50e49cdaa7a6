"""The reports of `plane`: the R^2 table in the paper's layout, what to pick, and what to expect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from karat.meta.plane.predictions import GUIDELINES, TASKS, Region, predicted, published
from karat.report.charts.figures import chart_figure
from karat.report.charts.models import CellMark, HeatMap, Outline
from karat.report.model.table import Cell, Column, Document, Figure, Table

if TYPE_CHECKING:
    from karat.meta.plane.fit import Floats, PlaneFit
    from karat.meta.plane.study import Halves, PlaneStudy, Verdict

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


ENOUGH_SYSTEMS = 6
"""Below this, leaving systems out and resampling them says little."""

POINTS_UNSIGNED = (
    "A minus sign in a plane marks a negative correlation; points and intervals are of R^2 itself, "
    "which has no sign."
)


def layout(key: str, title: str, rows: dict[int, Sequence[float]]) -> Table:
    """Numbers as the paper prints them: N from the highest down, alpha from left to right."""
    from karat.meta.plane.fit import ALPHAS

    columns = [Column("n", "N / alpha", align="right")]
    columns += [
        Column(f"alpha{k}", f"{alpha:g}", 1, align="right") for k, alpha in enumerate(ALPHAS)
    ]
    ordered = sorted(rows, reverse=True)
    cells = [{"n": n, **{f"alpha{k}": x for k, x in enumerate(rows[n])}} for n in ordered]
    known = [x for row in rows.values() for x in row if x > 0]  # a NaN is not
    largest = max(known, default=math.nan)
    top = {
        (i, f"alpha{k}")
        for i, n in enumerate(ordered)
        for k, x in enumerate(rows[n])
        if x == largest
    }
    return Table(
        key, title, tuple(columns), tuple(cells), emphasis=frozenset(top), readers="people"
    )


def plane_table(fit: PlaneFit) -> Table:
    """R^2 in percent; cells with a negative correlation have a minus sign."""
    rows = {n: _signed(fit).reshape(4, 11)[n - 1].tolist() for n in (1, 2, 3, 4)}
    return layout(f"plane-{fit.dimension}", f"R^2 in percent, {fit.dimension}", rows)


def _signed(fit: PlaneFit) -> Floats:
    import numpy as np

    return 100 * np.sign(fit.r) * fit.r2


def plane_chart(fit: PlaneFit, region: Region | None) -> HeatMap:
    """The plane as a heat map: its maximum, its pick, BLEU's point, the predicted region."""
    from karat.meta.plane.fit import ALPHAS, BLEU_CELL, ORDERS
    from karat.meta.plane.fit import Cell as Point

    high = list(reversed(ORDERS))
    named = [("*", "maximum", fit.maximum), ("+", "cross-validated pick", fit.pick)]
    named.append(("B", "BLEU's point", Point(*BLEU_CELL)))
    marks = [
        CellMark(high.index(cell.n), ALPHAS.index(cell.alpha), sign, name)
        for sign, name, cell in named
        if cell is not None
    ]
    return HeatMap(
        f"The plane: {fit.dimension}",
        "N",
        "alpha",
        [str(n) for n in high],
        [f"{alpha:g}" for alpha in ALPHAS],
        [[float(x) for x in row] for row in fit.table(_signed(fit))],
        digits=1,
        marks=marks,
        outline=None if region is None else _outline(region),
        low=0,
        high=100,
        caption="R^2 in percent with the human scores of systems." + _minus(fit),
    )


def _minus(fit: PlaneFit) -> str:
    return " A minus sign marks a negative correlation." if (fit.r < 0).any() else ""


def _outline(region: Region) -> Outline:
    from karat.meta.plane.fit import ALPHAS, ORDERS

    columns = [k for k, alpha in enumerate(ALPHAS) if region.holds(alpha, region.n_low)]
    high = list(reversed(ORDERS))
    rows = high.index(region.n_high), high.index(region.n_low)
    return Outline(rows, (columns[0], columns[-1]), "predicted by the paper")


def _points(fit: PlaneFit) -> Table:
    from karat.meta.plane.fit import BLEU_CELL, CELLS
    from karat.meta.plane.fit import Cell as Point

    winner = CELLS[int(fit.wins.argmax())] if fit.wins.max() > 0 else None
    named = [("cross-validated pick", fit.pick), ("maximum", fit.maximum)]
    named += [("most wins", winner), ("BLEU's point", Point(*BLEU_CELL))]
    named += [("ROUGE's point", Point(0.0, 1)), ("AEv's default", Point(0.5, 4))]
    rows = [_point(fit, what, cell) for what, cell in named if cell is not None]
    return Table(
        f"points-{fit.dimension}", "Points of the plane", _POINTS, tuple(rows), readers="people"
    )


def _point(fit: PlaneFit, what: str, cell: tuple[float, int]) -> dict[str, Cell]:
    low, high = fit.intervals
    return {
        "what": what,
        "cell": f"AEv({cell[0]:g},{cell[1]})",
        "r2": 100 * fit.at(cell, fit.r2),
        "low": 100 * fit.at(cell, low),
        "high": 100 * fit.at(cell, high),
        "wins": 100 * fit.at(cell, fit.wins),
        "q2": 100 * fit.at(cell, fit.q2),
    }


def _rows(fits: Sequence[PlaneFit], region: Region | None) -> Table:
    from karat.meta.plane.fit import CELLS

    rows: list[dict[str, Cell]] = []
    for fit in fits:
        low, high = fit.intervals
        for k, (alpha, n) in enumerate(CELLS):
            numbers = {
                "r": fit.r[k],
                "r2": fit.r2[k],
                "low": low[k],
                "high": high[k],
                "wins": fit.wins[k],
                "q2": fit.q2[k],
            }
            rows.append(
                {
                    "dimension": fit.dimension,
                    "alpha": alpha,
                    "n": n,
                    **{name: float(x) for name, x in numbers.items()},
                    "predicted": None if region is None else region.holds(alpha, n),
                }
            )
    return Table("rows", "Cells", _CELLS, tuple(rows), readers="programs")


def plane_document(study: PlaneStudy, command: str) -> Document:
    """The planes of some dimensions of one set."""
    from karat.meta.scores import signature_on

    fits, region = study.fits, study.region
    blocks: list[Table | Figure] = []
    for fit in fits:
        figure = replace(chart_figure(plane_chart(fit, region)), sketch=None)  # the table says it
        blocks += [plane_table(fit), _points(fit), figure]
    notes = [note for fit in fits for note in plane_notes(fit)]
    notes += [POINTS_UNSIGNED] if any((fit.r < 0).any() for fit in fits) else []
    notes += [_held(fit, region, v) for fit, v in zip(fits, study.verdicts, strict=False)]
    notes += [_split(fit, h) for fit, h in zip(fits, study.halves, strict=False)]
    notes += [*_few(fits), *study.evalset.remarks]
    return Document(
        title=f"The plane of {study.evalset.name}",
        blocks=(*blocks, _rows(fits, region)),
        command=command,
        signatures={str(study.metric): signature_on(study.evalset, study.metric)},
        notes=tuple(notes),
    )


# -------------------------------------------------------------------- without human scores

_RECOMMENDED = (
    Column("metric", "Metric", help="Ready for -m."),
    Column("alpha", "Alpha"),
    Column("n", "N"),
    Column("rests_on", "Rests on", wrap=True),
)


def recommendation(task: str, guideline: str, command: str) -> Document:
    """What the paper says of a task and a guideline, and on what that rests."""
    region = predicted(task, guideline)
    tables = published(task, guideline)
    rows: list[dict[str, Cell]] = []
    for table in tables:
        alpha, n, r2 = table.best
        rows.append(
            _recommended(alpha, n, f"the paper's Table {table.number}: {table.what}, R^2 {r2}%")
        )
    if not rows:
        middle = round((region.alpha_low + region.alpha_high) / 2, 2)
        alpha = {0.15: 0.0, 0.85: 1.0}.get(middle, middle)
        rows.append(
            _recommended(
                alpha, region.n_high, "the paper's prediction alone: it measured no such task"
            )
        )
    shown = [
        layout(
            f"paper-{table.number}",
            f"The paper's Table {table.number}: R^2 in percent ({table.what}; legible rows)",
            dict(table.rows),
        )
        for table in tables
    ]
    return Document(
        title=f"{TASKS[task][2].capitalize()}; {guideline}: {GUIDELINES[guideline][2]}",
        blocks=(Table("rows", "Recommended", _RECOMMENDED, tuple(rows)), *shown),
        command=command,
        signatures={},
        notes=(
            f"The predicted region is {region}. This rests on Soricut and Brill (2004): few "
            "systems, one set for each task, no intervals. With human scores of your own, karat "
            "plane fit says whether it holds for you.",
        ),
    )


def _recommended(alpha: float, n: int, why: str) -> dict[str, Cell]:
    name = f"aev:preset=paper,alpha={alpha:g},n={n}"
    return {"metric": name, "alpha": alpha, "n": n, "rests_on": why}
