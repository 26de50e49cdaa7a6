"""String accuracies (Bangalore, Rambow and Whittaker 2000).

The candidate is aligned with the reference (R tokens) at a cost of 3 for an insertion or deletion
and 4 for a substitution. Of several best alignments one is taken by a fixed rule: walking back from
the ends of both texts, the diagonal (a match or a substitution) where it is among the best steps,
else an insertion, else a deletion. A word deleted in one place and inserted in another is one move,
M; I' and D' are what remains of I and D.

    simple accuracy     = 1 - (I + D + S) / R
    generation accuracy = 1 - (M + I' + D' + S) / R

Both may be negative. A corpus score is that of the summed counts. An empty reference scores 1 with
an empty candidate, else 0. Several references: the one with the best score, the first of equals.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict, deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from karat import _kernel
from karat.arrays import Floats, Ints, NDArray, np
from karat.metrics.base import Metric
from karat.metrics.pairs import Pairs
from karat.settings import setting
from karat.text.references import check_aligned, one_or_several
from karat.text.segments import Texts, as_segments
from karat.text.tokens import (
    CASES,
    CHARACTERS,
    TOKENIZERS,
    Lexicon,
    Passage,
    Ragged,
    Recipe,
    check_choice,
)

MAX_EDIT_CELLS = 10**12
"""The largest table (candidate tokens x reference tokens) that is computed: minutes, but little
memory, which grows with the length of the texts times the square root of one length."""

SCRIPTS = {"accuracy": _kernel.accuracy_scripts, "unit": _kernel.word_scripts}
COUNTS = {"accuracy": _kernel.accuracy_edits, "unit": _kernel.word_edits}
KINDS = ("keep", "substitute", "insert", "delete")


def edit_counts(pairs: Pairs, recipe: Recipe, costs: str) -> Ints:
    """Return substitutions, insertions, deletions and moves for each pair."""

    def count() -> Ints:
        candidates, references = pairs.candidates.tokens(recipe), pairs.references.tokens(recipe)
        _check_size(pairs, candidates, references)
        return COUNTS[costs](*candidates, *references, pairs.starts, pairs.check)

    return pairs.once(("edits", recipe, costs), count)


def _check_size(pairs: Pairs, candidates: Ragged, references: Ragged) -> None:
    cells = pairs.spread(candidates.lengths) * references.lengths
    pairs.check_sizes(cells, MAX_EDIT_CELLS, "pairs of tokens are too many for an edit alignment")


class Operation(NamedTuple):
    """One step of an alignment: positions in both texts (None if absent), and its move, if any.

    A deletion and an insertion of the same word carry the same `move` number.
    """

    kind: str
    reference: int | None
    candidate: int | None
    move: int | None = None


@dataclass(frozen=True)
class Alignment:
    """The tokens of both texts and the operations that turn the reference into the candidate."""

    reference: tuple[str, ...]
    candidate: tuple[str, ...]
    operations: tuple[Operation, ...]

    def count(self, kind: str) -> int:
        """Return the number of operations of one kind: keep, substitute, insert or delete."""
        return sum(operation.kind == kind for operation in self.operations)

    @property
    def cost(self) -> int:
        """3 for each insertion and deletion, 4 for each substitution, whatever costs were used."""
        one_sided = self.count("insert") + self.count("delete")
        return 3 * one_sided + 4 * self.count("substitute")

    @property
    def moves(self) -> tuple[tuple[int, int], ...]:
        """The positions of each moved word in the reference and in the candidate."""
        gone = {o.move: o.reference for o in self.operations if o.kind == "delete"}
        come = {o.move: o.candidate for o in self.operations if o.kind == "insert"}
        both = sorted(m for m in gone.keys() & come.keys() if m is not None)
        return tuple((gone[m], come[m]) for m in both)  # type: ignore[misc]


class Alignments(Sequence[Alignment]):
    """The alignments of many pairs; `operations` is one array, each pair's rows at `offsets`.

    A row is (index of the kind in `KINDS`, reference position, candidate position). Without a
    vocabulary the ids are code points.
    """

    def __init__(
        self,
        candidates: Ragged,
        references: Ragged,
        vocab: _kernel.Vocab | None,
        operations: NDArray[np.int32],
        offsets: Ints,
    ) -> None:
        self._candidates, self._references, self._vocab = candidates, references, vocab
        self.operations, self.offsets = operations, offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[Alignment]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, pair: int) -> Alignment:  # type: ignore[override]
        if not -len(self) <= pair < len(self):
            raise IndexError(f"pair {pair} of {len(self)}")
        at = pair % len(self)
        reference, candidate = (
            spell_tokens(side.ids[side.offsets[at] : side.offsets[at + 1]], self._vocab)
            for side in (self._references, self._candidates)
        )
        rows = self.operations[self.offsets[at] : self.offsets[at + 1]].tolist()
        return Alignment(reference, candidate, operations(rows, reference, candidate))


def spell_tokens(ids: NDArray[np.int32], vocab: _kernel.Vocab | None) -> tuple[str, ...]:
    """Return the tokens with these ids; without a vocabulary the ids are code points."""
    if vocab is None:
        return tuple(map(chr, ids.tolist()))
    return tuple(vocab.words(i, i + 1)[0] for i in ids.tolist())


def operations(
    rows: list[list[int]], reference: Sequence[Hashable], candidate: Sequence[Hashable]
) -> tuple[Operation, ...]:
    """Return rows as operations; a word's deletions and insertions are paired in order as moves."""
    waiting: dict[str, dict[Hashable, deque[int]]] = {k: defaultdict(deque) for k in KINDS[2:]}
    moves: dict[int, int] = {}
    for at, (kind, i, j) in enumerate(rows):
        if kind < 2:
            continue
        word = candidate[j] if kind == 2 else reference[i]
        partners = waiting[KINDS[5 - kind]][word]
        if partners:
            moves[at] = moves[partners.popleft()] = len(moves) // 2
        else:
            waiting[KINDS[kind]][word].append(at)
    return tuple(
        Operation(KINDS[kind], None if kind == 2 else i, None if kind == 3 else j, moves.get(at))
        for at, (kind, i, j) in enumerate(rows)
    )


