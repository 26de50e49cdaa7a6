"""Show a document: on standard output, or in a file that is written at once or not at all."""

from __future__ import annotations

import os
import shutil
import sys

from karat.report.output import check_writable, write_atomically
from karat.report.render import pieces
from karat.report.table import Document


def check_output(path: str | None) -> None:
    """Refuse an output that cannot be written before any work is done."""
    if path is not None:
        check_writable(path)


def show(document: Document, format: str, path: str | None) -> None:
    """Render and print or write."""
    if path is not None:
        write_atomically(path, pieces(document, format))
        return
    terminal = sys.stdout.isatty()
    color = terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    width = shutil.get_terminal_size((100, 24)).columns if terminal else 100
    for piece in pieces(document, format, color=color, width=width):
        sys.stdout.write(piece)
