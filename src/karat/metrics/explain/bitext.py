"""The bitext grid of one segment as data: what GTM matched, and what it gave up.

Rows are the candidate's tokens, columns the references' tokens, one reference after the other with
a barrier after each. Positions are counted from 0; a column counts the barriers before it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from karat import _kernel
from karat.arrays import Ints, np
from karat.errors import InputError
from karat.metrics.explain.edits import Alignment, edit_operations, spelled
from karat.text.references import one_or_several
from karat.text.segments import Strings
from karat.text.tokens import Lexicon, Passage, Ragged, Recipe

if TYPE_CHECKING:
    from karat.metrics.matching import GTM


class Hit(NamedTuple):
    """A cell of the grid whose row and column have the same word."""

    row: int
    column: int


class MatchedRun(NamedTuple):
    """Hits that follow each other in both texts."""

    row: int
    column: int
    length: int


class Block(NamedTuple):
    """A run of the matching: `length` tokens from `row` on equal those of a reference."""

    row: int
    column: int
    length: int
    counted: float
    """The part of its length that the cap leaves; its last hits are given up first."""
    reference: int
    """The number of the reference."""
    position: int
    """Its first position there."""


class Pared(NamedTuple):
    """A hit of the matching that does not count, or not in full, because of the cap."""

    row: int
    column: int
    lost: float


@dataclass(frozen=True)
class Explanation:
    """A matching, the numbers that follow from it, and how certain it is to be the maximum."""

    signature: str
    candidate: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    row_ids: tuple[int, ...]
    column_ids: tuple[int, ...]
    """The ids that are compared: equal ids are a hit; a barrier has an id of its own."""
    blocks: tuple[Block, ...]
    """The runs, the longest first, of equals the last."""
    cap: float
    sum: float
    """Of length^e over what counts of each run."""
    size: float
    precision: float
    recall: float
    value: float
    proven: bool
    """True if no matching has a larger size."""
    bound: float
    """No matching has a larger size than this."""
    largest: float
    """The size of the largest matching that is known; the greedy search may have missed it."""

    @property
    def columns(self) -> int:
        """The width of the grid, barriers included."""
        return len(self.column_ids)

    @cached_property
    def barriers(self) -> tuple[int, ...]:
        """The columns after the references, which no run crosses."""
        return tuple(j for j, word in enumerate(self.column_ids) if word == _BARRIER)

    @property
    def pared(self) -> tuple[Pared, ...]:
        """The hits that the cap took away, in whole or in part."""
        return tuple(
            Pared(b.row + k, b.column + k, min(1.0, k + 1 - b.counted))
            for b in self.blocks
            for k in range(b.length)
            if k + 1 > b.counted
        )

    @cached_property
    def hit_count(self) -> int:
        """The number of hits in the grid."""
        mine, theirs = Counter(self.row_ids), Counter(self.column_ids)
        return sum(count * theirs[word] for word, count in mine.items())

    @cached_property
    def nearest(self) -> int:
        """The number of the reference that takes the cheapest edits, the first of equals."""
        costs = [self.edits(number).cost for number in range(len(self.references))]
        return costs.index(min(costs))

    def edits(self, reference: int | None = None) -> Alignment:
        """The edit alignment, with moves, with one reference: the nearest if none is named.

        Words are equal where the metric takes them to be (lower case, stems).
        """
        number = self.nearest if reference is None else reference
        starts = [0, *(barrier + 1 for barrier in self.barriers)]
        theirs = self.column_ids[starts[number] : self.barriers[number]]
        steps = edit_operations(self.row_ids, theirs)
        return Alignment(self.references[number], self.candidate, steps)

    def hits(self, limit: int | None = None) -> Iterator[Hit]:
        """All hits of the grid, row by row, or the first of them; there may be millions."""
        places: dict[int, list[int]] = {}
        for j, word in enumerate(self.column_ids):
            places.setdefault(word, []).append(j)
        found = (Hit(i, j) for i, word in enumerate(self.row_ids) for j in places.get(word, ()))
        return islice(found, limit)

    def runs(self, limit: int | None = None) -> list[MatchedRun]:
        """The maximal runs of the first hits: diagonals of the grid, chosen or not."""
        last: dict[int, MatchedRun] = {}  # on each diagonal
        ended: list[MatchedRun] = []
        for row, column in self.hits(limit):
            run = last.get(column - row)
            if run is not None and run.row + run.length == row:
                last[column - row] = run._replace(length=run.length + 1)
                continue
            ended += [] if run is None else [run]
            last[column - row] = MatchedRun(row, column, 1)
        return sorted([*ended, *last.values()])


_BARRIER = -1  # no word has this id
CHECKED = 5_000_000
"""Steps of the exact search that looks for a larger matching than the greedy one."""

MOST_TOKENS = 100_000
"""The longest candidate, and the longest references taken together, that are explained: a page of
them takes half a GB."""


def explain(metric: GTM, candidate: str, references: str | Sequence[str]) -> Explanation:
    """The matching of one candidate with its references by one metric."""
    texts = one_or_several(references)
    lexicon = Lexicon()
    mine, (words,) = _side(Strings([candidate], "candidate"), lexicon, metric.recipe)
    theirs, others = _side(Strings(texts, "references"), lexicon, metric.recipe)
    grid = mine.ids, theirs.ids, theirs.offsets, metric.e
    found = _kernel.gtm_runs(*grid, metric.exact, metric.budget, whole_cap=metric.whole_cap)
    runs, counted, total, size, _, _, cap = found
    proven, bound, largest = _certificate(metric, grid, found)
    row = [size, len(words), len(theirs.ids) / len(texts), bound, 1.0, float(proven)]
    score = metric.score(np.array(row[: len(metric.columns())]), len(texts))
    columns, ends = theirs.ids.tolist(), theirs.offsets.tolist()
    starts = [start + k for k, start in enumerate(ends[:-1])]  # in columns: a barrier after each
    return Explanation(
        signature=score.signature,
        candidate=words,
        references=others,
        row_ids=tuple(mine.ids.tolist()),
        column_ids=tuple(i for a, b in pairwise(ends) for i in (*columns[a:b], _BARRIER)),
        blocks=_blocks(runs.tolist(), counted.tolist(), starts),
        cap=cap,
        sum=total,
        size=size,
        precision=score.parts["precision"],
        recall=score.parts["recall"],
        value=score.value,
        proven=proven,
        bound=bound,
        largest=largest,
    )


def _certificate(
    metric: GTM, grid: tuple[Any, Any, Ints, float], found: tuple[Any, ...]
) -> tuple[bool, float, float]:
    """Return whether a matching is the maximum, a bound for it, and the largest size known.

    A greedy matching is compared with what the exact search finds in a smaller budget.
    """
    from karat.arithmetic import SLACK  # numpy is loaded where it is needed

    *_, size, bound, proven, cap = found
    if size >= cap:  # sum length^e <= (sum length)^e <= cap^e, whatever the search
        return True, size, size
    largest = size
    if not metric.exact:
        budget = min(metric.budget, CHECKED)
        sure = _kernel.gtm_runs(*grid, True, budget, whole_cap=metric.whole_cap)
        *_, largest, bound, proven, _ = sure
        largest = max(size, largest)
        proven = proven and largest - size <= SLACK * size
    return (True, size, size) if proven else (False, min(bound, cap), largest)


def _blocks(runs: list[list[int]], counted: list[float], starts: list[int]) -> tuple[Block, ...]:
    """The runs with the references that they lie in, whose first columns are `starts`."""
    found = []
    for (row, column, length), kept in zip(runs, counted, strict=True):
        number = bisect_right(starts, column) - 1
        found.append(Block(row, column, length, kept, number, column - starts[number]))
    return tuple(found)


def _side(
    texts: Strings, lexicon: Lexicon, recipe: Recipe
) -> tuple[Ragged, tuple[tuple[str, ...], ...]]:
    """The ids of one side that are compared, and each text's words as they stand in it."""
    passage = Passage(texts.views(0, len(texts)), lexicon)
    found = passage.tokens(recipe)
    if len(found.ids) > MOST_TOKENS:
        many = f"{len(found.ids):,} tokens of the {texts.name} are too many for a grid"
        raise InputError(f"{many} (at most {MOST_TOKENS:,}); split the segment")
    surface = passage.tokens(replace(recipe, stem="none"))
    words = spelled(surface.ids, lexicon.vocab(recipe.tok, recipe.case))
    return found, tuple(words[start:end] for start, end in pairwise(surface.offsets.tolist()))
