"""Words to ids and back in arrays that can be stored and mapped, for models on disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from karat import _kernel
from karat.arrays import NDArray
from karat.errors import quoted

if TYPE_CHECKING:
    Arrays = Mapping[str, NDArray[Any]]

WordTable = _kernel.WordTable
"""`len`, `find(vocab, start)` -> ids here or -1, `words(ids)` -> strings."""

_PARTS = ("bytes", "offsets", "slots")


def word_arrays(vocab: _kernel.Vocab, name: str) -> dict[str, NDArray[Any]]:
    """The words of a vocabulary as arrays `NAME_bytes`, `NAME_offsets` and `NAME_slots`."""
    text, offsets = _kernel.vocab_bytes(vocab)
    parts: list[NDArray[Any]] = [text, offsets, _kernel.word_slots(text, offsets)]
    return {f"{name}_{part}": array for part, array in zip(_PARTS, parts, strict=True)}


def word_table(arrays: Arrays, name: str) -> WordTable:
    """The table in stored arrays; a ValueError or KeyError if they do not hold together."""
    found = [arrays[f"{name}_{part}"] for part in _PARTS]
    try:
        return WordTable(*found)
    except TypeError as error:
        raise ValueError(f"the words {quoted(name)} have arrays of a wrong type") from error
