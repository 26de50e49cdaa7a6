"""The screen of an assessor: a nugget, and the response with the words that speak for it.

A response longer than the screen is shown where most of its words speak for the nugget; the rest
of it can be paged through.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from karat.errors import visible
from karat.report.render.text import BOLD, CYAN, DIM, Sheet, display_width, letters

if TYPE_CHECKING:
    from karat.nuggets.judging.asking import Ask
    from karat.nuggets.judging.likelihood import Word

MARGIN = "  "


class Piece(NamedTuple):
    """A word, or a part of one that is too long for a line."""

    text: str
    word: int
    """The number of the word, from 0."""
    speaks: bool
    gap: str
    """Blank before it, unless it begins a line."""


Line = list[Piece]


def heading(ask: Ask, left: int, sheet: Sheet) -> list[str]:
    """The question and the nugget."""
    text = f": {ask.question.text}" if ask.question.text else ""
    lines = ["", *sheet.lines(f"{left:,} to go. Question {ask.question.id}{text}", DIM), ""]
    for number, words in enumerate(ask.nugget.descriptions):
        name = f"Nugget {ask.nugget.id} ({ask.nugget.importance})" if number == 0 else "or"
        lines += sheet.lines(f"{name}: {words}", BOLD)
    return [*lines, "", *sheet.lines(f"Run {ask.run}; guessed probability {ask.p:.2f}.", DIM), ""]


def laid_out(words: Sequence[Word], sheet: Sheet) -> list[Line]:
    """The words of a response in lines that fit the sheet; without colour, stars mark some."""
    room = max(1, sheet.width - len(MARGIN))
    pieces = [piece for n in range(len(words)) for piece in _pieces(words, n, sheet, room)]
    lines: list[Line] = []
    used = 0
    for piece in pieces:
        needed = len(piece.gap) + display_width(piece.text)
        if not lines or used + needed > room:
            lines.append([])
            used, needed = 0, needed - len(piece.gap)
        lines[-1].append(piece)
        used += needed
    return lines


def _pieces(words: Sequence[Word], n: int, sheet: Sheet, room: int) -> list[Piece]:
    word = words[n]
    shown = visible(word.text)
    if word.speaks and not sheet.color:
        shown = f"*{shown}*"
    gap = " " if n and words[n - 1].end < word.start else ""
    parts = [shown] if display_width(shown) <= room else _broken(shown, room)
    return [Piece(part, n, word.speaks, "" if k else gap) for k, part in enumerate(parts)]


def _broken(text: str, room: int) -> list[str]:
    """A long word in parts that fit."""
    parts = [""]
    for letter in letters(text):
        if parts[-1] and display_width(parts[-1] + letter) > room:
            parts.append("")
        parts[-1] += letter
    return parts


def telling(lines: Sequence[Line], height: int) -> range:
    """The lines, at most `height`, with most words that speak for the nugget; the first of equals.

    They stand in the middle of what is shown.
    """
    if len(lines) <= height:
        return range(len(lines))
    speaking = [len({piece.word for piece in line if piece.speaks}) for line in lines]
    sums = [sum(speaking[k : k + height]) for k in range(len(lines) - height + 1)]
    first = sums.index(max(sums))
    last = first
    while last + 1 < len(sums) and sums[last + 1] == sums[first]:
        last += 1
    start = (first + last) // 2 if sums[first] else 0
    return range(start, start + height)


def page_range(lines: Sequence[Line], height: int, number: int) -> range:
    """A page of so many lines, from 0; after the last comes the first again."""
    pages = max(1, -(-len(lines) // height))
    start = number % pages * height
    return range(start, min(start + height, len(lines)))


def page_lines(lines: Sequence[Line], shown: range, sheet: Sheet) -> list[str]:
    """Some lines of a response, and how many there are before and after them."""
    if not lines:
        return []
    found = []
    for line in (lines[k] for k in shown):
        inked = [sheet.ink(piece.text, CYAN) if piece.speaks else piece.text for piece in line]
        gaps = ["", *(piece.gap for piece in line[1:])]
        found.append(MARGIN + "".join(map("".join, zip(gaps, inked, strict=True))))
    before, after = shown.start, len(lines) - shown.stop
    above = [sheet.ink(f"… {before:,} lines above", DIM)] if before else []
    below = [sheet.ink(f"… {after:,} lines below", DIM)] if after else []
    return [*above, *found, *below, ""]


def numbered(words: Sequence[Word], lines: Sequence[Line], shown: range, sheet: Sheet) -> list[str]:
    """The words that are shown, each with its number from 1."""
    numbers = sorted({piece.word for k in shown for piece in lines[k]})
    return sheet.lines(" ".join(f"{n + 1}:{visible(words[n].text)}" for n in numbers), "")
