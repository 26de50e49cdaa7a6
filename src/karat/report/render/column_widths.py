"""Fitting a text table into a terminal: which columns side by side, and how wide each may be."""

from __future__ import annotations

from collections.abc import Sequence

GAP = 2  # spaces between columns


def share(natural: Sequence[int], floors: Sequence[int], width: int) -> list[int]:
    """Column widths that fit: the widest columns give way first, none below its floor.

    One cap for all columns is lowered until the row fits, so a long sentence loses its tail
    before a system's name loses a letter.  Where even the floors are too wide, they are returned.
    """
    for cap in range(width, 0, -1):
        widths = [max(low, min(full, cap)) for full, low in zip(natural, floors, strict=True)]
        if total(widths) <= width:
            return widths
    return list(floors)


def panels(floors: Sequence[int], width: int) -> list[list[int]]:
    """Column indices in panels that fit one above the other, the first column leading each."""
    result = [[0]]
    for column in range(1, len(floors)):
        wider = [*result[-1], column]
        if len(result[-1]) == 1 or total([floors[c] for c in wider]) <= width:
            result[-1] = wider
        else:
            result.append([0, column])
    return result


def total(widths: Sequence[int]) -> int:
    """The width of a row of such columns."""
    return sum(widths) + GAP * (len(widths) - 1)
