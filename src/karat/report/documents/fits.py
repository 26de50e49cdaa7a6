"""The report of `meta fit`: coefficients, cross-validation, predicted and human scores."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan

from karat.meta.fit import VALUE, FittedPoint, ScoreFit
from karat.report.charts.models import ChartLine, Point, XYChart
from karat.report.model import (
    MAX_SENTENCES,
    Document,
    Figure,
    Gallery,
    Table,
    data_table,
    join_names,
    metric_label,
)
from karat.results import Column, number, people_column, program_columns


def fit_answer(score_fit: ScoreFit) -> tuple[str, ...]:
    """Return R^2 of each dimension, on the fitted points and on those left out."""
    sentences = []
    for fit in score_fit.fits[:MAX_SENTENCES]:
        if isnan(fit.r2):
            continue
        terms = dict.fromkeys(row.term for row in score_fit.rows if row.dimension == fit.dimension)
        names = join_names([_term_text(term, metric_label) for term in list(terms)[1:]])
        ending = "s" * (len(terms) == 2)
        sentence = f"{names} explain{ending} {fit.r2:.1%} of the variance of {fit.dimension}"
        left_out = (row for row in score_fit.left_out if row.dimension == fit.dimension)
        if rows := [row for row in left_out if not isnan(row.r2)]:
            row = next((row for row in rows if row.unit == "system"), rows[-1])
            if row.r2 > 0:
                sentence += f", and {row.r2:.1%} for left-out {row.unit}s"
            else:
                mean = "no better than the mean of the others"
                sentence += f", but predict{ending} left-out {row.unit}s {mean}"
        sentences.append(f"{sentence}.")
    return tuple(sentences)


def _term_text(term: str, name_metric: Callable[[str], str] = str) -> str:
    """Return a term in words: `substitutions of simple_tree_accuracy`."""
    metric, at, part = term.rpartition("@")
    if part == VALUE:
        return name_metric(metric)
    return f"{part} of {name_metric(metric)}" if at else name_metric(term)


_DIAGONAL = "On the dashed line the prediction equals the human score."
MAX_POINTS = 1500
"""Points of one drawing; more are sampled."""


_DIMENSION = Column("dimension", "Dimension")
_ROWS = (
    _DIMENSION,
    people_column("shown", "Term", lambda row: _term_text(row.term), wrap=True),
    *program_columns("term"),
    number("coefficient", "Coefficient", 4),
    number("error", "Std. error", 4, "Standard error of the coefficient."),
    number("t", "t", 2, "Coefficient over its standard error."),
    number("p", "p", 4, "Two-sided p of a coefficient of 0.", positive=True),
)
_PUBLISHED = (
    number("understandability", "Published: underst.", 4, "For understandability."),
    number("quality", "quality", 4, "Published for quality."),
)
_FITS = (
    _DIMENSION,
    number("points", "Points"),
    number("r2", "R2", 4),
    number("adjusted", "Adjusted R2", 4),
    number("sigma", "Residual SD", 4, "Standard error of a residual."),
)
_MEAN = "RMSE of predicting the mean of the points that were not left out."
_LEFT_OUT = (
    _DIMENSION,
    Column("unit", "Left-out unit", help="What is left out at a time."),
    number("groups", "Fits", help="Number of fits, one for each unit left out."),
    number("rmse", "RMSE", 4, "Root mean squared error on the left-out points."),
    number("rmse_of_mean", "RMSE of the mean", 4, _MEAN),
    number("r2", "R2", 4, "1 - (RMSE / RMSE of the mean)^2."),
    *program_columns("undefined"),
)


def score_fit_document(score_fit: ScoreFit) -> Document:
    """Return the coefficients, how far the fits hold, and a figure for each dimension."""
    rows = score_fit.rows
    published = _PUBLISHED if any(row.quality is not None for row in rows) else ()
    figures = []  # for pages and notebooks alone
    for fit in score_fit.fits:
        all_points = [point for point in score_fit.points if point.dimension == fit.dimension]
        step = -(-len(all_points) // MAX_POINTS)
        caption = f"One of every {step} of {len(all_points):,} points is drawn."
        points = [
            Point(point.predicted, point.human, f"{point.system} {point.segment}".strip())
            for point in all_points[::step]
        ]
        title, note = f"Predicted and human {fit.dimension}", f"R2 {fit.r2:.3f}"
        axes, diagonal = ("predicted by the fit", f"human {fit.dimension}"), ChartLine(1.0, 0.0)
        chart = XYChart(title, *axes, points, diagonal, note, narrow=True)
        figures.append(Figure(title, chart, caption if step > 1 else ""))
    blocks = (
        Gallery("Predicted and human scores", tuple(figures), _DIAGONAL),
        Table("rows", "Coefficients", (*_ROWS, *published), rows, group="dimension"),
        Table("fits", "Fits", _FITS, score_fit.fits),
        Table("left_out", "Cross-validation", _LEFT_OUT, score_fit.left_out),
        data_table("points", FittedPoint._fields, score_fit.points),
    )
    title = f"Human scores of {score_fit.name} fitted by metrics"
    return Document(title, blocks, answer=fit_answer(score_fit))
