"""Agreement of marked spans, such as errors of translations: precision, recall and F by characters.

A character that a judge marks earns credit 1 if the reference judge marks it with the same
severity, `severity_credit` if with another one, and 0 if not at all. With the marked characters
M_p of the judge and M_r of the reference over all items,

    P = sum of credit over M_p / |M_p|    R = sum of credit over M_r / |M_r|    F = 2 P R / (P + R)

where R has the roles exchanged. So a partial overlap earns partial credit, and items count by their
characters (micro average; WMT quality estimation, Blain et al. 2023, takes severity_credit = 1/2).
A character in several spans has the severities of all of them, and counts once. With `edges` = k,
spans of the other side are wider by k characters at either end when credit is given, so that
boundaries may differ by k: annotators rarely agree on spaces, articles and punctuation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karat.arrays import Floats, Ints, np
from karat.stats.jackknife import UnitEstimate
from karat.stats.judge_errors import estimate_of_units


class MarkedSpan(NamedTuple):
    """A marked part of a text, in characters from 0; the end is exclusive."""

    start: int
    end: int
    severity: str = ""


class SpanCredit(NamedTuple):
    """Credit and marked characters of a judge and of a reference judge in one or many items."""

    credit: float
    marked: int
    reference_credit: float
    reference_marked: int


def span_credit(
    reference: Sequence[MarkedSpan],
    predicted: Sequence[MarkedSpan],
    severity_credit: float = 0.5,
    edges: int = 0,
) -> SpanCredit:
    """Return the credit of the spans of one item."""
    return SpanCredit(
        *_credit(predicted, reference, severity_credit, edges),
        *_credit(reference, predicted, severity_credit, edges),
    )


def _credit(
    spans: Sequence[MarkedSpan],
    targets: Sequence[MarkedSpan],
    severity_credit: float,
    edges: int,
) -> tuple[float, int]:
    """Return the credit for marked characters, and their number."""
    marked, wide = _severities(spans), _severities(targets, edges)
    credit = 0.0
    for place, severities in marked.items():
        if place in wide:
            credit += 1.0 if severities & wide[place] else severity_credit
    return credit, len(marked)


def _severities(spans: Sequence[MarkedSpan], edges: int = 0) -> dict[int, set[str]]:
    """Map each marked character to its severities."""
    severities: dict[int, set[str]] = {}
    for span in spans:
        for place in range(span.start - edges, span.end + edges):
            severities.setdefault(place, set()).add(span.severity)
    return severities


class SpanAgreement(NamedTuple):
    """Micro precision, recall and F of a judge; the values are NaN where nothing is marked."""

    precision: UnitEstimate
    recall: UnitEstimate
    f: UnitEstimate


def span_agreement(credits: Sequence[SpanCredit], unit: Ints) -> SpanAgreement:
    """Return the agreement over items, with the influence of each unit."""
    columns = np.array(credits, np.float64).T
    return SpanAgreement(
        estimate_of_units(_precision, unit, columns),
        estimate_of_units(_recall, unit, columns),
        estimate_of_units(_f, unit, columns),
    )


def _precision(sums: Floats) -> Floats:
    precision: Floats = sums[:, 0] / sums[:, 1]
    return precision


def _recall(sums: Floats) -> Floats:
    recall: Floats = sums[:, 2] / sums[:, 3]
    return recall


def _f(sums: Floats) -> Floats:
    """Return F; 0 if precision and recall are."""
    precision, recall = _precision(sums), _recall(sums)
    total = precision + recall
    f: Floats = np.where(total == 0, 0.0, 2 * precision * recall / np.where(total == 0, 1, total))
    return f
