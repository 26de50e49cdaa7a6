"""Texts and their translations, drawn at random."""

from __future__ import annotations

import numpy as np

from karat.text.tokens import Tokens, tokenize


def translated(seed: int, sentences: int) -> tuple[Tokens, Tokens]:
    """A text and its translation word by word, with some words moved and some left out."""
    rng = np.random.default_rng(seed)
    source, pivot = [], []
    for _ in range(sentences):
        words = rng.integers(0, 60, rng.integers(1, 12)).tolist()
        other = [f"{w}p" for w in words if rng.random() < 0.9] or ["0p"]
        if rng.random() < 0.5:
            other[:2] = other[:2][::-1]
        source.append(" ".join(f"{w}s" for w in words))
        pivot.append(" ".join(other))
    return tokenize(source, tok="none"), tokenize(pivot, tok="none")
