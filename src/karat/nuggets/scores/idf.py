"""Inverse document frequency: idf(word) = log(N / c), from whatever tells how common a word is.

From texts: N of them, c of which have the word (or another of the same stem). A word that none has
is taken to be in one. From `wordfreq`, which knows shares of running words and needs no corpus:
log(1 / share), where a stem has the share of all words of the language with this stem, and a word
that it does not know has the smallest share it knows of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

from karat.arithmetic import log
from karat.arrays import Floats, np
from karat.errors import InputError, MissingExtra, quoted
from karat.nuggets.scores.ragged_words import CASE, TOKENIZER, stems_of
from karat.nuggets.sets.runs import Run
from karat.progress import Progress, silent
from karat.storage.digests import text_digest
from karat.storage.output import FilePath
from karat.text.segments import Lines, Segments, Strings, batches
from karat.text.tokens import Vocab, tokenize

Weigh: TypeAlias = Callable[[Sequence[str]], Floats]
"""The weights of words, given as they stand in a text, lower-cased and not stemmed."""

_PIECE = 1 << 14  # texts that are cut at a time
RAREST = 1e-8
"""The smallest share that wordfreq tells."""


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
        raise InputError("there are no responses to take idf from: name a corpus, or use wordfreq")
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


def wordfreq_idf(language: str = "en", stem: str = "none") -> Wordfreq:
    """From the word frequencies of the `wordfreq` package, an extra.

    With a stemmer, a word is as frequent as all words of the language with the same stem.
    """
    try:
        import wordfreq
    except ImportError as error:
        raise MissingExtra(
            "idf from wordfreq needs the package wordfreq: pip install 'karat[wordfreq]'"
        ) from error
    if language not in wordfreq.available_languages():
        known = ", ".join(sorted(wordfreq.available_languages()))
        raise InputError(f"wordfreq has no language {quoted(language)}; there are {known}")
    return Wordfreq(language, stem)


@dataclass(frozen=True)
class Wordfreq:
    """log(1 / share) by the word frequencies of a language; `wordfreq_idf` makes it."""

    language: str
    stem: str = "none"

    @property
    def signature(self) -> str:
        """The package with its version, which decides the shares, and the stemmer."""
        stem = "" if self.stem == "none" else f"/{self.stem}"
        return f"wordfreq-{self.language}{stem}@{version('wordfreq')}"

    @cached_property
    def _stem_shares(self) -> Mapping[str, float]:
        """The share of each stem: the sum over the words of the language that have it."""
        from wordfreq import get_frequency_dict

        words = get_frequency_dict(self.language)
        shares: dict[str, float] = {}
        for stem, share in zip(stems_of(list(words), self.stem), words.values(), strict=True):
            shares[stem] = shares.get(stem, 0.0) + share
        return shares

    def __call__(self, words: Sequence[str]) -> Floats:
        """log(1 / share) of each word, or of its stem."""
        from wordfreq import word_frequency

        shares = [word_frequency(word, self.language, minimum=RAREST) for word in words]
        if self.stem != "none":
            pooled = (self._stem_shares.get(stem, 0.0) for stem in stems_of(words, self.stem))
            # the word list has no numbers, which wordfreq estimates by their digits
            shares = [max(pair) for pair in zip(shares, pooled, strict=True)]
        return -log(np.array(shares, dtype=np.float64))
