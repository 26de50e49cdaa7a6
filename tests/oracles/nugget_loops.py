"""Nugget scores in plain loops, from lists of numbers and strings."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections.abc import Callable


def characters(responses: list[str]) -> int:
    """Characters that are no white space."""
    return sum(1 for text in responses for c in text if not c.isspace())


def returned_nuggets(matrix: list[list[float]], strict: bool) -> list[bool]:
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
    total_weight = math.fsum(weights)
    if total_weight == 0:
        return None
    recall = math.fsum(g * w for g, w in zip(got, weights, strict=True)) / total_weight
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
    total_weight = sum(weigh(word) for word in nugget)
    best = 0.0
    for response in responses:
        stems = {stem(word) for word in response}
        if total_weight:
            best = max(best, sum(weigh(w) for w in nugget if stem(w) in stems) / total_weight)
    return best


def plain_words(text: str) -> list[str]:
    """Words of ASCII text without hyphens and figures with points: what all tokenisers agree on."""
    return re.findall(r"[a-z0-9]+", text.lower())


# ------------------------------------------------------------------- what an answer is worth


def chance_of_any(p: list[float]) -> float:
    """That at least one of several independent things is so, from every way they can turn out."""
    total = 0.0
    for outcome in itertools.product((False, True), repeat=len(p)):
        chance = 1.0
        for happens, q in zip(outcome, p, strict=True):
            chance *= q if happens else 1 - q
        total += chance if any(outcome) else 0.0
    return total


def variance_taken(p: list[float], judged_index: int) -> float:
    """How much less "does any carry it" varies, on average, once one of them is known."""

    def spread(chances: list[float]) -> float:
        chance = chance_of_any(chances)
        return chance * (1 - chance)

    rest = 0.0
    for answer, chance in ((1.0, p[judged_index]), (0.0, 1 - p[judged_index])):
        rest += chance * spread([*p[:judged_index], answer, *p[judged_index + 1 :]])
    return spread(p) - rest


def undecided_uses(
    runs: list[list[str]],
    vital: list[bool],
    judgements: dict[tuple[str, int], float],
    p: Callable[[str, int], float],
) -> dict[tuple[str, int], float]:
    """(response, nugget) -> use, of all pairs that nobody judged, summed over the runs."""
    uses: dict[tuple[str, int], float] = {}
    for responses in runs:
        texts = [text for text in dict.fromkeys(responses) if text]
        for j, is_vital in enumerate(vital):
            chances = []
            for text in texts:
                judged = judgements.get((text, j))
                chances.append(p(text, j) if judged is None else float(judged > 0))
            weight = (1.0 if is_vital else 0.1) / sum(vital) if any(vital) else 0.0
            for i, text in enumerate(texts):
                if (text, j) not in judgements:
                    use = weight**2 * variance_taken(chances, i)
                    uses[text, j] = uses.get((text, j), 0.0) + use
    return uses


# ------------------------------------------------------------------------------- two versions


def what_became(
    old: list[list[float | None]], new: list[list[float | None]], nugget: int, strict: bool
) -> tuple[str, int | None, int | None]:
    """Gained, lost, kept or missed, and which responses carry it (matrices: None is undecided)."""
    least = 1.0 if strict else 0.5

    def carrier(matrix: list[list[float | None]]) -> int | None:
        for i, row in enumerate(matrix):
            value = row[nugget]
            if value is not None and value >= least:
                return i
        return None

    first, second = carrier(old), carrier(new)
    if first is None:
        return ("missed" if second is None else "gained"), first, second
    return ("lost" if second is None else "kept"), first, second


def jackknife_p(differences: list[float]) -> float:
    """p of the mean by Student's t, of the smaller of t and Hall's correction for skewness."""
    from scipy import stats

    n, mean = len(differences), statistics.fmean(differences)
    around = [d - mean for d in differences]
    if abs(mean) < 1e-12:
        return 1.0
    if max(map(abs, around)) < 1e-12:
        return 2.0 ** (1 - n)
    t = mean / math.sqrt(math.fsum(d * d for d in around) / (n * (n - 1)))
    variance = math.fsum(d * d for d in around) / n
    skewness = math.fsum(d * d * d for d in around) / n / variance**1.5
    a = skewness / (3 * math.sqrt(n))
    hall = t + a * t**2 + a**2 * t**3 / 3 + a / 2
    return float(2 * stats.t.sf(min(abs(t), abs(hall)), n - 1))
