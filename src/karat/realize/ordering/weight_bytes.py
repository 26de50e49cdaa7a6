"""Weights in bytes: each row has a scale, a power of two, so that doing it twice changes nothing.

weight = byte · 2 ^ exponent,  |byte| <= 127
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Weights = NDArray[np.float32]
Bytes = NDArray[np.int8]

_MOST = 100  # beyond this exponent, weights would not fit


def to_bytes(weights: Weights, width: int) -> tuple[Bytes, Bytes]:
    """The bytes of all weights, and the exponents of their rows of `width`."""
    table = weights.reshape(-1, width)
    halves, exponents = np.frexp(np.abs(table).max(axis=1, initial=0) / np.float32(127))
    exponents = np.clip(exponents - (halves == 0.5), -_MOST, _MOST)  # the least power that suffices
    found = np.rint(np.ldexp(table, -exponents[:, None]))
    return found.astype(np.int8).reshape(-1), exponents.astype(np.int8)


def from_bytes(found: Bytes, exponents: Bytes, width: int) -> Weights:
    """The weights; a ValueError if there are not as many as there should be."""
    if found.dtype != np.int8 or exponents.dtype != np.int8:
        raise ValueError("weights of a wrong type")
    if len(exponents) and not -_MOST <= exponents.min() <= exponents.max() <= _MOST:
        raise ValueError("weights out of range")
    table = found.reshape(len(exponents), width).astype(np.float32)
    # By a power of two nothing is rounded; one product is far quicker than an `ldexp` of each.
    table *= np.ldexp(np.float32(1), exponents.astype(np.int32))[:, None]
    return table.reshape(-1)
