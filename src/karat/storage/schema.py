"""Schemas of stored models: the fields of their description, and their arrays.

A checksum proves that a file is unchanged, not that it was written by Karat. So every model
has a schema, which is checked when it is opened: `check_fields` for the description, `check_arrays`
for types, related lengths, and values. Both raise a ValueError with the first problem. Hash tables
and references between arrays are checked by the kernel when it receives the arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from karat.arrays import NDArray, np
from karat.errors import quoted, short

Kind = Callable[[object, str], None]
"""Raises a ValueError if a value is not of the kind; the second argument is its location."""


def _expect(is_valid: bool, value: object, location: str, expected: str) -> None:
    if not is_valid:
        raise ValueError(f"{short(location)}: found {quoted(value)}, expected {expected}")


def text(value: object, location: str) -> None:
    """A short string."""
    _expect(isinstance(value, str) and len(value) <= 10_000, value, location, "a short string")


def anything(value: object, location: str) -> None:
    """Any value; it is stored and never used."""


def integer(low: int, high: int = 2**53) -> Kind:
    """An integer within inclusive bounds."""

    def check(value: object, location: str) -> None:
        is_valid = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        _expect(is_valid, value, location, f"a whole number from {low:,} to {high:,}")

    return check


def real(low: float = -1e300, high: float = 1e300) -> Kind:
    """A finite number within inclusive bounds."""

    def check(value: object, location: str) -> None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        is_valid = is_number and low <= value <= high  # type: ignore[operator]
        _expect(is_valid, value, location, f"a number from {low:g} to {high:g}")

    return check


def boolean(value: object, location: str) -> None:
    """True or false."""
    _expect(isinstance(value, bool), value, location, "true or false")


def nullable(kind: Kind) -> Kind:
    """A value of a kind, or null."""
    return lambda value, where: None if value is None else kind(value, where)


def list_of(kind: Kind, least: int = 0) -> Kind:
    """A list whose items are of a kind."""

    def check(value: object, location: str) -> None:
        items = value if isinstance(value, list | tuple) else None
        is_valid = items is not None and len(items) >= least
        _expect(is_valid, value, location, f"a list of at least {least}" if least else "a list")
        for i, item in enumerate(items or ()):
            kind(item, f"{location}[{i}]")

    return check


def mapping_of(kind: Kind, least: int = 0) -> Kind:
    """An object whose members are all of a kind."""

    def check(value: object, location: str) -> None:
        members = value if isinstance(value, Mapping) else None
        _expect(members is not None and len(members) >= least, value, location, "an object")
        for name, item in (members or {}).items():
            kind(item, f"{location}.{name}")

    return check


def record(fields: Mapping[str, Kind], **optional: Kind) -> Kind:
    """An object with these members; `optional` ones may be missing, others are ignored."""

    def check(value: object, location: str) -> None:
        members = value if isinstance(value, Mapping) else {}
        _expect(isinstance(value, Mapping), value, location, "an object")
        for name, kind in {**fields, **optional}.items():
            if name in members:
                kind(members[name], f"{location}.{name}")
            elif name in fields:
                raise ValueError(f"{short(location)}: expected a member {quoted(name)}")

    return check


def check_fields(about: object, kind: Kind) -> None:
    """Raise a ValueError if the description of a model is not of the kind."""
    kind(about, "about.json")


class ModelLayout(NamedTuple):
    """The layout of a stored array: its type, its length and the range of its values.

    Lengths are names: two arrays of length `words` are equally long, and one of `words + 1` has one
    more. An array of two dimensions has two names, `rows x columns`. A length is a multiple of
    `multiple`. `low` and `high` are inclusive bounds of the values.
    """

    dtype: str
    length: str
    low: float = -math.inf
    high: float = math.inf
    multiple: int = 1


_BLOCK = 1 << 20  # values checked at once


def check_arrays(arrays: Mapping[str, NDArray[Any]], columns: Mapping[str, ModelLayout]) -> None:
    """Raise a ValueError if arrays are missing or do not match their layouts or each other."""
    lengths: dict[str, int] = {}
    for name, column in columns.items():
        array, sides = arrays.get(name), column.length.split(" x ")
        if array is None or array.dtype != np.dtype(column.dtype) or array.ndim != len(sides):
            shape = "" if len(sides) == 1 else f" with {len(sides)} dimensions"
            raise ValueError(f"expected an array {quoted(name)} of {column.dtype}{shape}")
        for length, size in zip(sides, array.shape, strict=True):
            base, _, more = length.partition(" + ")
            expected = lengths.setdefault(base, size - int(more or 0))
            has = f"{short(name)} has {size:,} values"
            if size != expected + int(more or 0) or expected < 0:
                raise ValueError(f"{has}, expected {expected:,} {length}")
            if size % column.multiple:
                raise ValueError(f"{has}: no multiple of {column.multiple}")
    for name, column in columns.items():
        _check_values(name, arrays[name], column)


def _check_values(name: str, array: NDArray[Any], column: ModelLayout) -> None:
    """Check the values of an array in blocks, to save memory."""
    if array.dtype.kind != "f" and (column.low, column.high) == (-math.inf, math.inf):
        return
    flat = array.reshape(-1)
    for start in range(0, len(flat), _BLOCK):
        block = flat[start : start + _BLOCK]
        if not np.isfinite(block).all():
            raise ValueError(f"{short(name)} has a value that is not a number")
        if not ((block >= column.low) & (block <= column.high)).all():
            raise ValueError(f"{short(name)} has a value out of {column.low:g} to {column.high:g}")


def word_columns(name: str) -> dict[str, ModelLayout]:
    """Return the layouts of a word table's arrays; the kernel checks their contents."""
    return {
        f"{name}_bytes": ModelLayout("uint8", f"bytes of {name}"),
        f"{name}_offsets": ModelLayout("int64", f"{name} + 1"),
        f"{name}_slots": ModelLayout("int32", f"slots of {name}"),
    }
