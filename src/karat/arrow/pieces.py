"""Pieces of table files, which are processed separately, in this process or on a cluster."""

from __future__ import annotations

import glob
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.registry import Registry
from karat.storage.output import FilePath

RecordBatches = Iterator[Any]
"""Record batches of one piece, in the order of its rows: anything with `__arrow_c_array__`."""


@dataclass(frozen=True)
class TablePiece:
    """A whole file, or some row groups of one."""

    path: str
    format: str
    size: int  # bytes of the whole file
    rows: int | None = None  # number of rows, if it is known before they are read
    first: int = 0  # number of rows of the file before these
    groups: tuple[int, int] | None = None  # row groups: the first, and the one after the last
    span: tuple[int, int] | None = None  # range of bytes that hold the rows; None: the whole file
    number: int = 0  # the number among all pieces of a table, from 1
    fingerprint: str = ""
    """Digest of the beginning and the end of the file, with the footer of a parquet file."""
    system: str | None = None  # the system of all rows, if each file is a system

    def facts(self) -> dict[str, object]:
        """Return the facts that identify this piece, wherever its file is stored."""
        name = os.path.basename(self.path)
        file = {"file": name, "size": self.size, "fingerprint": self.fingerprint}
        system = {} if self.system is None else {"system": self.system}
        return {**file, "first": self.first, "groups": self.groups, **system}


class TableFormat(NamedTuple):
    """A format of tables: functions that split a file into pieces and read a piece."""

    pieces: Callable[[str], list[TablePiece]]
    read: Callable[[TablePiece, Sequence[str] | None], RecordBatches]
    """Returns the record batches of a piece, with these columns or with all (None)."""
    columns: Callable[[str], list[str]]
    """Returns the names of the columns of a file."""
    read_nullable: Callable[[TablePiece, Sequence[str] | None], RecordBatches] | None = None
    """Like `read`, but values may be missing; None if `read` allows that."""
    shows_nulls: Callable[[TablePiece, Sequence[str]], bool] | None = None
    """Returns whether a quick check of a piece finds nulls in these columns, or raises; None if the
    format has no quick check."""


TABLE_FORMATS: Registry[TableFormat] = Registry(
    "table_formats",
    "format",
    {
        "parquet": "karat.arrow.formats.parquet:PARQUET",
        "csv": "karat.arrow.formats.delimited:CSV",
        "tsv": "karat.arrow.formats.delimited:TSV",
        "jsonl": "karat.arrow.formats.jsonl:JSONL",
    },
)
"""Formats by name, which is also the ending of their files."""

_ENDINGS = {"pq": "parquet", "ndjson": "jsonl"}


def format_of(path: str) -> str | None:
    """Return the format of a table by the ending of its file; None for other files."""
    ending = os.path.splitext(path.lower().removesuffix(".gz"))[1].removeprefix(".")
    format = _ENDINGS.get(ending, ending)
    return format if format in TABLE_FORMATS.entries() else None


class TableFiles(NamedTuple):
    """The files of one table, and their system."""

    system: str | None
    """The system of all rows; None if a column has the systems, or if there is only one."""
    files: list[str]


def table_name(path: FilePath) -> str:
    """Return the name of the system in a table: its file or folder without ending, or a pattern."""
    name = str(os.fspath(path))
    if glob.has_magic(name) and not os.path.exists(name):
        return name
    name = os.path.basename(name if "://" in name else os.path.abspath(name))
    if os.path.isdir(path) or format_of(name) is None:
        return name
    return os.path.splitext(name[:-3] if name.lower().endswith(".gz") else name)[0]


def find_tables(table: Any, columns_name_systems: bool) -> list[TableFiles]:
    """Return the files of each system.

    Several paths are several systems, named by file, unless columns name the systems: then all
    files are parts of one table. A folder or a pattern is always one table.

    Args:
        table: a path, several, or paths by the name of their system.
        columns_name_systems: True if a column names the system of each row, or each column of
            candidates is a system.
    """
    if isinstance(table, Mapping):
        if columns_name_systems and table:
            raise InputError(
                f"{quoted(str(next(iter(table))))} names the system of a table, and so does a "
                "column: leave out one of them"
            )
        return [TableFiles(str(name), find_files(paths)) for name, paths in table.items()]
    files = find_files(table)  # raises InputError if it is not a path
    if not isinstance(table, list | tuple) or len(table) == 1 or columns_name_systems:
        return [TableFiles(None, files)]
    systems: dict[str, FilePath] = {}
    for path in table:
        name = table_name(path)
        if name in systems:
            raise InputError(
                f"two systems are called {quoted(name)} ({systems[name]} and {path}): name them "
                f"apart, as in NAME={path}"
            )
        systems[name] = path
    return [TableFiles(name, find_files(path)) for name, path in systems.items()]


