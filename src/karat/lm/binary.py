"""The binary form of a model: its tables in one file that is mapped, not read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from karat.errors import quoted
from karat.store import damaged, read_store, write_store

if TYPE_CHECKING:
    from numpy.typing import NDArray

KIND = "language model"
VERSION = 1


def write_binary(
    path: str | os.PathLike[str], about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a model whole or not at all."""
    write_store(path, KIND, VERSION, about, arrays)


def read_binary(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What the file says of itself, and its arrays, mapped and checked for their types."""
    store = read_store(path, KIND, VERSION)
    order = store.about.get("order")
    if not isinstance(order, int) or not 1 <= order <= len(store.arrays):
        raise damaged(store.name, f"an order of {quoted(order)}")
    kinds = {"p": "float32", "backoff": "float32"}
    kinds |= {f"table_{n}": "uint64" for n in range(2, order + 1)}
    kinds |= {"words_bytes": "uint8", "words_offsets": "int64", "words_slots": "int32"}
    return store.about, {name: store.array(name, kind) for name, kind in kinds.items()}
