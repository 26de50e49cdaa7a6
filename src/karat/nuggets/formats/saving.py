"""`save_nuggets`: a set in any format, written whole or not at all, and never over another."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from karat.errors import InputError, quoted
from karat.evalset.saving import NamedFile, write_file, write_folder
from karat.nuggets.formats.jsonl import jsonl_lines
from karat.nuggets.formats.rag import rag_lines
from karat.nuggets.formats.trec import trec_files
from karat.nuggets.formats.units import units_files
from karat.nuggets.sets.nugget_set import NuggetSet

FILES: dict[str, Callable[[NuggetSet], Iterable[str]]] = {"jsonl": jsonl_lines, "rag": rag_lines}
FOLDERS: dict[str, Callable[[NuggetSet], Iterable[NamedFile]]] = {
    "trec": trec_files,
    "units": units_files,
}
FORMATS = (*FILES, *FOLDERS)
"""Only `jsonl` keeps everything; the others say in their files what they lose."""


def save_nuggets(nuggets: NuggetSet, path: str | os.PathLike[str], format: str = "jsonl") -> None:
    """Write a set that `load_nuggets` reads back, as far as the format can hold it."""
    if format in FILES:
        write_file(Path(path), FILES[format](nuggets))
    elif format in FOLDERS:
        write_folder(Path(path), FOLDERS[format](nuggets))
    else:
        raise InputError(f"format {quoted(format)}: expected one of {', '.join(FORMATS)}")