def edit_operations(
    candidate: Sequence[int], reference: Sequence[int], costs: str = "accuracy"
) -> tuple[Operation, ...]:
    """Return the steps from one reference to a candidate; ids are equal where words are."""
    candidate_ids, reference_ids = (
        Ragged(np.asarray(side, dtype=np.int32), np.array([0, len(side)], dtype=np.int64))
        for side in (candidate, reference)
    )
    rows, _ = SCRIPTS[costs](*candidate_ids, *reference_ids, np.arange(2, dtype=np.int64), None)
    return operations(rows.tolist(), reference, candidate)


def alignments(
    candidates: Texts,
    references: Texts,
    *,
    costs: str = "accuracy",
    tok: str = "none",
    case: str = "mixed",
) -> Alignments:
    """Return the edit alignment of every candidate with its reference.

    Args:
        candidates, references: texts, one reference for each candidate.
        costs: costs of the edits, by name.
        tok, case: tokeniser and case of the words.
    """
    check_choice("costs", costs, SCRIPTS)
    check_choice("tok", tok, TOKENIZERS)
    check_choice("case", case, CASES)
    sources = as_segments(candidates, "candidates"), as_segments(references, "references")
    check_aligned(sources)
    lexicon, n = Lexicon(), len(sources[0])
    left, right = (Passage(source.views(0, n), lexicon) for source in sources)
    pairs = Pairs(left, right, np.arange(n + 1, dtype=np.int64), {})
    vocab = lexicon.vocab(tok, case) if tok != "char" else None
    recipe = Recipe(tok if tok != "char" else CHARACTERS[False], case)
    left_tokens, right_tokens = left.tokens(recipe), right.tokens(recipe)
    _check_size(pairs, left_tokens, right_tokens)
    rows, offsets = SCRIPTS[costs](*left_tokens, *right_tokens, pairs.starts, None)
    return Alignments(left_tokens, right_tokens, vocab, rows, offsets)


