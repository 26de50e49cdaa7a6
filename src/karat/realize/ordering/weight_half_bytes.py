"""Weights in half bytes: each row has a scale, and doing it twice changes nothing.

weight = level · 2 ^ (exponent / 2),  |level| <= 7

A weight of the labeller has dozens of others beside it in every sum, so that what is lost by
rounding averages out; half the space is better spent on twice the features.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from karat import _kernel

Weights = NDArray[np.float32]

LEVELS = 7
LARGEST = np.float32(7.01)
"""In scales, what a row's largest weight may be: above 7, so that one of 7 scales stays what it is
whatever division rounds to, and below 5 · √2, so that one of 5 does."""
HALF = np.float32(sqrt(2))


def to_half_bytes(weights: Weights, width: int) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
    """The levels of all weights, two a byte, and the exponents of their rows of `width`."""
    table = weights.reshape(-1, width)
    exponents = _exponents(np.abs(table).max(axis=1, initial=0))
    levels = np.rint(table / _scales(exponents)).astype(np.int8).reshape(-1) + LEVELS
    even = np.append(levels, 0) if len(levels) % 2 else levels
    pairs = even.astype(np.uint8).reshape(-1, 2)
    return (pairs[:, 0] | pairs[:, 1] << 4).astype(np.uint8), exponents


def from_half_bytes(found: NDArray[np.uint8], exponents: NDArray[np.int8], width: int) -> Weights:
    """The weights; a ValueError if there are not as many as there should be."""
    if found.dtype != np.uint8 or exponents.dtype != np.int8:
        raise ValueError("weights of a wrong type")
    count = len(exponents) * width
    if len(found) != (count + 1) // 2:
        raise ValueError(f"{len(found)} bytes for {count} weights")
    return _kernel.from_half_bytes(found, _scales(exponents).ravel(), width)


def _exponents(largest: Weights) -> NDArray[np.int8]:
    """The least scale for each row's largest weight, found without a logarithm's rounding."""
    parts, powers = np.frexp(largest / LARGEST)
    halves = 2 * powers - (parts <= np.float32(sqrt(0.5))) - (parts <= 0.5)
    return np.clip(np.where(largest > 0, halves, -100), -100, 100).astype(np.int8)


def _scales(exponents: NDArray[np.int8]) -> NDArray[np.float32]:
    """2 ^ (exponent / 2) of every row."""
    whole, odd = np.divmod(exponents.astype(np.int32), 2)
    scales: Weights = np.ldexp(np.where(odd == 1, HALF, np.float32(1)), whole)
    return scales[:, None]
