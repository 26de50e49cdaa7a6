"""The bitext grid drawn with letters: candidate words down, reference words across."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karat.errors import visible
from karat.metrics.accuracy import Alignment, Operation
from karat.metrics.gtm import Explanation
from karat.report.render import text
from karat.report.render.text import CYAN, DIM, YELLOW, Sheet, display_width, letters, truncate

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
LONGEST_ACROSS = 12  # letters of a word that stands upright above its column
LONGEST_DOWN = 24
MOST_CELLS = 40_000  # some 200 words on either side; more is not a picture


def draw_grid(found: Explanation, sheet: Sheet) -> list[str]:
    """The grid, in bands of columns where it is too wide for one."""
    rows, columns = len(found.candidate), found.columns - 1
    if not rows or not columns:
        return sheet.lines(NO_WORDS, DIM)
    if rows * columns > MOST_CELLS:
        size = f"{rows:,} x {columns:,} words are too many to draw with letters"
        return sheet.lines(f"{size}: write the picture to a file (-o grid.html)", DIM)
    marks, heads = _marks(found), _heads(found)
    longest = max(min(LONGEST_DOWN, sheet.width // 3), 1)  # words leave room for the grid
    labels = [truncate(visible(word), longest) for word in found.candidate]
    wide = max(map(display_width, labels))
    step = max((sheet.width - wide - 1) // CELL, 1)
    lines: list[str] = []
    for start in range(0, columns, step):
        chosen = range(start, min(start + step, columns))
        lines += _upright([heads[j] for j in chosen], wide, sheet)
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


def _marks(found: Explanation) -> dict[tuple[int, int], str]:
    """Return the mark of each cell: the matching's hits over all the others, and the barriers."""
    marks: dict[tuple[int, int], str] = dict.fromkeys(found.hits(), HIT)
    for block in found.blocks:
        for k in range(block.length):  # whole, in part or not at all
            share = COUNTED if block.counted >= k + 1 else CUT if block.counted > k else PARED
            marks[block.row + k, block.column + k] = share
    between = found.barriers[:-1]  # the one after the last reference parts nothing
    return marks | {(i, j): BARRIER for i in range(len(found.candidate)) for j in between}


def _heads(found: Explanation) -> list[list[str]]:
    """The letters above each column; none above a barrier."""
    heads: list[list[str]] = []
    for reference in found.references:
        heads += [letters(truncate(visible(word), LONGEST_ACROSS)) for word in reference]
        heads.append([])
    return heads


def _upright(heads: list[list[str]], indent: int, sheet: Sheet) -> list[str]:
    """The words of the columns from top to bottom, all ending at the grid."""
    tall = max(map(len, heads))
    lines = []
    for k in range(tall):
        cells = [_letter(head, k - tall + len(head)) for head in heads]
        lines.append(" " * (indent + 1) + sheet.ink("".join(cells).rstrip(), DIM))
    return lines


def _letter(head: list[str], at: int) -> str:
    letter = (head[at] if at >= 0 else "") if head else BARRIER
    return letter + " " * (CELL - display_width(letter))


LETTERS = {"keep": "", "substitute": "S", "insert": "I", "delete": "D"}
EDITS_LEGEND = "S substituted, I inserted, D deleted, M moved (the same number in both places)"
NO_EDITS = "no words in either text"
MOST_STEPS = 5_000  # of one alignment drawn with letters
_EDIT_INKS = {
    "S": text.YELLOW,
    "I": text.CYAN,
    "D": text.RED,
    "M": text.MAGENTA,
    "": "",
}
_NAMES = ("reference", "", "candidate")
_GAP = 1


class Step(NamedTuple):
    """One step as it is shown: the reference's word, the sign of what happened, the candidate's."""

    above: str
    sign: str
    below: str

    @property
    def width(self) -> int:
        return max(map(display_width, self))


def steps(found: Alignment) -> list[Step]:
    """The alignment step by step; a word that is not there is empty."""
    return [
        Step(_word(found.reference, o.reference), sign(o), _word(found.candidate, o.candidate))
        for o in found.operations
    ]


def sign(operation: Operation) -> str:
    """A letter for what happened, moves numbered from 1; none for a word that stayed."""
    return LETTERS[operation.kind] if operation.move is None else f"M{operation.move + 1}"


def _word(words: Sequence[str], at: int | None) -> str:
    return "" if at is None else visible(words[at])


def step_lines(found: Sequence[Step], room: int) -> list[list[Step]]:
    """The steps in as many lines as it takes to stay within `room` columns."""
    lines: list[list[Step]] = []
    left = 0
    for step in found:
        if not lines or left < step.width:
            lines.append([])
            left = room
        lines[-1].append(step)
        left -= step.width + _GAP
    return lines


def draw_edits(found: Alignment, sheet: Sheet) -> list[str]:
    """The alignment, in as many bands as it takes."""
    if len(found.operations) > MOST_STEPS:
        return sheet.lines(f"{len(found.operations):,} steps are too many to draw here", DIM)
    indent = max(map(len, _NAMES)) + 2
    room = max(sheet.width - indent, 8)
    fitting = [Step(*(truncate(word, room) for word in step)) for step in steps(found)]
    drawn = [_band(band, indent, sheet) for band in step_lines(fitting, room)]
    lines = [line for band in drawn for line in (*band, "")]
    return [*lines, *sheet.lines(EDITS_LEGEND, DIM)] if lines else sheet.lines(NO_EDITS, DIM)


def _band(band: Sequence[Step], indent: int, sheet: Sheet) -> list[str]:
    lines = []
    for part, name in enumerate(_NAMES):
        cells = []
        for step in band:
            code = _EDIT_INKS[step.sign[:1]]
            space = " " * (step.width - display_width(step[part]) + _GAP)
            cells.append(sheet.ink(step[part], code) + space)
        lines.append((sheet.ink(name, DIM) + " " * (indent - len(name)) + "".join(cells)).rstrip())
    return [line for line in lines if line]
