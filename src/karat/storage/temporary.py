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
        raise OutputError(_sentence(purpose, error)) from error


def temporary_file(purpose: str) -> IO[bytes]:
    """Return an open file without a name; whoever asks for it closes it."""
    with writing_temporary(purpose):
        return tempfile.TemporaryFile()


def _sentence(purpose: str, error: OSError) -> str:
    do = "let TMPDIR name a folder that can be written to and has room"
    if tempfile.tempdir is None:  # none was found
        return f"cannot write a temporary file ({purpose}): {error.strerror or error}; {do}"
    return (
        f"cannot write to the temporary folder {tempfile.tempdir} ({purpose}): "
        f"{error.strerror or error}; free some space there, or {do}"
    )
