"""Files with the scores of rows: one parquet file per piece, in one folder."""

from __future__ import annotations

import os
import shutil
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from karat.arrays import Floats, np
from karat.arrow.formats.parquet import pyarrow_module
from karat.arrow.parts import Part
from karat.arrow.pieces import TablePiece
from karat.errors import InputError, OutputError
from karat.storage.output import TEMPORARY, FilePath, check_local, claimed_folder, replacing


def part_name(piece: TablePiece) -> str:
    """Return the file name of a piece."""
    stem = os.path.splitext(os.path.basename(piece.path).removesuffix(".gz"))[0]
    return f"{stem}-{piece.first:012d}.parquet"


DIGEST = b"karat.piece"
"""Key in the metadata of a file for the digest of its piece."""


def has_rows_of(path: str, digest: str) -> bool:
    """Return whether a file is complete and has the rows of a piece with this digest."""
    if not os.path.exists(path):
        return False
    parquet, arrow = pyarrow_module("pyarrow.parquet"), pyarrow_module("pyarrow")
    try:
        metadata = parquet.read_schema(path).metadata or {}
    except (OSError, arrow.ArrowException):
        return False
    return bool(metadata.get(DIGEST) == digest.encode())


class RowFile:
    """Writes the rows of a piece with their scores, batch by batch; the file is atomic.

    `with RowFile(...) as file:` - read batches through `file.reading`, then pass their scores to
    `file.write` in the order of the rows.
    """

    def __init__(
        self, path: str, piece: TablePiece, columns: Sequence[str], digest: str = ""
    ) -> None:
        self._path, self._name, self._digest = path, piece.path, digest
        self._columns = columns
        self._waiting: deque[Any] = deque()
        self._scores: list[list[Floats]] = [[] for _ in columns]
        self._held = 0
        self._open = ExitStack()
        self._writer: Any = None

    def __enter__(self) -> RowFile:
        return self

    def reading(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield record batches, and keep them until their scores are known."""
        arrow = pyarrow_module("pyarrow")
        for batch in batches:
            record_batch = arrow.record_batch(batch)
            self._waiting.append(record_batch)
            yield record_batch

    def write(self, part: Part) -> None:
        """Accept the scores of the next rows; write every completed batch.

        Rows that are not present were not scored: their scores are null.
        """
        present = part.present
        for held, new in zip(self._scores, part.scores, strict=True):
            scores = new if present is None else np.full(len(present), np.nan)
            if present is not None:
                scores[present] = new
            held.append(scores)
        self._held += len(part.scores[0]) if present is None else len(present)
        while self._waiting and self._held >= self._waiting[0].num_rows:
            self._write(self._waiting.popleft())

    def _write(self, batch: Any) -> None:
        arrow, parquet = pyarrow_module("pyarrow"), pyarrow_module("pyarrow.parquet")
        count = batch.num_rows
        for at, name in enumerate(self._columns):
            if name in batch.schema.names:
                problem = f"has a column {name} already, where the scores would go: rename it"
                raise InputError(f"{self._name} {problem}")
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


MARK = "_karat"
"""The file that marks a folder as written by Karat; readers of tables skip it."""


@contextmanager
def row_folder(
    path: FilePath | None, pieces: Sequence[TablePiece], digest: str, *, resumable: bool, part: bool
) -> Iterator[str | None]:
    """Yield the folder to write to; at the end it is renamed to `path` and replaces an earlier one.

    Args:
        path: the final folder; None to write no rows.
        pieces: all pieces of the job.
        digest: digest of the job.
        resumable: True to keep the files of a stopped job under another name, to resume it.
        part: True if only a part of the pieces is written, directly into the final folder, which
            must not have rows of another job.
    """
    if path is None:
        yield None
        return
    check_local(path)
    target = os.path.abspath(os.fspath(path))
    _check_target(os.fspath(path), target, pieces)
    mark = os.path.join(target, MARK)
    if part and os.path.isfile(mark):
        with open(mark, encoding="utf-8", errors="replace") as file:
            if digest not in file.read():  # its rows would count twice
                problem = "holds rows of another job (other tables, columns or metrics)"
                raise OutputError(f"{path} {problem}: name another folder for the rows")
    old = os.path.join(os.path.dirname(target), f"{TEMPORARY}old-{os.path.basename(target)}")
    if os.path.isfile(os.path.join(old, MARK)):  # a replacement was killed half-way
        if os.path.isdir(target):
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.rename(old, target)
    names = {part_name(piece) for piece in pieces}
    with ExitStack() as stack:
        try:
            if resumable or part:
                unfinished = target if part else f"{target}.{digest}.unfinished"
                os.makedirs(unfinished, exist_ok=True)
            else:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                unfinished = stack.enter_context(claimed_folder(target))
            with open(os.path.join(unfinished, MARK), "w", encoding="utf-8") as file:
                text = "This folder was written by Karat (--rows) and may be replaced by it."
                file.write(f"{text}\njob {digest}\n")
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
        try:
            yield unfinished
        except BaseException:
            if os.listdir(unfinished) == [MARK]:
                shutil.rmtree(unfinished, ignore_errors=True)
            raise
        if not part:
            _put_in_place(unfinished, target, old, names)


def check_apart(rows: FilePath | None, shards: FilePath | None) -> None:
    """Raise if the folder of rows or of shards is inside the other: rows are replaced."""
    if rows is None or shards is None:
        return
    rows_path, shards_path = (os.path.realpath(os.fspath(path)) for path in (rows, shards))
    if os.path.commonpath([rows_path, shards_path]) in {rows_path, shards_path}:
        problem = "one of them is in the other, and would be lost when rows are replaced"
        raise OutputError(f"rows {rows} and shards {shards}: {problem}; name two folders")


def _check_target(path: str, target: str, pieces: Sequence[TablePiece]) -> None:
    """Raise if a folder was not written by --rows, or holds an input."""
    names = [part_name(piece) for piece in pieces]
    if len(set(names)) < len(names):
        raise OutputError(f"{path}: two of the tables have the same name: rename one of them")
    inputs = {os.path.realpath(piece.path) for piece in pieces}
    if os.path.isfile(target):
        raise OutputError(f"{path} is a file: rows are written to a folder; name another")
    names_in_folder = sorted(os.listdir(target)) if os.path.isdir(target) else []
    for name in names_in_folder:
        if os.path.realpath(os.path.join(target, name)) in inputs:
            raise OutputError(f"{path} holds the input {name}: name another folder for the rows")
        is_ours = name.endswith(".parquet") or name.startswith(TEMPORARY) or name == MARK
        if not is_ours or MARK not in names_in_folder:
            problem = f"is a folder that --rows did not write, with {name} in it"
            raise OutputError(f"{path} {problem}: name another for the rows")


def _put_in_place(unfinished: str, target: str, old: str, names: set[str]) -> None:
    """Rename a finished folder to `target`; an earlier one is moved to `old` and removed."""
    try:
        for name in os.listdir(unfinished):
            if name not in names and name != MARK:  # left behind by a worker that died
                os.unlink(os.path.join(unfinished, name))
        if os.path.isdir(target):
            os.rename(target, old)
        try:
            os.rename(unfinished, target)
        except OSError:
            if os.path.isdir(old):
                os.rename(old, target)
            raise
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
