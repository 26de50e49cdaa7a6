"""A pair of sentences, with lines between the phrases that share pivot words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from karat.report.charts.svg import frame as svg
from karat.report.markup import Look, element, quote, shape
from karat.report.model import Figure, brief, several

if TYPE_CHECKING:
    from karat.paraphrase.pem.explanation import PairExplanation, Phrase

CAPTION = (
    "A line joins phrases whose translations share words: the thicker, the more they share. "
    "Words are as the model sees them, such as in lower case and without endings."
)
GAP, BOX, BETWEEN = 8.0, 24.0, 70.0
LONGEST = 30


def pair_figure(pair: int, one: PairExplanation) -> Figure:
    """Return the picture of a pair, drawn when it is asked for."""
    title = f"Pair {pair}: phrases that share pivot words"
    return Figure(title, partial(_svg, title, one), CAPTION)


def _svg(title: str, one: PairExplanation) -> str:
    above, below = _places(one.original), _places(one.paraphrase)
    lower = BOX + BETWEEN
    parts = []
    for link in one.links:
        x1, x2 = _middle(above[link.original]), _middle(below[link.paraphrase])
        weight = min(link.weight, 1.0)
        look: Look = {"stroke": svg.ACCENT, "stroke_opacity": 0.35 + 0.65 * weight}
        ends: Look = {"x1": x1, "y1": BOX + 4, "x2": x2, "y2": lower - 2}
        words = (one.original[link.original].words, one.paraphrase[link.paraphrase].words)
        told = f"{' '.join(words[0])} - {' '.join(words[1])}: {brief(link.weight)}"
        line = shape("line", **ends, **look, stroke_width=1 + 3 * weight)
        parts.append(element("g", svg.tooltip(told), line))
    for phrases, places, y, linked in (
        (one.original, above, 0.0, {link.original for link in one.links}),
        (one.paraphrase, below, lower, {link.paraphrase for link in one.links}),
    ):
        for number, (phrase, place) in enumerate(zip(phrases, places, strict=True)):
            parts += _box(phrase, place, y, number in linked)
    width = max(end for _, end in [*above, *below]) + 2
    told = f"{several(len(one.links), 'pair')} of phrases with shared pivot words"
    return svg.chart(title, told, lower + BOX + 4, parts, width, fluid=False, class_="grid")


def _places(phrases: Sequence[Phrase]) -> list[tuple[float, float]]:
    places, x = [], 2.0
    for phrase in phrases:
        end = x + svg.extent(_words(phrase)) + 16
        places.append((x, end))
        x = end + GAP
    return places


def _middle(place: tuple[float, float]) -> float:
    return (place[0] + place[1]) / 2


def _words(phrase: Phrase) -> str:
    return svg.shorten(" ".join(phrase.words), LONGEST)


def _box(phrase: Phrase, place: tuple[float, float], y: float, linked: bool) -> list[str]:
    """A phrase; dashed if the other sentence has nothing for it."""
    look: Look = {"fill": "none", "stroke": svg.RULE, "rx": 4}
    look["stroke_dasharray"] = None if linked else "4 3"
    frame = shape("rect", x=place[0], y=y + 2, width=place[1] - place[0], height=BOX, **look)
    look = {"x": _middle(place), "y": y + 18, "text_anchor": "middle"}
    return [frame, element("text", quote(_words(phrase)), **look)]
