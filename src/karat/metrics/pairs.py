"""Batches of candidates paired with their references, and the counts between them.

Arrays with one entry per *pair* run over all references of the first segment, then of the second,
and so on; `starts` has the first pair of each segment.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from karat import _kernel
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError
from karat.progress import Progress, Stop, map_in_order, n_threads, silent
from karat.text.references import References, check_aligned
from karat.text.segments import Segments, batches
from karat.text.tokens import Lexicon, Passage, Ragged, Recipe

if TYPE_CHECKING:
    from karat.text.trees import TreeBatch


@dataclass(frozen=True)
class SegmentNames:
    """Ids of the scored segments; lines without ids are numbered from 1."""

    count: int
    ids: Sequence[str] | None = None
    left_out: frozenset[str] = frozenset()
    """Ids of segments of the set that are not scored."""
    grouping: str = "document"
    """Kind of the groups of segments: `document`, or `question` with several answers."""

    @cached_property
    def _all(self) -> frozenset[str]:
        return frozenset(self.listed()) | self.left_out

    def listed(self) -> Sequence[str]:
        """Return the id of each segment."""
        return [str(i) for i in range(1, self.count + 1)] if self.ids is None else self.ids

    def has_id(self, name: str) -> bool:
        """Return whether the set has a segment with that id."""
        return name in self._all


@dataclass(frozen=True)
class Outputs:
    """The system and the segment of each row of a batch."""

    systems: Sequence[str]
    """Names of systems; without `codes`, all rows belong to the first."""
    codes: NDArray[np.int32] | None = None
    """For rows of a table, the index of each row's system in `systems`."""
    ids: Callable[[], Sequence[str] | Ints] | None = None
    """Returns the ids of all segments; without it, segments are numbered from 1."""
    columns: Mapping[str, Floats] = field(default_factory=dict)
    """Columns of scores of a table; NaN if missing."""
    first: int = 0
    """Index of the first segment."""
    count: int = 0
    """Number of rows."""

    @property
    def of_table(self) -> bool:
        """True for rows of a table, which may come in any order."""
        return self.codes is not None

    def cut(self, start: int, stop: int) -> Outputs:
        """Return the rows from `start` to `stop`."""
        all_ids = self.ids
        return Outputs(
            self.systems,
            None if self.codes is None else self.codes[start:stop],
            None if all_ids is None else lambda: all_ids()[start:stop],
            {name: column[start:stop] for name, column in self.columns.items()},
            self.first + start,
            stop - start,
        )

    def repeated(self, times: Ints) -> Outputs:
        """Return each row `times` times, with ids."""
        ids = [str(name) for name in self.segments()]
        listed = [name for name, n in zip(ids, times.tolist(), strict=True) for _ in range(n)]
        codes = np.zeros(self.count, np.int32) if self.codes is None else self.codes
        columns = {name: np.repeat(column, times) for name, column in self.columns.items()}
        rows = np.repeat(codes, times)
        return Outputs(self.systems, rows, lambda: listed, columns, self.first, len(listed))

    def segments(self) -> Sequence[str] | Sequence[int] | Ints:
        """Return the id of the segment of each row."""
        if self.ids is not None:
            return self.ids()
        return range(self.first + 1, self.first + self.count + 1)

    def by_system(self) -> Iterator[tuple[str, Ints]]:
        """Yield each system with the indices of its rows."""
        if self.codes is None:
            yield self.systems[0], np.arange(self.count)
            return
        for code in np.unique(self.codes).tolist():
            yield self.systems[code], np.flatnonzero(self.codes == code)


T = TypeVar("T")
ArrayT = TypeVar("ArrayT", bound="NDArray[Any]")

MAX_LCS_CELLS = 10**12
"""The largest LCS table (candidate tokens x reference tokens) that is computed: about a minute."""

MAX_STORED_LCS_CELLS = 2**33
"""The largest LCS table of two sentences that is stored for backtracking (one bit each: 1 GB)."""


class Matches(NamedTuple):
    """Clipped n-gram matches, one column per order from 1 up."""

    per_pair: NDArray[np.int32]  # per pair: min(count in candidate, count in reference)
    clipped: NDArray[np.int32]  # per segment: the same with the largest count of any reference


