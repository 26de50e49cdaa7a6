"""Bitext grids and edit alignments drawn with characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karat.errors import visible
from karat.metrics.accuracy import Alignment
from karat.metrics.gtm import Explanation
from karat.report.render import text
from karat.report.render.text import (
    CYAN,
    DIM,
    YELLOW,
    TextLayout,
    display_width,
    pad,
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
MAX_COLUMN_WORD = 12  # letters of a vertical word above its column
MAX_ROW_WORD = 24
MAX_GRID_CELLS = 40_000  # about 200 words on either side


def draw_grid(explanation: Explanation, layout: TextLayout) -> list[str]:
    """Draw a grid, in bands of columns if it is too wide."""
    rows, columns = len(explanation.candidate), explanation.columns - 1
    if not rows or not columns:
        return layout.lines(NO_WORDS, DIM)
    if rows * columns > MAX_GRID_CELLS:
        size = f"{rows:,} x {columns:,} words are too many to draw with letters"
        return layout.lines(f"{size}: write the picture to a file (-o grid.html)", DIM)
    marks: dict[tuple[int, int], str] = dict.fromkeys(explanation.hits(), HIT)
    for block in explanation.blocks:
        for k in range(block.length):  # counted whole, in part or not at all
            share = COUNTED if block.counted >= k + 1 else CUT if block.counted > k else PARED
            marks[block.row + k, block.column + k] = share
    between = explanation.barriers[:-1]  # the last one follows the last reference
    marks |= {(i, j): BARRIER for i in range(rows) for j in between}
    heads: list[list[str]] = []  # the letters above each column; none above a barrier
    for reference in explanation.references:
        heads += [split_letters(truncate(visible(word), MAX_COLUMN_WORD)) for word in reference]
        heads.append([])
    longest = max(min(MAX_ROW_WORD, layout.width // 3), 1)  # words leave room for the grid
    labels = [truncate(visible(word), longest) for word in explanation.candidate]
    label_width = max(map(display_width, labels))
    step = max((layout.width - label_width - 1) // CELL, 1)
    lines: list[str] = []
    for start in range(0, columns, step):
        chosen = range(start, min(start + step, columns))
        head_height = max(len(heads[j]) for j in chosen)
        for k in range(head_height):
            letters = ""
            for head in (heads[j] for j in chosen):
                at = k - head_height + len(head)
                letter = (head[at] if at >= 0 else "") if head else BARRIER
                letters += pad(letter, CELL)
            lines.append(" " * (label_width + 1) + layout.ink(letters.rstrip(), DIM))
        for i, label in enumerate(labels):
            signs = [marks.get((i, j), " ") for j in chosen]
            cells = "".join(layout.ink(s, _GRID_INKS.get(s, "")) + " " * (CELL - 1) for s in signs)
            lines.append(f"{pad(label, label_width, right=True)} {cells}".rstrip())
        lines.append("")
    used = set(marks.values())
    return [
        *lines,
        *layout.lines("; ".join(f"{s} {GRID_LEGEND[s]}" for s in GRID_LEGEND if s in used), DIM),
    ]


LETTERS = {"keep": "", "substitute": "S", "insert": "I", "delete": "D"}
EDITS_LEGEND = "S substituted, I inserted, D deleted, M moved (the same number in both places)"
NO_EDITS = "no words in either text"
MAX_STEPS = 5_000  # of one alignment drawn with letters
_EDIT_INKS = {"S": text.YELLOW, "I": text.CYAN, "D": text.RED, "M": text.MAGENTA, "": ""}
_NAMES = ("reference", "", "candidate")
_GAP = 1


class Step(NamedTuple):
    """A step of an alignment: the reference's word, the edit's letter, the candidate's word."""

    above: str
    letter: str
    below: str

    @property
    def width(self) -> int:
        return max(map(display_width, self))


def alignment_steps(alignment: Alignment) -> list[Step]:
    """Return the steps of an alignment; missing words are empty, moves are numbered."""
    steps = []
    for kind, i, j, move in alignment.operations:
        letter = LETTERS[kind] if move is None else f"M{move + 1}"
        above = "" if i is None else visible(alignment.reference[i])
        steps.append(Step(above, letter, "" if j is None else visible(alignment.candidate[j])))
    return steps


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


def draw_edits(alignment: Alignment, layout: TextLayout) -> list[str]:
    """Draw an alignment, in several bands if it is long."""
    if len(alignment.operations) > MAX_STEPS:
        return layout.lines(f"{len(alignment.operations):,} steps are too many to draw here", DIM)
    indent = max(map(len, _NAMES)) + 2
    room = max(layout.width - indent, 8)
    fitting = [
        Step(*(truncate(word, room) for word in step)) for step in alignment_steps(alignment)
    ]
    lines: list[str] = []
    for band in step_lines(fitting, room):
        for part, name in enumerate(_NAMES):
            line = layout.ink(name, DIM) + " " * (indent - len(name))
            for step in band:
                space = " " * (step.width - display_width(step[part]) + _GAP)
                line += layout.ink(step[part], _EDIT_INKS[step.letter[:1]]) + space
            lines += [line.rstrip()] if line.rstrip() else []
        lines.append("")
    return [*lines, *layout.lines(EDITS_LEGEND, DIM)] if lines else layout.lines(NO_EDITS, DIM)
