"""A word lattice drawn, as in the paper's Figure 3: states from left to right, words on arcs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.report import svg
from karat.report.markup import shape
from karat.report.paper import Paper
from karat.report.table import Figure

if TYPE_CHECKING:
    from karat.realize.unraveler import TreeLattice

Arcs = Sequence[tuple[int, int, str]]

STEP = 92.0
ROW = 54.0
MOST_LINES = 40
TITLE = "Word lattice"


def lattice_figure(lattice: TreeLattice) -> Figure:
    """The lattice word by word where it is small; else that of the root, subtrees in brackets."""
    expanded = lattice.expanded()
    if expanded is not None:
        words = [(a, b, lattice.words[node]) for a, b, node in expanded]
        caption = "Every path is a word sequence that the supertags allow."
    else:
        words = [
            (arc.start, arc.end, _named(lattice, arc.head, arc.node))
            for arc in lattice.arcs
            if arc.head == 0
        ]
        caption = "The root's treelet: words in brackets stand for their whole subtree."
    return Figure(TITLE, _svg(words), caption, sketch=lambda paper: _sketch(words, paper))


def _named(lattice: TreeLattice, head: int, node: int) -> str:
    return lattice.words[node] if node == head else f"[{lattice.words[node]}]"


def layers(arcs: Arcs) -> dict[int, int]:
    """The longest way from the start to every state; arcs may come in any order."""
    found = {0: 0}
    waiting = {state: 0 for arc in arcs for state in arc[:2]}
    after: dict[int, list[int]] = {}
    for start, end, _ in arcs:
        waiting[end] += 1
        after.setdefault(start, []).append(end)
    ready = [0]
    while ready:
        state = ready.pop()
        for end in after.get(state, ()):
            found[end] = max(found.get(end, 0), found[state] + 1)
            waiting[end] -= 1
            if not waiting[end]:
                ready.append(end)
    return found


def _places(arcs: Arcs) -> dict[int, tuple[float, float]]:
    """Where each state is drawn: its layer from left to right, its rank within it downwards."""
    layer = layers(arcs)
    sizes: dict[int, int] = {}
    for depth in layer.values():
        sizes[depth] = sizes.get(depth, 0) + 1
    most, used, found = max(sizes.values()), dict.fromkeys(sizes, 0), {}
    for state, depth in sorted(layer.items()):
        free = (most - sizes[depth]) / 2
        found[state] = (20 + depth * STEP, 30 + (free + used[depth]) * ROW)
        used[depth] += 1
    return found


def _svg(arcs: Arcs) -> str:
    places = _places(arcs)
    parts = [_arc(places[a], places[b], word) for a, b, word in arcs]
    parts += [shape("circle", cx=x, cy=y, r=4, fill=svg.ACCENT) for x, y in places.values()]
    width = max(max(x for x, _ in places.values()) + 20, svg.WIDTH)
    height = max(y for _, y in places.values()) + 40
    told = f"{len(places):,} states and {len(arcs):,} arcs"
    return svg.chart(TITLE, told, height, parts, width)


def _arc(start: tuple[float, float], end: tuple[float, float], word: str) -> str:
    """A curve with its word; the longer its way, the more it is bent."""
    (x1, y1), (x2, y2) = start, end
    bend = 10.0 + 6.0 * max((x2 - x1) / STEP - 1, 0)
    x, y = (x1 + x2) / 2, (y1 + y2) / 2 - bend
    path = f"M {x1:.1f} {y1:.1f} Q {x:.1f} {y:.1f} {x2:.1f} {y2:.1f}"
    curve = shape("path", d=path, fill="none", stroke=svg.RULE)
    return curve + svg.text(x, (y1 + y2) / 2 - bend / 2 - 2, svg.shorten(word, 12), "middle")


def _sketch(arcs: Arcs, paper: Paper) -> list[str]:
    layer = layers(arcs)
    order = sorted(layer, key=lambda state: (layer[state], state))
    number = {state: i for i, state in enumerate(order)}
    lines = []
    for state in order:
        ways = [f"{word} → {number[end]}" for start, end, word in arcs if start == state]
        if ways:
            lines.append(f"{number[state]:>4}  {'  |  '.join(ways)}")
    more = [f"… and {len(lines) - MOST_LINES:,} more states"] if len(lines) > MOST_LINES else []
    return [*lines[:MOST_LINES], *more]
