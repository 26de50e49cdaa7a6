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


def run_batches(
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
    stop, local = Stop(), threading.local()
    orders: dict[Recipe, int] = {}
    for metric in metrics:
        for recipe, order in metric.overlaps():
            orders[recipe] = max(order, orders.get(recipe, 0))

    def work(cut: tuple[int, int]) -> list[list[T]]:
        if not hasattr(local, "lexicon"):
            local.lexicon = Lexicon()
        lexicon: Lexicon = local.lexicon
        views, starts = references.views(*cut)
        theirs, trees = Passage(views, lexicon), references.trees(*cut)
        found = []
        for system in systems:
            candidates = Passage(system.views(*cut), lexicon)
            pairs = Pairs(candidates, theirs, starts, orders, cut[0], stop.check, trees)
            found.append([reduce(metric, metric.rows(pairs)) for metric in metrics])
        lexicon.tidy()
        return found

    cuts = list(batches([*systems, references], SEGMENTS_PER_BATCH, BYTES_PER_BATCH))  # type: ignore[list-item]
    workers, parts = min(as_threads(threads), len(cuts)), []
    done = map(work, cuts) if workers == 1 else in_order(work, cuts, workers, stop)
    for (_, end), part in zip(cuts, done, strict=True):
        parts.append(part)
        progress(end, len(systems[0]), "scoring")
    return parts
