"""Paths from phrase to phrase through their translations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.paraphrase.table.phrase_pairs import PhraseCounts
from karat.text.tokens import Vocab

_ROWS = 1 << 22  # of paths through a pivot that are held in memory at a time, at most


@dataclass(frozen=True)
class RewriteLimits:
    """Limits that keep the noise of rare links out, and the table small."""

    forward: float = 0.005
    """Pr(f|e) must be at least this."""
    backward: float = 0.002
    """Pr(e'|f) must be at least this."""
    rewrite: float = 0.005
    """Pr(e'|e) and Pr(e|e') must be at least this."""
    most: int = 20
    """The rewrites of a phrase, at most."""
    ways: int = 2
    """Pivot phrases of all languages that must lead to a rewrite; one is enough of one language."""
    discount: float = 0.5
    """Share of one that is taken from each count: what was seen once may be chance."""

    def fewest_ways(self, languages: int) -> int:
        """Return the number of pivot phrases that must lead to a rewrite."""
        return min(self.ways, languages)


class PivotPhrases(NamedTuple):
    """The phrase pairs of one pivot language, and the words of their first side."""

    counts: PhraseCounts
    vocab: Vocab


class Paths(NamedTuple):
    """From phrase to phrase, with the sum over all ways to go."""

    source: Ints
    target: Ints
    p: Floats
    ways: Ints

    def some(self, rows: Any) -> Paths:
        """Return some of the paths: a slice, a mask, or numbers."""
        return Paths(*(column[rows] for column in self))


def joins(
    e: Ints, f: Ints, forward: Ints, first: Ints, most: int = _ROWS
) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield pairs (e, f) in batches of whole phrases e; for each way on, its pair and way back.

    A batch has about `most` ways on. They take some 110 bytes each while they are added up.
    """
    order = forward[np.argsort(e[forward], kind="stable")]
    ways = first[f[order] + 1] - first[f[order]]
    new = np.flatnonzero(np.diff(e[order], prepend=-1))
    before = np.concatenate(([0], np.cumsum(ways)))
    batches = np.flatnonzero(np.diff(before[new] // min(most, _ROWS), prepend=-1))
    bounds = [*new[batches].tolist(), len(order)]
    for begin, end in pairwise(bounds):
        rows, n = order[begin:end], ways[begin:end]
        steps = np.repeat(np.arange(len(rows)), n)
        within = np.arange(len(steps)) - np.repeat(before[begin:end] - before[begin], n)
        yield rows, steps, first[f[rows]][steps] + within


def add_up(paths: Paths) -> Paths:
    """Add up equal pairs, and sort them."""
    source, target, p, ways = paths.some(np.lexsort((paths.target, paths.source)))
    new = np.ones(len(p), dtype=np.bool_)
    new[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    at = np.flatnonzero(new)
    if not len(at):
        return Paths(source, target, p, ways)
    return Paths(source[at], target[at], np.add.reduceat(p, at), np.add.reduceat(ways, at))


def single_ways(source: Ints, target: Ints, p: Floats) -> Paths:
    """Return paths of one way each."""
    return Paths(source, target, p, np.ones(len(p), np.int64))


def mean(languages: Sequence[Paths]) -> Paths:
    """Return the mean over the languages that have a phrase: those that lead back to it."""
    joined = add_up(Paths(*map(np.concatenate, zip(*languages, strict=True))))
    back = np.concatenate([one.source[one.source == one.target] for one in languages])
    back.sort()
    times = np.searchsorted(back, joined.source, "right") - np.searchsorted(back, joined.source)
    return joined._replace(p=np.minimum(joined.p / np.maximum(times, 1), 1.0))  # rounded: may be >1


def both_ways(paths: Paths, back: Floats) -> Paths:
    """Return paths with the geometric mean of Pr(e'|e) and Pr(e|e'), given as `back`."""
    return paths._replace(p=np.sqrt(paths.p * back))


def most_probable(paths: Paths, most: int) -> Paths:
    """Return the most probable paths from each phrase, in order; they come sorted by it."""
    order = np.lexsort((paths.target, -paths.p, paths.source))
    source = paths.source[order]
    first = np.searchsorted(source, source)
    return paths.some(order[np.arange(len(order)) - first < most])


def within(a: NDArray[np.int32], b: NDArray[np.int32]) -> Flags:
    """Return for rows of words, filled up with -1, whether one stands in the other, or is it."""
    longest = a.shape[1]
    around = np.pad(b, ((0, 0), (0, longest)), constant_values=-1)
    found = np.zeros(len(a), dtype=np.bool_)
    for shift in range(longest):
        same = a == around[:, shift : shift + longest]
        found |= (same | (a < 0)).all(axis=1)
    return found
