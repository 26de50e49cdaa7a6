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
from karat.report.model import Figure, brief, several

if TYPE_CHECKING:
    from karat.paraphrase.pem.explanation import PairExplanation, Phrase

CAPTION = (
    "Boxes are the phrases of the most probable segmentation. Below each, its translations with "
    "Pr(f|e); a path from left to right is a sentence in the pivot language. Dashed: a word that "
    "the table lacks, which stands for itself."
)
MOST_ARCS = 8
"""Translations of one phrase that are drawn; the least probable are left out first."""
LONGEST = 48
"""Letters of a label."""
MARGIN = 14.0
BOX = 24.0
ROW = 24.0
BEND = 18.0
HEADING = 26.0


class PlacedPhrase(NamedTuple):
    """A phrase and where it stands: from `x` to `end` in its row."""

    phrase: Phrase
    x: float
    end: float


def network_figure(pair: int, one: PairExplanation) -> Figure:
    """Return the two networks of a pair, drawn when they are asked for."""
    title = f"Phrases and pivot networks of pair {pair}"
    return Figure(title, partial(_svg, title, one), CAPTION)


def _svg(title: str, one: PairExplanation) -> str:
    parts: list[str] = []
    y, told = 0.0, []
    for name, phrases in (("Original", one.original), ("Paraphrase", one.paraphrase)):
        parts.append(element("text", name, x=0, y=y + 14, font_weight=600))
        y += HEADING
        for row in _rows(phrases):
            drawn, height = _network(row, y)
            parts += drawn
            y += height
        arcs = sum(len(phrase.edges) for phrase in phrases)
        told.append(f"{name}: {several(len(phrases), 'phrase')}, {several(arcs, 'translation')}")
    return svg.chart(title, "; ".join(told), y, parts, fluid=False, class_="grid")


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
    return max(svg.extent(_words(phrase)) + 24, max(arcs) + 2 * BEND + 12, 64.0)


def _words(phrase: Phrase) -> str:
    return svg.shorten(" ".join(phrase.words), LONGEST)


def _labels(phrase: Phrase) -> list[str]:
    """Return the labels of the arcs, and one for those that are not drawn."""
    few = phrase.edges[:MOST_ARCS]
    labels = [f"{svg.shorten(' '.join(words), LONGEST)} / {brief(p)}" for words, p in few]
    more = len(phrase.edges) - len(few)
    return [*labels, f"and {more} more"] if more else labels


def _network(row: Sequence[PlacedPhrase], top: float) -> tuple[list[str], float]:
    """Return one row of boxes with the network below it, and its height."""
    most = max(len(_labels(one.phrase)) for one in row)
    middle = top + BOX + 14 + most * ROW / 2
    parts = [part for one in row for part in (*_box(one, top), *_arcs(one, middle))]
    states = [row[0].x, *(one.end for one in row)]
    parts += [shape("circle", cx=x, cy=middle, r=3.5, fill=svg.ACCENT) for x in states]
    return parts, BOX + 24 + most * ROW


def _box(one: PlacedPhrase, top: float) -> Iterator[str]:
    look: Look = {"fill": "none", "stroke": svg.RULE, "rx": 4}
    width = one.end - one.x - 6
    yield shape("rect", x=one.x + 3, y=top, width=width, height=BOX - 4, **look)
    yield svg.label((one.x + one.end) / 2, top + 14, _words(one.phrase), "middle")


def _arcs(one: PlacedPhrase, middle: float) -> Iterator[str]:
    """Yield the arcs of a phrase, in parallel around the middle, and their labels."""
    labels = _labels(one.phrase)
    dashes = None if one.phrase.seen else "4 3"
    for rank, label in enumerate(labels):
        y = middle + (rank - (len(labels) - 1) / 2) * ROW
        if rank < len(one.phrase.edges[:MOST_ARCS]):
            look: Look = {"fill": "none", "stroke": svg.ACCENT, "stroke_dasharray": dashes}
            look["stroke_width"] = 1 + 1.5 * one.phrase.edges[rank].probability
            yield shape("path", d=_path(one.x, one.end, middle, y), **look)
        place: Look = {"x": (one.x + one.end) / 2, "y": y - 5, "text_anchor": "middle"}
        yield element("text", quote(label), **place, **svg.HALO)


def _path(start: float, end: float, middle: float, y: float) -> str:
    """Return an arc that leaves one state, runs level at `y`, and enters the next."""
    near, far = start + BEND, end - BEND
    begin = f"M {start:.1f} {middle:.1f} C {near:.1f} {middle:.1f} {start:.1f} {y:.1f} "
    return begin + (
        f"{near:.1f} {y:.1f} L {far:.1f} {y:.1f} "
        f"C {end:.1f} {y:.1f} {far:.1f} {middle:.1f} {end:.1f} {middle:.1f}"
    )
