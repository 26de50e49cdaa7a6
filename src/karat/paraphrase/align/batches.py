"""Work on batches of sentences by several threads, its results in the order of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TypeVar

from karat.progress import Progress, Stop, as_threads, in_order

T = TypeVar("T")


def by_batches(
    work: Callable[[int, int], T],
    cuts: Sequence[tuple[int, int]],
    threads: int | None,
    progress: Progress,
    what: str,
    stop: Stop | None = None,
) -> Iterator[T]:
    """Yield `work(start, stop)` of every batch, in order, and report after each."""
    done = in_order(lambda cut: work(*cut), cuts, as_threads(threads), stop)
    with closing(done):  # else the workers go on until a traceback is forgotten
        for (_, end), found in zip(cuts, done, strict=True):
            yield found
            progress(end, cuts[-1][1], what)
