"""The one loop over text: batch by batch, every system, every metric, on any number of threads.

Batches are cut by the text alone, each worker keeps its own lexicon, and results are put together
in the order of the text; so the number of threads changes the time and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from karat.arrays import Ints, NDArray
from karat.errors import InputError
from karat.metrics.outputs import Outputs
from karat.metrics.pairs import Pairs
from karat.progress import Progress, Stop, as_threads, in_order, silent
from karat.text.references import References, check_aligned
from karat.text.segments import Segments, batches
from karat.text.tokens import Lexicon, Passage, Recipe

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
SLOW_SEGMENTS_PER_BATCH = 256
"""Segments of a batch where a metric is slow."""
_FEW_BATCHES = 64
"""Batches up to which the pages of mapped files are kept."""


class Counting(Generic[CounterT, T]):
    """Metrics that count batch after batch, on any threads, each with a lexicon of its own.

    `reduce(metric, rows, first)` makes of a metric's rows of a batch what is kept of them; `first`
    is the number of the batch's first segment.
    """

    def __init__(
        self,
        metrics: Sequence[CounterT],
        reduce: Callable[[CounterT, NDArray[Any], int], T],
        stop: Stop | None = None,
    ) -> None:
        self._metrics, self._reduce = metrics, reduce
        self.stop, self._local = stop or Stop(), threading.local()
        self._orders: dict[Recipe, int] = {}
        for metric in metrics:
            for recipe, order in metric.overlaps():
                self._orders[recipe] = max(order, self._orders.get(recipe, 0))

    def __call__(
        self,
        texts: Sequence[tuple[Outputs, Segments]],
        references: References,
        cut: tuple[int, int],
    ) -> list[list[T]]:
        """Return found[text][metric] of one batch of texts, of which each has its outputs.

        Text is tokenised once for all metrics that cut it alike; n-grams are counted once.
        """
        if not hasattr(self._local, "lexicon"):
            self._local.lexicon = Lexicon()
        lexicon: Lexicon = self._local.lexicon
        views, starts = references.views(*cut)
        theirs, trees = Passage(views, lexicon), references.trees(*cut)
        found = []
        for outputs, text in texts:
            candidates, own = Passage(text.views(*cut), lexicon), outputs.cut(*cut)
            more = own.first, self.stop.check, trees, own
            pairs = Pairs(candidates, theirs, starts, self._orders, *more)
            found.append([self._reduce(m, m.rows(pairs), own.first) for m in self._metrics])
        lexicon.tidy()
        return found


def cuts_of(
    systems: Sequence[Segments], references: References, metrics: Sequence[Counter] = ()
) -> list[tuple[int, int]]:
    """Return the batches into which aligned texts are cut, by the text and the metrics alone."""
    sources: list[Any] = [*systems, references]
    slow = any(getattr(metric, "slow", False) for metric in metrics)
    most = min(SEGMENTS_PER_BATCH, SLOW_SEGMENTS_PER_BATCH) if slow else SEGMENTS_PER_BATCH
    return list(batches(sources, most, BYTES_PER_BATCH))


def run_batches(
    metrics: Sequence[CounterT],
    systems: Mapping[str, Segments],
    references: References,
    reduce: Callable[[CounterT, NDArray[Any], int], T],
    *,
    ids: Callable[[], Sequence[str] | Ints] | None = None,
    outputs: Outputs | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> list[list[list[T]]]:
    """`reduce(metric, rows, first)` as found[batch][system][metric], in the order of the text.

    `ids` are those of the segments; without them, they go by their numbers, from 1. `outputs` says
    which system and segment each row is of, where one text has those of several systems.
    """
    texts = [(outputs or Outputs((name,), ids=ids), own) for name, own in systems.items()]
    segments = [*systems.values()]
    check_aligned([*segments])
    if not len(segments[0]):
        raise InputError("no segments: there is nothing to score")
    count = Counting(metrics, reduce)
    cuts = cuts_of(segments, references, metrics)

    def work(cut: tuple[int, int]) -> list[list[T]]:
        return count(texts, references, cut)

    workers, parts = min(as_threads(threads), len(cuts)), []
    done = map(work, cuts) if workers == 1 else in_order(work, cuts, workers, count.stop)
    large = len(cuts) > _FEW_BATCHES
    for (start, end), part in zip(cuts, done, strict=True):
        parts.append(part)
        for source in [*segments, *references.sources] if large else ():
            source.release(start, end)  # pages of mapped files, which are not read again
        progress(end, len(segments[0]), "scoring")
    return parts
