"""Labels for trees without any: tags and relations predicted from words alone.

Two passes of softmax classifiers (csrc/realize/ordering/labelling.hpp): the first sees the words of
a node, its head, daughters and sisters, and their affixes; the second also sees the labels that the
first predicted for them.

    P(label | node) = exp(Σ w[f, label]) / Σ over all labels

If no relation has at least the probability `MIN_CERTAIN`, the second most probable is kept too.

A model trained on predicted labels must see realistic errors. So the training set is labelled by
models that have not seen its documents (`jackknife`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from karat import _kernel
from karat.arrays import Flags, Ints, NDArray, np
from karat.progress import Stop, map_in_order, n_threads
from karat.realize.symbols import (
    NodeColumns,
    Symbols,
    check_power_of_two,
    feature_rows,
    from_half_bytes,
    symbols,
    to_half_bytes,
)
from karat.storage.schema import ModelLayout, check_arrays

Weights = NDArray[np.float32]
_Split = tuple[Ints, Ints]  # the trees that a classifier is trained on, and those it labels

FOLDS = 3
BITS = 22
MIN_FEATURE_COUNT = 12
"""Features that occur less often in the training set have no weights."""
EPOCHS = 3
BATCH = 2048  # trees between two checks for a stop
RATE, DROPOUT, DAMPING = 1.0, 0.3, 20.0
MIN_CERTAIN = 0.98
"""A less probable relation is passed on with its alternative."""
DOUBTED_KIND = "relations"


@dataclass(frozen=True, eq=False)
class Gold:
    """Gold labels of one kind: their names, and the number of each node's label."""

    names: tuple[str, ...]
    numbers: NDArray[np.int32]

    @classmethod
    def of(cls, labels: list[str]) -> Gold:
        """Number the labels of all nodes, sorted by name."""
        names = tuple(sorted(set(labels)))
        number = {name: i for i, name in enumerate(names)}
        return cls(names, np.array([number[label] for label in labels], dtype=np.int32))


@dataclass(frozen=True, eq=False)
class Classifier:
    """One pass: the features with weights, and for every kind of label a table of weights.

    A table has a row for each feature.
    """

    names: Mapping[str, tuple[str, ...]]
    sees_labels: bool
    has_weight: Flags
    weights: Mapping[str, Weights]

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """The row of every feature, -1 for features without weights."""
        return feature_rows(self.has_weight)

    def predict_labels(self, columns: NodeColumns, chosen: Ints) -> dict[str, Symbols]:
        """Return the most probable labels of the nodes of some trees, and doubtful relations."""
        tables, sizes = [self.weights[kind] for kind in self.names], map(len, self.names.values())
        inputs = columns.kernel, columns.affixes, chosen, self.sees_labels, MIN_CERTAIN
        numbers = _kernel.label_trees(tables, list(sizes), self.rows, *inputs)
        labels = {}
        for k, (kind, names) in enumerate(self.names.items()):
            symbols_of_names = np.append(symbols(list(names)), np.uint32(0))  # at -1: no doubt
            labels[kind] = symbols_of_names[numbers[:, k, 0]]
            if kind == DOUBTED_KIND:
                labels["doubtful_relations"] = symbols_of_names[numbers[:, k, 1]]
        return labels

    def arrays(self, pass_number: int) -> dict[str, NDArray[Any]]:
        """Return the stored arrays: half a byte per weight, and the exponent of each row."""
        arrays: dict[str, NDArray[Any]] = {f"known_{pass_number}": np.packbits(self.has_weight)}
        for kind, names in self.names.items():
            levels, exponents = to_half_bytes(self.weights[kind], len(names))
            arrays[f"labels_{pass_number}_{kind}_exponents"] = exponents
            arrays[f"labels_{pass_number}_{kind}_levels"] = levels
        return arrays

    @classmethod
    def from_arrays(
        cls,
        pass_number: int,
        names: Mapping[str, tuple[str, ...]],
        arrays: Mapping[str, NDArray[Any]],
    ) -> Classifier:
        """Return the stored classifier of a pass; raise ValueError or KeyError for bad arrays."""
        layouts = {f"known_{pass_number}": ModelLayout("uint8", "bytes of features")}
        for kind in names:
            layouts[f"labels_{pass_number}_{kind}_exponents"] = ModelLayout(
                "int8", "rows", -100, 100
            )
            layouts[f"labels_{pass_number}_{kind}_levels"] = ModelLayout(
                "uint8", f"levels of {kind}"
            )
        check_arrays(arrays, layouts)
        has_weight = np.unpackbits(arrays[f"known_{pass_number}"]).astype(bool)
        check_power_of_two(len(has_weight), "features")
        weights = {}
        for kind, kind_names in names.items():
            exponents = arrays[f"labels_{pass_number}_{kind}_exponents"]
            if int(has_weight.sum()) != len(exponents):
                raise ValueError("the numbers of features and weights differ")
            levels = arrays[f"labels_{pass_number}_{kind}_levels"]
            weights[kind] = from_half_bytes(levels, exponents, len(kind_names))
        return cls(names, pass_number > 0, has_weight, weights)


