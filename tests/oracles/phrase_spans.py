"""Phrase pairs and joined alignments by their definitions, on sets of links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

Link = tuple[int, int]
Phrase = tuple[int, ...]


def consistent(links: set[Link], source: range, pivot: range) -> bool:
    """A link joins the spans, and none leaves them."""
    inside = [(i in source, j in pivot) for i, j in links]
    return (True, True) in inside and all(a == b for a, b in inside)


def phrase_pairs(
    source: Sequence[int], pivot: Sequence[int], links: set[Link], longest: int
) -> Counter[tuple[Phrase, Phrase]]:
    """Every pair of spans is tried."""
    pair_counts: Counter[tuple[Phrase, Phrase]] = Counter()
    for s in spans(len(source), longest):
        for p in spans(len(pivot), longest):
            if consistent(links, s, p):
                pair_counts[tuple(source[i] for i in s), tuple(pivot[j] for j in p)] += 1
    return pair_counts


def spans(n: int, longest: int) -> list[range]:
    return [range(a, b) for a in range(n) for b in range(a + 1, min(n, a + longest) + 1)]


def grow_diag(n: int, m: int, first: set[Link], second: set[Link]) -> set[Link]:
    """From the intersection to neighbours in the union that give a word its first link."""
    chosen = first & second
    steps = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]
    while True:
        before = len(chosen)
        for i in range(n):
            for j in range(m):
                if (i, j) not in chosen:
                    continue
                for a, b in steps:
                    new = (i + a, j + b)
                    if new in first | second and not (has(chosen, 0, new) and has(chosen, 1, new)):
                        chosen = chosen | {new}
        if len(chosen) == before:
            return chosen


def has(chosen: set[Link], side: int, link: Link) -> bool:
    """Whether a word of a link has any link yet."""
    return any(other[side] == link[side] for other in chosen)


def grow_diag_final_and(n: int, m: int, first: set[Link], second: set[Link]) -> set[Link]:
    chosen = grow_diag(n, m, first, second)
    for directed_links in (first, second):
        for link in sorted(directed_links):
            if not has(chosen, 0, link) and not has(chosen, 1, link):
                chosen = chosen | {link}
    return chosen
