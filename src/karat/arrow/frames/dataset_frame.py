"""Data sets of Hugging Face's `datasets`, in memory, on disk or streamed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from karat.arrays import Floats
from karat.arrow.batches import RowBatch, record_batches
from karat.arrow.frames.frame import TABLE, Frame, Opened
from karat.errors import InputError

_ROWS = 1 << 14


class DatasetFrame(Frame):
    """One split of a data set; rows that were selected or shuffled are read in their order."""

    kind = "a streamed data set"

    @property
    def names(self) -> list[str]:
        if self.data.column_names is None:
            told = "is a stream that does not know its columns before it is read"
            raise InputError(f"{TABLE} {told}: give it features, or make a Dataset of it")
        return list(self.data.column_names)

    def open(self, columns: Sequence[str]) -> Opened:
        batches = self.data.select_columns(list(columns)).with_format("arrow").iter(_ROWS)
        found = (record_batches(batch, TABLE) for batch in batches)
        first = next(found, None)
        if first is None:
            return list(columns), ["u"] * len(columns), iter(())
        return first[0], first[1], chain(first[2], _rest(found))

    def joined(self, scores: Mapping[str, Floats]) -> Any:
        found = self.data
        if self.rows is None:  # a stream may come in another order next time
            return super().joined(scores)
        for name, values in scores.items():
            found = found.add_column(name, values)
        return found


def _rest(found: Iterator[Opened]) -> Iterator[RowBatch]:
    return (batch for _, _, batches in found for batch in batches)
