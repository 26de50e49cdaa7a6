"""Stemmers, as maps from one vocabulary to another."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from karat import _kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PORTER_NLTK = "porter-nltk"
"""Porter as rouge-score applies it: NLTK's variant, words of more than three characters only."""


@cache
def stemmers() -> tuple[str, ...]:
    """The names of all stemmers: `none`, `porter-nltk` and Snowball's."""
    import Stemmer

    return ("none", PORTER_NLTK, *sorted(Stemmer.algorithms()))


def stem_words(
    stemmer: str, words: _kernel.Vocab, start: int, target: _kernel.Vocab
) -> NDArray[np.int32]:
    """Stem the words from id `start` on; the ids of the stems in `target`."""
    if stemmer == PORTER_NLTK:
        return _kernel.porter_nltk(words, start, target)
    import Stemmer

    # A stemmer has a state, so every call (and thread) makes its own; that is cheap. It keeps no
    # stems: each word comes once.
    stem = Stemmer.Stemmer(stemmer, 0)
    new = words.words(start, len(words))
    try:
        return target.add(stem.stemWords(new))
    except UnicodeEncodeError:  # words with lone surrogates stay as they are
        return target.add([stem.stemWord(word) if _is_text(word) else word for word in new])


def _is_text(word: str) -> bool:
    return not any("\ud800" <= c <= "\udfff" for c in word)
