"""What smoothing gives: for each length, probabilities and the weights of backing off."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Estimates(NamedTuple):
    """Not logarithms: `p[n - 1]` and `backoff[n - 1]` are of the n-grams of n words."""

    p: list[NDArray[np.float64]]
    backoff: list[NDArray[np.float64]]
    notes: tuple[str, ...] = ()
