"""The folder of a table with scores: it appears when all of its files are written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from karat.arrow.pieces import Piece
from karat.arrow.row_files import part_name
from karat.errors import OutputError
from karat.storage.output import FilePath, check_local
from karat.storage.temporary import TEMPORARY, claimed_folder

MARK = "_karat"
"""The file that says that a folder was written by Karat."""


@contextmanager
def row_folder(
    path: FilePath | None, pieces: Sequence[Piece], digest: str, *, kept: bool, part: bool
) -> Iterator[str | None]:
    """Yield the folder to write to; it gets its name at the end, in place of an earlier one.

    If the work is stopped, what was written stays there under another name, for the same job to go
    on, where it is `kept`. Where only a `part` of the pieces is done, files go to the folder
    itself, which must not hold rows of another job; `digest` is that of the job.
    """
    if path is None:
        yield None
        return
    check_local(path)
    target = os.path.abspath(os.fspath(path))
    _check(os.fspath(path), target, pieces)
    if part:
        _check_job(os.fspath(path), target, digest)
    _restore(target)
    names = {part_name(piece) for piece in pieces}
    with ExitStack() as stack:
        try:
            if kept or part:
                unfinished = target if part else f"{target}.{digest}.unfinished"
                os.makedirs(unfinished, exist_ok=True)
            else:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                unfinished = stack.enter_context(claimed_folder(target))
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
        _mark(unfinished, digest)
        try:
            yield unfinished
        except BaseException:
            if os.listdir(unfinished) == [MARK]:
                shutil.rmtree(unfinished, ignore_errors=True)
            raise
        if not part:
            _put_in_place(unfinished, target, names)


def check_apart(rows: FilePath | None, shards: FilePath | None) -> None:
    """Refuse folders of rows and of shards of which one is in the other: rows are replaced."""
    if rows is None or shards is None:
        return
    one, other = (os.path.realpath(os.fspath(path)) for path in (rows, shards))
    if os.path.commonpath([one, other]) in {one, other}:
        told = "one of them is in the other, and would be lost when rows are replaced"
        raise OutputError(f"rows {rows} and shards {shards}: {told}; name two folders")


def _check(path: str, target: str, pieces: Sequence[Piece]) -> None:
    """Refuse a folder that holds anything but parquet files, or an input."""
    names = [part_name(piece) for piece in pieces]
    if len(set(names)) < len(names):
        raise OutputError(f"{path}: two of the tables have the same name: rename one of them")
    inputs = {os.path.realpath(piece.path) for piece in pieces}
    if os.path.isfile(target):
        raise OutputError(f"{path} is a file: rows are written to a folder; name another")
    found = sorted(os.listdir(target)) if os.path.isdir(target) else []
    for name in found:
        if os.path.realpath(os.path.join(target, name)) in inputs:
            raise OutputError(f"{path} holds the input {name}: name another folder for the rows")
        ours = name.endswith(".parquet") or name.startswith(TEMPORARY) or name == MARK
        if not ours or MARK not in found:
            told = f"is a folder that --rows did not write, with {name} in it"
            raise OutputError(f"{path} {told}: name another for the rows")


def _check_job(path: str, target: str, digest: str) -> None:
    """Refuse a folder that holds rows of another job: they would count twice."""
    if not os.path.isdir(target) or MARK not in os.listdir(target):
        return
    with open(os.path.join(target, MARK), encoding="utf-8", errors="replace") as file:
        if digest not in file.read():
            told = "holds rows of another job (other tables, columns or metrics)"
            raise OutputError(f"{path} {told}: name another folder for the rows")


def _mark(folder: str, digest: str) -> None:
    """Leave a file by which a folder is known as one of rows; readers of tables skip it."""
    told = "This folder was written by Karat (--rows) and may be replaced by it."
    try:
        with open(os.path.join(folder, MARK), "w", encoding="utf-8") as file:
            file.write(f"{told}\njob {digest}\n")
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror or error}") from error


def _old(target: str) -> str:
    """Return the name of a folder while its replacement gets its name."""
    return os.path.join(os.path.dirname(target), f"{TEMPORARY}old-{os.path.basename(target)}")


def _restore(target: str) -> None:
    """Undo a replacement that was killed half-way, or remove what it left."""
    old = _old(target)
    if os.path.isfile(os.path.join(old, MARK)):
        if os.path.isdir(target):
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.rename(old, target)


def _put_in_place(unfinished: str, target: str, names: set[str]) -> None:
    old = _old(target)
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
