"""The bitext grid as a drawing: hits, runs, chosen blocks, what the cap took away, barriers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from karat.metrics.accuracy import Alignment, Operation
from karat.metrics.gtm import AlignedBlock, Explanation
from karat.report.charts.svg import frame as svg
from karat.report.markup import Look, coordinate, element, quote, shape
from karat.report.model import enumeration, several
from karat.report.segment.text import (
    EDITS_LEGEND,
    MOST_STEPS,
    NO_EDITS,
    NO_WORDS,
    Step,
    step_lines,
    steps,
)

CELL = 18.0
LABELLED = 9.0  # cells smaller than this have numbers at the edge instead of words
WIDEST = 1600.0  # of the grid itself: cells of long texts shrink
MOST_HITS = 50_000
NARROWEST = 420.0  # of the drawing: room for the legend
LONGEST_WORD = 24
SLANT = 55  # degrees by which the words above the columns rise
WIDE = 1.25  # words of wide letters, in bold print where the pointer is, by the usual length
TOUCHED = 0.16  # opacity of a block's area
EDGE: Look = {"fill": "none", "stroke": svg.RULE, "class_": "edge"}


@dataclass(frozen=True)
class GridFrame:
    """The position of the grid on the page."""

    rows: int
    columns: int
    cell: float
    left: float
    top: float
    right: float

    def x(self, column: float) -> float:
        return self.left + column * self.cell

    def y(self, row: float) -> float:
        return self.top + row * self.cell

    @property
    def width(self) -> float:
        return self.x(self.columns) + self.right

    @property
    def labelled(self) -> bool:
        return self.cell >= LABELLED


def grid_svg(found: Explanation, title: str) -> str:
    """The picture of one matching; each block is named for screen readers."""
    if not found.candidate or found.columns == len(found.references):
        return svg.no_data(title, NO_WORDS)
    frame = _frame(found)
    parts = [
        *_labels(found, frame),
        *_barriers(found, frame),
        *_others(found, frame),
        *(_block(found, frame, block) for block in found.blocks),
        shape("rect", **_place(frame, 0, 0, frame.columns, frame.rows), **EDGE),
    ]
    legend, height = _legend(found, frame)
    wide = max(frame.width, NARROWEST)
    lengths = " ".join(str(len(words)) for words in found.references)
    # A group, not an image: the blocks in it can be visited one by one.
    look: Look = {"role": "group", "aria_label": title, "class_": "grid"}
    look["data_references"] = lengths  # whence the script knows which word a column is
    return svg.chart(title, story(found), height, [*parts, *legend], wide, fluid=False, **look)


def story(found: Explanation) -> str:
    """The picture in one sentence."""
    runs = enumeration([block_story(found, block) for block in found.blocks])
    sizes = f"{several(len(found.candidate), 'candidate word')} down, " + ", ".join(
        f"{several(len(r), 'word')} of reference {n} across"
        for n, r in enumerate(found.references, 1)
    )
    counts = f"{several(found.hit_count, 'hit')}, {several(len(found.blocks), 'run')} chosen"
    return f"{sizes}. {counts}. {runs}".rstrip()


def block_story(found: Explanation, block: AlignedBlock) -> str:
    """One run in words."""
    words = svg.shorten(" ".join(found.candidate[block.row : block.row + block.length]), 60)
    of = f" of reference {block.reference + 1}" if len(found.references) > 1 else ""
    place = f"candidate {_range(block.row, block.length)}, "
    place += f"word{'s' * (block.length > 1)} {_range(block.position, block.length)}{of}"
    lost = "" if block.counted == block.length else f"; counts as {block.counted:g}"
    return f"{words}: {several(block.length, 'word')}, {place}{lost}"


def _range(start: int, length: int) -> str:
    return f"{start + 1}" if length == 1 else f"{start + 1}-{start + length}"


def _frame(found: Explanation) -> GridFrame:
    rows, columns = len(found.candidate), found.columns - 1
    cell = min(CELL, WIDEST / columns, WIDEST / rows)
    if cell < LABELLED:
        return GridFrame(rows, columns, cell, 56, 28, 16)
    down = WIDE * max(svg.extent(_short(word)) for word in found.candidate)
    across = WIDE * max(svg.extent(_short(word)) for ref in found.references for word in ref)
    rise, overhang = (math.sin(math.radians(SLANT)), math.cos(math.radians(SLANT)))
    return GridFrame(rows, columns, cell, down + 14, across * rise + 16, across * overhang + 12)


def _short(word: str) -> str:
    return svg.shorten(word, LONGEST_WORD)


def _place(frame: GridFrame, column: float, row: float, w: float, h: float) -> dict[str, float]:
    place = {"x": frame.x(column), "y": frame.y(row)}
    return place | {"width": w * frame.cell, "height": h * frame.cell}


def _labels(found: Explanation, frame: GridFrame) -> Iterator[str]:
    """Words, those without a match muted; numbers where there is no room for words."""
    if not frame.labelled:  # some numbers along both edges, at least 60 units apart
        step = next(n for k in range(9) for m in (1, 2, 5) if (n := m * 10**k) * frame.cell >= 60)
        for i in range(step, frame.rows + 1, step):
            yield svg.label(frame.left - 6, frame.y(i - 0.5) + 4, f"{i:,}", "end", svg.MUTED)
        for j in range(step, frame.columns + 1, step):
            yield svg.label(frame.x(j - 0.5), frame.top - 8, f"{j:,}", "middle", svg.MUTED)
        return
    rows = {block.row + k for block in found.blocks for k in range(block.length)}
    columns = {block.column + k for block in found.blocks for k in range(block.length)}
    for i, word in enumerate(found.candidate):
        fill = None if i in rows else svg.MUTED
        place: Look = {"x": frame.left - 8, "y": frame.y(i + 0.5) + 4, "text_anchor": "end"}
        yield element("text", quote(_short(word)), **place, fill=fill, data_row=i)
    starts = [0, *(barrier + 1 for barrier in found.barriers)]
    pairs = zip(starts, found.references, strict=False)
    for j, word in (head for start, reference in pairs for head in enumerate(reference, start)):
        x, y = frame.x(j + 0.5), frame.top - 7
        turn = f"rotate(-{SLANT} {coordinate(x)} {coordinate(y)})"
        fill = None if j in columns else svg.MUTED
        place = {"x": x - 1, "y": y + 3, "transform": turn}
        yield element("text", quote(_short(word)), **place, fill=fill, data_column=j)


def _barriers(found: Explanation, frame: GridFrame) -> Iterator[str]:
    """A dashed line after each reference but the last, and the references' names below."""
    starts = [0, *(barrier + 1 for barrier in found.barriers)]
    for number, (start, end) in enumerate(zip(starts, found.barriers, strict=False), 1):
        if number < len(found.references):
            x = frame.x(end + 0.5)
            look: Look = {"stroke": svg.RULE, "stroke_width": 2, "stroke_dasharray": "5 4"}
            yield shape("line", x1=x, y1=frame.top, x2=x, y2=frame.y(frame.rows), **look)
        if len(found.references) > 1:
            middle = frame.x((start + end) / 2)
            name = f"reference {number}"
            if svg.extent(name) > (end - start) * frame.cell:
                name = f"{number}"  # a short reference has room for its number alone
            yield svg.label(middle, frame.y(frame.rows) + 18, name, "middle", svg.MUTED)


