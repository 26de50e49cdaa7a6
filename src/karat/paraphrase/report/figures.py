"""The paper's Figures 1 and 2: a sentence in phrases, and what they become in the pivot language.

The phrases of the most probable segmentation stand in a row. Between the same two states run their
translations, one arc each, labelled `translation / Pr(f|e)`. A sentence that is one phrase with one
translation has a network of one arc (Figure 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

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
"""Translations of one phrase that are drawn; the least probable are left out first."""
MAX_NETWORK_LABEL = 48
"""Letters of a label."""
MARGIN = 14.0
NETWORK_BOX = 24.0
ROW = 24.0
BEND = 18.0
HEADING = 26.0


class PlacedPhrase(NamedTuple):
    """A phrase and where it stands: from `x` to `end` in its row."""

    phrase: Phrase
    x: float
    end: float


def network_figure(pair: int, explanation: PairExplanation) -> Figure:
    """Return the two networks of a pair, drawn when they are asked for."""
    title = f"Phrases and pivot networks of pair {pair}"
    return Figure(title, partial(_draw_networks, title, explanation), NETWORK_CAPTION)


def _draw_networks(title: str, explanation: PairExplanation) -> str:
    parts: list[str] = []
    y, descriptions = 0.0, []
    for name, phrases in (
        ("Original", explanation.original),
        ("Paraphrase", explanation.paraphrase),
    ):
        parts.append(element("text", name, x=0, y=y + 14, font_weight=600))
        y += HEADING
        for row in _rows(phrases):
            shapes, height = _network(row, y)
            parts += shapes
            y += height
        arcs = sum(len(phrase.edges) for phrase in phrases)
        descriptions.append(
            f"{name}: {format_count(len(phrases), 'phrase')}, {format_count(arcs, 'translation')}"
        )
    return svg.chart(title, "; ".join(descriptions), y, parts, fluid=False, class_="grid")


def _rows(phrases: Sequence[Phrase]) -> Iterator[list[PlacedPhrase]]:
    """Yield the phrases row by row, as many in each as there is room for."""
    row: list[PlacedPhrase] = []
    x = MARGIN
    for phrase in phrases:
        width = _width(phrase)
        if row and x + width > svg.WIDTH - MARGIN:
            yield row
            row, x = [], MARGIN
        row.append(PlacedPhrase(phrase, x, x + width))
        x += width
    if row:
        yield row


def _width(phrase: Phrase) -> float:
    arcs = [svg.extent(label) for label in _labels(phrase)]
    return max(svg.extent(_network_words(phrase)) + 24, max(arcs) + 2 * BEND + 12, 64.0)


def _network_words(phrase: Phrase) -> str:
    return svg.shorten(" ".join(phrase.words), MAX_NETWORK_LABEL)


def _labels(phrase: Phrase) -> list[str]:
    """Return the labels of the arcs, and one for those that are not drawn."""
    drawn_edges = phrase.edges[:MAX_ARCS]
    labels = [
        f"{svg.shorten(' '.join(words), MAX_NETWORK_LABEL)} / {format_brief(p)}"
        for words, p in drawn_edges
    ]
    more = len(phrase.edges) - len(drawn_edges)
    return [*labels, f"and {more} more"] if more else labels


def _network(row: Sequence[PlacedPhrase], top: float) -> tuple[list[str], float]:
    """Return one row of boxes with the network below it, and its height."""
    max_labels = max(len(_labels(placed.phrase)) for placed in row)
    middle = top + NETWORK_BOX + 14 + max_labels * ROW / 2
    parts = [
        part for placed in row for part in (*_draw_network_box(placed, top), *_arcs(placed, middle))
    ]
    states = [row[0].x, *(placed.end for placed in row)]
    parts += [shape("circle", cx=x, cy=middle, r=3.5, fill=svg.ACCENT) for x in states]
    return parts, NETWORK_BOX + 24 + max_labels * ROW


def _draw_network_box(placed: PlacedPhrase, top: float) -> Iterator[str]:
    look: Look = {"fill": "none", "stroke": svg.RULE, "rx": 4}
    width = placed.end - placed.x - 6
    yield shape("rect", x=placed.x + 3, y=top, width=width, height=NETWORK_BOX - 4, **look)
    yield svg.label((placed.x + placed.end) / 2, top + 14, _network_words(placed.phrase), "middle")


def _arcs(placed: PlacedPhrase, middle: float) -> Iterator[str]:
    """Yield the arcs of a phrase, in parallel around the middle, and their labels."""
    labels = _labels(placed.phrase)
    dashes = None if placed.phrase.in_table else "4 3"
    for rank, label in enumerate(labels):
        y = middle + (rank - (len(labels) - 1) / 2) * ROW
        if rank < len(placed.phrase.edges[:MAX_ARCS]):
            look: Look = {"fill": "none", "stroke": svg.ACCENT, "stroke_dasharray": dashes}
            look["stroke_width"] = 1 + 1.5 * placed.phrase.edges[rank].probability
            yield shape("path", d=_path(placed.x, placed.end, middle, y), **look)
        place: Look = {"x": (placed.x + placed.end) / 2, "y": y - 5, "text_anchor": "middle"}
        yield element("text", quote(label), **place, **svg.HALO)


def _path(start: float, end: float, middle: float, y: float) -> str:
    """Return an arc that leaves one state, runs level at `y`, and enters the next."""
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
    """Return the picture of a pair, drawn when it is asked for."""
    title = f"Pair {pair}: phrases that share pivot words"
    return Figure(title, partial(_draw_pair, title, explanation), PAIR_CAPTION)


def _draw_pair(title: str, explanation: PairExplanation) -> str:
    above, below = _places(explanation.original), _places(explanation.paraphrase)
    lower = PAIR_BOX + BETWEEN
    parts = []
    for link in explanation.links:
        x1, x2 = _middle(above[link.original]), _middle(below[link.paraphrase])
        weight = min(link.weight, 1.0)
        look: Look = {"stroke": svg.ACCENT, "stroke_opacity": 0.35 + 0.65 * weight}
        ends: Look = {"x1": x1, "y1": PAIR_BOX + 4, "x2": x2, "y2": lower - 2}
        words = (
            explanation.original[link.original].words,
            explanation.paraphrase[link.paraphrase].words,
        )
        description = f"{' '.join(words[0])} - {' '.join(words[1])}: {format_brief(link.weight)}"
        line = shape("line", **ends, **look, stroke_width=1 + 3 * weight)
        parts.append(element("g", svg.tooltip(description), line))
    for phrases, places, y, linked in (
        (explanation.original, above, 0.0, {link.original for link in explanation.links}),
        (explanation.paraphrase, below, lower, {link.paraphrase for link in explanation.links}),
    ):
        for number, (phrase, place) in enumerate(zip(phrases, places, strict=True)):
            parts += _draw_pair_box(phrase, place, y, number in linked)
    width = max(end for _, end in [*above, *below]) + 2
    description = (
        f"{format_count(len(explanation.links), 'pair')} of phrases with shared pivot words"
    )
    return svg.chart(
        title, description, lower + PAIR_BOX + 4, parts, width, fluid=False, class_="grid"
    )


def _places(phrases: Sequence[Phrase]) -> list[tuple[float, float]]:
    places, x = [], 2.0
    for phrase in phrases:
        end = x + svg.extent(_pair_words(phrase)) + 16
        places.append((x, end))
        x = end + GAP
    return places


def _middle(place: tuple[float, float]) -> float:
    return (place[0] + place[1]) / 2


def _pair_words(phrase: Phrase) -> str:
    return svg.shorten(" ".join(phrase.words), MAX_PAIR_LABEL)


def _draw_pair_box(phrase: Phrase, place: tuple[float, float], y: float, linked: bool) -> list[str]:
    """A phrase; dashed if the other sentence has nothing for it."""
    look: Look = {"fill": "none", "stroke": svg.RULE, "rx": 4}
    look["stroke_dasharray"] = None if linked else "4 3"
    frame = shape("rect", x=place[0], y=y + 2, width=place[1] - place[0], height=PAIR_BOX, **look)
    look = {"x": _middle(place), "y": y + 18, "text_anchor": "middle"}
    return [frame, element("text", quote(_pair_words(phrase)), **look)]
