"""An edit alignment drawn with letters: the reference above, the candidate below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karat.errors import visible
from karat.metrics.explain.edits import Alignment, Operation
from karat.report.render import terminal
from karat.report.render.terminal import DIM, Sheet, display_width, truncate

LETTERS = {"keep": "", "substitute": "S", "insert": "I", "delete": "D"}
LEGEND = "S substituted, I inserted, D deleted, M moved (the same number in both places)"
NOTHING = "no words in either text"
MOST_STEPS = 5_000  # of one alignment drawn with letters
_INKS = {"S": terminal.YELLOW, "I": terminal.CYAN, "D": terminal.RED, "M": terminal.MAGENTA, "": ""}
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
    return [*lines, *sheet.lines(LEGEND, DIM)] if lines else sheet.lines(NOTHING, DIM)


def _band(band: Sequence[Step], indent: int, sheet: Sheet) -> list[str]:
    lines = []
    for part, name in enumerate(_NAMES):
        cells = []
        for step in band:
            code = _INKS[step.sign[:1]]
            space = " " * (step.width - display_width(step[part]) + _GAP)
            cells.append(sheet.ink(step[part], code) + space)
        lines.append((sheet.ink(name, DIM) + " " * (indent - len(name)) + "".join(cells)).rstrip())
    return [line for line in lines if line]
