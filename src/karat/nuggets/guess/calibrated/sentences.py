"""Sentences: where a response may be cut, so that a nugget is looked for in one or two of them.

A sentence ends at a line end, and at white space after a full stop, a question or an exclamation
mark. Nothing depends on cutting well: a number or a name that is cut is whole in two sentences
taken together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from karat.arrays import Ints, np

_END = re.compile(r"[.!?…。！？\n](?:(?<=\n)\n*|(?<!\n)\s+)")
"""Line ends, or a mark, which stays, and white space after it. That it begins with a set of
characters makes it several times as fast as one that looks behind everywhere."""


def sentences(text: str) -> list[str]:
    """The sentences of a text; at least one, which may be empty."""
    found, start = [], 0
    for match in _END.finditer(text):
        end = match.start() + (text[match.start()] != "\n")
        if end > start:
            found.append(text[start:end])
        start = match.end()
    if start < len(text):
        found.append(text[start:])
    return found or [""]


def cut_sentences(texts: Sequence[str]) -> tuple[list[str], Ints]:
    """The sentences of all texts, and where those of each begin."""
    parts, bounds = _cut(tuple(texts))
    return list(parts), bounds


@lru_cache(maxsize=2)  # evidence and likeness cut the same texts
def _cut(texts: tuple[str, ...]) -> tuple[tuple[str, ...], Ints]:
    parts = [sentences(text) for text in texts]
    bounds = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return tuple(part for some in parts for part in some), bounds
