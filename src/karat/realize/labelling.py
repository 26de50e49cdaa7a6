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
PASSES = 2
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
    """For every pass and kind of label a table of weights, one row a feature."""

    names: Mapping[str, tuple[str, ...]]
    weights: Mapping[tuple[int, str], Weights]

    def label(self, columns: Columns) -> Columns:
        """Trees with the most probable labels."""
        everything = np.arange(len(columns), dtype=np.int64)
        for n in range(PASSES):
            columns = columns.labelled(self._found(n, columns, everything))
        return columns

    def _found(self, n: int, columns: Columns, chosen: Ints) -> dict[str, Symbols]:
        return {
            kind: _names(names)[
                _kernel.label_trees(
                    self.weights[n, kind], columns.kernel, chosen, len(names), n > 0
                )
            ]
            for kind, names in self.names.items()
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The weights as they are stored: half precision."""
        return {
            f"labels_{n}_{kind}": weights.astype(np.float16)
            for (n, kind), weights in self.weights.items()
        }


def _names(names: tuple[str, ...]) -> Symbols:
    """The symbols of labels by their numbers."""
    return symbols(list(names))


def jackknife(
    columns: Columns,
    gold: Mapping[str, Gold],
    folds: NDArray[np.int32],
    seed: int,
    step: Callable[[str], None],
) -> tuple[Labeller, Columns]:
    """A labeller trained on all trees, and these trees as labelled by models of other folds."""
    names = {kind: labels.names for kind, labels in gold.items()}
    weights: dict[tuple[int, str], Weights] = {}
    everything = np.arange(len(columns), dtype=np.int64)
    for n in range(PASSES):
        found = {kind: np.empty(columns.nodes, dtype=np.uint32) for kind in gold}
        for kind, labels in gold.items():
            for inside, outside in _splits(folds):
                step(f"labelling, pass {n + 1}: {kind}")
                table = _train(columns, labels, inside, n, seed)
                some = Labeller({kind: labels.names}, {(n, kind): table})
                found[kind][columns.nodes_of(outside)] = some._found(n, columns, outside)[kind]
            step(f"labelling, pass {n + 1}: {kind}")
            weights[n, kind] = _train(columns, labels, everything, n, seed)
        columns = columns.labelled(found)
    return Labeller(names, weights), columns


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
