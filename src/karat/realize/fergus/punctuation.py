"""Punctuation that the input lacks, put in where the language model expects it.

    best = argmax over sentences with commas inside and one mark at the end of log p(sentence)

The marks are hidden events of an n-gram model that was trained on text with them. Commas go in one
at a time, each where it helps most, for as long as one helps; then the best of the final marks.
Sentences that have any punctuation are left as they are; symbols that are read out as words ($, %
and &) are no punctuation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from karat.arrays import np
from karat.lm.model import LanguageModel

COMMA = ","
FINAL = (".", "?", "!")

READ_OUT = frozenset("#%&/@§¶‰")
"""Symbols that Unicode counts as punctuation: `and`, `percent`, `at` and the like."""


def punctuate(lm: LanguageModel, sentences: Sequence[str]) -> list[str]:
    """Put the punctuation that they lack into sentences."""
    return [_punctuated(lm, sentence.split(" ")) for sentence in sentences]


def _punctuated(lm: LanguageModel, words: list[str]) -> str:
    if any(is_punctuation(word) for word in words):
        return " ".join(words)
    words = _best(lm, [[*words, mark] for mark in FINAL])
    while True:
        places = [i for i in range(1, len(words) - 1) if COMMA not in words[i - 1 : i + 1]]
        better = _best(lm, [words, *([*words[:i], COMMA, *words[i:]] for i in places)])
        if better == words:
            return " ".join(words)
        words = better


def is_punctuation(word: str) -> bool:
    """Return whether a word is made of marks of punctuation alone."""
    plain = unicodedata.normalize("NFKC", word)
    return all(unicodedata.category(c).startswith("P") and c not in READ_OUT for c in plain)


def _best(lm: LanguageModel, choices: list[list[str]]) -> list[str]:
    """Return the likeliest choice; of equal ones the first."""
    scores = lm.score([" ".join(words) for words in choices], threads=1)
    return choices[int(np.argmax(scores))]
