"""A graph of words drawn, as in the paper's Figure 3: states from left to right, words on arcs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from karat.report.charts.svg import frame as svg
from karat.report.markup import Look, element, quote, shape
from karat.report.render.text import BOLD, Sheet, display_width, wrap

Point = tuple[float, float]

GAP = 20.0
"""The length of an arc beside its word."""
CLOSE = 8.0
"""That length where words follow each other closely."""
BOLDER = 1.1
"""The width of letters on the best path, relative to others."""
SHORTEST = 46.0
ROW = 48.0
MARGIN = 20.0
LETTERED = (0.5, 0.35, 0.65, 0.25, 0.75, 0.15, 0.85, 0.42, 0.58, 0.3, 0.7, 0.2, 0.8)
"""Places of a word along its arc; the first that is free is taken."""
DENSE = 1.5
"""Arcs for each state from which on a graph gets more room."""
SPREAD = 70.0
"""The length of an arc beside its word in a dense graph."""
TALL = 64.0
"""The height between the states of a dense graph."""
DOT = 3.5
"""The radius of a state."""
APART = 4.0
"""From the end of a word to the start of the next on the same height."""
BELOW = 7.0
"""From the middle of a word to the place on the arc that it stands above."""
LINE = 11.0
"""The height that a word takes."""
CELL = 60.0
"""The width of a cell of the grid in which words that meet are looked for."""
LANE = 17.0
"""From one arc to the next between the same two states."""
LONGEST = 24
MOST_LINES = 40
BEST = "▸ "
"""Before the words of the best path, where there are others and no bold letters to rely on."""


class GraphArc(NamedTuple):
    """From one state to another, 0 is the first; `best` if the chosen path takes it.

    `told` is what a pointer over the word shows.
    """

    start: int
    end: int
    word: str
    best: bool = False
    told: str = ""


Arcs = Sequence[GraphArc]


class Drawing(NamedTuple):
    """Pieces of SVG and the room they take."""

    parts: list[str]
    width: float
    height: float


def draw(arcs: Arcs, top: float = 0.0, *, compact: bool = False) -> Drawing:
    """The graph, below `top`; the best path is stressed.

    States with as many words before them stand above each other; in a `compact` one, for long
    sentences, words follow each other closely instead.
    """
    places = _places(arcs, top, compact)
    inner = _inner(arcs) if compact else set()
    dots = [
        shape("circle", cx=x, cy=y, r=1.5 if state in inner else DOT, fill=svg.ACCENT)
        for state, (x, y) in places.items()
    ]
    width = max(x for x, _ in places.values()) + MARGIN
    lowest = (places[arc.end][1] + lane * LANE for arc, lane in _lanes(arcs).items())
    height = max(lowest) + MARGIN
    return Drawing(_drawn(arcs, places) + dots, width, height)


def layers(arcs: Arcs) -> dict[int, int]:
    """The longest way from the start to every state; arcs may come in any order."""
    found = {0: 0}
    waiting = Counter(arc.end for arc in arcs)
    after = _after(arcs)
    ready = [0]
    while ready:
        state = ready.pop()
        for _, end, *_ in after.get(state, ()):
            found[end] = max(found.get(end, 0), found[state] + 1)
            waiting[end] -= 1
            if not waiting[end]:
                ready.append(end)
    return found


def _places(arcs: Arcs, top: float, compact: bool) -> dict[int, Point]:
    """Return the place of each state: its layer from left to right, near what leads to it.

    The best path is straight; what is not on it stands above or below.
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
        """The mean height of the states that lead to one, so that fewer arcs cross."""
        heights = [height[one] for one in before.get(state, ())]
        return sum(heights) / max(len(heights), 1), state

    for depth in sorted(rows):
        ordered = sorted(rows[depth], key=near)
        middle = next((i for i, state in enumerate(ordered) if state in best), None)
        first = -(len(ordered) - 1) / 2 if middle is None else -middle
        height.update({state: first + rank for rank, state in enumerate(ordered)})
    across = _followed(arcs, layer) if compact else _aligned(arcs, layer)
    highest, row = min(height.values()), TALL if _dense(arcs, layer) else ROW
    return {s: (across[s], top + 30 + (height[s] - highest) * row) for s in layer}


