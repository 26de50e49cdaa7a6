"""Data frames of Polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from karat.arrays import Floats
from karat.arrow.batches import record_batches
from karat.arrow.frames.frame import TABLE, Frame, Opened
from karat.errors import InputError


class PolarsFrame(Frame):
    """A data frame; a clone, which shares its columns."""

    def __init__(self, data: Any) -> None:
        if hasattr(data, "collect"):
            raise InputError(f"{TABLE} is a LazyFrame: collect() it first")
        super().__init__(data.clone())

    @property
    def names(self) -> list[str]:
        return list(self.data.columns)

    def open(self, columns: Sequence[str]) -> Opened:
        return record_batches(self.data.select(columns), TABLE)

    def joined(self, scores: Mapping[str, Floats]) -> Any:
        return self.data.with_columns(**scores)
