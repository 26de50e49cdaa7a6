"""Row groups of parquet files, and the pieces that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karat.arrow.pieces import Piece

ROWS_PER_PIECE = 1 << 17


class RowGroup(NamedTuple):
    """The rows of a row group, and the bytes that hold them."""

    rows: int
    start: int
    end: int


def pieces_of(path: str, size: int, groups: Sequence[RowGroup]) -> list[Piece]:
    """Return runs of row groups of about `ROWS_PER_PIECE` rows; `size` is that of the file."""
    pieces, start, before = [], 0, 0
    for stop in range(1, len(groups) + 1):
        run = groups[start:stop]
        held = sum(group.rows for group in run)
        if held >= ROWS_PER_PIECE or stop == len(groups):
            span = min(group.start for group in run), max(group.end for group in run)
            if held:
                pieces.append(Piece(path, "parquet", size, held, before, (start, stop), span))
            start, before = stop, before + held
    return pieces
