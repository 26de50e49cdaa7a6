"""Smoothing: from counts to probabilities, one length of n-grams after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from karat.arrays import Flags, Floats, Ints


class Contexts(NamedTuple):
    """N-grams of one length: all of some contexts, those of a context in the order of the text.

    Sums over a context are made in this order, so they are rounded alike whatever else is in it.
    """

    size: int
    """The number of contexts; `contexts` are numbers from 0."""
    contexts: Ints
    counts: Ints
    adjusted: Floats
    """The different words before each n-gram; its count if it is of the longest or begins with
    `<s>`."""
    lower: Floats
    """The probability of each n-gram without its first word."""


class Histograms(NamedTuple):
    """Numbers of n-grams of one length by adjusted count (up to 5) and by count (up to 9).

    The last number is that of all larger ones too.
    """

    adjusted: list[int]
    counts: list[int]


Rule = Callable[[Contexts, Flags], tuple[Floats, Floats]]
"""From n-grams, and which of them stay in the model, to their probabilities and the back-off
weights of the contexts."""


class Smoothing(Protocol):
    """A smoothing of one model."""

    notes: list[str]
    """Notes on what could not be estimated."""

    def words(self, counts: Ints, preceding: Ints) -> Floats:
        """Return the probabilities of words.

        `preceding` is the number of different words before each, or its count in a model of words
        alone.
        """

    def rule(self, n: int, seen: Histograms, words: int) -> Rule:
        """Return how the n-grams of a length are estimated, over so many words."""
