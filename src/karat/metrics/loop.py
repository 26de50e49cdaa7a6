"""The one loop over text: batch by batch, every system, every metric, on any number of threads.

Batches are cut by the text alone, each worker keeps its own lexicon, and results are put together
in the order of the text; so the number of threads changes the time and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from karat.arrays import NDArray
from karat.errors import InputError
from karat.metrics.pairs import Pairs
from karat.progress import Progress, Stop, as_threads, in_order, silent
from karat.text.recipe import Lexicon, Passage, Recipe
from karat.text.references import References, check_aligned
from karat.text.segments import Segments, batches

T = TypeVar("T")


class Counter(Protocol):
    """A metric, or anything that gives one row for every segment of a batch."""

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """The n-gram matches it will ask for, so that counters can share them."""

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        """One row per segment of a batch of candidates and their references."""


CounterT = TypeVar("CounterT", bound=Counter)

SEGMENTS_PER_BATCH = 4096
BYTES_PER_BATCH = 1 << 23


def run(
    metrics: Sequence[CounterT],
    systems: Sequence[Segments],
    references: References,
    reduce: Callable[[CounterT, NDArray[Any]], T],
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> list[list[list[T]]]:
    """`reduce(metric, rows)` as found[batch][system][metric], batches in the order of the text.

    Text is tokenised once for all metrics that cut it alike; n-grams are counted once.
    """
    check_aligned([*systems])
    if not len(systems[0]):
        raise InputError("no segments: there is nothing to score")
    job = _Job(metrics, systems, references, reduce)
    cuts = list(batches([*systems, references], SEGMENTS_PER_BATCH, BYTES_PER_BATCH))  # type: ignore[list-item]
    workers = min(as_threads(threads), len(cuts))
    found = []
    for done, part in enumerate(_map(job, cuts, workers)):
        found.append(part)
        progress(cuts[done][1], len(systems[0]), "scoring")
    return found


class _Job:
    """Return the work for each batch."""

    def __init__(
        self,
        metrics: Sequence[Counter],
        systems: Sequence[Segments],
        references: References,
        reduce: Callable[[Any, NDArray[Any]], Any],
    ) -> None:
        self.metrics, self.systems, self.references = metrics, systems, references
        self.reduce = reduce
        self.stop = Stop()
        self.local = threading.local()
        self.orders: dict[Recipe, int] = {}
        for metric in metrics:
            for recipe, order in metric.overlaps():
                self.orders[recipe] = max(order, self.orders.get(recipe, 0))

    def __call__(self, cut: tuple[int, int]) -> list[list[Any]]:
        if not hasattr(self.local, "lexicon"):
            self.local.lexicon = Lexicon()
        lexicon: Lexicon = self.local.lexicon
        views, starts = self.references.views(*cut)
        references = Passage(views, lexicon)
        trees = self.references.trees(*cut)
        found = []
        for system in self.systems:
            candidates = Passage(system.views(*cut), lexicon)
            pairs = Pairs(
                candidates, references, starts, self.orders, cut[0], self.stop.check, trees
            )
            found.append([self.reduce(metric, metric.rows(pairs)) for metric in self.metrics])
        lexicon.tidy()
        return found


def _map(job: _Job, cuts: Sequence[tuple[int, int]], workers: int) -> Iterator[list[list[Any]]]:
    """`job` of every cut, in order."""
    if workers == 1:
        yield from map(job, cuts)
        return
    yield from in_order(job, cuts, workers, job.stop)
