"""Temporary files: unnamed, and an error names the folder that is full or cannot be written to."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from karat.errors import OutputError


@contextmanager
def writing_temporary(purpose: str) -> Iterator[None]:
    """Turn an error of writing into a sentence; `purpose` says what the file is for."""
    try:
        yield
    except OSError as error:
        place = tempfile.tempdir  # None if none was found
        where = "a temporary file" if place is None else f"to the temporary folder {place}"
        do = "let TMPDIR name a folder that can be written to and has room"
        do = do if place is None else f"free some space there, or {do}"
        told = f"cannot write {where} ({purpose}): {error.strerror or error}; {do}"
        raise OutputError(told) from error


def temporary_file(purpose: str) -> IO[bytes]:
    """Return an open file without a name; whoever asks for it closes it."""
    with writing_temporary(purpose):
        return tempfile.TemporaryFile()
