"""Labels for trees that have none: tags and relations guessed from words alone.

Two passes of softmax classifiers (csrc/labelling.hpp): the first sees the words of a node, its
head, daughters and sisters; the second sees the labels that the first found for them as well.

    P(label | node) = exp(Σ w[f, label]) / Σ over all labels

A model that learns from labels must see the errors that it will meet. So the training set is
labelled by models that have not seen the labels of its documents (`jackknife`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat import _kernel
from karat.realize.symbols import Columns, Symbols, symbols

Ints = NDArray[np.int64]
Weights = NDArray[np.float32]

KINDS = ("tags", "fine", "relations")
"""Universal tags, the treebank's own tags, relations."""
FOLDS = 4
BITS = 16
EPOCHS = 2
RATE, DROPOUT = 0.1, 0.3


@dataclass(frozen=True, eq=False)
class Gold:
    """The labels of one kind: their names, and the number of each node's."""

    names: tuple[str, ...]
    numbers: NDArray[np.int32]

    @classmethod
    def of(cls, labels: list[str]) -> Gold:
        """The labels of all nodes, numbered in the order of their names."""
        names = tuple(sorted(set(labels)))
        number = {name: i for i, name in enumerate(names)}
        return cls(names, np.array([number[label] for label in labels], dtype=np.int32))


@dataclass(frozen=True, eq=False)
class Labeller:
    """For every pass and kind of label a table of weights, one row a feature.

    Passes are numbered from 0; from 1 on they see labels. Where tags and relations are given, pass 1
    alone finds the treebank's own tags.
    """

    names: Mapping[str, tuple[str, ...]]
    passes: tuple[int, ...]
    weights: Mapping[tuple[int, str], Weights]

    def label(self, columns: Columns) -> Columns:
        """Trees with the most probable labels."""
        everything = np.arange(len(columns), dtype=np.int64)
        for n in self.passes:
            columns = columns.labelled(self.found(n, columns, everything))
        return columns

    def found(self, n: int, columns: Columns, chosen: Ints) -> dict[str, Symbols]:
        """The labels that one pass finds for the nodes of some trees."""
        return {
            kind: symbols(list(names))[
                _kernel.label_trees(
                    self.weights[n, kind], columns.kernel, chosen, len(names), n > 0
                )
            ]
            for kind, names in self.names.items()
        }

    def halved(self) -> Labeller:
        """With weights as they are stored."""
        return Labeller.stored(self.names, self.passes, self.arrays())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The weights as they are stored: half precision."""
        return {
            _array_name(n, kind): weights.astype(np.float16)
            for (n, kind), weights in self.weights.items()
        }

    @classmethod
    def stored(
        cls,
        names: Mapping[str, tuple[str, ...]],
        passes: tuple[int, ...],
        arrays: Mapping[str, NDArray[Any]],
    ) -> Labeller:
        """The labeller in stored arrays; a ValueError or KeyError if they do not hold together."""
        weights = {
            (n, kind): arrays[_array_name(n, kind)].astype(np.float32)
            for n in passes
            for kind in names
        }
        return cls(names, passes, weights)


def _array_name(n: int, kind: str) -> str:
    return f"labels_{n}_{kind}"


def jackknife(
    columns: Columns,
    gold: Mapping[str, Gold],
    folds: NDArray[np.int32],
    passes: tuple[int, ...],
    seed: int,
    step: Callable[[str], None],
) -> tuple[Labeller, Columns]:
    """A labeller trained on all trees, and these trees as labelled by models of other folds."""
    names = {kind: labels.names for kind, labels in gold.items()}
    weights: dict[tuple[int, str], Weights] = {}
    everything = np.arange(len(columns), dtype=np.int64)
    for n in passes:
        found = {kind: np.empty(columns.nodes, dtype=np.uint32) for kind in gold}
        for kind, labels in gold.items():
            for inside, outside in _splits(folds):
                step(f"labelling, pass {n + 1}: {kind}")
                table = _train(columns, labels, inside, n, seed)
                some = Labeller({kind: labels.names}, (n,), {(n, kind): table})
                found[kind][columns.nodes_of(outside)] = some.found(n, columns, outside)[kind]
            step(f"labelling, pass {n + 1}: {kind}")
            weights[n, kind] = _train(columns, labels, everything, n, seed)
        columns = columns.labelled(found)
    return Labeller(names, passes, weights), columns


def _splits(folds: NDArray[np.int32]) -> Iterator[tuple[Ints, Ints]]:
    """The trees outside and inside of each fold."""
    for fold in np.unique(folds):
        yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


def _train(columns: Columns, gold: Gold, chosen: Ints, n: int, seed: int) -> Weights:
    """One classifier; its weights are the mean of those at the last two halves of an epoch."""
    trainer = _kernel.LabelTrainer(BITS, len(gold.names), n > 0, RATE, DROPOUT)
    rng = np.random.default_rng([seed, n])
    for epoch in range(EPOCHS):
        for part in np.array_split(rng.permutation(chosen), 2):
            trainer.train(columns.kernel, gold.numbers, part, seed * 1000 + epoch)
            if epoch == EPOCHS - 1:
                trainer.remember()
    return trainer.mean()
