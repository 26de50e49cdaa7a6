"""Words that a response shares with nuggets, for quotations and highlighting."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from karat.arrays import np
from karat.nuggets.scores.idf import stems_of
from karat.nuggets.sets.keys_and_runs import Nugget
from karat.text.stopwords import stop_words

_ALONE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_ALONE}]|[^\s{_ALONE}]+")
"""Text between blanks; Chinese and Japanese have none, so each of their characters."""
_MARKS = re.compile(r"[^\w\s]|_")


class Word(NamedTuple):
    """A word of a response, and where it stands there."""

    text: str
    start: int
    end: int
    speaks: bool
    """True if the nugget has it too."""


def spoken(response: str, nugget: Nugget) -> list[Word]:
    """The words of a response, and which of them speak for a nugget."""
    return [word for word, _ in spoken_for(response, [nugget])]


def spoken_for(response: str, nuggets: Sequence[Nugget]) -> Iterator[tuple[Word, list[int]]]:
    """The words of a response, each with the nuggets that it speaks for, numbered from 0."""
    places = list(_WORD.finditer(response))
    described = (" ".join(nugget.descriptions) for nugget in nuggets)
    stems = _stem_sets([*(place[0] for place in places), *described])
    having: dict[str, list[int]] = {}
    for j, wanted in enumerate(stems[len(places) :]):
        for stem in wanted:
            having.setdefault(stem, []).append(j)
    for place, mine in zip(places, stems, strict=False):
        found = sorted({j for stem in mine for j in having.get(stem, ())})
        yield Word(place[0], place.start(), place.end(), bool(found)), found


def quotation(words: Sequence[Word]) -> str:
    """The words that speak for the nugget, in their order; … where others stand between them."""
    pieces: list[str] = []
    for n, word in enumerate(words):
        if word.speaks:
            beside = n > 0 and words[n - 1].speaks
            gap = " " * (n > 0 and words[n - 1].end < word.start) if beside else " … "
            pieces += [gap * bool(pieces), word.text]
    return "".join(pieces)


def excerpt(response: str, nugget: Nugget, most: int = 30) -> str:
    """So many words of a response, those among which most speak for the nugget; all if it is short.

    Of windows that are equally good, the middle one of the first that overlap.
    """
    words = spoken(response, nugget)
    some = best_window([word.speaks for word in words], most)
    if len(some) == len(words):
        return response
    told = response[words[some.start].start : words[some.stop - 1].end]
    return f"{'… ' * (some.start > 0)}{told}{' …' * (some.stop < len(words))}"


def best_window(speaks: Sequence[bool], most: int) -> range:
    """Return the places of so many words in a row among which most speak for a nugget."""
    if len(speaks) <= most:
        return range(len(speaks))
    sums = np.cumsum([0, *speaks])
    found = sums[most:] - sums[:-most]
    good = np.flatnonzero(found == found.max())
    near = good[good < good[0] + most]
    first = int(near[len(near) // 2])
    return range(first, first + most)


def _stem_sets(texts: Iterable[str]) -> list[set[str]]:
    """The stems of the content words of each text; each distinct word is stemmed once."""
    bare, out = (_MARKS.sub("", text.lower()) for text in texts), stop_words("en")
    found = [{word for word in _WORD.findall(text) if word not in out} for text in bare]
    words = sorted(set[str]().union(*found))
    stem = dict(zip(words, stems_of(words, "porter"), strict=True))
    return [{stem[word] for word in some} for some in found]