class Pairs:
    """Counts between candidates and references; n-grams and subsequences are counted once."""

    def __init__(
        self,
        candidates: Passage,
        references: Passage,
        starts: Ints,
        orders: Mapping[Recipe, int],
        first: int = 0,
        check: Callable[[], None] | None = None,
        trees: TreeBatch | None = None,
        outputs: Outputs | None = None,
    ) -> None:
        self.candidates, self.references, self.starts = candidates, references, starts
        self.check, self.trees = check, trees
        self.outputs = outputs or Outputs(("candidate",), first=first, count=len(starts) - 1)
        """The system and the segment of each row."""
        self._orders, self._first = orders, first
        self._found: dict[object, object] = {}

    def once(self, key: object, make: Callable[[], T]) -> T:
        """Return the value of `make`, computed once per key and shared by all metrics."""
        if key not in self._found:
            self._found[key] = make()
        return self._found[key]  # type: ignore[return-value]

    def check_sizes(self, sizes: Ints, most: int, subject: str) -> None:
        """Raise if a pair is too large; the message has the segment with the largest pair."""
        if len(sizes) and sizes.max() > most:
            pair = int(sizes.argmax())
            problem = f"{sizes[pair]:,} {subject} (at most {most:,})"
            advice = "split the segment or leave this metric out"
            raise InputError(f"segment {self.segment_number(pair):,}: {problem}; {advice}")

    def segment_number(self, pair: int) -> int:
        """Return the number of a pair's segment, from 1, for messages."""
        return int(np.searchsorted(self.starts, pair, side="right")) + self._first

    def row_number(self, row: int) -> int:
        """Return the number of a row's segment, from 1, for messages."""
        return self._first + row + 1

    @property
    def single(self) -> bool:
        """True if every segment has one reference."""
        return len(self.starts) - 1 == int(self.starts[-1])

    def spread(self, per_segment: ArrayT) -> ArrayT:
        """Repeat each segment's number (or row) for each of its pairs."""
        if self.single:
            return per_segment
        return np.repeat(per_segment, np.diff(self.starts), axis=0)  # type: ignore[return-value]

    def split_references(self) -> Pairs:
        """Return the same pairs as segments with one reference each."""
        if self.single:
            return self
        times, texts = np.diff(self.starts), self.candidates.views("mixed").strings()
        listed = [text for text, n in zip(texts, times.tolist(), strict=True) for _ in range(n)]
        candidates = self.candidates.with_same_words(
            _kernel.Views.from_strings(listed, 0, len(listed))
        )
        starts, outputs = np.arange(len(listed) + 1), self.outputs.repeated(times)
        more = self._orders, self._first, self.check, None, outputs
        return Pairs(candidates, self.references, starts, *more)

    def sum(self, per_pair: Ints) -> Ints:
        """Add up over the references of each segment."""
        if self.single:
            return per_pair
        total: Ints = np.add.reduceat(per_pair, self.starts[:-1], axis=0)
        return total

    def best(self, per_pair: Floats, *ties: Ints) -> Ints:
        """Return the pair with the largest number for each segment.

        Ties are broken by the arrays in `ties`, one after the other, then by the order of pairs.
        """
        if self.single:
            return np.arange(len(per_pair))
        segment = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        keys = [per_pair, *ties]
        order = np.lexsort([*(-key for key in reversed(keys)), segment])  # stable: first of equals
        best_pairs: Ints = order[self.starts[:-1]]
        return best_pairs

    def closest(self, lengths: Ints, candidate_lengths: Ints) -> Ints:
        """Return the reference length closest to each candidate's length; the shorter of two."""
        if self.single:
            return lengths
        distance = np.abs(lengths - self.spread(candidate_lengths))
        longest = int(lengths.max(initial=0)) + 1
        key = np.minimum.reduceat(distance * longest + lengths, self.starts[:-1])
        closest_lengths: Ints = key % longest
        return closest_lengths

    def matches(self, recipe: Recipe, order: int) -> Matches:
        """Return the n-gram matches of all orders up to `order`."""

        def match() -> Matches:
            most = max(order, self._orders.get(recipe, 0))
            candidates, references = self.candidates.tokens(recipe), self.references.tokens(recipe)
            return Matches(
                *_kernel.overlap(*candidates, *references, self.starts, most, self.check)
            )

        per_pair, clipped = self.once(("matches", recipe), match)
        return Matches(per_pair[:, :order], clipped[:, :order])

    def lcs(self, recipe: Recipe) -> Ints:
        """Return the length of the longest common subsequence of every pair."""

        def measure() -> Ints:
            candidates, references = self.candidates.tokens(recipe), self.references.tokens(recipe)
            lengths = _kernel.lcs(*candidates, *references, self.starts, MAX_LCS_CELLS, self.check)
            cells = self.spread(candidates.lengths) * references.lengths
            self._refuse(lengths < 0, cells, MAX_LCS_CELLS, "rougeL")
            return lengths

        return self.once(("lcs", recipe), measure)

    def summary_lcs(self, recipe: Recipe, separator: str) -> tuple[Ints, Ints, Ints]:
        """Return the union-LCS hits of every pair, and the lengths of both texts in tokens."""
        candidates, candidate_starts = self.candidates.sentences(separator)
        references, reference_starts = self.references.sentences(separator)
        a, b = candidates.tokens(recipe), references.tokens(recipe)
        stored = self.spread(_longest(a, candidate_starts)) * _longest(b, reference_starts)
        self._refuse(stored > MAX_STORED_LCS_CELLS, stored, MAX_STORED_LCS_CELLS, "rougeLsum")
        candidate_totals = self.spread(np.diff(a.offsets[candidate_starts]))
        reference_totals = np.diff(b.offsets[reference_starts])
        cells = candidate_totals * reference_totals
        self._refuse(cells > MAX_LCS_CELLS, cells, MAX_LCS_CELLS, "rougeLsum")
        sides = *a, candidate_starts, *b, reference_starts
        hits = _kernel.summary_lcs(*sides, self.starts, self.check)
        return hits, candidate_totals, reference_totals

    def matching(
        self, recipe: Recipe, e: float, exact: bool, budget: int, whole_cap: bool = False
    ) -> Floats:
        """Return GTM's match size of every segment, |C|, mean |R|, a bound, and if it is proven."""

        def match() -> Floats:
            candidates, references = self.candidates.tokens(recipe), self.references.tokens(recipe)
            sides = *candidates, *references, self.starts
            return _kernel.gtm_sizes(*sides, e, exact, budget, self.check, whole_cap)

        return self.once(("matching", recipe, e, exact, budget, whole_cap), match)

    def _refuse(self, bad: Flags, cells: Ints, most: int, metric: str) -> None:
        if not bad.any():
            return
        pair = int(bad.argmax())
        raise InputError(
            f"segment {self.segment_number(pair):,}: {cells[pair]:,} pairs of tokens are too many "
            f"for a longest common subsequence (at most {most:,}); split the segment or leave "
            f"{metric} out"
        )


