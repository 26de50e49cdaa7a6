"""Labels for trees that have none: tags and relations guessed from words alone.

Two passes of softmax classifiers (csrc/labelling.hpp): the first sees the words of a node, its
head, daughters and sisters; the second sees the labels that the first found for them as well.

    P(label | node) = exp(Σ w[f, label]) / Σ over all labels

A model that learns from labels must see the errors that it will meet. So the training set is
labelled by models that have not seen the labels of its documents (`jackknife`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat import _kernel
from karat.progress import as_threads
from karat.realize.half_bytes_of_weights import from_half_bytes, to_half_bytes
from karat.realize.symbols import Columns, Symbols, symbols

Ints = NDArray[np.int64]
Weights = NDArray[np.float32]

FOLDS = 3
BITS = 22
LEAST = 8
"""Features that occur less often in the training set have no weights."""
EPOCHS = 3
RATE, DROPOUT, DAMPING = 1.0, 0.2, 20.0


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
class Classifier:
    """One kind of label in one pass: which features have weights, and these, one row a feature."""

    names: tuple[str, ...]
    sees_labels: bool
    known: NDArray[np.bool_]
    weights: Weights

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """The row of every feature, -1 for those that have none."""
        return np.where(self.known, np.cumsum(self.known) - 1, -1).astype(np.int32)

    def found(self, columns: Columns, chosen: Ints) -> Symbols:
        """The most probable labels of the nodes of some trees."""
        numbers = _kernel.label_trees(
            self.weights, self.rows, columns.kernel, chosen, len(self.names), self.sees_labels
        )
        return symbols(list(self.names))[numbers]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As it is stored: half a byte a weight, and the exponent of each row."""
        found, exponents = to_half_bytes(self.weights, len(self.names))
        return {"exponents": exponents, "levels": found}

    @classmethod
    def stored(
        cls,
        names: tuple[str, ...],
        sees_labels: bool,
        known: NDArray[np.bool_],
        arrays: Mapping[str, NDArray[Any]],
    ) -> Classifier:
        """The classifier in stored arrays; a ValueError or KeyError if they do not fit together."""
        weights = from_half_bytes(arrays["levels"], arrays["exponents"], len(names))
        if known.sum() != len(arrays["exponents"]) or len(known) & (len(known) - 1):
            raise ValueError("features and weights differ in number")
        return cls(names, sees_labels, known, weights)


@dataclass(frozen=True, eq=False)
class Labeller:
    """For every pass and kind of label a classifier.

    Passes are numbered from 0; from 1 on they see labels. Where tags and relations are given,
    pass 1 alone finds the treebank's own tags.
    """

    classifiers: Mapping[tuple[int, str], Classifier]

    def label(self, columns: Columns) -> Columns:
        """Trees with the most probable labels."""
        everything = np.arange(len(columns), dtype=np.int64)
        for n in sorted({n for n, _ in self.classifiers}):
            found = {
                kind: one.found(columns, everything)
                for (m, kind), one in self.classifiers.items()
                if m == n
            }
            columns = columns.labelled(found)
        return columns

    def about(self) -> list[dict[str, Any]]:
        """What is stored beside the arrays: passes, kinds, names."""
        return [
            {"pass": n, "kind": kind, "names": list(one.names)}
            for (n, kind), one in self.classifiers.items()
        ]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All classifiers as they are stored; those of a pass know the same features."""
        known = {f"known_{n}": np.packbits(one.known) for (n, _), one in self.classifiers.items()}
        return known | {
            f"labels_{n}_{kind}_{name}": array
            for (n, kind), one in self.classifiers.items()
            for name, array in one.arrays().items()
        }

    @classmethod
    def stored(cls, about: list[dict[str, Any]], arrays: Mapping[str, NDArray[Any]]) -> Labeller:
        """The labeller in stored arrays; a ValueError or KeyError if they do not fit together."""
        classifiers = {}
        for said in about:
            n, kind = int(said["pass"]), str(said["kind"])
            start = f"labels_{n}_{kind}_"
            mine = {k.removeprefix(start): a for k, a in arrays.items() if k.startswith(start)}
            known = np.unpackbits(arrays[f"known_{n}"]).astype(bool)
            classifiers[n, kind] = Classifier.stored(tuple(said["names"]), n > 0, known, mine)
        return cls(classifiers)


class _Work(NamedTuple):
    """A classifier to train on some trees, and the trees to label with it: none for the last."""

    kind: str
    inside: Ints
    outside: Ints


def jackknife(
    columns: Columns,
    gold: Mapping[str, Gold],
    folds: NDArray[np.int32],
    passes: tuple[int, ...],
    seed: int,
    step: Callable[[str], None],
    threads: int | None = None,
) -> tuple[Labeller, Columns]:
    """A labeller trained on all trees, and these trees as labelled by models of other folds.

    The classifiers of a pass know nothing of each other, so threads do not change the result.
    """
    classifiers: dict[tuple[int, str], Classifier] = {}
    work = [_Work(kind, *split) for kind in gold for split in _splits(folds)]
    with ThreadPoolExecutor(as_threads(threads)) as pool:
        for n in passes:
            found = {kind: np.empty(columns.nodes, dtype=np.uint32) for kind in gold}
            train = partial(_train_and_label, columns, gold, n, seed)
            for done, (one, labels) in zip(work, pool.map(train, work), strict=True):
                step(f"labelling, pass {n + 1}: {done.kind}")
                found[done.kind][columns.nodes_of(done.outside)] = labels
                classifiers[n, done.kind] = one
            columns = columns.labelled(found)
    return Labeller(classifiers), columns


def _splits(folds: NDArray[np.int32]) -> Iterator[tuple[Ints, Ints]]:
    """The trees outside and inside of each fold; at last all, and none."""
    for fold in np.unique(folds):
        yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
    yield np.arange(len(folds)), np.arange(0)


def _train_and_label(
    columns: Columns, gold: Mapping[str, Gold], n: int, seed: int, work: _Work
) -> tuple[Classifier, Symbols]:
    one = _train(columns, gold[work.kind], work.inside, n, seed)
    return one, one.found(columns, work.outside)


def _train(columns: Columns, gold: Gold, chosen: Ints, n: int, seed: int) -> Classifier:
    """One classifier; its weights are the mean of those at the two halves of the last epoch."""
    known = _kernel.count_labelling(columns.kernel, chosen, BITS, n > 0) >= LEAST
    one = Classifier(gold.names, n > 0, known, np.empty(0, dtype=np.float32))
    size = len(gold.names), int(known.sum())
    trainer = _kernel.LabelTrainer(*size, n > 0, RATE, DROPOUT, DAMPING)
    rng = np.random.default_rng([seed, n])
    for epoch in range(EPOCHS):
        for part in np.array_split(rng.permutation(chosen), 2):
            trainer.train(columns.kernel, one.rows, gold.numbers, part, seed * 1000 + epoch)
            if epoch == EPOCHS - 1:
                trainer.remember()
    return replace(one, weights=trainer.mean())
