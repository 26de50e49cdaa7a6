"""Rewritings of an original as text: its case and spaces, the right articles, joined clitics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from karat.paraphrase.generate.rewrites import ARTICLES
from karat.text.joining import is_clitic, join_words, spaces_of

ChooseArticle = Callable[[str], str | None]
"""The article before a word, None if it is not known."""


class Replacement(NamedTuple):
    """A number of words of the original, and those written for them; None: they are kept."""

    length: int
    words: tuple[str, ...] | None
    probability: float = 1.0
    """Pr(e'|e) of the rewrite."""


class RewrittenWords(NamedTuple):
    """The words of a rewriting, whether each is new, and whether a space is before it, if known."""

    words: list[str]
    new: list[bool]
    spaced: list[bool | None]


class Original(NamedTuple):
    """The words of an original as it has them, and its own spaces where they are known."""

    words: list[str]
    spaced: Sequence[bool | None]
    line: str

    @classmethod
    def of(cls, line: str, lowered: list[str], cased: list[str]) -> Original:
        """Make one of a line; words keep their case if lower-casing does not change them."""
        words = cased if len(cased) == len(lowered) else lowered
        return cls(words, spaces_of(line, words) or [None] * len(words), line)

    def words_of(self, steps: Sequence[Replacement], article: ChooseArticle) -> RewrittenWords:
        """Return the words of a rewriting, with the right article where it or the next is new."""
        rewritten = RewrittenWords([], [], [])
        followed = False  # whether the last word stands for the original's word before this one
        for end, step in zip(accumulate(step.length for step in steps), steps, strict=True):
            at = end - step.length
            new = self._new_words(at, step)
            alike = followed and _is_word(new[0]) == _is_word(self.words[at])
            space_before = self.spaced[at] if alike and not is_clitic(new[0]) else None
            rewritten.words.extend(new)
            rewritten.new.extend(_mark_new_words(self.words[at:end], new))
            rewritten.spaced.extend([space_before, *[None] * (len(new) - 1)])
            followed = _is_word(new[-1]) == _is_word(self.words[end - 1])
        return _correct_articles(rewritten, article)

    def _new_words(self, at: int, step: Replacement) -> list[str]:
        """Return the words of a step; those that both phrases begin or end with are kept."""
        old, new = self.words[at : at + step.length], list(step.words or ())
        if step.words is None:
            return old
        begin, end = count_common_ends(old, new)
        return [*old[:begin], *new[begin : len(new) - end], *old[len(old) - end :]]

    def text(self, written: RewrittenWords) -> str:
        """Return the text of some words, in capitals, or its first letter, like the original."""
        text = join_words(written.words, written.spaced)
        if self.line.isupper():
            return text.upper()
        capital = self.line.lstrip()[:1].isupper()
        return text[:1].upper() + text[1:] if capital else text


def count_common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return the numbers of words that both phrases begin and end with, whatever their case."""
    alike = [a.lower() == b.lower() for a, b in zip(old, new, strict=False)]
    begin = [*alike, False].index(False)
    ends = zip(reversed(old), reversed(new), strict=False)
    end = [*(a.lower() == b.lower() for a, b in ends), False].index(False)
    return begin, min(end, min(len(old), len(new)) - begin)


def _mark_new_words(old: Sequence[str], new: Sequence[str]) -> list[bool]:
    """Return which words of a rewrite are new: not those that both phrases begin or end with."""
    if old == new:
        return [False] * len(new)
    begin, end = count_common_ends(old, new)
    return [begin <= i < len(new) - end for i in range(len(new))]


def _correct_articles(written: RewrittenWords, article: ChooseArticle) -> RewrittenWords:
    """Correct the article before each new word, and each new article, by the next word."""
    words, new = list(written.words), list(written.new)
    for i in range(len(words) - 1):
        if words[i].lower() in ARTICLES and (new[i] or new[i + 1]):
            right = article(words[i + 1])
            if right not in (None, words[i].lower()):
                words[i], new[i] = str(right), True
    return RewrittenWords(words, new, written.spaced)


@lru_cache(1 << 16)
def _is_word(token: str) -> bool:
    return any(letter.isalnum() for letter in token)
