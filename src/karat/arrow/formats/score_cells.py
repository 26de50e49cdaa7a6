"""Values of single cells: columns of given scores, and the rows of parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from karat import _kernel
from karat.arrow.columns import kind_of
from karat.arrow.pieces import TABLE_FORMATS
from karat.errors import InputError, quoted
from karat.evalset.reading import FileLocation

if TYPE_CHECKING:
    from karat.arrow.batches import RowBatch

Rows = Iterator[tuple[FileLocation, Mapping[str, Any]]]


def parquet_rows(path: str) -> tuple[list[str], Rows]:
    """Return the columns of a file, and its rows by column, numbered from 1."""
    format = TABLE_FORMATS["parquet"]
    return format.columns(path), _read_rows(path)


def _read_rows(path: str) -> Rows:
    format, number = TABLE_FORMATS["parquet"], 0
    for piece in format.pieces(path):
        for batch in format.read(piece, None):
            schema, array = batch.__arrow_c_array__()
            names, formats = _kernel.arrow_columns(schema)
            arrow_batch = _kernel.ArrowBatch.from_capsules(schema, array)
            columns = [
                list(
                    cells(
                        arrow_batch,
                        at,
                        kind_of(form),
                        (0, len(arrow_batch)),
                        f"{path}: column {quoted(name)}",
                    )
                )
                for at, (name, form) in enumerate(zip(names, formats, strict=True))
            ]
            for row in zip(*columns, strict=True):
                number += 1
                yield FileLocation(path, number), dict(zip(names, row, strict=True))


def cells(
    batch: RowBatch, at: int, kind: str, rows: tuple[int, int], subject: str
) -> Iterator[str | float | None]:
    """Yield the texts or numbers of a column; None for missing values and other kinds."""
    start, stop = rows
    reads: dict[str, Any] = {"floats": batch.floats, "whole numbers": batch.integers}
    text = kind in ("text", "JSON values")
    read = batch.texts if text else reads.get(kind)
    if read is None:
        yield from [None] * (stop - start)
        return
    while start < stop:
        try:
            result: Any = read(at, start, stop)
            row: int = result[2] if text else result[1]  # the first without a value, or -1
            end = stop if row < 0 else start + row
            values: Any = result[0] if row < 0 else read(at, start, end)[0]
        except IndexError as error:
            raise InputError(f"{subject} is damaged: {error}") from error
        except TypeError as error:
            raise InputError(
                f"{subject} holds 16-bit floats: cast them to 32 or 64 bits"
            ) from error
        yield from values.strings() if text else values.tolist()
        if row >= 0:
            yield None
        start = end + 1
