"""chrF from its formulas, over characters and words."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from oracles.ngrams import matches, total

Tokens = Sequence[Hashable]
Triple = tuple[int, int, int]
_TINY = 1e-16


def triples(candidate: Tokens, reference: Tokens, orders: int) -> list[Triple]:
    """For each order: n-grams of the candidate, of the reference, matches."""
    order_counts = []
    for n in range(1, orders + 1):
        reference_count = total(reference, n)
        candidate_count = total(candidate, n) if reference_count else 0
        order_counts.append((candidate_count, reference_count, matches(candidate, reference, n)))
    return order_counts


def f_beta(p: float, r: float, beta: float) -> float:
    """(1 + beta^2) P R / (beta^2 P + R)."""
    below = beta**2 * p + r
    return (1 + beta**2) * p * r / below if below else 0.0


def chrf(counts: Sequence[Triple], beta: float) -> float:
    """100 F of the mean precision and recall over the orders that both texts reach."""
    both = [(m / c, m / r) for c, r, m in counts if c and r]
    if not both:
        return 0.0
    p = sum(p for p, _ in both) / len(both)
    r = sum(r for _, r in both) / len(both)
    return 100 * f_beta(p, r, beta)


def chrf_eps(counts: Sequence[Triple], beta: float) -> float:
    """100 times the mean F of all orders, with a tiny number for what is undefined."""
    total_f = 0.0
    for c, r, m in counts:
        p, q = m / c if c else _TINY, m / r if r else _TINY
        total_f += f_beta(p, q, beta) if beta**2 * p + q > 0 else _TINY
    return 100 * total_f / len(counts)
