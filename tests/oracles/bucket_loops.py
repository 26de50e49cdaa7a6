"""Buckets of ids from the definition of splitmix64, and sums as fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

MASK = (1 << 64) - 1


def splitmix64(x: int) -> int:
    """One step of the generator, in whole numbers."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return x ^ x >> 31


def hash_text(text: str) -> int:
    """The length in bytes, then eight bytes at a time, little-endian."""
    data = text.encode()
    hash_value = splitmix64(len(data))
    for at in range(0, len(data), 8):
        hash_value = splitmix64(hash_value ^ int.from_bytes(data[at : at + 8], "little"))
    return hash_value


def bucket(id: int | str, buckets: int) -> int:
    """The bucket of an id."""
    return (hash_text(id) if isinstance(id, str) else splitmix64(id & MASK)) % buckets


def cell_sums(
    rows: Sequence[Sequence[float]], cells: Sequence[int], count: int
) -> list[list[Fraction]]:
    """The exact sum of the rows of each cell, numbers rounded to multiples of 2^-64."""
    width = len(rows[0]) if rows else 0
    sums = [[Fraction(0)] * width for _ in range(count)]
    for row, cell in zip(rows, cells, strict=True):
        for at, value in enumerate(row):
            sums[cell][at] += Fraction(round(Fraction(value) * 2**64), 2**64)
    return sums
