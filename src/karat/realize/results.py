"""The base of the results of `karat realize`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class RealizerResult(Result):
    """Flat rows, with the name of the file that they are about."""

    name: str
    rows: tuple[Any, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...] = ()
    signature: str = ""


def several(count: int, noun: str) -> str:
    """Return a count with its noun: 1 word, 2 words."""
    return f"{count:,} {noun}{'s' * (count != 1)}"
