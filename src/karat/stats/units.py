"""Units: what is drawn again if an experiment is repeated, such as a question or a document.

Segments of one unit are not independent. Their rows are added before intervals and tests, which
then see one row per unit. Scores do not change, except means over questions such as pass@k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from karat.arithmetic import grouped_sums, rounded
from karat.arrays import Ints, NDArray, np
from karat.errors import InputError
from karat.stats.significance import MIN_DECIDING_UNITS


@dataclass(frozen=True, eq=False)
class Units:
    """The unit of each segment."""

    name: str
    """Kind of the units: `document`, `question`, or the name of a column."""
    labels: Sequence[str]
    codes: NDArray[np.int32]
    """For each segment, the index of its unit in `labels`."""

    @classmethod
    def from_labels(cls, name: str, labels: Sequence[Any]) -> Units:
        """Return the units with these labels, one label per segment; none may be missing."""
        names: dict[str, int] = {}
        codes = np.empty(len(labels), np.int32)
        for at, label in enumerate(labels):
            if label is None or label == "" or (isinstance(label, float) and isnan(label)):
                problem = f"segment {at + 1:,} has no {name}"
                raise InputError(f"{problem}: every segment needs the label of its unit")
            codes[at] = names.setdefault(str(label), len(names))
        return cls(name, list(names), codes)

    @classmethod
    def from_hashes(cls, name: str, hashes: Ints) -> Units:
        """Return the units with these hashes of labels; they are numbered by their hashes."""
        distinct, codes = np.unique(hashes, return_inverse=True)
        return cls(name, list(map(str, range(len(distinct)))), codes.astype(np.int32))

    def take(self, segments: Sequence[int]) -> Units:
        """Return the units of some segments, in their order."""
        return Units.from_labels(self.name, [self.labels[code] for code in self.codes[segments]])

    def __len__(self) -> int:
        return len(self.labels)

    def sums(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the summed rows of each unit."""
        return group_rows(rows, self.codes, len(self))

    @property
    def too_few(self) -> bool:
        """Whether there are too few units for any verdict."""
        return len(self) < MIN_DECIDING_UNITS


def group_rows(rows: NDArray[Any], groups: NDArray[np.int32], count: int) -> NDArray[Any]:
    """Return the sum of the rows of each group: exact, then rounded once."""
    sums: Ints = grouped_sums(rows, groups, count)
    return sums if sums.ndim == 2 else rounded(np.ascontiguousarray(sums.transpose(1, 0, 2)))