def _others(found: Explanation, frame: GridFrame) -> Iterator[str]:
    """The hits that were not chosen, as dots, and their runs as thin lines."""
    if found.hit_count > MOST_HITS:
        return
    chosen = {(b.row + k, b.column + k) for b in found.blocks for k in range(b.length)}
    dot = max(frame.cell * 0.22, 0.5)
    dots = [f"M{_point(frame, i, j)}h0" for i, j in found.hits() if (i, j) not in chosen]
    lines = [
        f"M{_point(frame, run.row, run.column)}L{_point(frame, run.row + end, run.column + end)}"
        for run in found.runs()
        if (end := run.length - 1)
    ]
    for path, width in ((lines, 1.0), (dots, dot)):
        if path:
            look: Look = {"stroke": svg.MUTED, "stroke_width": width, "fill": "none"}
            yield shape("path", d="".join(path), **look, stroke_linecap="round")


def _point(frame: GridFrame, row: int, column: int) -> str:
    """The middle of a cell."""
    return f"{coordinate(frame.x(column + 0.5))} {coordinate(frame.y(row + 0.5))}"


def _block(found: Explanation, frame: GridFrame, block: AlignedBlock) -> str:
    """One chosen run: its area, which is what counts at e = 2, and its hits on the diagonal."""
    kept = math.ceil(block.counted)
    color = svg.ACCENT if kept else svg.WARM
    place = _place(frame, block.column, block.row, block.length, block.length)
    area = shape("rect", **place, rx=2, fill=color, fill_opacity=TOUCHED, stroke=color)
    hits = [_hit(frame, block, k) for k in range(block.length)]
    told = block_story(found, block)
    look = {"class_": "run", "role": "img", "aria_label": told}
    return element("g", svg.tooltip(told), area, *hits, **look)


def _hit(frame: GridFrame, block: AlignedBlock, k: int) -> str:
    """A chosen hit: filled as far as it counts, hollow where the cap took it away."""
    share = min(max(block.counted - k, 0.0), 1.0)
    gap = 0.12 if frame.labelled else 0.0
    side = 1 - 2 * gap
    column, row = block.column + k + gap, block.row + k + gap
    parts = []
    if share < 1:
        edge = {"fill": "none", "stroke": svg.WARM, "stroke_dasharray": "3 2"}
        parts.append(shape("rect", **_place(frame, column, row, side, side), **edge))
    if share > 0:
        place = _place(frame, column, row, side * share, side)
        parts.append(shape("rect", **place, rx=1.5, fill=svg.ACCENT))
    return "".join(parts)


