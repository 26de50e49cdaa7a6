"""A word lattice drawn, as in the paper's Figure 3: states from left to right, words on arcs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from karat.report import svg
from karat.report.markup import shape
from karat.report.paper import Paper
from karat.report.table import Figure

if TYPE_CHECKING:
    from karat.realize.unraveler import TreeLattice

Arcs = Sequence[tuple[int, int, str]]
Point = tuple[float, float]

STEP = 92.0
ROW = 54.0
LETTERED = (0.5, 0.35, 0.65, 0.25, 0.75)
"""How far along an arc its word may stand; the first place that is free is taken."""
LINE = 11.0
"""The height that a word takes."""
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


def _places(arcs: Arcs) -> dict[int, Point]:
    """Where each state is drawn: its layer from left to right, within it near what leads to it."""
    before: dict[int, list[int]] = {}
    for start, end, _ in arcs:
        before.setdefault(end, []).append(start)
    rows: dict[int, list[int]] = {}
    for state, depth in sorted(layers(arcs).items()):
        rows.setdefault(depth, []).append(state)
    most = max(map(len, rows.values()))
    found: dict[int, Point] = {}
    for depth in sorted(rows):
        free = (most - len(rows[depth])) / 2
        for rank, state in enumerate(sorted(rows[depth], key=_height(before, found))):
            found[state] = (20 + depth * STEP, 30 + (free + rank) * ROW)
    return found


def _height(
    before: dict[int, list[int]], found: dict[int, Point]
) -> Callable[[int], tuple[float, int]]:
    """The mean height of the states that lead to one, so that fewer arcs cross."""

    def height(state: int) -> tuple[float, int]:
        heights = [found[one][1] for one in before.get(state, ())]
        return sum(heights) / max(len(heights), 1), state

    return height


def _svg(arcs: Arcs) -> str:
    places = _places(arcs)
    parts = _drawn(arcs, places)
    parts += [shape("circle", cx=x, cy=y, r=4, fill=svg.ACCENT) for x, y in places.values()]
    width = max(max(x for x, _ in places.values()) + 20, svg.WIDTH)
    height = max(y for _, y in places.values()) + 40
    told = f"{len(places):,} states and {len(arcs):,} arcs"
    return svg.chart(TITLE, told, height, parts, width)


def _drawn(arcs: Arcs, places: dict[int, Point]) -> list[str]:
    """Every arc with its word, at a place on it where no earlier word stands."""
    parts: list[str] = []
    taken: list[tuple[Point, float]] = []
    for a, b, whole in arcs:
        word = svg.shorten(whole, 12)
        curve = _curve(places[a], places[b])
        size = svg.length(word)
        spots = [_along(curve, t) for t in LETTERED]
        spot = next((one for one in spots if _free(one, size, taken)), spots[0])
        taken.append((spot, size))
        (x1, y1), (x, y), (x2, y2) = curve
        path = f"M {x1:.1f} {y1:.1f} Q {x:.1f} {y:.1f} {x2:.1f} {y2:.1f}"
        parts.append(shape("path", d=path, fill="none", stroke=svg.RULE))
        parts.append(svg.text(spot[0], spot[1] - 2, word, "middle"))
    return parts


def _curve(start: Point, end: Point) -> tuple[Point, Point, Point]:
    """A Bezier curve; the longer its way, the more it is bent."""
    (x1, y1), (x2, y2) = start, end
    bend = 10.0 + 6.0 * max((x2 - x1) / STEP - 1, 0)
    return start, ((x1 + x2) / 2, (y1 + y2) / 2 - bend), end


def _along(curve: tuple[Point, Point, Point], t: float) -> Point:
    """A point of the curve, t = 0 at its start and 1 at its end."""
    (x1, y1), (x, y), (x2, y2) = curve
    a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t**2
    return a * x1 + b * x + c * x2, a * y1 + b * y + c * y2


def _free(spot: Point, size: float, taken: Sequence[tuple[Point, float]]) -> bool:
    """Whether a word fits there without touching another."""
    return all(
        abs(spot[0] - x) >= (size + other) / 2 or abs(spot[1] - y) >= LINE
        for (x, y), other in taken
    )


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
