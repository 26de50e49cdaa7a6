"""Tree accuracy by walking the tree, with words tied to nodes by trying every way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations, product

from oracles.edit_tables import ACCURACY, Counts, counts

Places = tuple[int | None, ...]


def pairings(nodes: Sequence[int], places: Sequence[int]) -> list[dict[int, int]]:
    """All ways to tie as many nodes to places as there can be."""
    n_tied = min(len(nodes), len(places))
    return [
        dict(zip(chosen, order, strict=True))
        for chosen in combinations(nodes, n_tied)
        for order in permutations(places, n_tied)
    ]


def positions(words: Sequence[str], word: str) -> list[int]:
    """Where a word stands."""
    return [i for i, w in enumerate(words) if w == word]


def anchors(words: Sequence[str], result: Sequence[str]) -> dict[int, int]:
    """The nodes whose words stand once in both texts, and where."""
    return {
        p: result.index(word)
        for p, word in enumerate(words)
        if words.count(word) == 1 and result.count(word) == 1
    }


def expected(node: int, heads: Sequence[int], fixed: dict[int, int]) -> int:
    """Where a node would stand had it kept its distance from its nearest fixed ancestor."""
    at = node
    while at >= 0 and at not in fixed:
        at = heads[at] - 1
    return node if at < 0 else fixed[at] + node - at


def least_distance(words: Sequence[str], heads: Sequence[int], result: Sequence[str]) -> int:
    """The least sum of distances between expected and given places, over all ways to tie."""
    fixed, total = anchors(words, result), 0
    for word in set(words) - {words[p] for p in fixed}:
        nodes, places = positions(words, word), positions(result, word)
        total += min(
            sum(abs(expected(p, heads, fixed) - q) for p, q in pairing.items())
            for pairing in pairings(nodes, places)
        )
    return total


def all_ties(words: Sequence[str], result: Sequence[str]) -> list[dict[int, int]]:
    """All ways to tie the nodes of a tree to the words of a result, as many as there can be."""
    by_word = [pairings(positions(words, w), positions(result, w)) for w in sorted(set(words))]
    return [
        {p: q for pairing in chosen for p, q in pairing.items()} for chosen in product(*by_word)
    ]


def errors(
    words: Sequence[str], heads: Sequence[int], result: Sequence[str], places: dict[int, int]
) -> Counts:
    """S, I, D and M over all treelets, with nodes at these places."""
    totals = [0, len(result) - len(places), len(words) - len(places), 0]
    for head in range(len(words)):
        daughters = [p for p in range(len(words)) if heads[p] == head + 1]
        members = sorted(p for p in [head, *daughters] if p in places)
        if daughters:
            reference = [words[p] for p in members]
            moved = [words[p] for p in sorted(members, key=places.__getitem__)]
            totals = [
                a + b for a, b in zip(totals, counts(reference, moved, ACCURACY), strict=True)
            ]
    return Counts(*totals)
