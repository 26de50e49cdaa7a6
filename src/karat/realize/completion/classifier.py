"""The classifier of a slot: which filling a content word's slot has.

    P(filling | node) = exp(Σ w[f, filling]) / Σ over all fillings

Nodes are of kinds, by relation and tag; a slot that nodes of a kind hardly ever fill stays empty
there, and costs no time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from karat import _kernel
from karat.arrays import Flags, Ints, NDArray, np
from karat.realize.completion.content import ContentTrees
from karat.realize.completion.features import Hashes, NodeFeatures, mix, ragged
from karat.realize.completion.templates import BASE, FEATURES, filled_templates
from karat.realize.ordering.weight_bytes import from_half_bytes, to_half_bytes
from karat.storage.schema import ModelLayout, check_arrays

Weights = NDArray[np.float32]
Chances = NDArray[np.float32]
Numbers = NDArray[np.int32]
Kind = tuple[str, str]
T = TypeVar("T")

BITS = 22
LEAST, NODES = 2, 10_000
"""Features that occur less often have no weights; where more nodes teach, one in so many."""
EPOCHS, REMEMBERED = 6, 2
DAMPING = 1.0
SEEN = 3
"""Fillings that are rarer are not learned."""
SHARE = 0.002
"""Of the nodes of a kind that fill a slot: where there are fewer, the slot stays empty."""


class Learning(NamedTuple):
    """Settings of training: the rate of steps, and the share of features that each leaves out."""

    rate: float = 0.07
    dropout: float = 0.3


USUAL = Learning()


class SeenTrees:
    """Trees as classifiers see them: features that all slots share, and those of filled slots."""

    def __init__(self, trees: ContentTrees, inputs: str, lemmas: Mapping[str, str]) -> None:
        self.trees, self.nodes = trees, trees.nodes
        self._features = NodeFeatures(trees, inputs == "all", lemmas)
        columns = self._features.columns
        self._base = self._features.blocks(columns, BASE, 1)
        if inputs == "all":
            self._base += self._features.feature_blocks(columns, FEATURES, 1000)
        tags = trees.tags if inputs == "all" else [""] * trees.nodes
        self.kinds: list[Kind] = list(zip(trees.relations, tags, strict=True))

    def numbers(self, filled: Sequence[Hashes], nodes: Ints) -> tuple[Numbers, Ints]:
        """Return the features of some nodes, with the slots filled so far, and where each begins.

        `filled` has for every such slot a symbol of what each node has in it.
        """
        columns = dict(self._features.columns)
        together = np.zeros(self.nodes, dtype=np.uint64)
        for k, texts in enumerate(filled):
            columns[str(k)] = texts
            together = mix(together, texts)
        columns["A"] = together
        blocks = self._base
        if filled:
            blocks = blocks + self._features.blocks(columns, filled_templates(len(filled)), 2000)
        return _chosen(*ragged(blocks, self.nodes, BITS), nodes)


@dataclass(frozen=True, eq=False)
class SlotClassifier(Generic[T]):
    """Fillings, kinds of nodes that may have them, features that have weights, and the weights.

    The first filling is that of all other nodes: nothing.
    """

    fillings: tuple[T, ...]
    kinds: frozenset[Kind]
    known: Flags
    weights: Weights

    def chances(self, seen: SeenTrees, filled: Sequence[Hashes]) -> tuple[Ints, Chances]:
        """Return the nodes that may have fillings, and the probability of each."""
        mine = [j for j, kind in enumerate(seen.kinds) if kind in self.kinds]
        nodes = np.array(mine, dtype=np.int64)
        rows = _rows(*seen.numbers(filled, nodes), self.known)
        return nodes, _kernel.label_chances(self.weights, len(self.fillings), rows)

    def about(self) -> dict[str, Any]:
        """Return the description beside the arrays."""
        return {"fillings": list(self.fillings), "kinds": sorted(self.kinds)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the stored arrays: half a byte a weight, and the exponent of each row."""
        levels, exponents = to_half_bytes(self.weights, len(self.fillings))
        return {"known": np.packbits(self.known), "levels": levels, "exponents": exponents}

    @classmethod
    def stored(
        cls, fillings: Sequence[T], kinds: Sequence[Sequence[str]], arrays: Mapping[str, Any]
    ) -> SlotClassifier[T]:
        """Return a stored classifier; a ValueError or KeyError if its arrays do not fit."""
        levels = {
            "known": ModelLayout("uint8", "bytes of features"),
            "levels": ModelLayout("uint8", "levels"),
        }
        check_arrays(arrays, levels | {"exponents": ModelLayout("int8", "rows", -100, 100)})
        known = np.unpackbits(arrays["known"]).astype(bool)
        if len(known) != 1 << BITS or int(known.sum()) != len(arrays["exponents"]):
            raise ValueError("features and weights differ in number")
        weights = from_half_bytes(arrays["levels"], arrays["exponents"], len(fillings))
        of = frozenset((relation, tag) for relation, tag in kinds)
        return cls(tuple(fillings), of, known, weights)

    def rounded(self) -> SlotClassifier[T]:
        """Return the classifier as it is when it has been stored."""
        arrays = self.arrays()
        weights = from_half_bytes(arrays["levels"], arrays["exponents"], len(self.fillings))
        return SlotClassifier(self.fillings, self.kinds, self.known, weights)


