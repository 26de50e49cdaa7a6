"""Words of a text that no reference has, to highlight them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\W\u2e80-\u9fff\uac00-\ud7af]+")
"""A run of letters and digits; scripts without spaces are cut into characters."""


def differing_words(text: str, references: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return the spans (start, end) of words that no reference contains as often.

    Word order and case are ignored. Without references nothing is marked.
    """
    if not references:
        return ()
    unmatched: Counter[str] = Counter()
    for reference in references:
        unmatched |= Counter(word.group().casefold() for word in _WORD.finditer(reference))
    spans: list[tuple[int, int]] = []
    for word in _WORD.finditer(text):
        key = word.group().casefold()
        if unmatched[key] > 0:
            unmatched[key] -= 1
        elif spans and spans[-1][1] == word.start():
            spans[-1] = spans[-1][0], word.end()  # characters side by side are one mark
        else:
            spans.append(word.span())
    return tuple(spans)
