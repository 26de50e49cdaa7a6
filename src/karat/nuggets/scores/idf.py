"""Inverse document frequency: idf(word) = log(N / c), where c of N texts have the word or its stem.

A word that no text has is taken to be in one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from karat import _kernel
from karat.arithmetic import log
from karat.arrays import Floats, Ints, NDArray, np
from karat.errors import InputError
from karat.nuggets.sets.keys_and_runs import Run
from karat.progress import Progress, silent
from karat.storage.digests import text_digest
from karat.storage.output import FilePath
from karat.text.recipe import Ragged
from karat.text.segments import Lines, Segments, Strings, Texts, batches
from karat.text.stemmers import stem_words
from karat.text.tokens import Vocab, tokenize

TOKENIZER, CASE = "intl", "lower"


@dataclass(frozen=True)
class RaggedWords:
    """Text i has the words `ids[offsets[i]:offsets[i + 1]]`; words of one stem are one class."""

    ids: NDArray[np.int32]
    offsets: Ints
    words: list[str]
    """Each word by its id."""
    classes: NDArray[np.int32]
    """The class of each word by its id."""

    def row(self, i: int) -> NDArray[np.int32]:
        """The words of a text."""
        return self.ids[self.offsets[i] : self.offsets[i + 1]]


def cut_words(texts: Texts, stem: str = "none", stop: str = "none") -> RaggedWords:
    """Texts as words, stop words left out."""
    found = tokenize(texts, TOKENIZER, CASE, stop=stop, threads=1)
    words = found.vocab.words(0, len(found.vocab))
    keep = np.array([any(map(str.isalnum, word)) for word in words], dtype=np.bool_)[found.ids]
    kept = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))[found.offsets]
    classes = np.arange(len(words), dtype=np.int32)
    if stem != "none":
        classes = stem_words(stem, found.vocab, 0, Vocab())
    return RaggedWords(found.ids[keep], kept, words, classes)


def stems_of(words: Sequence[str], stem: str) -> list[str]:
    """Each word's stem."""
    if stem == "none":
        return list(words)
    vocab, target = Vocab(), Vocab()
    ids = vocab.add(list(words))
    stems = stem_words(stem, vocab, 0, target)
    names = target.words(0, len(target))
    return [names[k] for k in stems[ids].tolist()]


def code_points(texts: Sequence[str]) -> Ragged:
    """The characters of texts in lower case, white space and all."""
    views = _kernel.Views.from_strings(list(texts), 0, len(texts))
    return Ragged(*_kernel.codepoints(views.lower(), True))


Weigh: TypeAlias = Callable[[Sequence[str]], Floats]
"""The weights of words, given as they stand in a text, lower-cased and not stemmed."""

_PIECE = 1 << 14  # texts that are cut at a time


def count_weights(words: Sequence[str]) -> Floats:
    """Every word weighs 1."""
    return np.ones(len(words))


@dataclass(frozen=True)
class Idf:
    """Numbers of texts, of N, that have each word or stem."""

    documents: int
    counts: Mapping[str, int]
    stem: str = "none"

    @property
    def signature(self) -> str:
        """Number of texts, and eight characters that change when the counts do."""
        rows = "\n".join(f"{word} {count}" for word, count in sorted(self.counts.items()))
        return f"idf/{self.documents}@{text_digest(rows)}"

    def __call__(self, words: Sequence[str]) -> Floats:
        """log(N / c) of each word."""
        counts = [self.counts.get(stem, 1) for stem in stems_of(words, self.stem)]
        return log(self.documents / np.array(counts, dtype=np.float64))


def corpus_idf(path: FilePath, stem: str = "none", progress: Progress = silent) -> Idf:
    """From a file of texts, one a line."""
    return texts_idf(Lines(Path(path), progress), stem, progress)


def pooled_idf(runs: Iterable[Run], stem: str = "none", progress: Progress = silent) -> Idf:
    """From all responses of some runs, the same text once: log(N / c), Pourpre's formula.

    The classifier's is another: `classifier.smoothed_idf`.
    """
    answers = (responses for run in runs for responses in run.answers.values())
    texts = dict.fromkeys(response.text for responses in answers for response in responses)
    if not texts:
        raise InputError("there are no responses to take idf from: name a corpus")
    return texts_idf(Strings(texts.keys(), "responses"), stem, progress)


def texts_idf(texts: Segments, stem: str = "none", progress: Progress = silent) -> Idf:
    """From any texts; they are counted in runs of bounded size."""
    vocab, counts = Vocab(), np.zeros(0, dtype=np.int64)
    for start, stop in batches([texts], _PIECE, 1 << 24):
        piece = texts.views(start, stop).strings()
        found = tokenize(piece, TOKENIZER, CASE, stem, vocab=vocab, threads=1)
        row = np.repeat(np.arange(len(piece), dtype=np.int64), np.diff(found.offsets))
        pairs = np.unique(row << 32 | found.ids)
        more = np.bincount(pairs & 0xFFFFFFFF, minlength=len(vocab))
        counts = np.pad(counts, (0, len(more) - len(counts))) + more
        progress(stop, len(texts), f"counting words of {texts.name}")
    words = vocab.words(0, len(vocab))
    return Idf(len(texts), dict(zip(words, counts.tolist(), strict=True)), stem)
