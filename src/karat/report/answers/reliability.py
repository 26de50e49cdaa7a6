"""The answer of reliability curves: the highest agreement on long texts, and on short ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from karat.meta.reliability import (
    ReliabilityCurves,
    ReliabilityRow,
    best_curve,
    references_in_words,
)
from karat.report.answers.metas import statistic_label
from karat.report.model.cells import several
from karat.report.model.phrases import clear_labels, span

MOST_TOLD = 4
"""Dimensions that have a sentence each."""


def reliability_answer(found: ReliabilityCurves) -> tuple[str, ...]:
    """Return the metric ahead on the longest texts of each dimension, by the first statistic."""
    by = found.asked.statistics[0]
    rows = [row for row in found.rows if row.statistic == by]
    told = [
        sentence
        for _, own in groupby(rows, lambda row: row.dimension)
        for sentence in _dimension(list(own))
    ]
    return tuple(told[:MOST_TOLD])


def reliability_basis(found: ReliabilityCurves) -> str:
    """Return how the values were made."""
    return (
        f"Means of {several(found.asked.repeats, 'shuffle')} of segments into pseudo-documents. In "
        "brackets: the middle 95% of the shuffles, which is no interval for other segments."
    )


def _dimension(rows: Sequence[ReliabilityRow]) -> Iterator[str]:
    found = best_curve(rows)
    if found is None:
        return
    first, best, curves = found
    many = len({row.references for row in rows}) > 1
    refs = f" with {references_in_words(best.references)}" if many else ""
    name = f"{clear_labels(row.metric for row in rows)[best.metric]}{refs}"
    label = statistic_label(best.statistic)
    value = f"{best.value:.3f} {span(best.low, best.high, 3)}"
    texts = f"texts of {several(best.length, 'segment')}"
    if curves > 1:
        most = "highest" if found.sign > 0 else "lowest"
        sentence = f"On {texts}, {name} has the {most} {label} with {best.dimension}, {value}"
    else:
        sentence = f"{name} and {best.dimension} on {texts}: {label} {value}"
    if first.length < best.length:
        sentence += f"; on texts of {several(first.length, 'segment')} it has {first.value:.3f}"
    untested = "; differences between metrics were not tested" * (curves > 1)
    yield f"{sentence}{untested}."
