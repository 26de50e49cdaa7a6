"""Parquet files, read by pyarrow: a piece is as many row groups as make a good amount of work.

Where pyarrow is not installed and DuckDB is, that reads them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from karat.arrow.formats import duckdb_parquet
from karat.arrow.formats.row_groups import RowGroup, pieces_of
from karat.arrow.pieces import Piece, TableFormat, file_size
from karat.errors import InputError, MissingExtra

_ROWS_READ = 1 << 14  # of a record batch


def pyarrow_module(name: str) -> Any:
    """Import a module of pyarrow, or say how to install it."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        told = "parquet files are read by pyarrow, which is not installed"
        raise MissingExtra(f"{told}: pip install 'karat[arrow]'") from error


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn what pyarrow says of a file into one sentence."""
    arrow = pyarrow_module("pyarrow")
    try:
        yield
    except InputError:
        raise  # it says what is wrong
    except OSError as error:
        told = error.strerror if error.strerror else _first_line(error)
        raise InputError(f"{path}: {told}") from error
    except (arrow.ArrowException, ValueError) as error:
        raise InputError(
            f"{path}: not a parquet file that can be read: {_first_line(error)}"
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def opened(path: str) -> Any:
    """Open a file of this machine, or one at an address such as s3://bucket/file."""
    fs = pyarrow_module("pyarrow.fs")
    with reading(path):
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
    with reading(path), opened(path) as source:
        yield parquet.ParquetFile(source, pre_buffer=False, page_checksum_verification=True)


def _by_duckdb() -> bool:
    """Return whether DuckDB reads, because pyarrow is not installed."""
    return find_spec("pyarrow") is None and duckdb_parquet.is_installed()


def parquet_pieces(path: str) -> list[Piece]:
    """Return runs of row groups of about `ROWS_PER_PIECE` rows."""
    if _by_duckdb():
        return pieces_of(path, file_size(path), duckdb_parquet.row_groups(path))
    with parquet_file(path) as file:
        footer = file.metadata
        groups = [_row_group(footer.row_group(i)) for i in range(footer.num_row_groups)]
    with opened(path) as source:
        return pieces_of(path, source.size(), groups)


def _row_group(group: Any) -> RowGroup:
    columns = [group.column(i) for i in range(group.num_columns)]
    begins = [column.dictionary_page_offset or column.data_page_offset for column in columns]
    sizes = [column.total_compressed_size for column in columns]
    ends = [begin + size for begin, size in zip(begins, sizes, strict=True)]
    return RowGroup(group.num_rows, min(begins, default=0), max(ends, default=0))


def read_parquet(piece: Piece, columns: Sequence[str] | None) -> Iterator[Any]:
    """Yield the record batches of a piece."""
    if _by_duckdb():
        yield from duckdb_parquet.read_piece(piece, columns)
        return
    with parquet_file(piece.path) as file:
        first, last = piece.groups or (0, file.num_row_groups)
        if last > file.num_row_groups:
            raise InputError(
                f"{piece.path} has changed: it has {file.num_row_groups} row groups now"
            )
        wanted = None if columns is None else list(columns)
        groups = list(range(first, last))
        yield from file.iter_batches(_ROWS_READ, groups, wanted, use_threads=False)


def parquet_columns(path: str) -> list[str]:
    """Return the names of the columns."""
    if _by_duckdb():
        return duckdb_parquet.column_names(path)
    with parquet_file(path) as file:
        return list(file.schema_arrow.names)


def parquet_has_nulls(piece: Piece, columns: Sequence[str]) -> bool:
    """Return whether these columns of a piece have nulls, as the file's footer says.

    In a column of lists an empty list counts as a null. A column without statistics is not looked
    into.
    """
    if _by_duckdb():
        return duckdb_parquet.has_nulls(piece, columns)
    with parquet_file(piece.path) as file:
        first, last = piece.groups or (0, file.num_row_groups)
        groups = (file.metadata.row_group(i) for i in range(first, min(last, file.num_row_groups)))
        return any(
            _has_nulls(group.column(i), columns)
            for group in groups
            for i in range(group.num_columns)
        )


def _has_nulls(chunk: Any, columns: Sequence[str]) -> bool:
    if not any(f"{chunk.path_in_schema}.".startswith(f"{name}.") for name in columns):
        return False
    statistics = chunk.statistics
    return statistics is not None and bool(statistics.has_null_count and statistics.null_count)


PARQUET = TableFormat(parquet_pieces, read_parquet, parquet_columns, shows_nulls=parquet_has_nulls)
