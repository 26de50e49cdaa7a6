"""The report of `meta fit`: coefficients, cross-validation, predicted and human scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat.report.answers.fits import fit_answer
from karat.report.charts.models import Line, Point, Scatter
from karat.report.model.table import Block, Column, Document, Figure, Gallery, Table

if TYPE_CHECKING:
    from karat.meta.fit import ScoreFit

_DIAGONAL = "On the dashed line the prediction equals the human score."
MOST_DRAWN = 1500
"""Points of one drawing; of more, every so many is drawn."""


def _number(key: str, title: str, digits: int | None = None, help: str = "") -> Column:
    return Column(key, title, digits, align="right", help=help)


_DIMENSION = Column("dimension", "Dimension")
_ROWS = (
    _DIMENSION,
    Column("shown", "Term", wrap=True, readers="people"),
    Column("term", "Term", readers="programs"),
    _number("coefficient", "Coefficient", 4),
    _number("error", "Std. error", 4, help="Standard error of the coefficient."),
    _number("t", "t", 2, help="Coefficient over its standard error."),
    Column("p", "p", 4, align="right", help="Two-sided p of a coefficient of 0.", positive=True),
)
_PUBLISHED = (
    _number("understandability", "Published: underst.", 4, help="For understandability."),
    _number("quality", "quality", 4, help="Published for quality."),
)
_FITS = (
    _DIMENSION,
    _number("points", "Points"),
    _number("r2", "R2", 4),
    _number("adjusted", "Adjusted R2", 4),
    _number("sigma", "Residual SD", 4, help="Standard error of a residual."),
)
_MEAN = "RMSE of predicting the mean of the points that were not left out."
_LEFT_OUT = (
    _DIMENSION,
    Column("unit", "Left-out unit", help="What is left out at a time."),
    _number("groups", "Fits", help="Number of fits, one for each unit left out."),
    _number("rmse", "RMSE", 4, help="Root mean squared error on the left-out points."),
    _number("rmse_of_mean", "RMSE of the mean", 4, help=_MEAN),
    _number("r2", "R2", 4, help="1 - (RMSE / RMSE of the mean)^2."),
    Column("undefined", "Undefined", readers="programs"),
)
_POINTS = (
    _DIMENSION,
    Column("system", "System"),
    Column("segment", "Segment"),
    _number("human", "Human"),
    _number("predicted", "Predicted"),
    _number("left_out", "Left-out prediction"),
)


def score_fit_document(found: ScoreFit, command: str) -> Document:
    """Return the coefficients, how far the fits hold, and a figure for each dimension."""
    rows = [{**row._asdict(), "shown": _shown(row.term)} for row in found.rows]
    published = _PUBLISHED if any(row.quality is not None for row in found.rows) else ()
    tables = (
        Table("rows", "Coefficients", (*_ROWS, *published), rows, group="dimension"),
        Table("fits", "Fits", _FITS, [fit._asdict() for fit in found.fits]),
        Table("left_out", "Cross-validation", _LEFT_OUT, [row._asdict() for row in found.left_out]),
    )
    points = [point._asdict() for point in found.points]
    last = Table("points", "Points", _POINTS, points, readers="programs")
    title = f"Human scores of {found.name} fitted by metrics"
    figures = Gallery("Predicted and human scores", tuple(_figures(found)), _DIAGONAL)
    blocks: tuple[Block, ...] = (figures, *tables, last)
    signatures, told = dict(found.signatures), fit_answer(found)
    return Document(title, blocks, command, signatures, found.notes, answer=told)


def _shown(term: str) -> str:
    """A term in words: `substitutions of simple_tree_accuracy`."""
    metric, at, part = term.rpartition("@")
    return f"{part} of {metric}" if at else term


def _figures(found: ScoreFit) -> Iterator[Figure]:
    """Yield human against predicted scores, a figure for each dimension."""
    for fit in found.fits:
        mine = [point for point in found.points if point.dimension == fit.dimension]
        step = -(-len(mine) // MOST_DRAWN)
        some = f"One of every {step} of {len(mine):,} points is drawn." if step > 1 else ""
        drawn = [
            Point(point.predicted, point.human, f"{point.system} {point.segment}".strip())
            for point in mine[::step]
        ]
        title = f"Predicted and human {fit.dimension}"
        axes, note = ("predicted by the fit", f"human {fit.dimension}"), f"R2 {fit.r2:.3f}"
        chart = Scatter(title, *axes, drawn, line=Line(1.0, 0.0), note=note, narrow=True)
        yield Figure(title, chart, some)  # for pages and notebooks alone
