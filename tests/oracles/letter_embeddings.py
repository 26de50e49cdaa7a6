"""An embedder of nothing but letters, for tests that need no package."""

from __future__ import annotations

import math
from collections import Counter
from string import ascii_lowercase

import numpy as np

from karat.metrics.embedders import Embedded, Embedder


class Letters(Embedder):
    """How often each letter stands in a text; what was asked for is in `texts`."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: list[str], batch: int) -> Embedded:
        self.texts += texts
        rows = [[text.lower().count(letter) for letter in ascii_lowercase] for text in texts]
        return Embedded(np.array(rows, np.float64), np.zeros(len(texts), np.bool_))


def letter_cosine(a: str, b: str) -> float:
    """The cosine of the letters of two texts, letter by letter."""
    x, y = (Counter(c for c in text.lower() if c in ascii_lowercase) for text in (a, b))
    lengths = math.sqrt(sum(n * n for n in x.values()) * sum(n * n for n in y.values()))
    return sum(x[c] * y[c] for c in x) / lengths if lengths else 0.0