def _legend(found: Explanation, frame: GridFrame) -> tuple[list[str], float]:
    """The signs that occur, explained below the grid, and the height of it all."""
    y = frame.y(frame.rows) + (44 if len(found.references) > 1 else 28)
    entries: list[tuple[str, Look]] = [("a hit that counts", {"fill": svg.ACCENT})]
    if found.pared:
        entries.append(("given up to the cap", {"fill": "none", "stroke": svg.WARM}))
    entries.append(("a run's area", {"fill": svg.ACCENT, "fill_opacity": TOUCHED}))
    if found.hit_count > MOST_HITS:
        entries.append((f"{found.hit_count:,} hits are too many to draw", {"fill": "none"}))
    elif found.hit_count > sum(block.length for block in found.blocks):
        entries.append(("a hit that is not chosen", {"fill": svg.MUTED}))
    parts, x = [], 8.0
    for label, look in entries:
        small = 4 if look["fill"] == svg.MUTED else 10
        place = {"x": x + (10 - small) / 2, "y": y - 9 + (10 - small) / 2}
        parts.append(shape("rect", **place, width=small, height=small, **look))
        parts.append(svg.label(x + 16, y, label, fill=svg.MUTED))
        x += 16 + svg.extent(label) + 24
        if x > max(frame.width, NARROWEST) - 150:
            x, y = 8.0, y + 18
    return parts, y + 10


ADVANCE = 7.25  # of a letter at 12 units, in any common monospaced font
LINE = 17.0
BAND = 3 * LINE + 18
MARGIN = 84.0  # for the names of the two texts

SIGN = Step._fields.index("sign")
_COLORS = {"S": svg.WARM, "I": svg.ACCENT, "D": svg.MUTED, "M": svg.VIOLET, "": None}
_SAYS = {
    "keep": "{below} stays",
    "substitute": "{above} becomes {below}",
    "insert": "{below} is inserted",
    "delete": "{above} is deleted",
}


def edits_svg(found: Alignment, title: str) -> str:
    """The picture of one alignment, in as many bands as it takes."""
    drawn = steps(found)[:MOST_STEPS]
    if not drawn:
        return svg.no_data(title, NO_EDITS)
    parts: list[str] = []
    lines = step_lines(drawn, int((svg.WIDTH - MARGIN) / ADVANCE))
    for number, band in enumerate(lines):
        parts += _band(band, 24 + number * BAND)
    bottom = 24 + len(lines) * BAND
    parts.append(svg.label(0, bottom, EDITS_LEGEND, fill=svg.MUTED))
    longest = max(sum(step.width + 1 for step in band) for band in lines) * ADVANCE
    width = max(longest + MARGIN, svg.WIDTH)
    return svg.chart(title, edits_story(found), bottom + 12, parts, width)


def edits_story(found: Alignment) -> str:
    """The alignment in one sentence."""
    pairs = zip(found.operations, steps(found), strict=True)
    told = [_said(operation, step) for operation, step in pairs if step.sign]
    count = found.count("keep")
    kept = f"{several(count, 'word')} {'stays' if count == 1 else 'stay'}"
    return f"{kept}; {enumeration(told)}." if told else f"{kept}; nothing changes."


def _said(operation: Operation, step: Step) -> str:
    told = _SAYS[operation.kind].format(above=step.above, below=step.below)
    return told if operation.move is None else f"{told} (move {operation.move + 1})"


def _band(band: Sequence[Step], top: float) -> list[str]:
    parts = [
        svg.label(0, top, "reference", fill=svg.MUTED),
        svg.label(0, top + 2 * LINE, "candidate", fill=svg.MUTED),
    ]
    column = 0
    for step in band:
        x = MARGIN + column * ADVANCE
        parts += [_part(x, top + k * LINE, step, k) for k in range(3) if step[k]]
        column += step.width + 1
    return parts


def _part(x: float, y: float, step: Step, part: int) -> str:
    """One of the three parts of a step; a word without a partner is struck out or underlined."""
    line = None
    if part != SIGN and not (step.above and step.below):
        line = "line-through" if step.above else "underline"
    size = 10.0 if part == SIGN else 12.0
    look: Look = {"fill": _COLORS[step.sign[:1]], "text_decoration": line, "font_size": size}
    return element("text", quote(step[part]), x=x, y=y, **look, font_family=svg.MONOSPACE)


def edits_html(found: Alignment) -> str:
    """The alignment as words that flow over the page; each step is read out as a sentence."""
    pairs = list(zip(found.operations, steps(found), strict=True))[:MOST_STEPS]
    items = [_item(operation, step) for operation, step in pairs]
    left = len(found.operations) - len(items)
    more = [element("p", f"and {left:,} more steps", class_="note")] if left else []
    legend = element("p", quote(EDITS_LEGEND), class_="note")
    return element("div", *items, class_="edits", role="list") + "".join(more) + legend


def _item(operation: Operation, step: Step) -> str:
    moved = "" if operation.move is None else " move"
    texts = [element("span", quote(word) or "&nbsp;", aria_hidden="true") for word in step]
    look: Look = {"class_": f"step {operation.kind}{moved}", "role": "listitem"}
    number = None if operation.move is None else str(operation.move)
    return element("span", *texts, **look, aria_label=_said(operation, step), data_move=number)
