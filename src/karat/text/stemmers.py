"""Stemmers by name, as maps from one vocabulary to another; other packages add `str -> str`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from karat import _kernel
from karat.arrays import NDArray, np
from karat.registry import Registry, call, check_that, origin, returned

PORTER_NLTK = "porter-nltk"
"""Porter as rouge-score applies it: NLTK's variant, words of more than three characters only."""


def _own(word: str) -> str:
    """Stand for a stemmer of Karat or of Snowball, which `stem_words` calls by its name."""
    return word


@cache
def stemmers() -> Registry[Callable[[str], str]]:
    """Return the stemmers by name: `none`, `porter-nltk`, Snowball's, and those of packages."""
    import Stemmer

    names = ("none", PORTER_NLTK, *sorted(Stemmer.algorithms()))
    check = check_that(callable, "stemmer", "a function from str to str")
    return Registry("stemmers", "stemmer", dict.fromkeys(names, _own), check=check)


def stemmer_origin(name: str) -> str:
    """Return package and version of a stemmer that is not Karat's, for signatures; else ""."""
    return origin(stemmers()[name]).replace("@", "-") if name != "none" else ""


def _problem(stems: list[str]) -> str:
    return next(filter(None, map(returned(str, "a str"), stems)), "")


def stem_words(
    stemmer: str, words: _kernel.Vocab, start: int, target: _kernel.Vocab
) -> NDArray[np.int32]:
    """Stem the words from id `start` on; return the ids of the stems in `target`."""
    if stemmer == PORTER_NLTK:
        return _kernel.porter_nltk(words, start, target)
    import Stemmer

    new, function = words.words(start, len(words)), stemmers()[stemmer]
    if function is not _own:
        stems = call(f"stemmer {stemmer}", function, lambda: [*map(function, new)], _problem)
        return target.add(stems)
    # A stemmer has a state, so every call (and thread) makes its own; that is cheap. It keeps no
    # stems: each word comes once.
    stem = Stemmer.Stemmer(stemmer, 0)
    try:
        return target.add(stem.stemWords(new))
    except UnicodeEncodeError:  # words with lone surrogates stay as they are
        odd = {word for word in new if any("\ud800" <= c <= "\udfff" for c in word)}
        return target.add([word if word in odd else stem.stemWord(word) for word in new])
