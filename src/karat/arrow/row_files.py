"""Files with the scores of rows: a parquet file for each piece, in a folder of its own."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from karat.arrays import Floats, NDArray, np
from karat.arrow.formats.parquet import pyarrow_module
from karat.arrow.pieces import Piece
from karat.errors import InputError
from karat.storage.output import replacing


def part_name(piece: Piece) -> str:
    """Return the name of the file of a piece: the same whoever writes it, however often."""
    stem = os.path.splitext(os.path.basename(piece.path).removesuffix(".gz"))[0]
    return f"{stem}-{piece.first:012d}.parquet"


DIGEST = b"karat.piece"
"""The metadata of a file that tells of which content its rows are."""


def has_rows_of(path: str, digest: str) -> bool:
    """Return whether a file is whole, and has the rows of a piece with this content."""
    if not os.path.exists(path):
        return False
    parquet, arrow = pyarrow_module("pyarrow.parquet"), pyarrow_module("pyarrow")
    try:
        found = parquet.read_schema(path).metadata or {}
    except (OSError, arrow.ArrowException):
        return False
    return bool(found.get(DIGEST) == digest.encode())


class RowFile:
    """The rows of a piece with their scores, written as they come, whole or not at all.

    `with RowFile(...) as file:` - read batches through `file.reading`, then give their scores to
    `file.write` in the order of the rows.
    """

    def __init__(self, path: str, piece: Piece, columns: Sequence[str], digest: str = "") -> None:
        self._path, self._name, self._digest = path, piece.name, digest
        self._columns = columns
        self._waiting: deque[Any] = deque()
        self._scores: list[list[Floats]] = [[] for _ in columns]
        self._held = 0
        self._open = ExitStack()
        self._writer: Any = None

    def __enter__(self) -> RowFile:
        return self

    def reading(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield record batches, and remember them until their scores are known."""
        arrow = pyarrow_module("pyarrow")
        for batch in batches:
            kept = arrow.record_batch(batch)
            self._waiting.append(kept)
            yield kept

    def write(self, values: Sequence[Floats], present: NDArray[np.bool_] | None = None) -> None:
        """Take the scores of the next rows; write every batch that is complete.

        Rows that are not `present` were not scored: their scores are null.
        """
        for held, new in zip(self._scores, values, strict=True):
            scores = new if present is None else np.full(len(present), np.nan)
            if present is not None:
                scores[present] = new
            held.append(scores)
        self._held += len(values[0]) if present is None else len(present)
        while self._waiting and self._held >= self._waiting[0].num_rows:
            self._write(self._waiting.popleft())

    def _write(self, batch: Any) -> None:
        arrow, parquet = pyarrow_module("pyarrow"), pyarrow_module("pyarrow.parquet")
        count = batch.num_rows
        for at, name in enumerate(self._columns):
            if name in batch.schema.names:
                told = f"has a column {name} already, where the scores would go: rename it"
                raise InputError(f"{self._name} {told}")
            scores = np.concatenate(self._scores[at])
            batch = batch.append_column(name, arrow.array(scores[:count], from_pandas=True))
            self._scores[at] = [scores[count:]]
        self._held -= count
        if self._digest:
            marked = {**(batch.schema.metadata or {}), DIGEST: self._digest.encode()}
            batch = batch.replace_schema_metadata(marked)
        if self._writer is None:
            stream = self._open.enter_context(replacing(self._path))
            self._writer = parquet.ParquetWriter(stream, batch.schema)
            self._open.callback(self._writer.close)
        self._writer.write_batch(batch)

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)
