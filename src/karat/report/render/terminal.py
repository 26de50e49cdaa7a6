"""A terminal: how much room text takes on it, and what a report for it is printed on."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from karat.errors import JOINERS, visible

ELLIPSIS = "…"
BOLD, DIM, RED, GREEN, YELLOW, MAGENTA, CYAN = "1", "2", "31", "32", "33", "35", "36"


@dataclass(frozen=True)
class Sheet:
    """The sheet that text is set on: its width in columns, and whether it takes colour."""

    width: int
    color: bool

    def ink(self, text: str, code: str) -> str:
        """The text in bold, dim or a colour, or just the text on a sheet without colour."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text and code else text

    def lines(self, text: str, code: str) -> list[str]:
        """Running text, wrapped to the width."""
        return [self.ink(line, code) for line in wrap(visible(text, keep="\n"), self.width)]


def display_width(text: str) -> int:
    """The number of terminal columns: two for a wide character, none for a combining mark."""
    return len(text) if text.isascii() else sum(map(_char_width, text))


def truncate(text: str, width: int) -> str:
    """The text itself if it fits, else as much of it as leaves room for an ellipsis."""
    if display_width(text) <= width:
        return text
    ends = accumulate(map(_char_width, text))
    return "".join(char for char, end in zip(text, ends, strict=True) if end < width) + ELLIPSIS


def letters(text: str) -> list[str]:
    """The text letter by letter, each with the marks that combine with it."""
    found: list[str] = []
    for char in text:
        if found and _char_width(char) == 0:
            found[-1] += char
        else:
            found.append(char)
    return found


def pad(text: str, width: int, align: str) -> tuple[str, str]:
    """The spaces before and after the text that make it `width` columns wide."""
    space = " " * (width - display_width(text))
    return (space, "") if align == "right" else ("", space)


def wrap(text: str, width: int) -> list[str]:
    """The text's words in lines of at most `width` columns; a longer word keeps its own line."""
    lines: list[str] = []
    for word in text.split():
        if lines and display_width(lines[-1]) + 1 + display_width(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def widest(texts: Iterable[str]) -> int:
    """The display width of the widest text, zero if there is none."""
    return max(map(display_width, texts), default=0)


def _char_width(char: str) -> int:
    if char in JOINERS or unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    if "\u1160" <= char <= "\u11ff":
        return 0  # Hangul vowels and finals join the initial before them
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
