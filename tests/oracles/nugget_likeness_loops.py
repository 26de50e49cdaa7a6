"""How alike responses are, and what their words say of a nugget, in plain loops."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

Words = list[int]
Vector = dict[object, float]


def counts(words: Words) -> Counter[object]:
    """Words, and pairs of neighbours."""
    return Counter([*words, *pairwise(words)])


def vector(i: int, responses: list[Words]) -> Vector:
    """Log counts times the idf, of length 1."""
    counts_by_response = [counts(words) for words in responses]
    unit_weights = {}
    for unit, count in counts_by_response[i].items():
        have = sum(unit in other for other in counts_by_response)
        if have > 1:
            unit_weights[unit] = math.log(1 + count) * math.log((len(responses) + 1) / have)
    norm = math.sqrt(sum(value * value for value in unit_weights.values()))
    return {unit: value / norm for unit, value in unit_weights.items()}


def cosine(i: int, j: int, responses: list[Words]) -> float:
    """Of two responses."""
    a, b = vector(i, responses), vector(j, responses)
    return sum(value * b.get(unit, 0.0) for unit, value in a.items())


def telling(responses: list[Words]) -> list[int]:
    """The words that at least two responses have, and not all."""
    words = sorted({word for response in responses for word in response})
    have = {word: sum(word in response for response in responses) for word in words}
    return [word for word in words if 1 < have[word] < len(responses)]


def naive_bayes(
    responses: list[Words], fold: list[int], labels: list[list[float]], i: int, nugget: int
) -> float:
    """Log odds that response i carries a nugget, over their norm, from responses of other folds.

    Labels are NaN where nobody judged.
    """
    telling_ = telling(responses)
    words = [[float(word in response) for word in telling_] for response in responses]
    other_folds = [j for j in range(len(words)) if fold[j] != fold[i]]
    sides = [
        [words[j] for j in other_folds if labels[j][nugget] > 0],
        [words[j] for j in other_folds if labels[j][nugget] == 0],
    ]
    odds = []
    for w, has_word in enumerate(words[i]):
        p, n = ((sum(row[w] for row in side) + 0.5) / (len(side) + 1) for side in sides)
        odds.append(math.log(p / n) if has_word else math.log((1 - p) / (1 - n)))
    return math.fsum(odds) / math.sqrt(math.fsum(x * x for x in odds) + 1)
