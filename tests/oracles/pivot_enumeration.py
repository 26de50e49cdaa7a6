"""Pivot F1 by listing everything: all segmentations, all paths of a network; slow and exact."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod

Counts = Mapping[str, Mapping[str, int]]
Words = tuple[str, ...]
Network = list[list[tuple[Words, Fraction]]]
"""For each phrase its edges: pivot words and probability."""
Bag = dict[Words, Fraction]

UNSEEN = Fraction(1, 2)


def segmentations(words: Words) -> Iterator[list[Words]]:
    """All ways to cut a sentence."""
    if not words:
        yield []
    for k in range(1, len(words) + 1):
        for rest in segmentations(words[k:]):
            yield [words[:k], *rest]


def times(counts: Counts, phrase: Words) -> Fraction:
    """N(p); 1/2 for an unseen word, 0 for what is no phrase."""
    count = Fraction(sum(counts.get(" ".join(phrase), {}).values()))
    return count or (UNSEEN if len(phrase) == 1 else Fraction(0))


def best_segmentation(counts: Counts, words: Words) -> list[Words]:
    """The most probable; of equals the fewest phrases, then the longest first ones."""
    total = (
        Fraction(sum(n for translations in counts.values() for n in translations.values()))
        or UNSEEN
    )

    def rank(phrases: list[Words]) -> tuple[Fraction, int, list[int]]:
        probability = prod((times(counts, p) / total for p in phrases), start=Fraction(1))
        return probability, -len(phrases), [len(p) for p in phrases]

    return max(segmentations(words), key=rank)


def edges(
    counts: Counts, phrase: Words, edge: Fraction, renormalise: bool
) -> list[tuple[Words, Fraction]]:
    """The translations of a phrase that are kept, the most probable first."""
    translations = counts.get(" ".join(phrase))
    if translations is None:
        return [(phrase, Fraction(1))]
    N = sum(translations.values())
    ordered = sorted((Fraction(-n, N), tuple(f.split())) for f, n in translations.items())
    selected = [(f, -p) for i, (p, f) in enumerate(ordered) if -p > edge or i == 0]
    mass = sum(p for _, p in selected)
    return [(f, p / mass if renormalise else p) for f, p in selected]


def bag(network: Network, order: int, ngram: Fraction) -> Bag:
    """The n-grams of all paths.

    An n-gram of a path weighs the product of the edges that it touches; the paths through all
    other phrases together weigh 1, whatever was left out there.
    """
    masses = [sum((p for _, p in phrase), start=Fraction(0)) for phrase in network]
    gram_weights: defaultdict[Words, Fraction] = defaultdict(Fraction)
    for path in product(*network):
        words = [(word, i) for i, (edge, _) in enumerate(path) for word in edge]
        for n in range(1, order + 1):
            for k in range(len(words) - n + 1):
                gram, touched = zip(*words[k : k + n], strict=True)
                weights = (p if i in touched else p / masses[i] for i, (_, p) in enumerate(path))
                gram_weights[gram] += prod(weights, start=Fraction(1))
    return {gram: weight for gram, weight in gram_weights.items() if weight > ngram}


def sentence_bag(
    counts: Counts, sentence: str, order: int, edge: Fraction, ngram: Fraction, renormalise: bool
) -> Bag:
    """The bag of pivot n-grams of a sentence."""
    phrases = best_segmentation(counts, tuple(sentence.split()))
    return bag([edges(counts, p, edge, renormalise) for p in phrases], order, ngram)


def statistics(left_bag: Bag, right_bag: Bag, order: int) -> Sequence[Sequence[float]]:
    """For each order: the weight in common, and of each bag."""
    rows = []
    for n in range(1, order + 1):
        a, b = ({g: w for g, w in x.items() if len(g) == n} for x in (left_bag, right_bag))
        common = sum((min(a[g], b[g]) for g in a.keys() & b.keys()), start=Fraction(0))
        rows.append([float(x) for x in (common, sum(a.values()), sum(b.values()))])
    return rows
