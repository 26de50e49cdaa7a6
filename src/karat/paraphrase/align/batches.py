"""Work on batches of sentences by several threads, its results in the order of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from typing import NamedTuple, TypeVar

from karat.arrays import Ints, np
from karat.paraphrase.align.stored_tokens import Words
from karat.progress import Progress, Stop, map_in_order, n_threads
from karat.text.tokens import Tokens

T = TypeVar("T")

_CELLS = 1 << 20  # of one batch: pairs of words, about a tenth of a second
_SENTENCES = 1 << 16  # whose lengths are looked at together


def by_batches(
    work: Callable[[int, int], T],
    cuts: Sequence[tuple[int, int]],
    threads: int | None,
    progress: Progress,
    what: str,
    stop: Stop | None = None,
) -> Iterator[T]:
    """Yield `work(start, stop)` of every batch, in order, and report after each."""
    done = map_in_order(lambda cut: work(*cut), cuts, n_threads(threads), stop)
    with closing(done):  # else the workers go on until a traceback is forgotten
        for (_, end), found in zip(cuts, done, strict=True):
            yield found
            progress(end, cuts[-1][1], what)


def batch_cuts(source: Tokens, pivot: Tokens) -> list[tuple[int, int]]:
    """Return batches of sentences of about equal work, cut by the text alone."""
    if not len(source):
        return []
    cells = np.diff(source.offsets) * np.diff(pivot.offsets)
    before = np.concatenate([[0], np.cumsum(cells + 1)])
    ends = np.flatnonzero(np.diff(before // _CELLS)) + 1
    bounds = [0, *ends.tolist(), len(source)]
    return [(a, b) for a, b in pairwise(bounds) if a < b]


class TextSize(NamedTuple):
    """Sentence pairs, those with an empty side or too long a side, and cells of the others."""

    pairs: int
    empty: int
    too_long: int
    cells: int


def text_size(source: Words, pivot: Words, longest: int) -> TextSize:
    """Measure two texts; cells are pairs of words in the same sentence pair."""
    empty = too_long = cells = 0
    for lengths in _lengths(source, pivot):
        without = lengths.min(axis=0) == 0
        long = ~without & (lengths.max(axis=0) > longest)
        empty, too_long = empty + int(without.sum()), too_long + int(long.sum())
        cells += int(lengths.prod(axis=0)[~long].sum())
    return TextSize(len(source), empty, too_long, cells)


def large_cuts(source: Words, pivot: Words, longest: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut two texts into parts of at most so many cells, or of one sentence pair."""
    start = at = held = 0
    for lengths in _lengths(source, pivot):
        cells = np.where(lengths.max(axis=0) > longest, 0, lengths.prod(axis=0))
        for size in cells.tolist():
            if at > start and held + size > most:
                yield start, at
                start, held = at, 0
            at, held = at + 1, held + size
    if at > start:
        yield start, at


def _lengths(source: Words, pivot: Words) -> Iterator[Ints]:
    """Yield the numbers of words of both sides, some thousand sentence pairs at a time."""
    for start in range(0, len(source), _SENTENCES):
        stop = min(start + _SENTENCES, len(source))
        yield np.stack([np.diff(side.part(start, stop).offsets) for side in (source, pivot)])