@dataclass(frozen=True, eq=False)
class Labeller:
    """A classifier for every pass.

    Passes are numbered from 0; only pass 0 sees no labels. If tags and relations are given, there
    is only pass 1, which predicts the treebank-specific tags.
    """

    classifiers: Mapping[int, Classifier]

    def label(self, columns: NodeColumns) -> NodeColumns:
        """Return the trees with the most probable labels."""
        everything = np.arange(len(columns), dtype=np.int64)
        for _, classifier in sorted(self.classifiers.items()):
            columns = replace(columns, **classifier.predict_labels(columns, everything))  # type: ignore[arg-type]
        return columns

    def about(self) -> list[dict[str, Any]]:
        """Return the stored description: passes, kinds, names."""
        return [
            {"pass": pass_number, "kind": kind, "names": list(names)}
            for pass_number, classifier in self.classifiers.items()
            for kind, names in classifier.names.items()
        ]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the stored arrays of all classifiers."""
        stored = [
            classifier.arrays(pass_number) for pass_number, classifier in self.classifiers.items()
        ]
        return {name: array for arrays in stored for name, array in arrays.items()}

    @classmethod
    def from_arrays(
        cls, about: list[dict[str, Any]], arrays: Mapping[str, NDArray[Any]]
    ) -> Labeller:
        """Return a stored labeller; raise ValueError or KeyError if its arrays do not fit."""
        names: dict[int, dict[str, tuple[str, ...]]] = {}
        for entry in about:
            names.setdefault(entry["pass"], {})[entry["kind"]] = tuple(entry["names"])
        return cls(
            {
                pass_number: Classifier.from_arrays(pass_number, kind_names, arrays)
                for pass_number, kind_names in names.items()
            }
        )


def jackknife(
    columns: NodeColumns,
    gold: Mapping[str, Gold],
    folds: NDArray[np.int32],
    passes: tuple[int, ...],
    seed: int,
    step: Callable[[str], None],
    threads: int | None = None,
) -> tuple[Labeller, NodeColumns]:
    """Return a labeller trained on all trees, and the trees as labelled by models of other folds.

    The classifiers of a pass are independent, so threads do not change the result.
    """
    classifiers: dict[int, Classifier] = {}
    splits = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in np.unique(folds)]
    splits.append((np.arange(len(folds)), np.arange(0)))  # the last one is trained on all trees
    kinds = [*gold, *(["doubtful_relations"] if DOUBTED_KIND in gold else [])]
    for n in passes:
        predicted = {kind: np.empty(columns.nodes, dtype=np.uint32) for kind in kinds}
        stop = Stop()
        train = partial(_train, columns, gold, n, seed, stop)
        trained = map_in_order(train, splits, n_threads(threads), stop)
        for (_, held_out), (classifier, labels) in zip(splits, trained, strict=True):
            step(f"labelling, pass {n + 1}")
            for kind, symbols_of_kind in labels.items():
                predicted[kind][columns.nodes_of(held_out)] = symbols_of_kind
            classifiers[n] = classifier  # the last one, trained on all trees, remains
        columns = replace(columns, **predicted)  # type: ignore[arg-type]
    return Labeller(classifiers), columns


def _train(
    columns: NodeColumns, gold: Mapping[str, Gold], n: int, seed: int, stop: Stop, split: _Split
) -> tuple[Classifier, dict[str, Symbols]]:
    """Train a classifier on some trees; return it and its labels of the others.

    Its weights are averaged over the two halves of the last epoch.
    """
    chosen, held_out = split
    count = _kernel.count_labelling(columns.kernel, columns.affixes, chosen, BITS, n > 0)
    has_weight = count >= MIN_FEATURE_COUNT
    names = {kind: label_set.names for kind, label_set in gold.items()}
    sizes = [len(kind_names) for kind_names in names.values()]
    trainer = _kernel.LabelTrainer(sizes, int(has_weight.sum()), RATE, DROPOUT, DAMPING)
    rows = _kernel.rows_of_nodes(
        columns.kernel, columns.affixes, chosen, feature_rows(has_weight), n > 0
    )
    numbers = np.stack([label_set.numbers for label_set in gold.values()], axis=1)
    rng = np.random.default_rng([seed, n])
    for epoch in range(EPOCHS):
        for part in np.array_split(rng.permutation(chosen), 2):
            for batch in np.array_split(part, len(part) // BATCH + 1):
                stop.check()
                trainer.train(rows, numbers, columns.kernel, batch, seed * 1000 + epoch)
            if epoch == EPOCHS - 1:
                trainer.remember()
    tables = np.split(trainer.mean(), np.cumsum(sizes)[:-1], axis=1)
    weights = {kind: table.reshape(-1) for kind, table in zip(names, tables, strict=True)}
    stop.check()
    classifier = Classifier(names, n > 0, has_weight, weights)
    return classifier, classifier.predict_labels(columns, held_out)