def alignment(
    candidate: str,
    reference: str,
    *,
    costs: str = "accuracy",
    tok: str = "none",
    case: str = "mixed",
) -> Alignment:
    """Return the edit alignment of one candidate with one reference.

    Args:
        candidate, reference: texts.
        costs: costs of the edits, by name.
        tok, case: tokeniser and case of the words.
    """
    return alignments([candidate], [reference], costs=costs, tok=tok, case=case)[0]


def best_alignment(
    metric: Metric, candidate: str, references: str | Sequence[str], costs: str, recipe: Recipe
) -> Alignment:
    """Return the alignment with the best-scoring reference; the first of equals."""
    texts = one_or_several(references)
    values = metric.sign * metric.segments([candidate] * len(texts), texts, threads=1)
    best = texts[int(values.argmax())]
    return alignment(candidate, best, costs=costs, tok=recipe.tok, case=recipe.case)


def error_rate(errors: NDArray[Any], length: NDArray[Any]) -> Floats:
    """Return errors / length; for a length of 0: 0 without errors, else 1."""
    out = np.minimum(errors, 1).astype(np.float64)
    rates: Floats = np.divide(errors, length, out=out, where=length > 0)
    return rates


@dataclass(frozen=True)
class TokenMetric(Metric):
    """The base class of accuracies and word error rate: tokens, and unbounded scores."""

    bounded: ClassVar[bool] = False
    aliases: ClassVar[Any] = MappingProxyType({"tokenizer": "tok"})

    tok: str = setting("none", "tokeniser", choices=TOKENIZERS)
    case: str = setting("mixed", "whether capitals count (mixed) or not (lower)", choices=CASES)

    @property
    def recipe(self) -> Recipe:
        """The recipe that turns text into tokens."""
        return Recipe(self.tok, self.case)


@dataclass(frozen=True)
class Accuracy(TokenMetric):
    """The base class of accuracies: a row is [S, I, D, M, R]."""

    counts_moves: ClassVar[bool] = False

    @abstractmethod
    def _edit_counts_and_lengths(self, pairs: Pairs) -> tuple[Ints, Ints]:
        """Return S, I, D and M in columns, and R, for each pair."""

    def columns(self) -> tuple[str, ...]:
        return ("substitutions", "insertions", "deletions", "moves", "tokens")

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        rows = np.column_stack(self._edit_counts_and_lengths(pairs))
        return rows if pairs.single else rows[pairs.best(self.measure(rows)["value"])]

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        s, i, d, m, tokens = (rows[:, k].astype(float) for k in range(5))
        unchanged = tokens - s - d
        moves = m if self.counts_moves else 0 * m
        i, d = i - moves, d - moves
        value = 1 - error_rate(s + i + d + moves, tokens)
        edits = {"substitutions": s, "insertions": i, "deletions": d}
        counted_moves = {"moves": moves} if self.counts_moves else {}
        return {"value": value, "unchanged": unchanged, **edits, **counted_moves, "tokens": tokens}


@dataclass(frozen=True)
class _StringAccuracy(Accuracy):
    """The candidate against the reference as strings."""

    def _edit_counts_and_lengths(self, pairs: Pairs) -> tuple[Ints, Ints]:
        lengths = pairs.references.tokens(self.recipe).lengths
        return edit_counts(pairs, self.recipe, "accuracy"), lengths

    def explain(self, candidate: str, references: str | Sequence[str]) -> Alignment:
        """Return the words kept, substituted, inserted, deleted and moved by the best reference."""
        return best_alignment(self, candidate, references, "accuracy", self.recipe)


@dataclass(frozen=True)
class SimpleAccuracy(_StringAccuracy):
    """Insertions, deletions and substitutions by reference token: 1 - (I + D + S) / R."""

    name: ClassVar[str] = "simple_accuracy"


@dataclass(frozen=True)
class GenerationAccuracy(_StringAccuracy):
    """Simple accuracy in which a deleted and inserted word is a move: 1 - (M + I' + D' + S) / R."""

    name: ClassVar[str] = "generation_accuracy"
    counts_moves: ClassVar[bool] = True
