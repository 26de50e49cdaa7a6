"""An edit alignment as a drawing and as markup that flows: reference above, candidate below."""

from __future__ import annotations

from collections.abc import Sequence

from karat.metrics.accuracy import Alignment, Operation
from karat.report.charts.svg import frame as svg
from karat.report.model.cells import enumeration, several
from karat.report.page.markup import Look, element, quote
from karat.report.segment.edits_text import LEGEND, MOST_STEPS, NOTHING, Step, step_lines, steps

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
        return svg.no_data(title, NOTHING)
    parts: list[str] = []
    lines = step_lines(drawn, int((svg.WIDTH - MARGIN) / ADVANCE))
    for number, band in enumerate(lines):
        parts += _band(band, 24 + number * BAND)
    bottom = 24 + len(lines) * BAND
    parts.append(svg.label(0, bottom, LEGEND, fill=svg.MUTED))
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
    legend = element("p", quote(LEGEND), class_="note")
    return element("div", *items, class_="edits", role="list") + "".join(more) + legend


def _item(operation: Operation, step: Step) -> str:
    moved = "" if operation.move is None else " move"
    texts = [element("span", quote(word) or "&nbsp;", aria_hidden="true") for word in step]
    look: Look = {"class_": f"step {operation.kind}{moved}", "role": "listitem"}
    number = None if operation.move is None else str(operation.move)
    return element("span", *texts, **look, aria_label=_said(operation, step), data_move=number)