def _dense(arcs: Arcs, layer: dict[int, int]) -> bool:
    """Return whether so many arcs cross that words need more room."""
    return len(arcs) >= DENSE * len(layer)


def _aligned(arcs: Arcs, layer: dict[int, int]) -> dict[int, float]:
    """Return the place of each layer: far enough from earlier ones for the words of its arcs."""
    gap = SPREAD if _dense(arcs, layer) else GAP
    found = [MARGIN] * (max(layer.values()) + 1)
    for arc in sorted(arcs, key=lambda arc: layer[arc.end]):
        step = max(svg.extent(_shown(arc)) + gap, SHORTEST)
        end = layer[arc.end]
        found[end] = max(found[end], found[layer[arc.start]] + step)
    return {state: found[depth] for state, depth in layer.items()}


def _followed(arcs: Arcs, layer: dict[int, int]) -> dict[int, float]:
    """Each state just after the longest words that lead to it."""
    found = {0: MARGIN}
    for arc in sorted(arcs, key=lambda arc: layer[arc.start]):
        length = svg.extent(_shown(arc)) * (BOLDER if arc.best else 1)
        after = found[arc.start] + length + CLOSE
        found[arc.end] = max(found.get(arc.end, 0.0), after)
    return found


def _shown(arc: GraphArc) -> str:
    return svg.shorten(arc.word, LONGEST)


def _lanes(arcs: Arcs) -> dict[GraphArc, int]:
    """Return for each arc how many others, the best first, join the same two states above it."""
    among = Counter[tuple[int, int]]()
    found = {}
    for arc in sorted(arcs, key=lambda arc: not arc.best):
        found[arc] = among[arc[:2]]
        among[arc[:2]] += 1
    return found


def _drawn(arcs: Arcs, places: dict[int, Point]) -> list[str]:
    """Every arc with its word, at a place on it where no earlier word stands; words are on top."""
    paths: list[str] = []
    words: list[str] = []
    taken = _Taken()
    for x, y in places.values():
        taken.add((x, y + BELOW), 2 * DOT + 1)

    def choice(arc: GraphArc) -> tuple[bool, float]:
        """The best path first, then level arcs: a word on a steep one has more free places."""
        return not arc.best, abs(places[arc.start][1] - places[arc.end][1])

    lanes = _lanes(arcs)
    for arc in sorted(arcs, key=choice):
        curve = _curve(places[arc.start], places[arc.end], lanes[arc])
        size = svg.extent(_shown(arc)) + APART
        spots = [_along(curve, t) for t in LETTERED]
        spot = min(spots, key=lambda spot: taken.met(spot, size))
        taken.add(spot, size)
        start, middle, end = (f"{x:.1f} {y:.1f}" for x, y in curve)
        look: Look = {"stroke": svg.ACCENT, "stroke_width": 2} if arc.best else {"stroke": svg.RULE}
        paths.append(shape("path", d=f"M {start} Q {middle} {end}", fill="none", **look))
        ink: Look = {"font_weight": 600} if arc.best else {"fill": svg.MUTED}
        place: Look = {"x": spot[0], "y": spot[1] - 3, "text_anchor": "middle", **ink}
        label = element("text", quote(_shown(arc)), **place, **svg.HALO)
        words.append(element("g", svg.tooltip(arc.told), label) if arc.told else label)
    return paths[::-1] + words


def _curve(start: Point, end: Point, lane: int) -> tuple[Point, Point, Point]:
    """A Bezier curve; the longer its way, the more it is bent; below others by its lane."""
    (x1, y1), (x2, y2) = start, end
    bend = min(10.0, (x2 - x1) / 6) + max((x2 - x1) / 16 - 6, 0)
    return start, ((x1 + x2) / 2, (y1 + y2) / 2 - bend + 2 * LANE * lane), end


def _along(curve: tuple[Point, Point, Point], t: float) -> Point:
    """A point of the curve, t = 0 at its start and 1 at its end."""
    (x1, y1), (x, y), (x2, y2) = curve
    a, b, c = (1 - t) * (1 - t), 2 * t * (1 - t), t * t
    return a * x1 + b * x + c * x2, a * y1 + b * y + c * y2


