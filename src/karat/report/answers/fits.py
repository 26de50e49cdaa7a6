"""The answer of a fit: how much of the human scores the metrics explain, seen and unseen."""

from __future__ import annotations

from collections.abc import Iterator

from karat.meta.fit import Fit, ScoreFit
from karat.report.model.phrases import listing, metric_label

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
