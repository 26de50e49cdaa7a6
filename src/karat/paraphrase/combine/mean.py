"""A mean of features on a scale that the paper's three controls set; it needs no judgements.

A feature x that stands for adequacy (pivot F1, or a metric) is 0 where it has no more than the
controls `random` and `unigram` have on average, and 1 for the original itself:

    a(x) = (x - none) / (copy - none), kept between 0 and 1
    A    = 1 + 4 (mean of all a(x))
    PEM  = (1 - c) A + 2 c, where c = (target F1)^6

So the controls have the scores of the paper: 1, 1, and 2 for a copy, which has no other words. The
power keeps the loss to those that are nearly copies. Fluency is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

from karat.arrays import Floats, NDArray, np
from karat.errors import InputError
from karat.storage.schema import ModelLayout, check_arrays

if TYPE_CHECKING:
    from karat.paraphrase.pem.features import Features

POWER = 6
"""Of 1 to 64, that with the best agreement on half of the judged headlines (docs/lab/pem.md)."""
COPY = 2.0
"""The score of the original itself (section 5.1 of the paper)."""

_LARGEST = 1e50
_COLUMNS = {
    "mean_none": ModelLayout("float64", "features", -_LARGEST, _LARGEST),
    "mean_copy": ModelLayout("float64", "features", -_LARGEST, _LARGEST),
}
"""The arrays of a mean, in the order of its fields."""


@dataclass(frozen=True, eq=False)
class ControlMean:
    """The means of each feature of adequacy over controls."""

    none: Floats
    """Over sentences that have nothing to do with the original."""
    copy: Floats
    """Over the originals themselves."""

    @property
    def width(self) -> int:
        """The number of features of adequacy, and target F1."""
        return len(self.none) + 1

    def inputs(self, found: Features) -> Floats:
        """Return the features of adequacy, and target F1 in the last column."""
        return np.column_stack([found.adequacy, found.target])

    def names(self, found: Features) -> tuple[str, ...]:
        """Return the names of `inputs`."""
        return ("pivot F1", *found.names[len(found.names) - found.metrics :], "target F1")

    def predict(self, features: Floats) -> Floats:
        """Return one value for each row of features."""
        adequacy, target = features[:, :-1], features[:, -1]
        parts = np.clip((adequacy - self.none) / (self.copy - self.none), 0.0, 1.0)
        mean = sum(parts.T) / len(self.none)
        square = target * target  # multiplied out: other powers may differ between processors
        copied = square * square * square
        return np.asarray((1.0 - copied) * (1.0 + 4.0 * mean) + copied * COPY)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be stored."""
        return dict(zip(_COLUMNS, (self.none, self.copy), strict=True))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> ControlMean:
        """Make one of stored arrays; a ValueError or KeyError if they do not fit together."""
        check_arrays(arrays, _COLUMNS)
        none, copy = (arrays[name] for name in _COLUMNS)
        if not len(none) or (none == copy).any():
            raise ValueError("its mean does not tell the original from other sentences")
        return cls(none, copy)


def fit_mean(names: Sequence[str], copies: Floats, others: Floats) -> ControlMean:
    """Set the scale by features of the originals themselves, and of unrelated sentences."""
    none, copy = (
        np.array([fsum(column) / len(rows) for column in rows.T]) for rows in (others, copies)
    )
    for name, low, high in zip(names, none.tolist(), copy.tolist(), strict=True):
        if low == high:
            raise InputError(
                f"feature {name} is {high:g} for a copy and for an unrelated sentence: a mean "
                "needs features that tell them apart, so leave it out"
            )
    return ControlMean(none, copy)