class _Taken:
    """Places of words and states, found by the cells of a grid that they stand in."""

    def __init__(self) -> None:
        self._places: list[tuple[Point, float]] = []
        self._cells: dict[tuple[int, int], list[int]] = {}

    def add(self, spot: Point, size: float) -> None:
        """Add the place of a word, its middle and its length."""
        row = int(spot[1] // LINE)
        for column in _columns(spot, size):
            self._cells.setdefault((column, row), []).append(len(self._places))
        self._places.append((spot, size))

    def met(self, spot: Point, size: float) -> float:
        """Return the area of others that a word there would cover; 0 if none."""
        row = int(spot[1] // LINE)
        cells = ((c, r) for c in _columns(spot, size) for r in (row - 1, row, row + 1))
        near = sorted({i for cell in cells for i in self._cells.get(cell, ())})
        return _met(spot, size, [self._places[i] for i in near])


def _met(spot: Point, size: float, taken: Sequence[tuple[Point, float]]) -> float:
    """Return the area of other words and states that a word there would cover; 0 if none."""
    return sum(
        max((size + other) / 2 - abs(spot[0] - x), 0) * max(LINE - abs(spot[1] - y), 0)
        for (x, y), other in taken
    )


def _columns(spot: Point, size: float) -> range:
    """Return the columns of the grid that a word reaches."""
    return range(int((spot[0] - size / 2) // CELL), int((spot[0] + size / 2) // CELL) + 1)


def sketch(arcs: Arcs, sheet: Sheet) -> list[str]:
    """The graph with letters: every state with the words that lead on, the best path marked.

    Words between which there is no choice stand together.
    """
    chains = _chains(arcs)
    mark = "" if all(arc.best for arc in chains) else BEST
    layer = layers(chains)
    order = sorted(layer, key=lambda state: (layer[state], state))
    number = {state: i for i, state in enumerate(order)}
    after = _after(chains)
    lines = []
    for state in (one for one in order if one in after):
        ways = [
            (f"{mark if arc.best else ''}{arc.word} → {number[arc.end]}", arc.best)
            for arc in after[state]
        ]
        lines += _ways(number[state], ways, sheet)
    more = [f"… and {len(lines) - MOST_LINES:,} more states"] if len(lines) > MOST_LINES else []
    return [*lines[:MOST_LINES], *more]


def _ways(state: int, ways: Sequence[tuple[str, bool]], sheet: Sheet) -> list[str]:
    """Return the arcs that leave a state: on one line if they fit, else one a line."""
    inked = [sheet.ink(way, BOLD if best else "") for way, best in ways]
    begin = f"{state:>4}  "
    if len(begin) + sum(display_width(way) + 5 for way, _ in ways) - 5 <= sheet.width:
        return [begin + "  |  ".join(inked)]
    lines: list[str] = []
    for i, (way, best) in enumerate(ways):
        for line in wrap(way, max(sheet.width - 8, 20)):
            lines.append((begin if not lines else "      ") + sheet.ink(line, BOLD if best else ""))
        lines[-1] += "  |" if i < len(ways) - 1 else ""
    return lines


def _after(arcs: Arcs) -> dict[int, list[GraphArc]]:
    """The arcs that leave each state."""
    found: dict[int, list[GraphArc]] = {}
    for arc in arcs:
        found.setdefault(arc.start, []).append(arc)
    return found


def _inner(arcs: Arcs) -> set[int]:
    """The states that one arc enters and one leaves."""
    entered = Counter(arc.end for arc in arcs)
    return {s for s, ways in _after(arcs).items() if s and len(ways) == 1 and entered[s] == 1}


def _chains(arcs: Arcs) -> list[GraphArc]:
    """Return the graph without such states."""
    after, inner = _after(arcs), _inner(arcs)
    found = []
    for arc in arcs:
        if arc.start in inner:
            continue
        words, end = [arc.word], arc.end
        while end in inner:
            (way,) = after[end]
            words.append(way.word)
            end = way.end
        found.append(GraphArc(arc.start, end, " ".join(words), arc.best))
    return found
