"""Rows of text files that the kernel reads, up to the first that needs a closer look."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from karat import _kernel
from karat.arrow.formats.text_lines import TextLines
from karat.arrow.tables import Table

BYTES_READ = 1 << 20


def regular_rows(
    rows: _kernel.DelimitedFile | _kernel.JsonLinesFile, lines: TextLines, names: Sequence[str]
) -> Generator[Table, None, int | None]:
    """Yield record batches; return the number of rows before one that is strange, if there is one.

    A file without rows has one batch, so that columns are checked in any case.
    """
    done = 0
    while True:
        data = lines.read_bytes(BYTES_READ)
        regular = rows.read(data, not data)
        finished = not data or not regular
        if rows.rows() or (finished and not done):
            done += rows.rows()
            yield Table(rows.take(), names)
        if finished:
            return None if regular else done
