"""Pairs: a run of candidates beside their references, and what is counted between them.

Arrays with one entry per *pair* run over all references of the first segment, then of the second,
and so on; `starts` says where each segment's pairs begin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from karat import _kernel
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError
from karat.metrics.outputs import Outputs
from karat.text.tokens import Passage, Ragged, Recipe

if TYPE_CHECKING:
    from karat.text.trees import TreeBatch

T = TypeVar("T")
ArrayT = TypeVar("ArrayT", bound="NDArray[Any]")

MOST_CELLS = 10**12
"""The largest LCS table (candidate tokens x reference tokens) that is worked on: a minute or so."""

MOST_STORED_CELLS = 2**33
"""The largest LCS table of two sentences that is walked back through (a bit each: 1 GB)."""


class Matches(NamedTuple):
    """Clipped n-gram matches, one column per order from 1 up."""

    each: NDArray[np.int32]  # per pair: min(count in candidate, count in reference)
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
        """Return the value of `make`, made once for all metrics that ask under the same key."""
        if key not in self._found:
            self._found[key] = make()
        return self._found[key]  # type: ignore[return-value]

    def refuse(self, sizes: Ints, most: int, what: str) -> None:
        """Refuse pairs that are too large, naming the first segment with the largest."""
        if len(sizes) and sizes.max() > most:
            pair = int(sizes.argmax())
            told = f"{sizes[pair]:,} {what} (at most {most:,})"
            do = "split the segment or leave this metric out"
            raise InputError(f"segment {self.place(pair):,}: {told}; {do}")

    def place(self, pair: int) -> int:
        """The number of a pair's segment, from 1, for messages."""
        return int(np.searchsorted(self.starts, pair, side="right")) + self._first

    @property
    def single(self) -> bool:
        """True if every segment has one reference."""
        return len(self.starts) - 1 == int(self.starts[-1])

    def spread(self, per_segment: ArrayT) -> ArrayT:
        """Repeat each segment's number (or row) for each of its pairs."""
        if self.single:
            return per_segment
        return np.repeat(per_segment, np.diff(self.starts), axis=0)  # type: ignore[return-value]

    def each(self) -> Pairs:
        """Return the same pairs as if every reference were that of a segment of its own."""
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
        """For each segment the pair with the largest number.

        Of equals, the one that is larger in the first of `ties`, and so on; else the first.
        """
        if self.single:
            return np.arange(len(per_pair))
        segment = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        keys = [per_pair, *ties]
        order = np.lexsort([*(-key for key in reversed(keys)), segment])  # stable: first of equals
        found: Ints = order[self.starts[:-1]]
        return found

    def closest(self, lengths: Ints, own: Ints) -> Ints:
        """For each segment the reference length closest to its own; of two, the shorter."""
        if self.single:
            return lengths
        distance = np.abs(lengths - self.spread(own))
        longest = int(lengths.max(initial=0)) + 1
        key = np.minimum.reduceat(distance * longest + lengths, self.starts[:-1])
        found: Ints = key % longest
        return found

    def matches(self, recipe: Recipe, order: int) -> Matches:
        """N-gram matches of all orders up to `order`."""

        def match() -> Matches:
            most = max(order, self._orders.get(recipe, 0))
            mine, theirs = self.candidates.tokens(recipe), self.references.tokens(recipe)
            return Matches(*_kernel.overlap(*mine, *theirs, self.starts, most, self.check))

        each, clipped = self.once(("matches", recipe), match)
        return Matches(each[:, :order], clipped[:, :order])

    def lcs(self, recipe: Recipe) -> Ints:
        """The length of the longest common subsequence of every pair."""

        def measure() -> Ints:
            mine, theirs = self.candidates.tokens(recipe), self.references.tokens(recipe)
            found = _kernel.lcs(*mine, *theirs, self.starts, MOST_CELLS, self.check)
            cells = self.spread(mine.lengths) * theirs.lengths
            self._refuse(found < 0, cells, MOST_CELLS, "rougeL")
            return found

        return self.once(("lcs", recipe), measure)

    def summary_lcs(self, recipe: Recipe, separator: str) -> tuple[Ints, Ints, Ints]:
        """Union-LCS hits of every pair, with the lengths of both texts in tokens."""
        mine, my_starts = self.candidates.sentences(separator)
        theirs, their_starts = self.references.sentences(separator)
        a, b = mine.tokens(recipe), theirs.tokens(recipe)
        stored = self.spread(_longest(a, my_starts)) * _longest(b, their_starts)
        self._refuse(stored > MOST_STORED_CELLS, stored, MOST_STORED_CELLS, "rougeLsum")
        total, wanted = self.spread(np.diff(a.offsets[my_starts])), np.diff(b.offsets[their_starts])
        cells = total * wanted
        self._refuse(cells > MOST_CELLS, cells, MOST_CELLS, "rougeLsum")
        hits = _kernel.summary_lcs(*a, my_starts, *b, their_starts, self.starts, self.check)
        return hits, total, wanted

    def matching(
        self, recipe: Recipe, e: float, exact: bool, budget: int, whole_cap: bool = False
    ) -> Floats:
        """GTM's size of every segment with |C|, mean |R|, a bound for the size, and its proof."""

        def match() -> Floats:
            mine, theirs = self.candidates.tokens(recipe), self.references.tokens(recipe)
            sides = *mine, *theirs, self.starts
            return _kernel.gtm_sizes(*sides, e, exact, budget, self.check, whole_cap)

        return self.once(("matching", recipe, e, exact, budget, whole_cap), match)

    def _refuse(self, bad: Flags, cells: Ints, most: int, metric: str) -> None:
        if not bad.any():
            return
        pair = int(bad.argmax())
        raise InputError(
            f"segment {self.place(pair):,}: {cells[pair]:,} pairs of tokens are too many for a "
            f"longest common subsequence (at most {most:,}); split the segment or leave {metric} "
            f"out"
        )


def _longest(tokens: Ragged, starts: Ints) -> Ints:
    """The tokens of each text's longest sentence; 0 for a text without sentences."""
    lengths = np.append(tokens.lengths, 0)
    longest: Ints = np.maximum.reduceat(lengths, starts[:-1])
    longest[np.diff(starts) == 0] = 0
    return longest
