"""Nugget scores in plain loops, from lists of numbers and strings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable


def characters(responses: list[str]) -> int:
    """Characters that are no white space."""
    return sum(1 for text in responses for c in text if not c.isspace())


def returned(matrix: list[list[float]], strict: bool) -> list[bool]:
    """For each nugget whether some response carries it (matrix: responses by nuggets)."""
    least = 1.0 if strict else 0.5
    count = len(matrix[0]) if matrix else 0
    return [any(row[j] >= least for row in matrix) for j in range(count)]


def first_carrier(matrix: list[list[float]], nugget: int) -> int | None:
    """The response that gets the credit."""
    for i, row in enumerate(matrix):
        if row[nugget] > 0:
            return i
    return None


def f_beta(
    got: list[float], weights: list[float], allowed: float, length: int, beta: float
) -> tuple[float, float, float] | None:
    """Recall, precision (NaN of nothing) and F as in the paper's Figure 3; None without weights."""
    whole = math.fsum(weights)
    if whole == 0:
        return None
    recall = math.fsum(g * w for g, w in zip(got, weights, strict=True)) / whole
    if length < allowed:
        precision = 1.0
    elif length == 0:
        precision = math.nan
    else:
        precision = 1 - (length - allowed) / length
    below = beta**2 * precision + recall
    if recall == 0 or precision == 0 or math.isnan(precision):
        return recall, precision, 0.0
    return recall, precision, (beta**2 + 1) * precision * recall / below


def share(
    matrix: list[list[float]], vital: list[bool], okay_weight: float, strict: bool
) -> float | None:
    """A (1), V (0) or W (0.5)."""
    above = below = 0.0
    for j, is_vital in enumerate(vital):
        weight = 1.0 if is_vital else okay_weight
        best = max((row[j] for row in matrix), default=0.0)
        if strict and best < 1:
            best = 0.0
        above += weight * best
        below += weight
    return above / below if below else None


def pourpre_match(
    nugget: list[str],
    responses: list[list[str]],
    weigh: Callable[[str], float],
    stem: Callable[[str], str],
) -> float:
    """The best share of the nugget's words, by weight, that one response has."""
    whole = sum(weigh(word) for word in nugget)
    best = 0.0
    for response in responses:
        stems = {stem(word) for word in response}
        if whole:
            best = max(best, sum(weigh(w) for w in nugget if stem(w) in stems) / whole)
    return best


def plain_words(text: str) -> list[str]:
    """Words of ASCII text without hyphens and figures with points: what all tokenisers agree on."""
    return re.findall(r"[a-z0-9]+", text.lower())
