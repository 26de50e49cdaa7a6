"""Output of commands: checks of output files, reports on standard output or in a file, charts."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.errors import OutputError
from karat.report.model.table import Document
from karat.report.render.renderers import SPREADSHEET_FORMATS, pieces
from karat.storage.mapping import check_mapped
from karat.storage.output import check_writable, write_atomically

if TYPE_CHECKING:
    from karat.report.charts.models import Chart


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


KINDS = ("png", "pdf", "svg")


def check_charts(folder: str | None) -> None:
    """Refuse, before any work is done, a folder that cannot be one or a machine without plots."""
    if folder is None:
        return
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise OutputError(f"--charts {folder}: this is a file; give a folder")
    from karat.report.charts.image_files import typesetter

    typesetter()


def write_charts(charts: Sequence[Chart], folder: str | None) -> None:
    """Write every chart as PNG, PDF and SVG, named after its title."""
    if folder is None:
        return
    from karat.report.charts.image_files import chart_file

    os.makedirs(folder, exist_ok=True)
    for chart, name in zip(charts, _names([chart.title for chart in charts]), strict=True):
        for kind in KINDS:
            write_atomically(os.path.join(folder, f"{name}.{kind}"), chart_file(chart, kind))


def _names(titles: Sequence[str]) -> list[str]:
    """File names for titles, numbered where two would be the same."""
    found: list[str] = []
    for title in titles:
        kept = "".join(c if c.isalnum() or c in "=.-" else "-" for c in title.lower())
        plain = name = "-".join(part for part in kept.split("-") if part)[:100]
        number = 1
        while name in found:
            number += 1
            name = f"{plain}-{number}"
        found.append(name)
    return found
