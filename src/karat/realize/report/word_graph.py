"""Drawings of word graphs as in the paper's Figure 3: states from left to right, words on arcs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import NamedTuple

from karat.report.charts.svg import frame as svg
from karat.report.markup import Look, element, quote, shape
from karat.report.render.text import BOLD, TextLayout, display_width, wrap

Point = tuple[float, float]

GAP = 20.0
"""Length of an arc in addition to its word."""
CLOSE = 8.0
"""Length of an arc in addition to its word in a compact graph."""
BOLDER = 1.1
"""Relative width of letters on the best path."""
SHORTEST = 46.0
ROW = 48.0
MARGIN = 20.0
LETTERED = (0.5, 0.35, 0.65, 0.25, 0.75, 0.15, 0.85, 0.42, 0.58, 0.3, 0.7, 0.2, 0.8)
"""Positions of a word along its arc, by preference."""
DENSE = 1.5
"""Arcs per state from which a graph is dense and gets more room."""
SPREAD = 70.0
"""Length of an arc in addition to its word in a dense graph."""
TALL = 64.0
"""Vertical distance of states in a dense graph."""
DOT = 3.5
"""Radius of a state."""
APART = 4.0
"""Horizontal distance of words."""
BELOW = 7.0
"""Distance from the middle of a word to the arc below it."""
LINE = 11.0
"""Height of a word."""
CELL = 60.0
"""Width of a cell of the grid for overlap tests."""
LANE = 17.0
"""Distance of arcs between the same two states."""
MAX_WORD = 24
MAX_LINES = 40
BEST = "▸ "
"""Mark of the words of the best path in text, which may lack bold letters."""


class GraphArc(NamedTuple):
    """An arc between two states, 0 being the first; `best` if it is on the chosen path."""

    start: int
    end: int
    word: str
    best: bool = False
    tooltip: str = ""


Arcs = Sequence[GraphArc]


def draw(arcs: Arcs, top: float = 0.0, *, compact: bool = False) -> tuple[list[str], float, float]:
    """Return the SVG elements of a graph below `top`, its width and its lower end.

    States at the same depth are above each other, except in a `compact` graph, which is for long
    sentences.
    """
    places = _places(arcs, top, compact)
    inner = _pass_through_states(arcs) if compact else set()
    dots = [
        shape("circle", cx=x, cy=y, r=1.5 if state in inner else DOT, fill=svg.ACCENT)
        for state, (x, y) in places.items()
    ]
    width = max(x for x, _ in places.values()) + MARGIN
    lowest = (places[arc.end][1] + lane * LANE for arc, lane in _lanes(arcs).items())
    height = max(lowest) + MARGIN
    return _draw_arcs(arcs, places) + dots, width, height


def layers(arcs: Arcs) -> dict[int, int]:
    """Return the length of the longest path from the start to every state."""
    depths = {0: 0}
    waiting = Counter(arc.end for arc in arcs)
    after = _arcs_by_start(arcs)
    ready = [0]
    while ready:
        state = ready.pop()
        for _, end, *_ in after.get(state, ()):
            depths[end] = max(depths.get(end, 0), depths[state] + 1)
            waiting[end] -= 1
            if not waiting[end]:
                ready.append(end)
    return depths


def _places(arcs: Arcs, top: float, compact: bool) -> dict[int, Point]:
    """Return the position of each state: its layer from left to right, near its predecessors.

    The best path is straight; other states are above or below it.
    """
    before: dict[int, list[int]] = {}
    for arc in arcs:
        before.setdefault(arc.end, []).append(arc.start)
    layer = layers(arcs)
    best = {0} | {arc.end for arc in arcs if arc.best}
    rows: dict[int, list[int]] = {}
    for state, depth in sorted(layer.items()):
        rows.setdefault(depth, []).append(state)
    height: dict[int, float] = {}

    def near(state: int) -> tuple[float, int]:
        """Return the mean height of the predecessors of a state, so that fewer arcs cross."""
        heights = [height[previous] for previous in before.get(state, ())]
        return sum(heights) / max(len(heights), 1), state

    for depth in sorted(rows):
        ordered = sorted(rows[depth], key=near)
        middle = next((i for i, state in enumerate(ordered) if state in best), None)
        first = -(len(ordered) - 1) / 2 if middle is None else -middle
        height.update({state: first + rank for rank, state in enumerate(ordered)})
    across = _positions(arcs, layer, compact)
    highest, row = min(height.values()), TALL if _is_dense(arcs, layer) else ROW
    return {s: (across[s], top + 30 + (height[s] - highest) * row) for s in layer}


def _is_dense(arcs: Arcs, layer: dict[int, int]) -> bool:
    """Return whether there are so many arcs that words need more room."""
    return len(arcs) >= DENSE * len(layer)


def _positions(arcs: Arcs, layer: dict[int, int], compact: bool) -> dict[int, float]:
    """Return the horizontal position of each state, which leaves room for the words of arcs.

    States of one layer are above each other; if `compact`, each follows its longest incoming word.
    """
    if compact:
        across = {0: MARGIN}
        for arc in sorted(arcs, key=lambda arc: layer[arc.start]):
            length = svg.extent(_short_word(arc)) * (BOLDER if arc.best else 1)
            after = across[arc.start] + length + CLOSE
            across[arc.end] = max(across.get(arc.end, 0.0), after)
        return across
    gap = SPREAD if _is_dense(arcs, layer) else GAP
    positions = [MARGIN] * (max(layer.values()) + 1)
    for arc in sorted(arcs, key=lambda arc: layer[arc.end]):
        step = max(svg.extent(_short_word(arc)) + gap, SHORTEST)
        end = layer[arc.end]
        positions[end] = max(positions[end], positions[layer[arc.start]] + step)
    return {state: positions[depth] for state, depth in layer.items()}


def _short_word(arc: GraphArc) -> str:
    return svg.shorten(arc.word, MAX_WORD)


def _lanes(arcs: Arcs) -> dict[GraphArc, int]:
    """Return for each arc the number of arcs above it between the same two states."""
    joined = Counter[tuple[int, int]]()
    lanes = {}
    for arc in sorted(arcs, key=lambda arc: not arc.best):
        lanes[arc] = joined[arc[:2]]
        joined[arc[:2]] += 1
    return lanes


def _draw_arcs(arcs: Arcs, places: dict[int, Point]) -> list[str]:
    """Return every arc, and on top its word at the position with the least overlap."""
    paths: list[str] = []
    words: list[str] = []
    occupied = _OccupiedGrid()
    for x, y in places.values():
        occupied.add((x, y + BELOW), 2 * DOT + 1)

    def choice(arc: GraphArc) -> tuple[bool, float]:
        """Put the best path first, then level arcs: steep arcs have more free positions."""
        return not arc.best, abs(places[arc.start][1] - places[arc.end][1])

    lanes = _lanes(arcs)
    for arc in sorted(arcs, key=choice):
        curve = _curve(places[arc.start], places[arc.end], lanes[arc])
        size = svg.extent(_short_word(arc)) + APART
        spots = [_along(curve, t) for t in LETTERED]
        spot = min(spots, key=lambda spot: occupied.covered_area(spot, size))
        occupied.add(spot, size)
        start, middle, end = (f"{x:.1f} {y:.1f}" for x, y in curve)
        look: Look = {"stroke": svg.ACCENT, "stroke_width": 2} if arc.best else {"stroke": svg.RULE}
        paths.append(shape("path", d=f"M {start} Q {middle} {end}", fill="none", **look))
        ink: Look = {"font_weight": 600} if arc.best else {"fill": svg.MUTED}
        place: Look = {"x": spot[0], "y": spot[1] - 3, "text_anchor": "middle", **ink}
        label = element("text", quote(_short_word(arc)), **place, **svg.HALO)
        words.append(element("g", svg.tooltip(arc.tooltip), label) if arc.tooltip else label)
    return paths[::-1] + words


def _curve(start: Point, end: Point, lane: int) -> tuple[Point, Point, Point]:
    """Return a Bezier curve; longer curves are bent more, and lower lanes are below others."""
    (x1, y1), (x2, y2) = start, end
    bend = min(10.0, (x2 - x1) / 6) + max((x2 - x1) / 16 - 6, 0)
    return start, ((x1 + x2) / 2, (y1 + y2) / 2 - bend + 2 * LANE * lane), end


def _along(curve: tuple[Point, Point, Point], t: float) -> Point:
    """Return a point of the curve, t = 0 at its start and 1 at its end."""
    (x1, y1), (x, y), (x2, y2) = curve
    a, b, c = (1 - t) * (1 - t), 2 * t * (1 - t), t * t
    return a * x1 + b * x + c * x2, a * y1 + b * y + c * y2


class _OccupiedGrid:
    """Areas of words and states, indexed by the cells of a grid."""

    def __init__(self) -> None:
        self._places: list[tuple[Point, float]] = []
        self._cells: dict[tuple[int, int], list[int]] = {}

    def add(self, spot: Point, size: float) -> None:
        """Add the area of a word, given by its middle and its length."""
        row = int(spot[1] // LINE)
        for column in _columns(spot, size):
            self._cells.setdefault((column, row), []).append(len(self._places))
        self._places.append((spot, size))

    def covered_area(self, spot: Point, size: float) -> float:
        """Return the area of others that a word would cover."""
        row = int(spot[1] // LINE)
        cells = ((c, r) for c in _columns(spot, size) for r in (row - 1, row, row + 1))
        near = sorted({i for cell in cells for i in self._cells.get(cell, ())})
        return _covered_area(spot, size, [self._places[i] for i in near])


def _covered_area(spot: Point, size: float, occupied: Sequence[tuple[Point, float]]) -> float:
    """Return the area of other words and states that a word would cover."""
    return sum(
        max((size + other) / 2 - abs(spot[0] - x), 0) * max(LINE - abs(spot[1] - y), 0)
        for (x, y), other in occupied
    )


def _columns(spot: Point, size: float) -> range:
    """Return the columns of the grid that a word overlaps."""
    return range(int((spot[0] - size / 2) // CELL), int((spot[0] + size / 2) // CELL) + 1)


def graph_text(arcs: Arcs, layout: TextLayout) -> list[str]:
    """Return the graph as text: every state with its outgoing words, the best path marked.

    Words without a choice between them are joined. States beyond `MAX_LINES` lines are counted.
    """
    chains = _chains(arcs)
    mark = "" if all(arc.best for arc in chains) else BEST
    layer = layers(chains)
    order = sorted(layer, key=lambda state: (layer[state], state))
    number = {state: i for i, state in enumerate(order)}
    after = _arcs_by_start(chains)
    states = []  # lines of each state
    for state in (state for state in order if state in after):
        labels = [
            (f"{mark if arc.best else ''}{arc.word} → {number[arc.end]}", arc.best)
            for arc in after[state]
        ]
        states.append(_format_state(number[state], labels, layout))
    n_shown = sum(end <= MAX_LINES for end in accumulate(map(len, states)))
    lines = list(chain.from_iterable(states[: max(n_shown, 1)]))[:MAX_LINES]
    n_more = len(states) - n_shown
    return lines + ([f"… and {n_more:,} more state{'s' * (n_more > 1)}"] if n_more else [])


def _format_state(state: int, labels: Sequence[tuple[str, bool]], layout: TextLayout) -> list[str]:
    """Return the outgoing arcs of a state, on one line if they fit, else on one line each."""
    inked = [layout.ink(label, BOLD if best else "") for label, best in labels]
    begin = f"{state:>4}  "
    if len(begin) + sum(display_width(label) + 5 for label, _ in labels) - 5 <= layout.width:
        return [begin + "  |  ".join(inked)]
    lines: list[str] = []
    for i, (label, best) in enumerate(labels):
        for line in wrap(label, max(layout.width - 8, 20)):
            lines.append(
                (begin if not lines else "      ") + layout.ink(line, BOLD if best else "")
            )
        lines[-1] += "  |" if i < len(labels) - 1 else ""
    return lines


def _arcs_by_start(arcs: Arcs) -> dict[int, list[GraphArc]]:
    """Return the outgoing arcs of each state."""
    leaving: dict[int, list[GraphArc]] = {}
    for arc in arcs:
        leaving.setdefault(arc.start, []).append(arc)
    return leaving


def _pass_through_states(arcs: Arcs) -> set[int]:
    """Return the states with one incoming and one outgoing arc."""
    entered = Counter(arc.end for arc in arcs)
    return {
        s
        for s, leaving in _arcs_by_start(arcs).items()
        if s and len(leaving) == 1 and entered[s] == 1
    }


def _chains(arcs: Arcs) -> list[GraphArc]:
    """Return the graph with arcs joined at states without a choice."""
    after, inner = _arcs_by_start(arcs), _pass_through_states(arcs)
    chains = []
    for arc in arcs:
        if arc.start in inner:
            continue
        words, end = [arc.word], arc.end
        while end in inner:
            (next_arc,) = after[end]
            words.append(next_arc.word)
            end = next_arc.end
        chains.append(GraphArc(arc.start, end, " ".join(words), arc.best))
    return chains
