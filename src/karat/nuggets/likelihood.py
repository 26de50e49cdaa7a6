"""How likely a response carries a nugget, from its words alone: the share of the nugget's words.

A guess that needs no training: for ordering what an assessor is asked, and for highlighting.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from karat.nuggets.keys import Nugget, Question
from karat.nuggets.runs import Response
from karat.nuggets.words import stems_of
from karat.text.stopwords import stop_words

_FLOOR = 0.02  # nothing is certain from words alone


def overlap(question: Question, responses: Sequence[Response]) -> NDArray[np.float64]:
    """Responses by nuggets: the share of a description's stems that the response has."""
    have = [set(_stems(response.text)) for response in responses]
    found = np.zeros((len(responses), len(question.nuggets)))
    for j, nugget in enumerate(question.nuggets):
        wanted = [set(_stems(words)) for words in nugget.descriptions]
        for i, mine in enumerate(have):
            found[i, j] = max(len(w & mine) / len(w) if w else 0.0 for w in wanted)
    clipped: NDArray[np.float64] = np.clip(found, _FLOOR, 1 - _FLOOR)
    return clipped


def spoken(response: str, nugget: Nugget) -> list[tuple[str, bool]]:
    """The words of a response, and which of them speak for a nugget."""
    wanted = {stem for words in nugget.descriptions for stem in _stems(words)}
    return [(word, bool(wanted & set(_stems(word)))) for word in response.split()]


def _stems(text: str) -> list[str]:
    """The stems of the content words."""
    out = stop_words("en")
    bare = ("".join(c for c in word if c.isalnum()) for word in text.lower().split())
    return stems_of([word for word in bare if word and word not in out], "porter")