def train_classifier(
    seen: SeenTrees,
    gold: Sequence[T],
    filled: Sequence[Hashes],
    nothing: T,
    seed: int,
    learning: Learning = USUAL,
) -> SlotClassifier[T]:
    """Train a classifier on nodes whose fillings are known.

    Its weights are the mean of those at the halves of the last epochs.
    """
    times = Counter[Any](gold)
    fillings = (nothing, *sorted(f for f, n in times.items() if f != nothing and n >= SEEN))
    number = {filling: i for i, filling in enumerate(fillings)}
    kinds = _kinds_filled(seen.kinds, gold, nothing)
    mine = [j for j, kind in enumerate(seen.kinds) if kind in kinds and gold[j] in number]
    numbers, offsets = seen.numbers(filled, np.array(mine, dtype=np.int64))
    least = max(LEAST, len(mine) // NODES)
    known = np.bincount(numbers, minlength=1 << BITS) >= least
    rows = _rows(numbers, offsets, known)
    labels = np.array([number[gold[j]] for j in mine], dtype=np.int32).reshape(-1, 1)
    trainer = _kernel.LabelTrainer([len(fillings)], int(known.sum()), *learning, DAMPING)
    rng = np.random.default_rng(seed)
    for epoch in range(EPOCHS):
        for part in np.array_split(rng.permutation(len(mine)), 2):
            trainer.train_nodes(rows, labels, part, seed * 1000 + epoch)
            if epoch >= EPOCHS - REMEMBERED:
                trainer.remember()
    # Without dropout more features add up than the weights were trained for.
    weights = trainer.mean().reshape(-1) * np.float32(1 - learning.dropout)
    return SlotClassifier(fillings, kinds, known, weights)


def _kinds_filled(kinds: list[Kind], gold: Sequence[T], nothing: T) -> frozenset[Kind]:
    """Return the kinds of nodes that fill a slot often enough."""
    every = Counter(kinds)
    filled = Counter(kind for kind, one in zip(kinds, gold, strict=True) if one != nothing)
    return frozenset(kind for kind, n in filled.items() if n >= SHARE * every[kind])


def _chosen(numbers: Numbers, offsets: Ints, nodes: Ints) -> tuple[Numbers, Ints]:
    """Return the features of some nodes alone."""
    counts = np.diff(offsets)[nodes]
    begins = np.append(0, np.cumsum(counts)).astype(np.int64)
    places = np.arange(int(begins[-1])) + np.repeat(offsets[nodes] - begins[:-1], counts)
    return numbers[places], begins


def _rows(numbers: Numbers, offsets: Ints, known: Flags) -> _kernel.RowsOfNodes:
    """Return the rows of the features that have weights."""
    table = np.where(known, np.cumsum(known) - 1, -1).astype(np.int32)
    rows = table[numbers]
    before = np.append(0, np.cumsum(rows >= 0))
    return _kernel.given_rows(rows[rows >= 0], before[offsets].astype(np.int64))
