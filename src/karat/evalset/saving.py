"""Evaluation sets written to a folder or a file: whole or not at all, and never over another."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from karat.errors import InputError, OutputError, quoted
from karat.evalset.catalogue import Catalogue, GivenPath
from karat.evalset.contents import EvalSetCheck, check_evalset
from karat.evalset.loading import EVALSETS, as_evalset, load_evalset
from karat.evalset.parsing import parse_evalset
from karat.evalset.sets import EvalSet
from karat.progress import Progress, silent
from karat.registry import load
from karat.storage.temporary import HAS_LOCKS, claimed_file, claimed_folder

NamedFile: TypeAlias = tuple[str, Iterable[str]]
"""A file of a folder: its path in it, and its text in pieces."""


def save_evalset(evalset: EvalSet | GivenPath, path: GivenPath, format: str = "dir") -> None:
    """Save a set in a format that `load_evalset` reads back.

    Args:
        evalset: the set.
        path: folder or file to write.
        format: `dir` for a folder, or `jsonl` for a file of JSON lines.
    """
    save_as(EVALSETS, as_evalset(evalset), path, format)


def convert_evalset(
    given: GivenPath,
    path: GivenPath,
    format: str = "dir",
    read_as: str | None = None,
    *,
    parse: str | None = None,
    tok: str | None = None,
    progress: Progress = silent,
    **options: Any,
) -> EvalSetCheck:
    """Convert a set to another format, and describe it.

    Args:
        given: name or path of the set, as for `load_evalset`.
        path: target, which must not exist yet.
        format: format of the target, `dir` or `jsonl`.
        read_as: format of the set; by default detected.
        parse: spaCy pipeline that parses the references.
        tok: tokeniser of the parsed references.
        progress: function that is called with the progress.
        options: options of the reader.
    """
    check_free(Path(path))
    if tok is not None and parse is None:
        raise InputError(
            "tok has no effect without parse: name a spaCy pipeline, such as en_core_web_sm"
        )
    evalset = load_evalset(given, read_as, progress=progress, **options)
    if parse is not None:
        evalset = parse_evalset(evalset, parse, tok, progress=progress)
    save_evalset(evalset, path, format)
    return check_evalset(evalset)


def save_as(catalogue: Catalogue, given: Any, path: GivenPath, format: str) -> None:
    """Write a set in a format of its catalogue."""
    found = catalogue.formats.find(format)
    if found is None or not found.writer:
        names = [name for name, one in catalogue.formats.usable() if one.writer]
        raise InputError(f"format {quoted(format)}: expected one of {', '.join(names)}")
    write = write_folder if found.holds else write_file
    write(Path(path), load(found.writer)(given))


def write_file(target: Path, pieces: Iterable[str], private: bool = False) -> None:
    """Write a new file, whole or not at all; only its owner can read a `private` one."""
    check_free(target)
    claimed = claimed_file(str(target), _mode(private))
    with _output_errors(target), claimed as (temporary, stream):
        stream.writelines(_encoded(target.name, piece) for piece in pieces)
        stream.flush()
        check_free(target)
        if not HAS_LOCKS:
            stream.close()
        os.rename(temporary, target)


def write_folder(target: Path, files: Iterable[NamedFile], private: Collection[str] = ()) -> None:
    """Write a new folder with all its files, or nothing; only its owner can read `private` files.

    Names of files that differ only in case are refused: on some disks they are one file.
    """
    check_free(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with _output_errors(target), claimed_folder(str(target)) as temporary:
        for name, pieces in distinct_files(files):
            path = Path(temporary, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(os.open(path, flags, _mode(name in private)), "wb") as file:
                file.writelines(_encoded(name, piece) for piece in pieces)
        check_free(target)
        os.rename(temporary, target)


def distinct_files(files: Iterable[NamedFile]) -> Iterator[NamedFile]:
    """Yield files; names that differ only in case or in Unicode's forms of a letter are refused."""
    names: dict[str, str] = {}
    for name, pieces in files:
        first = names.setdefault(unicodedata.normalize("NFC", name).casefold(), name)
        if first != name:
            raise OutputError(
                f"the files {quoted(first)} and {quoted(name)} would be one file on disks that "
                "ignore case: rename a system, or choose a format that is a single file"
            )
        yield name, pieces


def _mode(private: bool) -> int:
    return 0o600 if private else 0o666


@contextmanager
def _output_errors(target: Path) -> Iterator[None]:
    """Turn an error of the disk into a sentence."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error


def check_free(target: Path) -> None:
    """Refuse a place where something is already, or where nothing can be."""
    if os.path.lexists(target):
        raise OutputError(f"{target} exists already: name a place where nothing is yet")
    if not target.absolute().parent.is_dir():
        raise OutputError(f"cannot write {target}: there is no folder {target.absolute().parent}")


def _encoded(name: str, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        reason = f"{quoted(text)} has a lone surrogate, which UTF-8 cannot hold"
        raise OutputError(f"cannot write {name}: {reason}") from error
