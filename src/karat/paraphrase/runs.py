"""Work on runs of sentences by several threads, its results in the order of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from karat.progress import Progress, Stop, as_threads

T = TypeVar("T")


def by_runs(
    work: Callable[[int, int], T],
    cuts: Sequence[tuple[int, int]],
    threads: int | None,
    progress: Progress,
    what: str,
    stop: Stop | None = None,
) -> Iterator[T]:
    """`work(start, stop)` of every run, in order; a few runs are worked on ahead, not all.

    The kernel's part of the work releases the GIL. Whoever stops listening stops the workers,
    before their next run or, if they look at `stop`, within one.
    """
    workers = as_threads(threads)
    total, stop = cuts[-1][1] if cuts else 0, stop or Stop()

    def checked(cut: tuple[int, int]) -> T:
        stop.check()
        return work(*cut)

    with ThreadPoolExecutor(workers, thread_name_prefix="karat") as pool:
        waiting: list[Future[T]] = []
        try:
            for done in range(len(cuts)):
                while len(waiting) < 2 * workers and done + len(waiting) < len(cuts):
                    waiting.append(pool.submit(checked, cuts[done + len(waiting)]))
                yield waiting.pop(0).result()
                progress(cuts[done][1], total, what)
        except BaseException:
            stop.request()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
