"""The bitext grid drawn with letters: candidate words down, reference words across."""

from __future__ import annotations

from karat.errors import visible
from karat.metrics.explain.bitext import Explanation
from karat.report.render.terminal import CYAN, DIM, YELLOW, Sheet, display_width, letters, truncate

COUNTED, CUT, PARED, HIT, BARRIER = "■", "◧", "□", "·", "│"
LEGEND = {
    COUNTED: "counts",
    CUT: "counts in part",
    PARED: "given up to the cap",
    HIT: "a hit that is not chosen",
    BARRIER: "barrier between references",
}
NOTHING = "no words on one side: nothing to match"
_INKS = {COUNTED: CYAN, CUT: CYAN, PARED: YELLOW, HIT: DIM, BARRIER: DIM}

CELL = 2  # columns of the terminal: room for one wide letter
LONGEST_ACROSS = 12  # letters of a word that stands upright above its column
LONGEST_DOWN = 24
MOST_CELLS = 40_000  # some 200 words on either side; more is not a picture


def draw_grid(found: Explanation, sheet: Sheet) -> list[str]:
    """The grid, in bands of columns where it is too wide for one."""
    rows, columns = len(found.candidate), found.columns - 1
    if not rows or not columns:
        return sheet.lines(NOTHING, DIM)
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
            cells = "".join(sheet.ink(s, _INKS.get(s, "")) + " " * (CELL - 1) for s in signs)
            lines.append(f"{' ' * (wide - display_width(label))}{label} {cells}".rstrip())
        lines.append("")
    used = set(marks.values())
    return [*lines, *sheet.lines("; ".join(f"{s} {LEGEND[s]}" for s in LEGEND if s in used), DIM)]


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
