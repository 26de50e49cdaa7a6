"""Sources of the idf of words: the responses themselves, wordfreq, or a corpus.

The classifier asks for the idf of stems as it cuts words, Pourpre for that of words as they stand
in a text; a source answers both. From texts each has the formula that it was published with, or
needs: Pourpre log(N / c), the classifier log((N + 1) / (c + 1/2)). wordfreq knows words, not stems.
For Pourpre a stem is as frequent as all words of the language that have it, together; for a
classifier as those that occur in descriptions and responses.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from karat import arithmetic
from karat.arrays import np
from karat.nuggets.guess.pool import Pool
from karat.nuggets.guess.words import Idf, WordRecipe, bare_words, smoothed_idf
from karat.nuggets.scores.idf import RAREST, Weigh, pooled_idf, texts_idf, wordfreq_idf
from karat.nuggets.scores.ragged_words import stems_of
from karat.nuggets.sets.runs import Run
from karat.progress import Progress, silent
from karat.text.segments import STRIDE, Lines

POOLED, WORDFREQ = "pooled", "wordfreq"
NAMED = {
    POOLED: "the responses themselves",
    WORDFREQ: "the word frequencies of the package wordfreq",
}
"""The sources that are no corpus."""


class Corpus:
    """The texts of a file, one a line; some at a time are read, where they are asked for."""

    def __init__(self, path: str | os.PathLike[str], progress: Progress = silent) -> None:
        self.lines = Lines(path, progress)

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, at: slice) -> list[str]:
        start, stop, step = at.indices(len(self))
        first = start - start % STRIDE
        found = self.lines.views(first, max(stop, first)).strings()
        return found[start - first : max(stop, start) - first : step]


@dataclass(frozen=True)
class IdfSource:
    """`pooled`, `wordfreq` in a language, or the place of a corpus."""

    name: str = POOLED
    language: str = "en"
    progress: Progress = field(default=silent, compare=False, repr=False)
    _told: dict[tuple[Pool, WordRecipe], Idf] = field(
        default_factory=dict, compare=False, repr=False
    )

    def __str__(self) -> str:
        return f"{self.name} ({self.language})" if self.name == WORDFREQ else self.name

    @property
    def signature(self) -> str:
        """The source, with a digest or version that tells whether it is still the same."""
        if self.name == WORDFREQ:
            return wordfreq_idf(self.language).signature
        return POOLED if self.name == POOLED else f"{self.name}@{self._corpus.lines.digest()}"

    def check(self) -> None:
        """Fail early if there is no such thing."""
        if self.name == WORDFREQ:
            wordfreq_idf(self.language)
        elif self.name != POOLED:
            len(self._corpus)

    @cached_property
    def _corpus(self) -> Corpus:
        return Corpus(self.name, self.progress)

    def of_classifier(self, pool: Pool, words: WordRecipe) -> Idf:
        """The idf of words as a classifier cuts and stems them; told once for each way."""
        rule = WordRecipe(words.stem)  # stop words do not matter to it
        if (pool, rule) not in self._told:
            if self.name == WORDFREQ:
                found = _of_stems(pool, rule, wordfreq_idf(self.language))
            else:
                found = smoothed_idf(pool.texts if self.name == POOLED else self._corpus, rule)
            self._told[pool, rule] = found
        return self._told[pool, rule]

    def of_words(self, runs: Iterable[Run], stem: str) -> Weigh:
        """The idf of words as Pourpre asks for it."""
        if self.name == WORDFREQ:
            return wordfreq_idf(self.language, stem)
        if self.name == POOLED:
            return pooled_idf(runs, stem, self.progress)
        return texts_idf(self._corpus.lines, stem, self.progress)  # a pipe is read only once


def _of_stems(pool: Pool, rule: WordRecipe, weigh: Weigh) -> Idf:
    """idf(stem) = -log(sum of the shares of its words), over the words of descriptions and
    responses."""
    words = sorted({*bare_words(pool.descriptions), *bare_words(pool.texts)})
    shares: dict[str, float] = {}
    for stem, share in zip(stems_of(words, rule.stem), arithmetic.exp(-weigh(words)), strict=True):
        shares[stem] = shares.get(stem, 0.0) + float(share)

    def idf(asked: Sequence[str]) -> Sequence[float]:
        mine = np.array([shares.get(stem, RAREST) for stem in asked], dtype=np.float64)
        found: list[float] = (-arithmetic.log(mine)).tolist()
        return found

    return idf
