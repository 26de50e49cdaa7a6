"""Elementary trees drawn: the head's category above its anchor, its slots and its foot.

An arrow marks a slot, into which an argument's tree goes; a star marks the foot of an adjunct's
tree, the place of what it adjoins to, on the side that is more frequent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from karat.report.charts.svg import frame as svg
from karat.report.model import Figure, enumeration
from karat.report.render.text import BOLD, DIM, Sheet

if TYPE_CHECKING:
    from karat.realize.fergus.grammar import Supertag

ANCHOR = "◇"
GAP = 24.0
HEIGHT = 104.0
LEGEND = f"{ANCHOR} the word itself; ↓ a slot for an argument; * what an adjunct adjoins to"


class Drawn(NamedTuple):
    """A tree of two levels: its top, the leaves below, and a remark."""

    top: str
    leaves: tuple[str, ...]
    told: str


def drawn_tree(supertag: Supertag) -> Drawn:
    """Return an elementary tree as its leaves in order."""
    leaves = [ANCHOR if slot == "*" else f"{slot}↓" for slot in supertag.frame.split(" ")]
    if supertag.kind == "adjunct":
        leaves = [*leaves, "*"] if (supertag.left or 0) > 0.5 else ["*", *leaves]
    told = f"{supertag.relation}, {supertag.times:,} times"
    return Drawn(supertag.tag, tuple(leaves), told)


def tree_figure(supertags: Sequence[Supertag]) -> Figure:
    """Return a figure of some elementary trees."""
    trees = [drawn_tree(supertag) for supertag in supertags]
    title = "Elementary trees"
    return Figure(title, partial(_svg, trees, title), LEGEND, sketch=partial(_sketch, trees))


def _svg(trees: Sequence[Drawn], title: str) -> str:
    parts: list[str] = []
    x, y = 0.0, 0.0
    for tree in trees:
        width = max(_width(tree), svg.extent(tree.told)) + GAP
        if x + width > svg.WIDTH and x:
            x, y = 0.0, y + HEIGHT
        parts += _tree(tree, x + width / 2, y + 20)
        x += width
    told = enumeration([f"{tree.top}: {' '.join(tree.leaves)} ({tree.told})" for tree in trees])
    return svg.chart(title, told, y + HEIGHT, parts)


def _width(tree: Drawn) -> float:
    return sum(svg.extent(leaf) + GAP / 2 for leaf in tree.leaves)


def _tree(tree: Drawn, middle: float, top: float) -> list[str]:
    parts = [svg.label(middle, top, tree.top, "middle")]
    x = middle - _width(tree) / 2
    for leaf in tree.leaves:
        step = svg.extent(leaf) + GAP / 2
        at = x + step / 2
        parts.append(svg.line(middle, top + 5, at, top + 28, svg.RULE))
        color = svg.ACCENT if leaf.endswith("↓") else svg.WARM if leaf == "*" else None
        parts.append(svg.label(at, top + 42, leaf, "middle", color))
        x += step
    return [*parts, svg.label(middle, top + 60, tree.told, "middle", svg.MUTED)]


def _sketch(trees: Sequence[Drawn], sheet: Sheet) -> list[str]:
    lines = [line for tree in trees for line in ("", *_letters(tree, sheet))]
    return [line and f"  {line}" for line in lines[1:]]


def _letters(tree: Drawn, sheet: Sheet) -> list[str]:
    """Return three lines: the category, the branches, the leaves."""
    below = "  ".join(tree.leaves)
    middles, at = [], 0
    for leaf in tree.leaves:
        middles.append(at + len(leaf) // 2)
        at += len(leaf) + 2
    center = (middles[0] + middles[-1]) // 2
    marks = dict.fromkeys(middles, "┬") | {middles[0]: "┌", middles[-1]: "┐"}
    row = [marks.get(place, "─") for place in range(middles[0], middles[-1] + 1)]
    branch = " " * middles[0] + ("".join(row) if len(tree.leaves) > 1 else "│")
    top = " " * max(center - len(tree.top) // 2, 0) + tree.top
    return [sheet.ink(top, BOLD) + "  " + sheet.ink(tree.told, DIM), branch, below]
