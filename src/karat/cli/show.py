"""Show a document: on standard output, or in a file that is written at once or not at all."""

from __future__ import annotations

import os
import shutil
import sys

import click

from karat.report.output import check_writable, write_atomically
from karat.report.render import render
from karat.report.table import Document


def check_output(path: str | None) -> None:
    """Refuse an output that cannot be written before any work is done."""
    if path is not None:
        check_writable(path)


def show(document: Document, format: str, path: str | None) -> None:
    """Render and print or write."""
    if path is not None:
        write_atomically(path, render(document, format))
        return
    terminal = sys.stdout.isatty()
    color = terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    width = shutil.get_terminal_size((100, 24)).columns if terminal else 100
    click.echo(render(document, format, color=color, width=width), nl=False, color=color)
