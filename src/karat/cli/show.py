"""Show a document on standard output, or write it to a file (atomic)."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from io import TextIOWrapper
from pathlib import Path

import click

from karat.errors import OutputError
from karat.report.model import Document
from karat.report.render.renderers import SPREADSHEET_FORMATS, pieces
from karat.storage.mapping import check_mapped
from karat.storage.output import check_writable, write_atomically

SPREADSHEET_SAFE = "karat.spreadsheet-safe"
"""The key under which a context keeps whether formulas are neutralised in CSV and TSV."""


def check_output(path: str | None, inputs: Iterable[str] = ()) -> None:
    """Refuse an output that cannot be written, or is an input, before any work is done."""
    if path is None:
        return
    check_writable(path)
    for given in inputs:
        if os.path.isfile(path) and os.path.exists(given) and os.path.samefile(path, given):
            raise OutputError(f"{path} is one of the inputs: choose another output file")


def check_page(option: str, path: str | None) -> None:
    """Refuse a web page under a name that says something else."""
    if path and Path(path).suffix.lower() not in ("", ".html", ".htm"):
        raise OutputError(f"{option} {path}: the report is a web page; use a name like page.html")


_NO_SET = (".html", ".htm", ".md", ".pdf", ".png", ".svg", ".tex")
"""Endings of files that no set is made of."""


def check_beside(path: str | None, given: str) -> None:
    """Refuse an output that cannot be written, or is a file of the set that was given."""
    check_output(path, [given])
    if path is None or not (os.path.isdir(given) and os.path.isfile(path)):
        return
    inside = Path(os.path.realpath(given)) in Path(os.path.realpath(path)).parents
    if inside and not path.lower().endswith(_NO_SET):
        raise OutputError(f"{path} is inside the set {given}: choose another output file")


def show(document: Document, format: str, path: str | None) -> None:
    """Render and print or write, as `--spreadsheet-safe` says."""
    context = click.get_current_context(silent=True)
    safe = bool(context and context.meta.get(SPREADSHEET_SAFE)) and format in SPREADSHEET_FORMATS
    if path is not None:
        write_atomically(path, pieces(document, format, spreadsheet_safe=safe))
        return
    width = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100
    shown = pieces(document, format, color=takes_color(), width=width, spreadsheet_safe=safe)
    say(shown, None)


def takes_color() -> bool:
    """Return whether standard output is a terminal that wants colour."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return sys.stdout.isatty() and wanted


def say(text: Iterable[str], path: str | None) -> None:
    """Print or write plain text."""
    if path is not None:
        write_atomically(path, text)
        return
    if isinstance(sys.stdout, TextIOWrapper):  # whatever the locale: reports are UTF-8
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    for piece in text:
        check_mapped()
        sys.stdout.write(piece)
