"""Evaluation sets written to a folder or a file: whole or not at all, and never over another."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from karat.errors import InputError, OutputError, quoted
from karat.evalset.formats.directory import JUDGEMENT_COLUMNS, escaped, file_name
from karat.evalset.formats.jsonl import jsonl_lines
from karat.evalset.formats.settings_file import FILE, Settings, settings_text
from karat.evalset.sets import EvalSet

FORMATS = ("dir", "jsonl")

NamedFile: TypeAlias = tuple[str, Iterable[str]]
"""A file of a folder: its path in it, and what stands in it, in pieces."""


def save_evalset(evalset: EvalSet, path: str | os.PathLike[str], format: str = "dir") -> None:
    """Write a set that `load_evalset` reads back as it is: a folder, or a file of JSON lines."""
    target = Path(path)
    if format not in FORMATS:
        raise InputError(f"format {quoted(format)}: expected one of {', '.join(FORMATS)}")
    if format == "jsonl":
        write_file(target, jsonl_lines(evalset))
    else:
        write_folder(target, _files(evalset))


def write_file(target: Path, pieces: Iterable[str]) -> None:
    """Write a new file, whole or not at all."""
    _whole(target, lambda temporary: _write(temporary, pieces))


def write_folder(target: Path, files: Iterable[NamedFile]) -> None:
    """Write a new folder with all its files, or nothing."""

    def fill(temporary: Path) -> None:
        for name, pieces in files:
            (temporary / name).parent.mkdir(parents=True, exist_ok=True)
            _write(temporary / name, pieces)

    _whole(target, fill)


def _whole(target: Path, fill: Callable[[Path], None]) -> None:
    check_free(target)
    temporary = target.parent / f".karat-{os.urandom(8).hex()}.tmp"
    try:
        fill(temporary)
        check_free(target)
        temporary.rename(target)
    except OSError as error:
        _remove(temporary)
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
    except BaseException:  # KeyboardInterrupt too must leave nothing behind
        _remove(temporary)
        raise


def check_free(target: Path) -> None:
    """Refuse a place where something is already, or where nothing can be."""
    if os.path.lexists(target):
        raise OutputError(f"{target} exists already: name a place where nothing is yet")
    if not target.absolute().parent.is_dir():
        raise OutputError(f"cannot write {target}: there is no folder {target.absolute().parent}")


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _write(path: Path, pieces: Iterable[str]) -> None:
    with path.open("xb") as file:
        for piece in pieces:
            try:
                file.write(piece.encode("utf-8"))
            except UnicodeEncodeError as error:
                raise OutputError(
                    f"cannot write {path.name}: {quoted(piece)} has a lone surrogate, which UTF-8 "
                    "cannot hold"
                ) from error


def _files(evalset: EvalSet) -> Iterator[NamedFile]:
    """The files of the layout and what stands in each."""
    settings = _settings(evalset)
    yield FILE, settings_text(settings)
    counts = range(max(map(len, evalset.references)))
    width = len(str(len(counts)))
    for k in counts:
        column = [group[k] if k < len(group) else None for group in evalset.references]
        yield f"references/{k + 1:0{width}}.txt", _lines(column, settings)
    for name, outputs in evalset.systems.items():
        yield f"systems/{file_name(name)}", _lines(outputs, settings)
    if evalset.sources is not None:
        yield "source.txt", _lines(evalset.sources, settings)
    if evalset.groups is not None:
        rows = zip(evalset.segments, evalset.groups, strict=True)
        yield "segments.tsv", ["id\tgroup\n", *(f"{name}\t{group}\n" for name, group in rows)]
    elif evalset.segments != tuple(str(i) for i in range(1, len(evalset) + 1)):
        yield "segments.tsv", ["id\n", *(f"{name}\n" for name in evalset.segments)]
    if evalset.judgements:
        yield "human.tsv", _judgements(evalset)


def _settings(evalset: EvalSet) -> Settings:
    outputs = [text for column in evalset.systems.values() for text in column]
    references = [text for group in evalset.references for text in group]
    texts = [text for text in (*outputs, *references, *(evalset.sources or ())) if text is not None]
    varying = len({len(group) for group in evalset.references}) > 1
    missing = None in outputs
    # An empty text that is there must not be taken for one that is missing.
    hidden = (missing and "" in outputs) or (varying and "" in references)
    return Settings(
        evalset.name,
        evalset.description,
        evalset.licence,
        optional_references=varying,
        optional_outputs=missing,
        escapes=hidden or any("\n" in text or "\r" in text for text in texts),
        systems=tuple(evalset.systems),
        dimensions=tuple(evalset.dimensions.values()),
    )


def _lines(column: Iterable[str | None], settings: Settings) -> Iterator[str]:
    for i, text in enumerate(column):
        # A mark that belongs to the first text would be taken for the file's byte-order mark.
        mark = "\ufeff" if i == 0 and text is not None and text.startswith("\ufeff") else ""
        yield mark + _line(text, settings) + "\n"


def _line(text: str | None, settings: Settings) -> str:
    if text is None:
        return ""
    return escaped(text, show_empty=True) if settings.escapes else text


def _judgements(evalset: EvalSet) -> Iterator[str]:
    yield "\t".join(JUDGEMENT_COLUMNS) + "\n"
    for row in evalset.judgements:
        yield "\t".join((*row[:-1], repr(row.value))) + "\n"
