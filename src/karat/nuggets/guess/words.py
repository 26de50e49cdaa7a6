"""Words and sentences as classifiers cut them, and the smoothed idf of words.

A text is cut by the tokeniser `intl` in small letters; punctuation and symbols at the ends of a
token are taken off, and a token of nothing else is no word.

A sentence ends at a line end, and at white space after a full stop, a question or an exclamation
mark. Nothing depends on cutting well: a number or a name that is cut is whole in two sentences
taken together.
"""

from __future__ import annotations

import atexit
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeAlias
from unicodedata import category

from karat.arithmetic import log
from karat.arrays import Flags, Ints, NDArray, np
from karat.text.recipe import Ragged, select
from karat.text.stemmers import stem_words
from karat.text.stopwords import stop_words
from karat.text.tokens import Vocab, tokenize

TOKENIZER = "intl"
BATCH = 4096
"""Texts that are cut at a time: memory does not grow with a run."""
_END = re.compile(r"[.!?…。！？\n](?:(?<=\n)\n*|(?<!\n)\s+)")
"""Line ends, or a mark, which stays, and white space after it. That it begins with a set of
characters makes it several times as fast as one that looks behind everywhere."""

Idf: TypeAlias = Callable[[Sequence[str]], Sequence[float]]
"""Function from words, stemmed if a classifier stems them, to their idf."""


class Some(Protocol):
    """Texts that are read in slices: a list, or a file that is too large for one."""

    def __len__(self) -> int: ...
    def __getitem__(self, at: slice, /) -> Sequence[str]: ...


@dataclass(frozen=True)
class WordRecipe:
    """Words of texts: a stemmer and a stop list."""

    stem: str = "none"
    stop: str = "none"

    def tokens(self, texts: Sequence[str], vocab: Vocab) -> Ragged:
        """Return the words of texts as ids of a vocabulary, which grows."""
        cut, _ = _cut(tuple(texts))
        stems, of_word = _stems(tuple(texts), self.stem)
        kept = _keeps(tuple(texts), self.stop)
        return select(Ragged(vocab.merge(stems)[of_word][cut.ids], cut.offsets), kept[cut.ids])


ENGLISH = WordRecipe("english", "en")
"""Content words by their stems, for the calibrated classifier."""


@lru_cache(maxsize=4)  # settings that differ in stems, stop words and weights cut texts alike
def _cut(texts: tuple[str, ...]) -> tuple[Ragged, Vocab]:
    """Return texts as ids of bare words, and those words; nobody changes them."""
    cut = tokenize(texts, TOKENIZER, "lower", threads=1)
    bare = Vocab()
    ids = bare.add([_bare(word) for word in cut.vocab.words(0, len(cut.vocab))])
    return Ragged(ids[cut.ids], cut.offsets), bare


@lru_cache(maxsize=4)
def _stems(texts: tuple[str, ...], stem: str) -> tuple[Vocab, NDArray[np.int32]]:
    """Return the stems of the texts' words, and the stem of each word; nobody changes them."""
    _, bare = _cut(texts)
    if stem == "none":
        return bare, np.arange(len(bare), dtype=np.int32)
    stems = Vocab()
    return stems, stem_words(stem, bare, 0, stems)


@lru_cache(maxsize=8)
def _keeps(texts: tuple[str, ...], stop: str) -> Flags:
    """Return which of the texts' words are neither empty nor stop words."""
    _, bare = _cut(texts)
    words = bare.words(0, len(bare))
    said = np.array([word != "" for word in words], dtype=np.bool_)
    return said if stop == "none" else said & np.array(stop_words(stop).lacks(words), np.bool_)


def forget_texts() -> None:
    """Forget texts that were cut, as whoever measures time must."""
    for cached in (_cut, _stems, _keeps, cut_sentences):
        cached.cache_clear()


atexit.register(forget_texts)  # before the kernel goes, which counts what is left


def sentences(text: str) -> list[str]:
    """The sentences of a text; at least one, which may be empty."""
    found, start = [], 0
    for match in _END.finditer(text):
        end = match.start() + (text[match.start()] != "\n")
        if end > start:
            found.append(text[start:end])
        start = match.end()
    if start < len(text):
        found.append(text[start:])
    return found or [""]


@lru_cache(maxsize=2)  # evidence and likeness cut the same texts
def cut_sentences(texts: tuple[str, ...]) -> tuple[tuple[str, ...], Ints]:
    """The sentences of all texts, and where those of each begin."""
    parts = [sentences(text) for text in texts]
    bounds = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return tuple(part for some in parts for part in some), bounds


def _bare(word: str) -> str:
    """Return a word without punctuation and symbols at its ends: `intl` leaves `20.` whole."""
    if word[:1].isalnum() and word[-1:].isalnum():
        return word
    first, last = 0, len(word)
    while first < last and category(word[first])[0] in "PS":
        first += 1
    while last > first and category(word[last - 1])[0] in "PS":
        last -= 1
    return word[first:last]


def smoothed_idf(texts: Some, words: WordRecipe) -> Idf:
    """Return idf(w) = log((N + 1) / (c + 1/2)): c of the N texts have the word, or its stem.

    Smoothed, unlike Pourpre's log(N / c) in `idf`: most words of a description stand in few of the
    responses, and one that none has must weigh more than one that stands in one of them; and of a
    single response no word weighs 0.
    """
    vocab = Vocab()
    counts = np.zeros(0, dtype=np.int64)
    for start in range(0, len(texts), BATCH):
        some = words.tokens(texts[start : start + BATCH], vocab)
        rows = np.repeat(np.arange(len(some.offsets) - 1), some.lengths)
        both = np.sort(rows * np.int64(len(vocab) + 1) + some.ids)
        first = np.append(True, both[1:] != both[:-1])[: len(both)]
        found = np.bincount(both[first] % (len(vocab) + 1), minlength=len(vocab))
        counts = found + np.pad(counts, (0, len(vocab) - len(counts)))

    def idf(asked: Sequence[str]) -> Sequence[float]:
        ids = vocab.find(list(asked))
        found = np.where(ids >= 0, np.append(counts, 0)[ids], 0)
        weights: list[float] = log((len(texts) + 1) / (found + 0.5)).tolist()
        return weights

    return idf
