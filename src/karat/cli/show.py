"""Output of commands: checks of output files, reports on standard output or in a file, charts."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.errors import OutputError
from karat.report.model import Document
from karat.report.render.renderers import SPREADSHEET_FORMATS, render_pieces
from karat.storage.mapping import check_mapped
from karat.storage.output import check_writable, write_atomically

if TYPE_CHECKING:
    from karat.report.charts.models import Chart
    from karat.results import Result


SPREADSHEET_SAFE = "karat.spreadsheet-safe"
"""Key of a context's `meta`: whether formulas are neutralised in CSV and TSV."""


_NOT_PART_OF_A_SET = (".html", ".htm", ".md", ".pdf", ".png", ".svg", ".tex")
"""Endings of files that are never part of a set."""


def check_output(
    output: str | None,
    inputs: Iterable[str] = (),
    sets: Iterable[str] = (),
    *,
    charts: str | None = None,
    **other_outputs: str | None,
) -> None:
    """Reject outputs that cannot be written, are inputs or are the same file, before any work.

    Args:
        output: file of `--output`.
        inputs: files that are read.
        sets: files or folders of sets that are read; an output must not be one of their files.
        charts: folder of `--charts`.
        other_outputs: other files, by the name of their option.
    """
    read_files, read_sets = [*inputs], [*sets]
    options: dict[str, str] = {}
    for option, path in {"output": output, **other_outputs}.items():
        if path is None:
            continue
        _check_file(path, read_files, read_sets)
        first = options.setdefault(os.path.realpath(path), option)
        if first != option:
            raise OutputError(f"--{first} and --{option} are both {path}: use two different files")
    if charts is not None:
        if os.path.exists(charts) and not os.path.isdir(charts):
            raise OutputError(f"--charts {charts}: this is a file; give a folder")
        from karat.report.render.svg import typesetter

        typesetter()  # raises if it is not installed


def _check_file(path: str, inputs: Sequence[str], sets: Sequence[str]) -> None:
    check_writable(path)
    for name in (*inputs, *sets):
        if os.path.isfile(path) and os.path.exists(name) and os.path.samefile(path, name):
            raise OutputError(f"{path} is one of the inputs: choose another output file")
    if not os.path.isfile(path) or path.lower().endswith(_NOT_PART_OF_A_SET):
        return
    for name in sets:
        is_inside = Path(os.path.realpath(name)) in Path(os.path.realpath(path)).parents
        if os.path.isdir(name) and is_inside:
            raise OutputError(f"{path} is inside the set {name}: choose another output file")


def note(text: str) -> None:
    """Print a note on standard error."""
    click.echo(f"karat: note: {text}", err=True)


def command_line() -> str:
    """Return the command that was typed."""
    return shlex.join(["karat", *sys.argv[1:]])


def show(report: Document | Result, format: str, path: str | None) -> None:
    """Render a document or a result, and print it or write it to a file."""
    document = report if isinstance(report, Document) else report.document(command_line())
    context = click.get_current_context(silent=True)
    safe = bool(context and context.meta.get(SPREADSHEET_SAFE)) and format in SPREADSHEET_FORMATS
    if path is not None:
        write_atomically(path, render_pieces(document, format, spreadsheet_safe=safe))
        return
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size((100, 24)).columns if is_terminal else 100
    color = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    say(render_pieces(document, format, color=color, width=width, spreadsheet_safe=safe), None)


def say(output: Iterable[str] | Iterable[bytes], path: str | None) -> None:
    """Print or write text, or the bytes of a binary format."""
    if path is not None:
        write_atomically(path, output)
        return
    if isinstance(sys.stdout, TextIOWrapper):  # reports are UTF-8 in every locale
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    for piece in output:
        check_mapped()
        if isinstance(piece, bytes):
            sys.stdout.flush()
            sys.stdout.buffer.write(piece)
        else:
            sys.stdout.write(piece)


KINDS = ("png", "pdf", "svg")


def write_charts(charts: Sequence[Chart], folder: str | None) -> None:
    """Write every chart as PNG, PDF and SVG, named after its title."""
    if folder is None:
        return
    from karat.report.render.svg import chart_file

    os.makedirs(folder, exist_ok=True)
    names: set[str] = set()
    for chart in charts:
        cleaned = "".join(c if c.isalnum() or c in "=.-" else "-" for c in chart.title.lower())
        plain = name = "-".join(part for part in cleaned.split("-") if part)[:100]
        number = 1
        while name in names:
            number += 1
            name = f"{plain}-{number}"
        names.add(name)
        for kind in KINDS:
            write_atomically(os.path.join(folder, f"{name}.{kind}"), chart_file(chart, kind))