def _longest(tokens: Ragged, starts: Ints) -> Ints:
    """Return the number of tokens in each text's longest sentence; 0 without sentences."""
    lengths = np.append(tokens.lengths, 0)
    longest: Ints = np.maximum.reduceat(lengths, starts[:-1])
    longest[np.diff(starts) == 0] = 0
    return longest


ReducedT = TypeVar("ReducedT")


class Counter(Protocol):
    """A metric, or anything that computes one row per segment of a batch."""

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """Yield the recipes and orders of its n-grams, so that counters can share matches."""

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        """Return one row per segment of a batch of candidates and their references."""


def largest_orders(metrics: Iterable[Counter]) -> dict[Recipe, int]:
    """Return the longest n-grams that any of the metrics matches, by recipe."""
    orders: dict[Recipe, int] = {}
    for metric in metrics:
        for recipe, order in metric.overlaps():
            orders[recipe] = max(order, orders.get(recipe, 0))
    return orders


CounterT = TypeVar("CounterT", bound=Counter)

SEGMENTS_PER_BATCH = 4096
BYTES_PER_BATCH = 1 << 23
SLOW_SEGMENTS_PER_BATCH = 256
"""Segments of a batch if a metric is slow."""
_FEW_BATCHES = 64
"""With more batches, the pages of mapped files are released."""


