"""Lexical dissimilarity (Liu, Dahlmeier and Ng 2010) by its opposite, the target F1.

The bags are those of the two sentences' own n-grams, up to four words, each occurrence weighing 1;
precision, recall and F1 are those of the pivot F1. The more the two are alike, the higher it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from karat.metrics.ngram import gram_totals
from karat.metrics.pairs import Pairs
from karat.paraphrase.pem.pivot import pair_statistics
from karat.paraphrase.table.phrase_table import ENGLISH
from karat.progress import Progress, silent
from karat.text.recipe import Recipe
from karat.text.segments import Texts

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TargetBags:
    """Compares the n-grams of candidates (paraphrases) and references (originals)."""

    recipe: Recipe = ENGLISH
    order: int = 4

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """The matches that are asked for."""
        yield self.recipe, self.order

    def rows(self, pairs: Pairs) -> Floats:
        """Pairs x orders x (common, candidate, reference)."""
        mine = gram_totals(pairs.candidates.tokens(self.recipe).lengths, self.order)
        theirs = gram_totals(pairs.references.tokens(self.recipe).lengths, self.order)
        common = pairs.matches(self.recipe, self.order).each
        spread = np.repeat(mine, np.diff(pairs.starts), axis=0)
        return np.stack([common, spread, theirs], axis=-1).astype(np.float64)


def target_statistics(
    originals: Texts,
    paraphrases: Texts,
    recipe: Recipe = ENGLISH,
    order: int = 4,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Floats:
    """Pairs x orders x (n-grams in common, of the paraphrase, of the original).

    Give the recipe of the phrase table, so that words are stemmed alike.
    """
    counter = TargetBags(recipe, order)
    return pair_statistics(counter, originals, paraphrases, threads, progress)
