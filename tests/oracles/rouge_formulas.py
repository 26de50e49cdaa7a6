"""ROUGE from its formulas: P = hits / candidate, R = hits / reference, F their weighted mean."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from oracles.ngrams import matches, total
from oracles.subsequences import lcs_length, summary_hits

Tokens = Sequence[Hashable]
Pair = Callable[[Tokens, Tokens], "Parts"]


class Parts(NamedTuple):
    """Precision, recall and the F of equal weights."""

    p: float
    r: float
    f: float


def weighted_f(p: float, r: float, alpha: float) -> float:
    """P R / (alpha R + (1 - alpha) P); the ends are R and P."""
    if alpha in (0, 1):
        return p if alpha == 1 else r
    below = alpha * r + (1 - alpha) * p
    return p * r / below if below else 0.0


def _parts(hits: int, candidate_size: int, reference_size: int) -> Parts:
    p, r = hits / max(candidate_size, 1), hits / max(reference_size, 1)
    return Parts(p, r, weighted_f(p, r, 0.5))


def rouge_n(candidate: Tokens, reference: Tokens, n: int) -> Parts:
    """ROUGE-N of one pair."""
    hits = matches(candidate, reference, n)
    return _parts(hits, total(candidate, n), total(reference, n))


def rouge_l(candidate: Tokens, reference: Tokens) -> Parts:
    """ROUGE-L of one pair."""
    return _parts(lcs_length(reference, candidate), len(candidate), len(reference))


def rouge_lsum(candidate: Sequence[Tokens], reference: Sequence[Tokens]) -> Parts:
    """ROUGE-Lsum of one pair of lists of sentences."""
    hits = summary_hits(reference, candidate)
    return _parts(hits, sum(map(len, candidate)), sum(map(len, reference)))


def best(pair: Pair, candidate: Tokens, refs: Sequence[Tokens]) -> Parts:
    """The reference with the best F counts, the first of equals."""
    return max((pair(candidate, reference) for reference in refs), key=lambda parts: parts.f)
