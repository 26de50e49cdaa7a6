"""Typography: variants of the same mark are one, so that a model sees them as the same word."""

from __future__ import annotations

MARKS = str.maketrans(
    {"‘": "'", "’": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "–": "-", "—": "-", "…": "..."}
)
"""Quotation marks, apostrophes, dashes and ellipses, and what they are written as."""


def plain(word: str) -> str:
    """Return a word with plain marks."""
    return word if word.isascii() else word.translate(MARKS)
