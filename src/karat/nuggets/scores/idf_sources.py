"""Sources of the idf of words: the responses themselves, or a corpus.

The classifier asks for the idf of stems as it cuts words, Pourpre for that of words as they stand
in a text; a source answers both. Each has the formula that it was published with, or needs: Pourpre
log(N / c), the classifier log((N + 1) / (c + 1/2)).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from karat.nuggets.guess.pool import Pool
from karat.nuggets.guess.words import Idf, WordRecipe, smoothed_idf
from karat.nuggets.scores.idf import Weigh, pooled_idf, texts_idf
from karat.nuggets.sets.keys_and_runs import Run
from karat.progress import Progress, silent
from karat.text.segments import STRIDE, Lines

POOLED = "pooled"
"""The source that is no corpus: the responses themselves."""


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
    """`pooled`, or the place of a corpus."""

    name: str = POOLED
    progress: Progress = field(default=silent, compare=False, repr=False)
    _told: dict[tuple[Pool, WordRecipe], Idf] = field(
        default_factory=dict, compare=False, repr=False
    )

    def __str__(self) -> str:
        return self.name

    @property
    def signature(self) -> str:
        """The source, with a digest or version that tells whether it is still the same."""
        return POOLED if self.name == POOLED else f"{self.name}@{self._corpus.lines.digest()}"

    def check(self) -> None:
        """Fail early if there is no such thing."""
        if self.name != POOLED:
            len(self._corpus)

    @cached_property
    def _corpus(self) -> Corpus:
        return Corpus(self.name, self.progress)

    def of_classifier(self, pool: Pool, words: WordRecipe) -> Idf:
        """The idf of words as a classifier cuts and stems them; told once for each way."""
        rule = WordRecipe(words.stem)  # stop words do not matter to it
        if (pool, rule) not in self._told:
            texts = pool.texts if self.name == POOLED else self._corpus
            self._told[pool, rule] = smoothed_idf(texts, rule)
        return self._told[pool, rule]

    def of_words(self, runs: Iterable[Run], stem: str) -> Weigh:
        """The idf of words as Pourpre asks for it."""
        if self.name == POOLED:
            return pooled_idf(runs, stem, self.progress)
        return texts_idf(self._corpus.lines, stem, self.progress)  # a pipe is read only once
