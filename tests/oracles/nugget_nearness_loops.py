"""How alike responses are where they speak of a nugget, unit by unit in plain loops."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt

Sentence = Sequence[int]
Unit = tuple[int, ...]


def units(sentence: Sentence, order: int) -> set[Unit]:
    """The distinct n-grams of one length."""
    return {tuple(sentence[i : i + order]) for i in range(len(sentence) - order + 1)}


def weight(
    unit: Unit,
    responses: Sequence[Sequence[Sentence]],
    texts: Sequence[Sentence],
    relevance: Sequence[float],
    order: int,
    most: int,
) -> float:
    """w(u, g), from the texts of g and its column of relevance."""
    have = sum(any(unit in units(s, order) for s in response) for response in responses)
    if have < 2 or have > most:
        return 0.0
    sentences = [sentence for response in responses for sentence in response]
    mean = sum(relevance) / len(relevance)
    unit_relevance = [
        r for s, r in zip(sentences, relevance, strict=True) if unit in units(s, order)
    ]
    about = (sum(unit_relevance) + 2 * mean) / ((len(unit_relevance) + 2) * mean) if mean else 1.0
    in_nugget = any(unit in units(text, order) for text in texts)
    idf = log((len(responses) + 1) / (have + 0.5))
    return idf * (max(about - 1, 0) + 0.05 + (6 if in_nugget else 0))


def near(
    i: int,
    j: int,
    responses: Sequence[Sequence[Sentence]],
    texts: Sequence[Sentence],
    relevance: Sequence[float],
    order: int,
    most: int,
) -> float:
    """near(g, i, j)."""

    def total(unit_set: set[Unit]) -> float:
        return sum(weight(u, responses, texts, relevance, order, most) for u in unit_set)

    a, b = ({u for s in responses[k] for u in units(s, order)} for k in (i, j))
    shared = total(a & b)
    return shared / sqrt(total(a) * total(b)) if shared > 0 else 0.0
