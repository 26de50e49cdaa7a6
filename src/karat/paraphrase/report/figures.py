"""The paper's Figures 1 and 2: the phrases of a sentence, and their translations.

The phrases of the most probable segmentation are drawn in a row. The translations of a phrase are
arcs between the same two states, labelled `translation / Pr(f|e)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from karat.report.charts.svg import frame as svg
from karat.report.markup import Look, element, quote, shape
from karat.report.model import Figure, format_brief, format_count

if TYPE_CHECKING:
    from karat.paraphrase.pem.scoring import PairExplanation, Phrase


NETWORK_CAPTION = (
    "Boxes are the phrases of the most probable segmentation. Below each, its translations with "
    "Pr(f|e); a path from left to right is a sentence in the pivot language. Dashed: a word that "
    "the table lacks, which stands for itself."
)
MAX_ARCS = 8
"""Translations drawn for one phrase, the most probable first."""
MAX_NETWORK_LABEL = 48
"""Characters of a label."""
MARGIN = 14.0
NETWORK_BOX = 24.0
ROW = 24.0
BEND = 18.0
HEADING = 26.0

Placed = tuple["Phrase", float, float]
"""A phrase with its left and right end in its row."""


def network_figure(pair: int, explanation: PairExplanation) -> Figure:
    """Return the figure of the two networks of a pair."""
    title = f"Phrases and pivot networks of pair {pair}"
    return Figure(title, partial(_draw_networks, title, explanation), NETWORK_CAPTION)


def _draw_networks(title: str, explanation: PairExplanation) -> str:
    sentences = {"Original": explanation.original, "Paraphrase": explanation.paraphrase}
    parts: list[str] = []
    y, descriptions = 0.0, []
    for name, phrases in sentences.items():
        parts.append(element("text", name, x=0, y=y + 14, font_weight=600))
        y += HEADING
        for row in _rows(phrases):
            max_labels = max(len(_labels(phrase)) for phrase, _, _ in row)
            parts += _network(row, y, y + NETWORK_BOX + 14 + max_labels * ROW / 2)
            y += NETWORK_BOX + 24 + max_labels * ROW
        arcs = sum(len(phrase.edges) for phrase in phrases)
        counts = format_count(len(phrases), "phrase"), format_count(arcs, "translation")
        descriptions.append(f"{name}: {', '.join(counts)}")
    return svg.chart(title, "; ".join(descriptions), y, parts, fluid=False, class_="grid")


def _rows(phrases: Sequence[Phrase]) -> Iterator[list[Placed]]:
    """Yield rows of phrases that fit the width of the figure."""
    row: list[Placed] = []
    x = MARGIN
    for phrase in phrases:
        arcs = max(map(svg.extent, _labels(phrase)))
        width = max(svg.extent(_words(phrase, MAX_NETWORK_LABEL)) + 24, arcs + 2 * BEND + 12, 64.0)
        if row and x + width > svg.WIDTH - MARGIN:
            yield row
            row, x = [], MARGIN
        row.append((phrase, x, x + width))
        x += width
    if row:
        yield row


def _words(phrase: Phrase, max_length: int) -> str:
    return svg.shorten(" ".join(phrase.words), max_length)


def _labels(phrase: Phrase) -> list[str]:
    """Return the labels of the arcs, and one for the arcs that are not drawn."""
    labels = [
        f"{svg.shorten(' '.join(words), MAX_NETWORK_LABEL)} / {format_brief(p)}"
        for words, p in phrase.edges[:MAX_ARCS]
    ]
    more = len(phrase.edges) - len(labels)
    return [*labels, f"and {more} more"] if more else labels


def _network(row: Sequence[Placed], top: float, middle: float) -> Iterator[str]:
    """Yield a row of boxes, and below them the arcs in parallel around the middle."""
    for phrase, x, end in row:
        look: Look = {"fill": "none", "stroke": svg.RULE, "rx": 4}
        yield shape("rect", x=x + 3, y=top, width=end - x - 6, height=NETWORK_BOX - 4, **look)
        yield svg.label((x + end) / 2, top + 14, _words(phrase, MAX_NETWORK_LABEL), "middle")
        labels, dashes = _labels(phrase), None if phrase.in_table else "4 3"
        for rank, label in enumerate(labels):
            y = middle + (rank - (len(labels) - 1) / 2) * ROW
            if rank < len(phrase.edges[:MAX_ARCS]):
                arc: Look = {"fill": "none", "stroke": svg.ACCENT, "stroke_dasharray": dashes}
                arc["stroke_width"] = 1 + 1.5 * phrase.edges[rank].probability
                yield shape("path", d=_path(x, end, middle, y), **arc)
            place: Look = {"x": (x + end) / 2, "y": y - 5, "text_anchor": "middle"}
            yield element("text", quote(label), **place, **svg.HALO)
    for x in [row[0][1], *(end for _, _, end in row)]:  # the states
        yield shape("circle", cx=x, cy=middle, r=3.5, fill=svg.ACCENT)


def _path(start: float, end: float, middle: float, y: float) -> str:
    """Return the path of an arc from one state to the next, level at `y`."""
    near, far = start + BEND, end - BEND
    begin = f"M {start:.1f} {middle:.1f} C {near:.1f} {middle:.1f} {start:.1f} {y:.1f} "
    return begin + (
        f"{near:.1f} {y:.1f} L {far:.1f} {y:.1f} "
        f"C {end:.1f} {y:.1f} {far:.1f} {middle:.1f} {end:.1f} {middle:.1f}"
    )


PAIR_CAPTION = (
    "A line joins phrases whose translations share words: the thicker, the more they share. "
    "Words are as the model sees them, such as in lower case and without endings."
)
GAP, PAIR_BOX, BETWEEN = 8.0, 24.0, 70.0
MAX_PAIR_LABEL = 30


def pair_figure(pair: int, explanation: PairExplanation) -> Figure:
    """Return the figure of the phrases of a pair that share pivot words."""
    title = f"Pair {pair}: phrases that share pivot words"
    return Figure(title, partial(_draw_pair, title, explanation), PAIR_CAPTION)


def _draw_pair(title: str, explanation: PairExplanation) -> str:
    """Draw the phrases of both sentences and their links; unlinked phrases are dashed."""
    original, paraphrase, links = explanation.original, explanation.paraphrase, explanation.links
    above, below = _places(original), _places(paraphrase)
    lower = PAIR_BOX + BETWEEN
    parts = []
    for link in links:
        x1, x2 = sum(above[link.original]) / 2, sum(below[link.paraphrase]) / 2
        weight = min(link.weight, 1.0)
        look: Look = {"stroke": svg.ACCENT, "stroke_opacity": 0.35 + 0.65 * weight}
        ends: Look = {"x1": x1, "y1": PAIR_BOX + 4, "x2": x2, "y2": lower - 2}
        pair = original[link.original], paraphrase[link.paraphrase]
        words = " - ".join(" ".join(phrase.words) for phrase in pair)
        line = shape("line", **ends, **look, stroke_width=1 + 3 * weight)
        parts.append(element("g", svg.tooltip(f"{words}: {format_brief(link.weight)}"), line))
    for phrases, places, y, linked in (
        (original, above, 0.0, {link.original for link in links}),
        (paraphrase, below, lower, {link.paraphrase for link in links}),
    ):
        for number, (phrase, (x, end)) in enumerate(zip(phrases, places, strict=True)):
            look = {"fill": "none", "stroke": svg.RULE, "rx": 4}
            look["stroke_dasharray"] = None if number in linked else "4 3"
            parts.append(shape("rect", x=x, y=y + 2, width=end - x, height=PAIR_BOX, **look))
            look = {"x": (x + end) / 2, "y": y + 18, "text_anchor": "middle"}
            parts.append(element("text", quote(_words(phrase, MAX_PAIR_LABEL)), **look))
    width, height = max(end for _, end in [*above, *below]) + 2, lower + PAIR_BOX + 4
    description = f"{format_count(len(links), 'pair')} of phrases with shared pivot words"
    return svg.chart(title, description, height, parts, width, fluid=False, class_="grid")


def _places(phrases: Sequence[Phrase]) -> list[tuple[float, float]]:
    places, x = [], 2.0
    for phrase in phrases:
        end = x + svg.extent(_words(phrase, MAX_PAIR_LABEL)) + 16
        places.append((x, end))
        x = end + GAP
    return places
