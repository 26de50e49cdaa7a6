"""GTM (Melamed, Green and Turian 2003): precision and recall from maximum matching.

A hit is a word of the candidate that equals a word of a reference. A matching uses every word at
most once; hits that follow each other in both texts form a run. With the exponent e

    size = (sum over runs of length^e)^(1/e)
    P = size / |C|     R = size / mean |R|     F = P R / (alpha R + (1 - alpha) P)

Several references stand one after the other, with a barrier that no run crosses after each; of the
hits no more than min(|C|, mean |R|) count, which may be a fraction (`cap=whole` deletes whole hits,
as in the paper): the shortest runs are given up first. A corpus or document has the sums of its
segments' sizes and lengths. 0/0 is 0.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, pairwise
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from karat import _kernel
from karat.arrays import Floats, Ints, NDArray, np
from karat.errors import InputError
from karat.metrics.accuracy import Alignment, edit_operations, spell_tokens
from karat.metrics.base import Metric
from karat.metrics.pairs import Pairs
from karat.metrics.rouge import f_measure
from karat.settings import setting
from karat.text.references import one_or_several
from karat.text.tokens import CASES, TOKENIZERS, Lexicon, Ragged, Recipe, stemmers

SEARCHES = {
    "greedy": "the longest run first, as GTM 1.4 does",
    "exact": "the maximum under the cap, with a certificate",
}
"""Methods of searching for a matching."""

CAPS = {
    "fraction": "min(|C|, mean |R|), of the last run a part, as GTM 1.4 does",
    "whole": "whole hits alone, as in the paper",
}
"""Limits on the hits that count."""

BUDGET = 50_000_000
"""Steps of the exact search in one segment: about half a second."""

MAX_GTM_TOKENS = 1_000_000
"""The longest candidate, and the longest joined references, that are matched: about 250 MB
and, for adversarial texts, a minute or two."""


@dataclass(frozen=True)
class GTM(Metric):
    """F-measure of the maximum matching of words, longer runs counting for more (e > 1)."""

    name: ClassVar[str] = "gtm"
    aliases: ClassVar[Any] = MappingProxyType(
        {"exponent": "e", "tokenize": "tok", "tokenizer": "tok", "stemmer": "stem"}
    )
    presets: ClassVar[Mapping[str, dict[str, Any]]] = MappingProxyType(
        {
            "paper": {"e": 2.0, "search": "exact", "cap": "whole"},  # equation 1, section 2.3
            "gtm-1.4": {"e": 1.0, "search": "greedy", "tok": "gtm"},  # what the tool does unasked
        }
    )

    e: float = setting(1.0, "exponent of run lengths: 1 counts words, 2 areas", low=1, high=50)
    search: str = setting("greedy", "how the matching is found", choices=SEARCHES)
    alpha: float = setting(0.5, "weight of precision: 0 is recall, 1 precision", low=0, high=1)
    tok: str = setting("none", "tokeniser", choices=TOKENIZERS)
    case: str = setting("mixed", "whether capitals count (mixed) or not (lower)", choices=CASES)
    stem: str = setting("none", "stemmer", choices=stemmers)
    stop: str = setting("none", "stop words: none, en, iso-LANGUAGE or a file")
    budget: int = setting(BUDGET, "most steps of the exact search in a segment", low=1, high=2**62)
    cap: str = setting("fraction", "hits that count of several references", choices=CAPS)

    @property
    def recipe(self) -> Recipe:
        """The recipe that turns text into tokens."""
        return Recipe(self.tok, self.case, self.stem, self.stop)

    @property
    def exact(self) -> bool:
        """True if the search finds the maximum, with a certificate."""
        return self.search == "exact"

    @property
    def whole_cap(self) -> bool:
        """True if hits count in full or not at all."""
        return self.cap == "whole"

    def full_name(self) -> str:
        """Return the name with every setting; the cap only if it is not GTM 1.4's."""
        return super().full_name().removesuffix(",cap=fraction")

    def columns(self) -> tuple[str, ...]:
        certificate = ("bound", "segments", "proven") if self.exact else ()
        return ("size", "candidate", "reference", *certificate)

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        candidates, references = (
            p.tokens(self.recipe) for p in (pairs.candidates, pairs.references)
        )
        for lengths in (candidates.lengths, pairs.sum(references.lengths)):
            pairs.check_sizes(pairs.spread(lengths), MAX_GTM_TOKENS, "tokens are too many for gtm")
        sizes = pairs.matching(self.recipe, self.e, self.exact, self.budget, self.whole_cap)
        if not self.exact:
            return sizes[:, :3]
        return np.insert(sizes, 4, 1.0, axis=1)

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        size, length, reference_length = (rows[:, k].astype(float) for k in range(3))
        p, r = _share(size, length), _share(size, reference_length)
        lengths = {"size": size, "length": length, "reference_length": reference_length}
        parts = {"value": f_measure(p, r, self.alpha), "precision": p, "recall": r, **lengths}
        if self.exact:
            bound = rows[:, 3].astype(float)
            most = f_measure(_share(bound, length), _share(bound, reference_length), self.alpha)
            parts |= {"bound": most, "segments": rows[:, 4], "proven": rows[:, 5]}
        return parts

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        """Return a note on the number of segments whose matching is proven to be the maximum."""
        if not self.exact:
            return ()
        segments, proven = (round(float(number)) for number in row[4:6])
        note = f"{proven:,} of {segments:,} segments proven optimal"
        if proven == segments:
            return (note,)
        bound = float(self.measure(row[None, :])["bound"][0])
        return (f"{note}; the maximum is at most {bound:.4f} (a larger budget may prove more)",)

    def explain(self, candidate: str, references: str | Sequence[str]) -> Explanation:
        """Return the matched words in their runs, the cap's share, and how certain they are."""
        return explain_matching(self, candidate, references)


