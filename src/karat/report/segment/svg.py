"""Bitext grids and edit alignments as SVG and HTML."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.metrics.accuracy import Alignment, Operation
from karat.metrics.gtm import AlignedBlock, Explanation
from karat.report.charts.svg import frame as svg
from karat.report.charts.svg.frame import ACCENT, MUTED, RULE, WARM
from karat.report.markup import Look, coordinate, element, quote, shape
from karat.report.model import format_count, join_items
from karat.report.segment.text import (
    EDITS_LEGEND,
    MAX_STEPS,
    NO_EDITS,
    NO_WORDS,
    Step,
    alignment_steps,
    step_lines,
)

CELL = 18.0
MIN_LABELLED_CELL = 9.0  # cells smaller than this have numbers at the edge instead of words
MAX_GRID_SIZE = 1600.0  # of the grid itself: cells of long texts shrink
MAX_HITS = 50_000
MIN_GRID_WIDTH = 420.0  # of the drawing: room for the legend
MAX_WORD = 24
SLANT = 55  # degrees by which the words above the columns rise
WIDE = 1.25  # allows for wide letters, and for bold print under the pointer
AREA_OPACITY = 0.16  # opacity of a block's area


class GridFrame(NamedTuple):
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

    def rectangle(self, column: float, row: float, w: float, h: float) -> dict[str, float]:
        place = {"x": self.x(column), "y": self.y(row)}
        return place | {"width": w * self.cell, "height": h * self.cell}

    def middle(self, row: int, column: int) -> str:
        return f"{coordinate(self.x(column + 0.5))} {coordinate(self.y(row + 0.5))}"

    @property
    def width(self) -> float:
        return max(self.x(self.columns) + self.right, MIN_GRID_WIDTH)

    @property
    def has_words(self) -> bool:
        return self.cell >= MIN_LABELLED_CELL


def grid_svg(explanation: Explanation, title: str) -> str:
    """Draw a matching; each block has a label for screen readers."""
    if not explanation.candidate or explanation.columns == len(explanation.references):
        return svg.no_data(title, NO_WORDS)
    frame = _grid_frame(explanation)
    edge: Look = {"fill": "none", "stroke": RULE, "class_": "edge"}
    parts = [
        *_draw_words(explanation, frame),
        *_draw_barriers(explanation, frame),
        *_draw_unchosen_hits(explanation, frame),
        *(_draw_block(explanation, frame, block) for block in explanation.blocks),
        shape("rect", **frame.rectangle(0, 0, frame.columns, frame.rows), **edge),
    ]
    legend, height = _draw_legend(explanation, frame)
    # A group, not an image: the blocks in it can be visited one by one.
    look: Look = {"role": "group", "aria_label": title, "class_": "grid"}
    # lets the script find the word of a column
    look["data_references"] = " ".join(str(len(words)) for words in explanation.references)
    parts += legend
    story = grid_story(explanation)
    return svg.chart(title, story, height, parts, frame.width, fluid=False, **look)


def grid_story(explanation: Explanation) -> str:
    """Describe a grid in one sentence."""
    runs = join_items([block_story(explanation, block) for block in explanation.blocks])
    sizes = f"{format_count(len(explanation.candidate), 'candidate word')} down, " + ", ".join(
        f"{format_count(len(r), 'word')} of reference {n} across"
        for n, r in enumerate(explanation.references, 1)
    )
    hits, chosen = format_count(explanation.hit_count, "hit"), len(explanation.blocks)
    return f"{sizes}. {hits}, {format_count(chosen, 'run')} chosen. {runs}".rstrip()


def block_story(explanation: Explanation, block: AlignedBlock) -> str:
    """Describe a run."""
    words = svg.shorten(" ".join(explanation.candidate[block.row : block.row + block.length]), 60)
    of = f" of reference {block.reference + 1}" if len(explanation.references) > 1 else ""
    rows, places = (
        f"{start + 1}" if block.length == 1 else f"{start + 1}-{start + block.length}"
        for start in (block.row, block.position)
    )
    lost = "" if block.counted == block.length else f"; counts as {block.counted:g}"
    place = f"candidate {rows}, word{'s' * (block.length > 1)} {places}{of}"
    return f"{words}: {format_count(block.length, 'word')}, {place}{lost}"


def _grid_frame(explanation: Explanation) -> GridFrame:
    rows, columns = len(explanation.candidate), explanation.columns - 1
    cell = min(CELL, MAX_GRID_SIZE / columns, MAX_GRID_SIZE / rows)
    if cell < MIN_LABELLED_CELL:
        return GridFrame(rows, columns, cell, 56, 28, 16)
    reference_words = [word for words in explanation.references for word in words]
    down, across = (
        WIDE * max(svg.extent(svg.shorten(word, MAX_WORD)) for word in words)
        for words in (explanation.candidate, reference_words)
    )
    rise, overhang = (math.sin(math.radians(SLANT)), math.cos(math.radians(SLANT)))
    return GridFrame(rows, columns, cell, down + 14, across * rise + 16, across * overhang + 12)


def _draw_words(explanation: Explanation, frame: GridFrame) -> Iterator[str]:
    """Draw words, muted without a match, or numbers if there is no room for words."""
    if not frame.has_words:  # some numbers along both edges, at least 60 units apart
        step = next(n for k in range(9) for m in (1, 2, 5) if (n := m * 10**k) * frame.cell >= 60)
        for i in range(step, frame.rows + 1, step):
            yield svg.label(frame.left - 6, frame.y(i - 0.5) + 4, f"{i:,}", "end", MUTED)
        for j in range(step, frame.columns + 1, step):
            yield svg.label(frame.x(j - 0.5), frame.top - 8, f"{j:,}", "middle", MUTED)
        return
    rows = {block.row + k for block in explanation.blocks for k in range(block.length)}
    columns = {block.column + k for block in explanation.blocks for k in range(block.length)}
    for i, word in enumerate(explanation.candidate):
        fill = None if i in rows else MUTED
        place: Look = {"x": frame.left - 8, "y": frame.y(i + 0.5) + 4, "text_anchor": "end"}
        yield element("text", quote(svg.shorten(word, MAX_WORD)), **place, fill=fill, data_row=i)
    starts = [0, *(barrier + 1 for barrier in explanation.barriers)]
    pairs = zip(starts, explanation.references, strict=False)
    for j, word in (head for start, reference in pairs for head in enumerate(reference, start)):
        x, y, text = frame.x(j + 0.5), frame.top - 7, quote(svg.shorten(word, MAX_WORD))
        turn = f"rotate(-{SLANT} {coordinate(x)} {coordinate(y)})"
        place = {"x": x - 1, "y": y + 3, "transform": turn}
        yield element("text", text, **place, fill=None if j in columns else MUTED, data_column=j)


def _draw_barriers(explanation: Explanation, frame: GridFrame) -> Iterator[str]:
    """Draw dashed lines between references, and the names of references below."""
    starts = [0, *(barrier + 1 for barrier in explanation.barriers)]
    for number, (start, end) in enumerate(zip(starts, explanation.barriers, strict=False), 1):
        if number < len(explanation.references):
            x = frame.x(end + 0.5)
            look: Look = {"stroke": RULE, "stroke_width": 2, "stroke_dasharray": "5 4"}
            yield shape("line", x1=x, y1=frame.top, x2=x, y2=frame.y(frame.rows), **look)
        if len(explanation.references) > 1:
            middle = frame.x((start + end) / 2)
            name = f"reference {number}"
            if svg.extent(name) > (end - start) * frame.cell:
                name = f"{number}"  # a short reference has room for its number alone
            yield svg.label(middle, frame.y(frame.rows) + 18, name, "middle", MUTED)


def _draw_unchosen_hits(explanation: Explanation, frame: GridFrame) -> Iterator[str]:
    """Draw hits outside the chosen blocks as dots, under a thin line for every run of hits."""
    if explanation.hit_count > MAX_HITS:
        return
    block_cells = {(b.row + k, b.column + k) for b in explanation.blocks for k in range(b.length)}
    dots = [f"M{frame.middle(i, j)}h0" for i, j in explanation.hits() if (i, j) not in block_cells]
    lines = [
        f"M{frame.middle(run.row, run.column)}L{frame.middle(run.row + steps, run.column + steps)}"
        for run in explanation.runs()
        if (steps := run.length - 1)
    ]
    for commands, width in ((lines, 1.0), (dots, max(frame.cell * 0.22, 0.5))):
        if commands:
            look: Look = {"stroke": MUTED, "stroke_width": width, "fill": "none"}
            yield shape("path", d="".join(commands), **look, stroke_linecap="round")


def _draw_block(explanation: Explanation, frame: GridFrame, block: AlignedBlock) -> str:
    """Draw a chosen run: its area, which counts at e = 2, and its hits on the diagonal.

    Hits are filled as far as they count, and hollow beyond the cap.
    """
    color = ACCENT if math.ceil(block.counted) else WARM
    place = frame.rectangle(block.column, block.row, block.length, block.length)
    parts = [shape("rect", **place, rx=2, fill=color, fill_opacity=AREA_OPACITY, stroke=color)]
    gap = 0.12 if frame.has_words else 0.0
    side = 1 - 2 * gap
    for k in range(block.length):
        share = min(max(block.counted - k, 0.0), 1.0)
        corner = block.column + k + gap, block.row + k + gap
        if share < 1:
            edge = {"fill": "none", "stroke": WARM, "stroke_dasharray": "3 2"}
            parts.append(shape("rect", **frame.rectangle(*corner, side, side), **edge))
        if share > 0:
            place = frame.rectangle(*corner, side * share, side)
            parts.append(shape("rect", **place, rx=1.5, fill=ACCENT))
    description = block_story(explanation, block)
    look = {"class_": "run", "role": "img", "aria_label": description}
    return element("g", svg.tooltip(description), *parts, **look)


def _draw_legend(explanation: Explanation, frame: GridFrame) -> tuple[list[str], float]:
    y = frame.y(frame.rows) + (44 if len(explanation.references) > 1 else 28)
    entries: list[tuple[str, Look]] = [("a hit that counts", {"fill": ACCENT})]
    if explanation.pared:
        entries.append(("given up to the cap", {"fill": "none", "stroke": WARM}))
    entries.append(("a run's area", {"fill": ACCENT, "fill_opacity": AREA_OPACITY}))
    if explanation.hit_count > MAX_HITS:
        entries.append((f"{explanation.hit_count:,} hits are too many to draw", {"fill": "none"}))
    elif explanation.hit_count > sum(block.length for block in explanation.blocks):
        entries.append(("a hit that is not chosen", {"fill": MUTED}))
    parts, x = [], 8.0
    for label, look in entries:
        small = 4 if look["fill"] == MUTED else 10
        place = {"x": x + (10 - small) / 2, "y": y - 9 + (10 - small) / 2}
        parts.append(shape("rect", **place, width=small, height=small, **look))
        parts.append(svg.label(x + 16, y, label, fill=MUTED))
        x += 16 + svg.extent(label) + 24
        if x > frame.width - 150:
            x, y = 8.0, y + 18
    return parts, y + 10


LETTER_ADVANCE = 7.25  # of a letter at 12 units, in any common monospaced font
LINE_HEIGHT = 17.0
BAND_HEIGHT = 3 * LINE_HEIGHT + 18
NAME_MARGIN = 84.0  # for the names of the two texts

SIGN = Step._fields.index("letter")
_COLORS = {"S": WARM, "I": ACCENT, "D": MUTED, "M": svg.VIOLET, "": None}
_STEP_SENTENCES = {
    "keep": "{below} stays",
    "substitute": "{above} becomes {below}",
    "insert": "{below} is inserted",
    "delete": "{above} is deleted",
}


def edits_svg(alignment: Alignment, title: str) -> str:
    """Draw an alignment, in several bands if it is long."""
    shown_steps = alignment_steps(alignment)[:MAX_STEPS]
    if not shown_steps:
        return svg.no_data(title, NO_EDITS)
    parts: list[str] = []
    lines = step_lines(shown_steps, int((svg.WIDTH - NAME_MARGIN) / LETTER_ADVANCE))
    for number, band in enumerate(lines):
        parts += _draw_band(band, 24 + number * BAND_HEIGHT)
    bottom = 24 + len(lines) * BAND_HEIGHT
    parts.append(svg.label(0, bottom, EDITS_LEGEND, fill=MUTED))
    longest = max(sum(step.width + 1 for step in band) for band in lines) * LETTER_ADVANCE
    width = max(longest + NAME_MARGIN, svg.WIDTH)
    return svg.chart(title, edits_story(alignment), bottom + 12, parts, width)


def edits_story(alignment: Alignment) -> str:
    """Return the alignment in one sentence."""
    pairs = zip(alignment.operations, alignment_steps(alignment), strict=True)
    changes = [_step_sentence(operation, step) for operation, step in pairs if step.letter]
    count = alignment.count("keep")
    unchanged = f"{format_count(count, 'word')} {'stays' if count == 1 else 'stay'}"
    return f"{unchanged}; {join_items(changes) if changes else 'nothing changes'}."


def _step_sentence(operation: Operation, step: Step) -> str:
    sentence = _STEP_SENTENCES[operation.kind].format(above=step.above, below=step.below)
    return sentence if operation.move is None else f"{sentence} (move {operation.move + 1})"


def _draw_band(band: Sequence[Step], top: float) -> Iterator[str]:
    """Draw a line of steps: words one above the other, and between them the letter of the edit.

    A word without a partner is struck out or underlined.
    """
    yield svg.label(0, top, "reference", fill=MUTED)
    yield svg.label(0, top + 2 * LINE_HEIGHT, "candidate", fill=MUTED)
    column = 0
    for step in band:
        x = NAME_MARGIN + column * LETTER_ADVANCE
        for part in (part for part in range(3) if step[part]):
            line = None
            if part != SIGN and not (step.above and step.below):
                line = "line-through" if step.above else "underline"
            look: Look = {"fill": _COLORS[step.letter[:1]], "text_decoration": line}
            look["font_size"] = 10.0 if part == SIGN else 12.0
            place = {"x": x, "y": top + part * LINE_HEIGHT}
            yield element("text", quote(step[part]), **place, **look, font_family=svg.MONOSPACE)
        column += step.width + 1


def edits_html(alignment: Alignment) -> str:
    """Return the alignment as flowing words; screen readers read each step as a sentence."""
    pairs = list(zip(alignment.operations, alignment_steps(alignment), strict=True))[:MAX_STEPS]
    items = []
    for operation, step in pairs:
        texts = [element("span", quote(word) or "&nbsp;", aria_hidden="true") for word in step]
        move, kind = operation.move, f"step {operation.kind}"
        look: Look = {"class_": kind if move is None else f"{kind} move", "role": "listitem"}
        look["aria_label"] = _step_sentence(operation, step)
        items.append(element("span", *texts, **look, data_move=None if move is None else str(move)))
    left = len(alignment.operations) - len(items)
    more = [element("p", f"and {left:,} more steps", class_="note")] if left else []
    legend = element("p", quote(EDITS_LEGEND), class_="note")
    return element("div", *items, class_="edits", role="list") + "".join(more) + legend
