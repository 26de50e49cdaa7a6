"""Pivot F1 (Liu, Dahlmeier and Ng 2010): two sentences compared by what they become in a language.

A sentence is segmented into the phrases of a table (the most probable segmentation; any single word
may be a phrase, with N = 1/2 if it is unseen), the translations of the phrases form a confusion
network, and the expected weights W(g) of its n-grams are the bag of pivot n-grams (BPNG):

    precision = sum_g min(W_R(g), W_P(g)) / sum_g W_P(g)        recall with sum_g W_R(g)

R is the original and P the paraphrase. What is kept of each pair are the three sums, by order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat import _kernel
from karat.errors import InputError
from karat.metrics.loop import Counter, run
from karat.metrics.pairs import Pairs
from karat.paraphrase.table.phrase_table import PhraseTable
from karat.progress import Progress, silent
from karat.text.recipe import Recipe
from karat.text.references import as_references
from karat.text.segments import Texts, as_segments

Floats = NDArray[np.float64]

MOST_ORDERS = 9


@dataclass(frozen=True)
class PivotSettings:
    """How a bag of pivot n-grams is made; the defaults are the paper's."""

    order: int = 4
    """The longest n-grams."""
    edge: float = 0.1
    """Edges of the network must be more probable than this; the best edge is always kept."""
    ngram: float = 0.01
    """N-grams must weigh more than this."""
    renormalise: bool = False
    """Whether the edges that are kept share the whole probability of their phrase."""

    def __post_init__(self) -> None:
        if not 1 <= self.order <= MOST_ORDERS:
            raise InputError(f"order={self.order}: expected 1 to {MOST_ORDERS}")
        for name in ("edge", "ngram"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name}={getattr(self, name)}: expected 0 to 1")

    @property
    def rules(self) -> _kernel.BagRules:
        """The settings as the kernel takes them."""
        return _kernel.BagRules(self.order, self.edge, self.ngram, self.renormalise)


def pivot_statistics(
    table: PhraseTable,
    originals: Texts,
    paraphrases: Texts,
    settings: PivotSettings | None = None,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Floats:
    """Pairs x orders x (weight in common, of the paraphrase, of the original)."""
    counter = PivotBags(table, settings or PivotSettings())
    return pair_statistics(counter, originals, paraphrases, threads, progress)


def pair_statistics(
    counter: Counter,
    originals: Texts,
    paraphrases: Texts,
    threads: int | None,
    progress: Progress,
) -> Floats:
    """What a counter gives for every pair of an original and its paraphrase, in their order."""
    texts = as_segments(paraphrases, "paraphrases")
    given = as_segments(originals, "originals")
    refs = as_references(given, len(texts), texts.name)
    found = run([counter], [texts], refs, lambda _, rows: rows, threads=threads, progress=progress)
    return np.concatenate([part[0][0] for part in found])


@dataclass(frozen=True, eq=False)
class PivotBags:
    """Compares the bags of pivot n-grams of candidates (paraphrases) and references (originals)."""

    table: PhraseTable
    settings: PivotSettings

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """No plain n-grams are asked for."""
        return iter(())

    def rows(self, pairs: Pairs) -> Floats:
        """Pairs x orders x (common, candidate, reference)."""
        recipe = self.table.recipe
        mine, theirs = pairs.candidates.tokens(recipe), pairs.references.tokens(recipe)
        maps = self.table.maps(pairs.candidates.vocab(recipe))
        rules = self.settings.rules
        found = self.table.kernel.overlaps(*mine, *theirs, pairs.starts, *maps, rules, pairs.check)
        self._refuse(np.isnan(found[:, 0, 0]), pairs)
        return found

    def _refuse(self, bad: NDArray[Any], pairs: Pairs) -> None:
        if bad.any():
            place = pairs.place(int(bad.argmax()))
            raise InputError(
                f"segment {place:,}: too many pivot n-grams with edge={self.settings.edge:g} and "
                f"order={self.settings.order}: give a larger edge or a smaller order"
            )