def _share(size: Floats, length: Floats) -> Floats:
    return np.divide(size, length, out=np.zeros(len(size)), where=length > 0)


class Hit(NamedTuple):
    """A cell of the grid whose row and column have the same word."""

    row: int
    column: int


class MatchedRun(NamedTuple):
    """Hits that follow each other in both texts."""

    row: int
    column: int
    length: int


class AlignedBlock(NamedTuple):
    """A run of the matching: `length` tokens from `row` on equal those of a reference."""

    row: int
    column: int
    length: int
    counted: float
    """The part of its length that counts under the cap; its last hits are dropped first."""
    reference: int
    """The number of the reference."""
    position: int
    """Its first position in the reference."""


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
    """The ids that are compared: equal ids are a hit; barriers have a separate id."""
    blocks: tuple[AlignedBlock, ...]
    """The runs, the longest first; of equally long runs, the last first."""
    cap: float
    sum: float
    """Sum of length^e over the counted parts of runs."""
    size: float
    precision: float
    recall: float
    value: float
    proven: bool
    """True if no matching has a larger size."""
    bound: float
    """Upper bound on the size of any matching."""
    largest: float
    """The size of the largest known matching; the greedy search may have missed it."""

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
        row_counts, column_counts = Counter(self.row_ids), Counter(self.column_ids)
        return sum(count * column_counts[word] for word, count in row_counts.items())

    @cached_property
    def nearest(self) -> int:
        """The number of the reference with the cheapest edits; the first of equals."""
        costs = [self.edits(number).cost for number in range(len(self.references))]
        return costs.index(min(costs))

    def edits(self, reference: int | None = None) -> Alignment:
        """Return the edit alignment, with moves, to one reference; by default the nearest.

        Words are compared as the metric compares them (lower case, stems).
        """
        number = self.nearest if reference is None else reference
        starts = [0, *(barrier + 1 for barrier in self.barriers)]
        reference_ids = self.column_ids[starts[number] : self.barriers[number]]
        steps = edit_operations(self.row_ids, reference_ids)
        return Alignment(self.references[number], self.candidate, steps)

    def hits(self, limit: int | None = None) -> Iterator[Hit]:
        """Yield the hits of the grid, row by row, up to a limit; there may be millions."""
        places: dict[int, list[int]] = {}
        for j, word in enumerate(self.column_ids):
            places.setdefault(word, []).append(j)
        cells = (Hit(i, j) for i, word in enumerate(self.row_ids) for j in places.get(word, ()))
        return islice(cells, limit)

    def runs(self, limit: int | None = None) -> list[MatchedRun]:
        """Return the maximal runs of the first hits: diagonals of the grid, matched or not."""
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
"""Steps of the exact search for a larger matching than the greedy one."""

MAX_GRID_TOKENS = 100_000
"""The longest candidate, and the longest joined references, that are explained: a page of
them takes half a GB."""


