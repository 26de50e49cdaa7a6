"""Bitext grids and edit alignments drawn with characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karat.errors import visible
from karat.metrics.accuracy import Alignment, Operation
from karat.metrics.gtm import Explanation
from karat.report.render import text
from karat.report.render.text import (
    CYAN,
    DIM,
    YELLOW,
    Sheet,
    display_width,
    split_letters,
    truncate,
)

COUNTED, CUT, PARED, HIT, BARRIER = "■", "◧", "□", "·", "│"
GRID_LEGEND = {
    COUNTED: "counts",
    CUT: "counts in part",
    PARED: "given up to the cap",
    HIT: "a hit that is not chosen",
    BARRIER: "barrier between references",
}
NO_WORDS = "no words on one side: nothing to match"
_GRID_INKS = {COUNTED: CYAN, CUT: CYAN, PARED: YELLOW, HIT: DIM, BARRIER: DIM}

CELL = 2  # columns of the terminal: room for one wide letter
MAX_COLUMN_WORD = 12  # letters of a word that stands upright above its column
MAX_ROW_WORD = 24
MAX_GRID_CELLS = 40_000  # some 200 words on either side; more is not a picture


def draw_grid(explanation: Explanation, sheet: Sheet) -> list[str]:
    """Draw a grid, in bands of columns if it is too wide."""
    rows, columns = len(explanation.candidate), explanation.columns - 1
    if not rows or not columns:
        return sheet.lines(NO_WORDS, DIM)
    if rows * columns > MAX_GRID_CELLS:
        size = f"{rows:,} x {columns:,} words are too many to draw with letters"
        return sheet.lines(f"{size}: write the picture to a file (-o grid.html)", DIM)
    marks, heads = _cell_marks(explanation), _column_letters(explanation)
    longest = max(min(MAX_ROW_WORD, sheet.width // 3), 1)  # words leave room for the grid
    labels = [truncate(visible(word), longest) for word in explanation.candidate]
    wide = max(map(display_width, labels))
    step = max((sheet.width - wide - 1) // CELL, 1)
    lines: list[str] = []
    for start in range(0, columns, step):
        chosen = range(start, min(start + step, columns))
        lines += _upright_words([heads[j] for j in chosen], wide, sheet)
        for i, label in enumerate(labels):
            signs = [marks.get((i, j), " ") for j in chosen]
            cells = "".join(sheet.ink(s, _GRID_INKS.get(s, "")) + " " * (CELL - 1) for s in signs)
            lines.append(f"{' ' * (wide - display_width(label))}{label} {cells}".rstrip())
        lines.append("")
    used = set(marks.values())
    return [
        *lines,
        *sheet.lines("; ".join(f"{s} {GRID_LEGEND[s]}" for s in GRID_LEGEND if s in used), DIM),
    ]


def _cell_marks(explanation: Explanation) -> dict[tuple[int, int], str]:
    """Return the mark of each cell: the matching's hits over all the others, and the barriers."""
    marks: dict[tuple[int, int], str] = dict.fromkeys(explanation.hits(), HIT)
    for block in explanation.blocks:
        for k in range(block.length):  # whole, in part or not at all
            share = COUNTED if block.counted >= k + 1 else CUT if block.counted > k else PARED
            marks[block.row + k, block.column + k] = share
    between = explanation.barriers[:-1]  # the one after the last reference parts nothing
    return marks | {(i, j): BARRIER for i in range(len(explanation.candidate)) for j in between}


def _column_letters(explanation: Explanation) -> list[list[str]]:
    """The letters above each column; none above a barrier."""
    heads: list[list[str]] = []
    for reference in explanation.references:
        heads += [split_letters(truncate(visible(word), MAX_COLUMN_WORD)) for word in reference]
        heads.append([])
    return heads


def _upright_words(heads: list[list[str]], indent: int, sheet: Sheet) -> list[str]:
    tall = max(map(len, heads))
    lines = []
    for k in range(tall):
        cells = [_column_letter(head, k - tall + len(head)) for head in heads]
        lines.append(" " * (indent + 1) + sheet.ink("".join(cells).rstrip(), DIM))
    return lines


def _column_letter(head: list[str], at: int) -> str:
    letter = (head[at] if at >= 0 else "") if head else BARRIER
    return letter + " " * (CELL - display_width(letter))


LETTERS = {"keep": "", "substitute": "S", "insert": "I", "delete": "D"}
EDITS_LEGEND = "S substituted, I inserted, D deleted, M moved (the same number in both places)"
NO_EDITS = "no words in either text"
MAX_STEPS = 5_000  # of one alignment drawn with letters
_EDIT_INKS = {"S": text.YELLOW, "I": text.CYAN, "D": text.RED, "M": text.MAGENTA, "": ""}
_NAMES = ("reference", "", "candidate")
_GAP = 1


class Step(NamedTuple):
    """A step of an alignment: the reference's word, the sign of the edit, the candidate's word."""

    above: str
    sign: str
    below: str

    @property
    def width(self) -> int:
        return max(map(display_width, self))


def alignment_steps(alignment: Alignment) -> list[Step]:
    """Return the steps of an alignment; missing words are empty."""
    return [
        Step(
            _word_at(alignment.reference, o.reference),
            operation_sign(o),
            _word_at(alignment.candidate, o.candidate),
        )
        for o in alignment.operations
    ]


def operation_sign(operation: Operation) -> str:
    """Return the letter of an edit, with a number for moves; empty for an unchanged word."""
    return LETTERS[operation.kind] if operation.move is None else f"M{operation.move + 1}"


def _word_at(words: Sequence[str], at: int | None) -> str:
    return "" if at is None else visible(words[at])


def step_lines(all_steps: Sequence[Step], room: int) -> list[list[Step]]:
    """Split steps into lines of at most `room` columns."""
    lines: list[list[Step]] = []
    left = 0
    for step in all_steps:
        if not lines or left < step.width:
            lines.append([])
            left = room
        lines[-1].append(step)
        left -= step.width + _GAP
    return lines


def draw_edits(alignment: Alignment, sheet: Sheet) -> list[str]:
    """Draw an alignment, in as many bands as it takes."""
    if len(alignment.operations) > MAX_STEPS:
        return sheet.lines(f"{len(alignment.operations):,} steps are too many to draw here", DIM)
    indent = max(map(len, _NAMES)) + 2
    room = max(sheet.width - indent, 8)
    fitting = [
        Step(*(truncate(word, room) for word in step)) for step in alignment_steps(alignment)
    ]
    bands = [_band_lines(band, indent, sheet) for band in step_lines(fitting, room)]
    lines = [line for band in bands for line in (*band, "")]
    return [*lines, *sheet.lines(EDITS_LEGEND, DIM)] if lines else sheet.lines(NO_EDITS, DIM)


def _band_lines(band: Sequence[Step], indent: int, sheet: Sheet) -> list[str]:
    lines = []
    for part, name in enumerate(_NAMES):
        cells = []
        for step in band:
            code = _EDIT_INKS[step.sign[:1]]
            space = " " * (step.width - display_width(step[part]) + _GAP)
            cells.append(sheet.ink(step[part], code) + space)
        lines.append((sheet.ink(name, DIM) + " " * (indent - len(name)) + "".join(cells)).rstrip())
    return [line for line in lines if line]
