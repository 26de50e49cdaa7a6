"""Folders of text files as sets of the studio: a file for each system, a line for each segment."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from karat.errors import InputError, short
from karat.evalset.draft import EvalSetDraft
from karat.evalset.reading import Reading, read_lines
from karat.evalset.sets import EvalSet

IDS, GROUPS, SOURCES = "id", "group", "source"
"""Names of files that have no outputs; `reference`, `reference1`, ... have references."""
_REFERENCE = re.compile(r"reference\d*")


def is_text_folder(path: Path) -> bool:
    """Return whether a path is a folder with text files only."""
    if not path.is_dir():
        return False
    files = [file for file in path.iterdir() if not file.name.startswith(".")]
    return bool(files) and all(file.suffix == ".txt" and file.is_file() for file in files)


def read_text_folder(path: Path) -> EvalSet:
    """Return the set of a folder of text files."""
    columns = _read_lines_by_name(path)
    references = [lines for name, lines in columns.items() if _REFERENCE.fullmatch(name.lower())]
    systems = {
        name: lines
        for name, lines in columns.items()
        if name not in (IDS, GROUPS, SOURCES) and not _REFERENCE.fullmatch(name.lower())
    }
    if not systems:
        expected = "expected files of systems beside source and references, one for each system"
        raise InputError(f"{short(path)} has no outputs: {expected}")
    count = len(next(iter(systems.values())))
    draft = EvalSetDraft(
        path.name.split(".")[0] or "set",
        columns.get(IDS) or [str(k + 1) for k in range(count)],
        systems,
        reading=Reading(),
        location=path,
        references=list(zip(*references, strict=True)) if references else None,
        groups=columns.get(GROUPS),
        sources=columns.get(SOURCES),
    )
    return draft.finish()


def _read_lines_by_name(path: Path) -> Mapping[str, Sequence[str]]:
    """Return the lines of each file; all files must have the same number."""
    files = sorted(file for file in path.iterdir() if file.suffix == ".txt")
    lines_by_name = {file.stem: read_lines(file) for file in files}
    for file in files[1:]:
        lines, first = len(lines_by_name[file.stem]), len(lines_by_name[files[0].stem])
        if lines != first:
            expected = f"expected {first:,} as in {files[0].name}, one segment a line"
            raise InputError(f"{short(file)} has {lines:,} lines, {expected}")
    return lines_by_name
