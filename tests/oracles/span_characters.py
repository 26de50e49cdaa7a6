"""Precision, recall and F of spans, character by character over all items."""

from __future__ import annotations

from collections.abc import Sequence

Span = tuple[int, int, str]


def credit(
    spans: Sequence[Span], targets: Sequence[Span], partial: float, edges: int
) -> tuple[float, int]:
    """Return the credit of the marked characters, and their number."""
    total, marked = 0.0, 0
    for place in range(200):
        mine = {s for a, b, s in spans if a <= place < b}
        target = {s for a, b, s in targets if a - edges <= place < b + edges}
        marked += bool(mine)
        if mine and target:
            total += 1.0 if mine & target else partial
    return total, marked


def micro(
    items: Sequence[tuple[Sequence[Span], Sequence[Span]]], partial: float, edges: int
) -> tuple[float, float, float]:
    """Return precision, recall and F of (reference, predicted) items."""
    p = [credit(predicted, gold, partial, edges) for gold, predicted in items]
    r = [credit(gold, predicted, partial, edges) for gold, predicted in items]
    precision, recall = (sum(c for c, _ in x) / sum(n for _, n in x) for x in (p, r))
    return precision, recall, 2 * precision * recall / (precision + recall)
