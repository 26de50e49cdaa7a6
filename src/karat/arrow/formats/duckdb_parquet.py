"""Parquet files, read by DuckDB where pyarrow is not installed: the same pieces, the same rows."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from karat import _kernel
from karat.arrow.formats.row_groups import RowGroup
from karat.arrow.formats.text_lines import check_wanted
from karat.arrow.pieces import Piece, file_size
from karat.errors import InputError

_MEMORY = "1GB"
_SETTINGS: dict[str, Any] = {
    "threads": 1,  # pieces are read side by side
    "preserve_insertion_order": True,
    "memory_limit": _MEMORY,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
# Everything is said, so that nothing is guessed: a folder named k=v would else be a column.
_SOURCE = "read_parquet(?, hive_partitioning=false, binary_as_string=false, filename=false)"
_GROUPS = """
SELECT any_value(row_group_num_rows), min(start), max(start + total_compressed_size)
FROM (SELECT *, coalesce(nullif(dictionary_page_offset, 0), data_page_offset) AS start
      FROM parquet_metadata(?))
GROUP BY row_group_id ORDER BY row_group_id
"""


def is_installed() -> bool:
    """Return whether DuckDB can be imported."""
    return find_spec("duckdb") is not None


class StreamedBatch:
    """A record batch to hand on, once."""

    def __init__(self, capsules: tuple[object, object]) -> None:
        self._capsules = capsules

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._capsules


@contextmanager
def _connected(path: str) -> Iterator[Any]:
    """Open a database in memory, and turn what it says of a file into one sentence."""
    import duckdb

    if "://" in path:
        told = "files at an address are read by pyarrow, which is not installed"
        raise InputError(f"{path}: {told}: pip install 'karat[arrow]'")
    file_size(path)
    try:
        with duckdb.connect(config=_SETTINGS) as connection:
            yield connection
    except (duckdb.Error, RuntimeError) as error:  # the second comes through the kernel
        if "Out of Memory" in str(error):
            advice = "read it with pyarrow: pip install 'karat[arrow]'"
            raise InputError(f"{path}: DuckDB needs more than {_MEMORY}; {advice}") from error
        told = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{path}: not a parquet file that can be read: {told}") from error


def _pattern(path: str) -> str:
    """Return a path as a pattern that fits it alone."""
    return glob.escape(path)


def row_groups(path: str) -> list[RowGroup]:
    """Return the row groups of a file."""
    with _connected(path) as connection:
        found = connection.execute(_GROUPS, [_pattern(path)]).fetchall()
    return [RowGroup(*row) for row in found]


_NULLS = """
SELECT path_in_schema FROM parquet_metadata(?)
WHERE stats_null_count > 0 AND row_group_id >= ? AND row_group_id < ?
"""


def has_nulls(piece: Piece, columns: Sequence[str]) -> bool:
    """Return whether these columns of a piece have nulls, as the file's footer says."""
    first, last = piece.groups or (0, 1 << 31)
    with _connected(piece.path) as connection:
        rows = connection.execute(_NULLS, [_pattern(piece.path), first, last]).fetchall()
    paths = [str(row[0]).replace(", ", ".") for row in rows]
    return any(f"{path}.".startswith(f"{name}.") for path in paths for name in columns)


def column_names(path: str) -> list[str]:
    """Return the names of the columns."""
    with _connected(path) as connection:
        found = connection.execute(f"DESCRIBE SELECT * FROM {_SOURCE}", [_pattern(path)]).fetchall()
    return [str(row[0]) for row in found]


def read_piece(piece: Piece, columns: Sequence[str] | None) -> Iterator[StreamedBatch]:
    """Yield the record batches of a piece."""
    if columns is not None:
        check_wanted(piece.path, columns, column_names(piece.path))
    with _connected(piece.path) as connection:
        last = None if piece.rows is None else piece.first + piece.rows
        where = "" if last is None else " WHERE file_row_number >= ? AND file_row_number < ?"
        values = [_pattern(piece.path), *([] if last is None else [piece.first, last])]
        query = f"SELECT {_listed(columns)} FROM {_SOURCE}{where}"
        relation = connection.sql(query, params=values)
        stream = _kernel.ArrowStream(relation.__arrow_c_stream__())
        while capsules := stream.next_capsules():
            yield StreamedBatch(capsules)


def _listed(columns: Sequence[str] | None) -> str:
    if columns is None:
        return "*"
    return ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
