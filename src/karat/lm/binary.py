"""The binary form of a model, one file that is mapped, not read: its fields and arrays."""

from __future__ import annotations

from karat import _kernel
from karat.storage.schema import Column, listed, perhaps, record, text, whole, word_columns

KIND = "language model"
VERSION = 1

ABOUT = record(
    {
        "order": whole(1, _kernel.MAX_ORDER),
        "recipe": record({"tok": text, "case": text, "stem": text}),
    },
    smoothing=text,
    vocabulary=perhaps(whole(1)),
    min_count=whole(0),
    min_counts=perhaps(listed(whole(0))),
    notes=listed(text),
)
"""The description of a model."""


def columns(order: int) -> dict[str, Column]:
    """Return the arrays of a model; the kernel never reads beyond them, whatever they hold."""
    longer = {f"table_{n}": Column("uint64", f"cells {n}", multiple=2) for n in range(2, order + 1)}
    # Probabilities are logarithms, which rounding may take a little above 0.
    words = {"p": Column("float32", "words", high=1e-3), "backoff": Column("float32", "words")}
    return words | longer | word_columns("words")