def find_files(paths_given: FilePath | Sequence[FilePath]) -> list[str]:
    """Return the files of paths, folders and patterns such as `data/*.parquet`, in order."""
    listed = isinstance(paths_given, list | tuple)
    paths: list[Any] = list(paths_given) if listed else [paths_given]  # type: ignore[arg-type]
    if not paths:
        raise InputError("no table was given: name at least one file")
    files: list[str] = []
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            expected = "expected files (paths or patterns), or one table that speaks Arrow"
            raise InputError(f"table is {type(path).__name__}, {expected}")
        files += _expand_path(str(os.fspath(path)))
    seen_places: set[str] = set()
    for path in files:
        place = path if "://" in path else os.path.realpath(path)
        if "://" not in path:
            file_size(path)  # raises if there is no such file
        if place in seen_places:
            raise InputError(f"{path} is named twice: its rows would count twice")
        seen_places.add(place)
    return files


def _expand_path(path: str) -> list[str]:
    path = path.removeprefix("file://") if path.startswith("file:///") else path
    if "://" in path:
        return [path]
    if os.path.isdir(path):
        files = []
        for place, folders, names in os.walk(path):
            folders[:] = [name for name in folders if not _is_hidden(name)]
            tables = [name for name in names if format_of(name) and not _is_hidden(name)]
            files += [os.path.join(place, name) for name in tables]
        if not files:
            endings = ", ".join(f".{name}" for name in TABLE_FORMATS.entries())
            raise InputError(f"{path} is a directory without tables ({endings})")
        return sorted(files)
    if not os.path.exists(path) and glob.has_magic(path):
        files = sorted(file for file in glob.glob(path, recursive=True) if not _is_hidden(file))
        if not files:
            raise InputError(f"{path}: no file matches this pattern")
        return files
    return [path]


def _is_hidden(path: str) -> bool:
    return os.path.basename(path).startswith(("_", "."))


def plan_tables(tables: Sequence[TableFiles]) -> list[TablePiece]:
    """Return the pieces of all tables, in their order."""
    pieces = [piece for system, files in tables for piece in plan_pieces(files, system)]
    return [replace(piece, number=number) for number, piece in enumerate(pieces, 1)]


def plan_pieces(files: Sequence[str], system: str | None = None) -> list[TablePiece]:
    """Return the pieces of all files of a table, in their order."""
    pieces = []
    for path in files:
        file_pieces, digest = table_format(path).pieces(path), _fingerprint(path)
        pieces += [replace(piece, fingerprint=digest, system=system) for piece in file_pieces]
    if not pieces:
        raise InputError(f"{files[0]} has no rows: there is nothing to score")
    return [replace(piece, number=number) for number, piece in enumerate(pieces, 1)]


def table_format(path: str) -> TableFormat:
    """Return the format of a file, by its ending."""
    format = format_of(path)
    if format is None:
        endings = ", ".join(f".{name}" for name in TABLE_FORMATS.entries())
        raise InputError(f"{quoted(path)}: expected a table that ends in {endings}")
    return TABLE_FORMATS[format]


def file_size(path: str) -> int:
    """Return the size of an existing file in bytes."""
    if os.path.isdir(path):
        raise InputError(f"{path} is a directory: expected a table")
    try:
        status = os.stat(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path} is a pipe or a device: a table must be a file, to be read twice")
    return status.st_size


_READ = 1 << 20


def content_digest(piece: TablePiece) -> str:
    """Return a digest of the bytes of a piece's rows and of the file's footer."""
    begin, end = piece.span or (0, piece.size)
    digest = hashlib.sha256(piece.fingerprint.encode())
    try:
        with open_file(piece.path) as file:
            file.seek(begin)
            left = end - begin
            while left > 0 and (data := file.read(min(_READ, left))):
                digest.update(data)
                left -= len(data)
    except OSError as error:
        raise InputError(f"{piece.path}: {error.strerror or error}") from error
    return digest.hexdigest()


_ENDS = 1 << 16
_MAX_FOOTER = 1 << 28


def _fingerprint(path: str) -> str:
    """Return a digest of both ends of a file, to detect another file of the same size."""
    try:
        with open_file(path) as file:
            digest = hashlib.sha256(file.read(_ENDS))
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 8))
            last = file.read(8)
            footer = int.from_bytes(last[:4], "little") + 8 if last[4:] == b"PAR1" else 0
            tail_size = max(_ENDS, footer if footer <= _MAX_FOOTER else 0)
            file.seek(max(0, size - tail_size))
            digest.update(file.read(tail_size))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    return digest.hexdigest()[:16]


def open_file(path: str) -> Any:
    """Open a local file, or one at an address that pyarrow can read."""
    if "://" not in path:
        return open(path, "rb")
    from karat.arrow.formats.parquet import open_input

    return open_input(path)
