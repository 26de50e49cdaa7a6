"""The binary form of a model: its tables in one file that is mapped, not read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from karat import _kernel
from karat.schema import Column, listed, perhaps, record, text, whole, word_columns
from karat.store import read_store, write_store

if TYPE_CHECKING:
    from numpy.typing import NDArray

KIND = "language model"
VERSION = 1


RECIPE = record({"tok": text, "case": text, "stem": text})
"""The recipe of a model's words."""
ABOUT = record(
    {"order": whole(1, _kernel.MAX_ORDER), "recipe": RECIPE},
    smoothing=text,
    vocabulary=perhaps(whole(1)),
    min_count=whole(0),
    min_counts=perhaps(listed(whole(0))),
    notes=listed(text),
)
"""The description of a model."""


def columns(order: int) -> dict[str, Column]:
    """The arrays of a model; the kernel never reads beyond them, whatever is in the tables."""
    longer = {f"table_{n}": Column("uint64", f"cells {n}", multiple=2) for n in range(2, order + 1)}
    # Probabilities are logarithms, which rounding may take a little above 0.
    words = {"p": Column("float32", "words", high=1e-3), "backoff": Column("float32", "words")}
    return words | longer | word_columns("words")


def write_binary(
    path: str | os.PathLike[str], about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a model whole or not at all."""
    write_store(path, KIND, VERSION, about, arrays)


def read_binary(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The description in the file, and its arrays, mapped; `LanguageModel` checks them."""
    store = read_store(path, KIND, VERSION)
    return store.about, store.arrays
