"""The report of `meta fit`: coefficients, cross-validation, predicted and human scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat.meta.fit import Fit, ScoreFit
from karat.report.charts.models import Line, Point, Scatter
from karat.report.model import (
    Block,
    Column,
    Document,
    Figure,
    Gallery,
    Table,
    listing,
    metric_label,
)

if TYPE_CHECKING:
    from karat.meta.fit import ScoreFit


MOST_TOLD = 4
"""Dimensions that have a sentence each."""


def fit_answer(found: ScoreFit) -> tuple[str, ...]:
    """Return R^2 of each dimension, on the fitted points and on those left out."""
    return tuple(sentence for fit in found.fits[:MOST_TOLD] for sentence in _dimension(found, fit))


def _dimension(found: ScoreFit, fit: Fit) -> Iterator[str]:
    if fit.r2 != fit.r2:  # NaN is not
        return
    terms = dict.fromkeys(row.term for row in found.rows if row.dimension == fit.dimension)
    names = listing([_term(term) for term in list(terms)[1:]])
    one = "s" * (len(terms) == 2)
    told = f"{names} explain{one} {fit.r2:.1%} of the variance of {fit.dimension}"
    rows = [row for row in found.left_out if row.dimension == fit.dimension and row.r2 == row.r2]
    if not rows:
        yield f"{told}."
        return
    row = rows[-1] if len(rows) == 1 else next((r for r in rows if r.unit == "system"), rows[-1])
    if row.r2 > 0:
        yield f"{told}, and {row.r2:.1%} for left-out {row.unit}s."
    else:
        mean = "no better than the mean of the others"
        yield f"{told}, but predict{one} left-out {row.unit}s {mean}."


def _term(term: str) -> str:
    metric, at, part = term.rpartition("@")
    return f"{part} of {metric_label(metric)}" if at else metric_label(term)


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
