"""Links as text: `0-0 1-2`, one line a sentence, as Pharaoh, Moses and most aligners have it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from karat.errors import InputError, quoted
from karat.output import write_atomically
from karat.paraphrase.align.links import Links
from karat.progress import Progress, silent
from karat.text.segments import STRIDE, Lines

_LINK = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")


def read_pharaoh(path: str | os.PathLike[str], progress: Progress = silent) -> Links:
    """The links of a file (`.gz` too), words counted from 0; a sentence may have none."""
    lines = Lines(Path(path), progress)
    rows = []
    for number, line in enumerate(_lines(lines), 1):
        rows.append(_row(line, f"{lines.name}, line {number}"))
        if number % 4096 == 0:
            progress(number, len(lines), f"reading {lines.name}")
    return Links.of(rows)


def _lines(lines: Lines) -> Iterator[str]:
    for start in range(0, len(lines), STRIDE):
        yield from lines.views(start, min(start + STRIDE, len(lines))).strings()


def _row(line: str, place: str) -> list[tuple[int, int]]:
    found = [_LINK.fullmatch(word) for word in line.split()]
    for word, match in zip(line.split(), found, strict=True):
        if match is None:
            raise InputError(
                f"{place}: found {quoted(word)}, expected links as in 0-0 1-2 (source-pivot, words "
                "counted from 0)"
            )
    return [(int(match[1]), int(match[2])) for match in found if match]


def pharaoh_lines(links: Links) -> Iterator[str]:
    """The lines of a file of links."""
    for sentence in range(len(links)):
        yield " ".join(f"{i}-{j}" for i, j in links[sentence]) + "\n"


def write_pharaoh(path: str | os.PathLike[str], links: Links) -> None:
    """Write links, all of them or none."""
    write_atomically(path, pharaoh_lines(links))