class Counting(Generic[CounterT, ReducedT]):
    """Computes the rows of metrics batch by batch, on any thread; each thread has its own lexicon.

    `reduce(metric, rows, first)` returns what is kept of the rows of a batch that begins with
    segment `first`.
    """

    def __init__(
        self,
        metrics: Sequence[CounterT],
        reduce: Callable[[CounterT, NDArray[Any], int], ReducedT],
        stop: Stop | None = None,
    ) -> None:
        self._metrics, self._reduce = metrics, reduce
        self.stop, self._local = stop or Stop(), threading.local()
        self._orders = largest_orders(metrics)

    def __call__(
        self,
        texts: Sequence[tuple[Outputs, Segments]],
        references: References,
        cut: tuple[int, int],
    ) -> list[list[ReducedT]]:
        """Return reduced[text][metric] of one batch.

        Text is tokenised once for all metrics with the same recipe; n-grams are counted once.
        """
        if not hasattr(self._local, "lexicon"):
            self._local.lexicon = Lexicon()
        lexicon: Lexicon = self._local.lexicon
        views, starts = references.views(*cut)
        reference_passage, trees = Passage(views, lexicon), references.trees(*cut)
        reduced = []
        for outputs, text in texts:
            candidates, batch_outputs = Passage(text.views(*cut), lexicon), outputs.cut(*cut)
            more = batch_outputs.first, self.stop.check, trees, batch_outputs
            pairs = Pairs(candidates, reference_passage, starts, self._orders, *more)
            reduced.append(
                [self._reduce(m, m.rows(pairs), batch_outputs.first) for m in self._metrics]
            )
        lexicon.tidy()
        return reduced


def cuts_of(
    systems: Sequence[Segments], references: References, metrics: Sequence[Counter] = ()
) -> list[tuple[int, int]]:
    """Return the batches of aligned texts; they depend only on the texts and the metrics."""
    sources: list[Any] = [*systems, references]
    most = min([SEGMENTS_PER_BATCH, *map(_batch_segments, metrics)])
    return list(batches(sources, most, BYTES_PER_BATCH))


def _batch_segments(metric: Counter) -> int:
    """Return the most segments of a batch for a metric."""
    usual = SLOW_SEGMENTS_PER_BATCH if getattr(metric, "slow", False) else SEGMENTS_PER_BATCH
    return getattr(metric, "batch_segments", None) or usual


def run_batches(
    metrics: Sequence[CounterT],
    systems: Mapping[str, Segments],
    references: References,
    reduce: Callable[[CounterT, NDArray[Any], int], ReducedT],
    *,
    ids: Callable[[], Sequence[str] | Ints] | None = None,
    outputs: Outputs | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> list[list[list[ReducedT]]]:
    """Return `reduce(metric, rows, first)` as reduced[batch][system][metric], in text order.

    Args:
        ids: returns the ids of the segments; by default they are numbered from 1.
        outputs: system and segment of each row, if one text has outputs of several systems.
    """
    texts = [
        (outputs or Outputs((name,), ids=ids), segments_of_system)
        for name, segments_of_system in systems.items()
    ]
    segments = [*systems.values()]
    check_aligned([*segments])
    if not len(segments[0]):
        raise InputError("no segments: there is nothing to score")
    count = Counting(metrics, reduce)
    cuts = cuts_of(segments, references, metrics)

    def work(cut: tuple[int, int]) -> list[list[ReducedT]]:
        return count(texts, references, cut)

    workers, parts = min(n_threads(threads), len(cuts)), []
    done = map(work, cuts) if workers == 1 else map_in_order(work, cuts, workers, count.stop)
    large = len(cuts) > _FEW_BATCHES
    for (start, end), part in zip(cuts, done, strict=True):
        parts.append(part)
        for source in [*segments, *references.sources] if large else ():
            source.release(start, end)  # pages of mapped files, which are not read again
        progress(end, len(segments[0]), "scoring")
    return parts
