"""A log-linear model of choices: each item has a few candidates, one of which is right.

    P(candidate) = exp(prior + Σ w[f]) / Σ over the item's candidates

Features are 64-bit hashes in one flat list, each with its row (a candidate), so that an item may
have any number of them. Weights are trained with AdaGrad on the gradient of log P; rare features
have no weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from karat.arithmetic import quick_exp
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.realize.symbols import positions_within
from karat.realize.symbols import symbols as ordering_symbols
from karat.storage.schema import ModelLayout, check_arrays

Keys = NDArray[np.uint64]

EPOCHS, RATE, DAMPING, BATCH = 8, 0.1, 1.0, 1024
MIN_ITEMS = 4
"""Minimal number of items with a feature that has a weight."""
_MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def symbols(strings: list[str]) -> Keys:
    """Return a hash of every string."""
    keys: Keys = ordering_symbols(strings).astype(np.uint64)
    return keys


def mix_keys(template: int, *parts: Keys) -> Keys:
    """Return hashes of a template and its parts."""
    keys = np.full(1, (template + 1) * _MIX[0] & (2**64 - 1), dtype=np.uint64)
    for part in parts:
        keys = (keys ^ part) * np.uint64(_MIX[1])
        keys = (keys ^ (keys >> np.uint64(29))) * np.uint64(_MIX[2])
    mixed_again: Keys = keys ^ (keys >> np.uint64(32))
    return mixed_again


class LogLinearFeatures(NamedTuple):
    """Features, and the row of each."""

    rows: Ints
    keys: Keys

    @classmethod
    def joined(cls, parts: list[LogLinearFeatures]) -> LogLinearFeatures:
        """Concatenate several lists of features."""
        rows, keys = zip(*parts, strict=True) if parts else ([np.arange(0)], [np.empty(0)])
        return cls(np.concatenate(rows), np.concatenate(keys).astype(np.uint64))


class Choices(NamedTuple):
    """Candidates with log priors: item i has the rows `offsets[i]` to `offsets[i + 1]`."""

    offsets: Ints
    priors: Floats

    @property
    def items(self) -> Ints:
        """The item of every row."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def crossed(self, of_items: LogLinearFeatures) -> Ints:
        """Return pairs (feature, row) that give each candidate the features of its item."""
        counts = np.diff(self.offsets)[of_items.rows]
        features = np.repeat(np.arange(len(counts)), counts)
        rows = self.offsets[of_items.rows][features] + positions_within(counts)
        return np.stack([features, rows])

    def best(self, scores: Floats) -> Ints:
        """Return the row of every item's best candidate; on ties the first."""
        order = np.lexsort((np.arange(len(scores)), -scores, self.items))
        rows: Ints = order[self.offsets[:-1]]
        return rows

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probability of every candidate."""
        highest = np.maximum.reduceat(scores, self.offsets[:-1])
        items = self.items
        raised = quick_exp(scores - highest[items])
        probabilities: Floats = raised / np.bincount(items, raised)[items]
        return probabilities


@dataclass(frozen=True, eq=False)
class LogLinear:
    """Sorted features and their weights."""

    keys: Keys
    weights: NDArray[np.float32]

    def scores(self, features: LogLinearFeatures, n_rows: int) -> Floats:
        """Return the sum of the weights of each row's features."""
        if not len(self.keys):
            return np.zeros(n_rows)
        places = np.minimum(np.searchsorted(self.keys, features.keys), len(self.keys) - 1)
        weights = np.where(self.keys[places] == features.keys, self.weights[places], np.float32(0))
        sums: Floats = np.bincount(features.rows, weights, minlength=n_rows).astype(np.float64)
        return sums

    @classmethod
    def train(
        cls, choices: Choices, features: LogLinearFeatures, right: Flags, seed: int = 1
    ) -> LogLinear:
        """Train weights by AdaGrad on the right rows, one per item; average the later steps."""
        if not len(choices.priors):
            return cls(np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.float32))
        keys, inverse = np.unique(features.keys, return_inverse=True)
        pairs = np.unique(np.stack([inverse, choices.items[features.rows]], axis=1), axis=0)
        is_frequent = np.bincount(pairs[:, 0], minlength=len(keys)) >= MIN_ITEMS
        has_weight = is_frequent[inverse]
        features = LogLinearFeatures(features.rows[has_weight], features.keys[has_weight])
        keys = keys[is_frequent]
        weights, squares = np.zeros(len(keys)), np.zeros(len(keys))
        order = np.argsort(features.rows, kind="stable")
        rows, places = features.rows[order], np.searchsorted(keys, features.keys[order])
        starts = np.searchsorted(rows, choices.offsets)
        rng = np.random.default_rng(seed)
        total, steps = np.zeros(len(keys)), 0
        for epoch in range(EPOCHS):
            shuffled = rng.permutation(len(choices.offsets) - 1)
            for batch in np.array_split(shuffled, len(shuffled) // BATCH + 1):
                items = np.sort(batch)
                batch_rows, offsets = _spans(choices.offsets, items)
                listed, _ = _spans(starts, items)
                new_rows = np.searchsorted(batch_rows, rows[listed])
                sums = np.bincount(new_rows, weights[places[listed]], minlength=len(batch_rows))
                priors = choices.priors[batch_rows]
                slope = right[batch_rows] - Choices(offsets, priors).probabilities(priors + sums)
                used, inverse = np.unique(places[listed], return_inverse=True)
                gradient = np.bincount(inverse, slope[new_rows], minlength=len(used))
                squares[used] += gradient * gradient
                weights[used] += RATE * gradient / np.sqrt(DAMPING + squares[used])
                if epoch >= EPOCHS // 2:
                    total, steps = total + weights, steps + 1
        return cls(keys, (total / max(steps, 1)).astype(np.float32))

    @classmethod
    def train_on(
        cls, choices: Choices, features: LogLinearFeatures, right: Flags, is_known: Flags
    ) -> LogLinear:
        """Train on the items in `is_known`; `right` has a flag for every row of all items."""
        sizes = np.diff(choices.offsets)
        is_selected = np.repeat(is_known, sizes)
        selected = Choices(np.append(0, np.cumsum(sizes[is_known])), choices.priors[is_selected])
        of_selected, number = is_selected[features.rows], np.cumsum(is_selected) - 1
        rows, keys = number[features.rows[of_selected]], features.keys[of_selected]
        return cls.train(selected, LogLinearFeatures(rows, keys), right[is_selected])

    def arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the stored arrays."""
        return {f"{name}_keys": self.keys, f"{name}_weights": self.weights.astype(np.float16)}

    @classmethod
    def from_arrays(cls, name: str, arrays: Mapping[str, NDArray[Any]]) -> LogLinear:
        """Return a stored model; raise ValueError if its arrays do not fit."""
        columns = {
            f"{name}_keys": ModelLayout("uint64", f"features of {name}"),
            f"{name}_weights": ModelLayout("float16", f"features of {name}", -1e4, 1e4),
        }
        check_arrays(arrays, columns)
        keys = arrays[f"{name}_keys"]
        if (keys[1:] <= keys[:-1]).any():
            raise ValueError(f"features of {name} that are not in order")
        return cls(keys, arrays[f"{name}_weights"].astype(np.float32))


def _spans(offsets: Ints, items: Ints) -> tuple[Ints, Ints]:
    """Return the concatenated positions of some spans, and the offsets of each span."""
    sizes = offsets[items + 1] - offsets[items]
    places = np.repeat(offsets[items], sizes) + positions_within(sizes)
    return places, np.append(0, np.cumsum(sizes))
