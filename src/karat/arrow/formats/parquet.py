"""Parquet files, read by pyarrow; a piece is a run of row groups.

If only DuckDB is installed, it reads them.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, NamedTuple

from karat import _kernel
from karat.arrow.formats.text_lines import check_columns
from karat.arrow.pieces import TableFormat, TablePiece, file_size
from karat.errors import InputError
from karat.installation import import_package, install_command

ROWS_PER_PIECE = 1 << 17


class RowGroup(NamedTuple):
    """The number of rows of a row group, and its range of bytes."""

    rows: int
    start: int
    end: int


def pieces_of(path: str, size: int, groups: Sequence[RowGroup]) -> list[TablePiece]:
    """Return runs of row groups with about `ROWS_PER_PIECE` rows; `size` is the file's size."""
    pieces, start, before = [], 0, 0
    for stop in range(1, len(groups) + 1):
        run = groups[start:stop]
        held = sum(group.rows for group in run)
        if held >= ROWS_PER_PIECE or stop == len(groups):
            span = min(group.start for group in run), max(group.end for group in run)
            if held:
                pieces.append(TablePiece(path, "parquet", size, held, before, (start, stop), span))
            start, before = stop, before + held
    return pieces


_MEMORY = "1GB"
_DUCKDB_SETTINGS: dict[str, Any] = {
    "threads": 1,  # pieces are read in parallel
    "preserve_insertion_order": True,
    "memory_limit": _MEMORY,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
# Explicit, so that nothing is guessed: a folder named k=v would become a column.
PARQUET_ROWS = "read_parquet(?, hive_partitioning=false, binary_as_string=false, filename=false)"
_GROUPS = """
SELECT any_value(row_group_num_rows), min(start), max(start + total_compressed_size)
FROM (SELECT *, coalesce(nullif(dictionary_page_offset, 0), data_page_offset) AS start
      FROM parquet_metadata(?))
GROUP BY row_group_id ORDER BY row_group_id
"""


class StreamedBatch:
    """A record batch that can be read once."""

    def __init__(self, capsules: tuple[object, object]) -> None:
        self._capsules = capsules

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._capsules


@contextmanager
def open_database(path: str) -> Iterator[Any]:
    """Open a database in memory, and turn its errors into one sentence."""
    import duckdb

    if "://" in path:
        problem = "files at an address are read by pyarrow, which is not installed"
        raise InputError(f"{path}: {problem}: {install_command('arrow')}")
    file_size(path)
    try:
        with duckdb.connect(config=_DUCKDB_SETTINGS) as connection:
            yield connection
    except (duckdb.Error, RuntimeError) as error:  # the second comes through the kernel
        if "Out of Memory" in str(error):
            advice = f"read it with pyarrow: {install_command('arrow')}"
            raise InputError(f"{path}: DuckDB needs more than {_MEMORY}; {advice}") from error
        problem = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{path}: not a parquet file that can be read: {problem}") from error


_NULLS = """
SELECT path_in_schema FROM parquet_metadata(?)
WHERE stats_null_count > 0 AND row_group_id >= ? AND row_group_id < ?
"""


def duckdb_has_nulls(piece: TablePiece, columns: Sequence[str]) -> bool:
    """Return whether these columns of a piece have nulls, by the file's footer."""
    first, last = piece.groups or (0, 1 << 31)
    with open_database(piece.path) as connection:
        rows = connection.execute(_NULLS, [glob.escape(piece.path), first, last]).fetchall()
    paths = [str(row[0]).replace(", ", ".") for row in rows]
    return any(f"{path}.".startswith(f"{name}.") for path in paths for name in columns)


def duckdb_columns(path: str) -> list[str]:
    """Return the names of the columns."""
    with open_database(path) as connection:
        query = f"DESCRIBE SELECT * FROM {PARQUET_ROWS}"
        return [str(row[0]) for row in connection.execute(query, [glob.escape(path)]).fetchall()]


def read_by_duckdb(piece: TablePiece, columns: Sequence[str] | None) -> Iterator[StreamedBatch]:
    """Yield the record batches of a piece."""
    if columns is not None:
        check_columns(piece.path, columns, duckdb_columns(piece.path))
    with open_database(piece.path) as connection:
        names = "*"
        if columns is not None:
            names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
        values: list[str | int] = [glob.escape(piece.path)]
        query = f"SELECT {names} FROM {PARQUET_ROWS}"
        if piece.rows is not None:
            query += " WHERE file_row_number >= ? AND file_row_number < ?"
            values += [piece.first, piece.first + piece.rows]
        relation = connection.sql(query, params=values)
        stream = _kernel.ArrowStream(relation.__arrow_c_stream__())
        while capsules := stream.next_capsules():
            yield StreamedBatch(capsules)


_ROWS_READ = 1 << 14  # rows of a record batch


def pyarrow_module(name: str) -> Any:
    """Import a module of pyarrow."""
    return import_package(name, "arrow", "parquet files")


@contextmanager
def reading_parquet(path: str) -> Iterator[None]:
    """Turn errors of pyarrow into one sentence."""
    arrow = pyarrow_module("pyarrow")
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        reason = error.strerror if error.strerror else _first_line(error)
        raise InputError(f"{path}: {reason}") from error
    except (arrow.ArrowException, ValueError) as error:
        raise InputError(
            f"{path}: not a parquet file that can be read: {_first_line(error)}"
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def open_input(path: str) -> Any:
    """Open a local file, or one at an address such as s3://bucket/file."""
    fs = pyarrow_module("pyarrow.fs")
    with reading_parquet(path):
        if "://" not in path:
            return fs.LocalFileSystem().open_input_file(os.path.abspath(path))
        system, place = fs.FileSystem.from_uri(path)
        return system.open_input_file(place)


@contextmanager
def parquet_file(path: str) -> Iterator[Any]:
    """Open a parquet file and read its footer."""
    parquet = pyarrow_module("pyarrow.parquet")
    if "://" not in path:
        file_size(path)
    with reading_parquet(path), open_input(path) as source:
        yield parquet.ParquetFile(source, pre_buffer=False, page_checksum_verification=True)


def _by_duckdb() -> bool:
    """Return whether DuckDB reads, because pyarrow is not installed."""
    return find_spec("pyarrow") is None and find_spec("duckdb") is not None


def parquet_pieces(path: str) -> list[TablePiece]:
    """Return runs of row groups of about `ROWS_PER_PIECE` rows."""
    if _by_duckdb():
        with open_database(path) as connection:
            rows = connection.execute(_GROUPS, [glob.escape(path)]).fetchall()
        return pieces_of(path, file_size(path), [RowGroup(*row) for row in rows])
    groups = []
    with parquet_file(path) as file:
        for group in map(file.metadata.row_group, range(file.metadata.num_row_groups)):
            columns = [group.column(i) for i in range(group.num_columns)]
            starts = [c.dictionary_page_offset or c.data_page_offset for c in columns]
            sizes = [column.total_compressed_size for column in columns]
            ends = [start + size for start, size in zip(starts, sizes, strict=True)]
            start, end = min(starts, default=0), max(ends, default=0)
            groups.append(RowGroup(group.num_rows, start, end))
    with open_input(path) as source:
        return pieces_of(path, source.size(), groups)


def read_parquet(piece: TablePiece, columns: Sequence[str] | None) -> Iterator[Any]:
    """Yield the record batches of a piece."""
    if _by_duckdb():
        yield from read_by_duckdb(piece, columns)
        return
    with parquet_file(piece.path) as file:
        first, last = piece.groups or (0, file.num_row_groups)
        if last > file.num_row_groups:
            raise InputError(
                f"{piece.path} has changed: it has {file.num_row_groups} row groups now"
            )
        names = None if columns is None else list(columns)
        groups = list(range(first, last))
        yield from file.iter_batches(_ROWS_READ, groups, names, use_threads=False)


def parquet_columns(path: str) -> list[str]:
    """Return the names of the columns."""
    if _by_duckdb():
        return duckdb_columns(path)
    with parquet_file(path) as file:
        return list(file.schema_arrow.names)


def parquet_has_nulls(piece: TablePiece, columns: Sequence[str]) -> bool:
    """Return whether these columns of a piece have nulls, by the file's footer.

    In a column of lists an empty list counts as a null. A column without statistics is not
    checked.
    """
    if _by_duckdb():
        return duckdb_has_nulls(piece, columns)
    with parquet_file(piece.path) as file:
        first, last = piece.groups or (0, file.num_row_groups)
        groups = (file.metadata.row_group(i) for i in range(first, min(last, file.num_row_groups)))
        for chunk in (group.column(i) for group in groups for i in range(group.num_columns)):
            statistics = chunk.statistics
            is_needed = any(f"{chunk.path_in_schema}.".startswith(f"{name}.") for name in columns)
            if is_needed and statistics and statistics.has_null_count and statistics.null_count:
                return True
        return False


PARQUET = TableFormat(parquet_pieces, read_parquet, parquet_columns, shows_nulls=parquet_has_nulls)
