"""Cohen's kappa: how far two judges agree on labels, beyond what chance would give."""

from __future__ import annotations

from typing import NamedTuple

from karat.arrays import Floats, np
from karat.errors import InputError


class Kappa(NamedTuple):
    """Agreement of two judges on the units that both labelled."""

    value: float
    """NaN if undefined; `why` has the reason."""
    equal: float
    """The share of equal labels; NaN without a common unit."""
    units: int
    why: str = ""


def cohen_kappa(first: Floats, second: Floats) -> Kappa:
    """(o - e) / (1 - e), o the share of equal labels, e that of independent judges (Cohen 1960).

    Labels are nominal; a unit where either is NaN does not count.
    """
    if first.shape != second.shape:
        raise InputError(f"{first.size} and {second.size} labels: expected as many of each")
    both = ~np.isnan(first) & ~np.isnan(second)
    x, y = first[both], second[both]
    if not len(x):
        return Kappa(float("nan"), float("nan"), 0, "no overlap")
    equal = float((x == y).mean())
    labels = np.unique(np.concatenate([x, y]))
    chance = sum(float((x == label).mean()) * float((y == label).mean()) for label in labels)
    if len(labels) < 2:
        return Kappa(float("nan"), equal, len(x), "all labels are equal")
    return Kappa((equal - chance) / (1 - chance), equal, len(x))
