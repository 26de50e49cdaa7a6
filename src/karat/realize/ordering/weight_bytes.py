"""Stored weights: bytes or half bytes, with a scale for each row; storing twice changes nothing.

Bytes:       weight = byte · 2 ^ exponent,         |byte| <= 127
Half bytes:  weight = level · 2 ^ (exponent / 2),  |level| <= 7

A weight of the labeller has dozens of others beside it in every sum, so that what is lost by
rounding averages out; half the space is better spent on twice the features.
"""

from __future__ import annotations

from math import sqrt

from karat import _kernel
from karat.arrays import NDArray, np

Weights = NDArray[np.float32]
Bytes = NDArray[np.int8]

_MOST = 100  # beyond this exponent, weights would not fit
LEVELS = 7
LARGEST = np.float32(7.01)
"""In scales, what a row's largest weight may be: above 7, so that one of 7 scales stays what it is
whatever division rounds to, and below 5 · √2, so that one of 5 does."""


def to_bytes(weights: Weights, width: int) -> tuple[Bytes, Bytes]:
    """Return the bytes of all weights, and the exponents of their rows of `width`."""
    table = weights.reshape(-1, width)
    halves, exponents = np.frexp(np.abs(table).max(axis=1, initial=0) / np.float32(127))
    exponents = np.clip(exponents - (halves == 0.5), -_MOST, _MOST)  # the least power that suffices
    found = np.rint(np.ldexp(table, -exponents[:, None]))
    return found.astype(np.int8).reshape(-1), exponents.astype(np.int8)


def from_bytes(found: Bytes, exponents: Bytes, width: int) -> Weights:
    """Return the weights; a ValueError if bytes and exponents do not fit together."""
    _check_types(found, np.int8, exponents)
    if len(exponents) and not -_MOST <= exponents.min() <= exponents.max() <= _MOST:
        raise ValueError("weights out of range")
    table = found.reshape(len(exponents), width).astype(np.float32)
    # By a power of two nothing is rounded; one product is far quicker than an `ldexp` of each.
    table *= np.ldexp(np.float32(1), exponents.astype(np.int32))[:, None]
    return table.reshape(-1)


def to_half_bytes(weights: Weights, width: int) -> tuple[NDArray[np.uint8], Bytes]:
    """Return the levels of all weights, two a byte, and the exponents of their rows of `width`."""
    table = weights.reshape(-1, width)
    largest = np.abs(table).max(axis=1, initial=0)
    parts, powers = np.frexp(largest / LARGEST)  # a logarithm would round
    halves = 2 * powers - (parts <= np.float32(sqrt(0.5))) - (parts <= 0.5)
    exponents = np.clip(np.where(largest > 0, halves, -_MOST), -_MOST, _MOST).astype(np.int8)
    levels = np.rint(table / _scales(exponents)[:, None]).astype(np.int8).reshape(-1) + LEVELS
    even = np.append(levels, 0) if len(levels) % 2 else levels
    pairs = even.astype(np.uint8).reshape(-1, 2)
    return (pairs[:, 0] | pairs[:, 1] << 4).astype(np.uint8), exponents


def from_half_bytes(found: NDArray[np.uint8], exponents: Bytes, width: int) -> Weights:
    """Return the weights; a ValueError if levels and exponents do not fit together."""
    _check_types(found, np.uint8, exponents)
    count = len(exponents) * width
    if len(found) != (count + 1) // 2:
        raise ValueError(f"{len(found)} bytes for {count} weights")
    return _kernel.from_half_bytes(found, _scales(exponents), width)


def _scales(exponents: Bytes) -> Weights:
    """Return 2 ^ (exponent / 2) of every row."""
    whole, odd = np.divmod(exponents.astype(np.int32), 2)
    scales: Weights = np.ldexp(np.where(odd == 1, np.float32(sqrt(2)), np.float32(1)), whole)
    return scales


def _check_types(found: NDArray[np.generic], expected: type, exponents: Bytes) -> None:
    if found.dtype != expected or exponents.dtype != np.int8:
        raise ValueError("weights of a wrong type")


def check_power_of_two(size: int, of: str) -> None:
    """Refuse a table whose size is not a power of two."""
    if size < 2 or size & (size - 1):
        raise ValueError(f"{size} {of}, expected a power of two")
