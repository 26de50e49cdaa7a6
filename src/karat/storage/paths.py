"""Paths that a program gives."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from karat.errors import InputError, quoted


def as_path(name: str, given: str | PathLike[str]) -> Path:
    """Return the path of a parameter; what is no path is refused."""
    if not isinstance(given, str | PathLike):
        raise InputError(f"{name}={quoted(given)}: expected the path of a file")
    return Path(given)