def explain_matching(metric: GTM, candidate: str, references: str | Sequence[str]) -> Explanation:
    """Return the matching of one candidate with its references."""
    texts = one_or_several(references)
    lexicon = Lexicon()
    candidate_ids, (words,) = _tokenize_side([candidate], "candidate", lexicon, metric.recipe)
    reference_ids, reference_words = _tokenize_side(texts, "references", lexicon, metric.recipe)
    kernel_inputs = candidate_ids.ids, reference_ids.ids, reference_ids.offsets, metric.e
    search = metric.exact, metric.budget
    matching = _Matching(*_kernel.gtm_runs(*kernel_inputs, *search, whole_cap=metric.whole_cap))
    maximum = _check_maximum(metric, kernel_inputs, matching)
    row = [matching.size, len(words), len(reference_ids.ids) / len(texts)]
    row += [maximum.bound, 1.0, float(maximum.proven)]
    score = metric.score(np.array(row[: len(metric.columns())]), len(texts))
    columns, ends = reference_ids.ids.tolist(), reference_ids.offsets.tolist()
    starts = [start + k for k, start in enumerate(ends[:-1])]  # in columns: a barrier after each
    blocks = []
    for (first_row, column, length), counted_length in zip(
        matching.runs.tolist(), matching.counted_lengths.tolist(), strict=True
    ):
        number = bisect_right(starts, column) - 1
        place = counted_length, number, column - starts[number]
        blocks.append(AlignedBlock(first_row, column, length, *place))
    return Explanation(
        signature=score.signature,
        candidate=words,
        references=reference_words,
        row_ids=tuple(candidate_ids.ids.tolist()),
        column_ids=tuple(i for a, b in pairwise(ends) for i in (*columns[a:b], _BARRIER)),
        blocks=tuple(blocks),
        cap=matching.cap,
        sum=matching.sum,
        size=matching.size,
        precision=score.parts["precision"],
        recall=score.parts["recall"],
        value=score.value,
        proven=maximum.proven,
        bound=maximum.bound,
        largest=maximum.largest,
    )


class _Matching(NamedTuple):
    """The kernel's matching of a candidate with its references."""

    runs: NDArray[np.int32]  # row, column and length
    counted_lengths: Floats
    sum: float
    size: float
    bound: float  # upper bound of the size of any matching
    proven: bool  # whether no matching is larger
    cap: float


class _MaximumCheck(NamedTuple):
    """Whether a matching is proven to be the maximum."""

    proven: bool
    bound: float  # upper bound of the size of any matching
    largest: float  # the largest known size


def _check_maximum(
    metric: GTM, kernel_inputs: tuple[Any, Any, Ints, float], matching: _Matching
) -> _MaximumCheck:
    """Return whether no matching is larger; check a greedy matching by a short exact search."""
    from karat.arithmetic import SLACK  # numpy is loaded where it is needed

    size, bound, proven = matching.size, matching.bound, matching.proven
    if size >= matching.cap:  # sum length^e <= (sum length)^e <= cap^e, whatever the search
        return _MaximumCheck(True, size, size)
    largest = size
    if not metric.exact:
        search = True, min(metric.budget, CHECKED)
        exact = _Matching(*_kernel.gtm_runs(*kernel_inputs, *search, whole_cap=metric.whole_cap))
        largest, bound = max(size, exact.size), exact.bound
        proven = exact.proven and largest - size <= SLACK * size
    if proven:
        return _MaximumCheck(True, size, size)
    return _MaximumCheck(False, min(bound, matching.cap), largest)


def _tokenize_side(
    texts: Sequence[str], name: str, lexicon: Lexicon, recipe: Recipe
) -> tuple[Ragged, tuple[tuple[str, ...], ...]]:
    """Return the ids of one side that are compared, and the words of each text."""
    passage = lexicon.passage(texts, name)
    compared = passage.tokens(recipe)
    if len(compared.ids) > MAX_GRID_TOKENS:
        many = f"{len(compared.ids):,} tokens of the {name} are too many for a grid"
        raise InputError(f"{many} (at most {MAX_GRID_TOKENS:,}); split the segment")
    surface = passage.tokens(replace(recipe, stem="none"))
    words = spell_tokens(surface.ids, lexicon.vocab(recipe.tok, recipe.case))
    return compared, tuple(words[start:end] for start, end in pairwise(surface.offsets.tolist()))
