"""F1 of two sentences as bags of n-grams (Liu, Dahlmeier and Ng 2010): pivot F1 and target F1.

Pivot F1 stands for adequacy. A sentence is segmented into the phrases of a table (the most probable
segmentation; any single word may be a phrase, with N = 1/2 if it is unseen), the translations of
the phrases form a confusion network, and the expected weights W(g) of its n-grams are the bag of
pivot n-grams (BPNG). Target F1 stands for the opposite of dissimilarity: its bags are the
sentences' own n-grams, each occurrence weighing 1. R is the original and P the paraphrase:

    precision = sum_g min(W_R(g), W_P(g)) / sum_g W_P(g)        recall with sum_g W_R(g)
    F1 = 2 precision recall / (precision + recall)

What is kept of each pair are the three sums, by order; they add up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from karat import _kernel
from karat.arrays import Floats, NDArray, np
from karat.errors import InputError
from karat.metrics.ngram import gram_totals
from karat.metrics.pairs import Counter, Outputs, Pairs, run_batches
from karat.paraphrase.table.phrase_table import ENGLISH, PhraseTable
from karat.progress import Progress, silent
from karat.text.references import as_references
from karat.text.segments import Texts, as_segments
from karat.text.tokens import Recipe

MOST_ORDERS = 9


def share(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Return part / whole; 0/0 is 0."""
    some = np.asarray(whole) > 0
    return np.asarray(np.divide(part, whole, out=np.zeros(np.shape(part)), where=some))


def f1(stats: NDArray[Any]) -> Floats:
    """Return F1 of (common, paraphrase, original) in the last axis; 0 where both bags are empty."""
    return share(2.0 * stats[..., 0], stats[..., 1] + stats[..., 2])


def pooled_f1(stats: NDArray[Any], order: int | None = None) -> Floats:
    """Return F1 of all orders (the last axis but one) up to `order` in one bag, as in the paper."""
    return f1(stats[..., :order, :].sum(axis=-2))


@dataclass(frozen=True)
class PivotSettings:
    """Settings of a bag of pivot n-grams; the defaults are the paper's."""

    order: int = 4
    """The longest n-grams."""
    edge: float = 0.1
    """Edges of the network must be more probable than this; the best edge is always kept."""
    ngram: float = 0.01
    """N-grams must weigh more than this."""
    renormalise: bool = False
    """True if the edges that are kept share the whole probability of their phrase."""

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
    """Return an array of pairs x orders x (shared weight, paraphrase's weight, original's weight).

    Args:
        table: phrase table.
        originals, paraphrases: texts, in the same order.
        settings: settings of the bags of n-grams.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    counter = PivotBags(table, settings or PivotSettings())
    return pair_statistics(counter, originals, paraphrases, threads=threads, progress=progress)


def target_statistics(
    originals: Texts,
    paraphrases: Texts,
    recipe: Recipe = ENGLISH,
    order: int = 4,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Floats:
    """Return pairs x orders x (n-grams in common, of the paraphrase, of the original).

    Give the recipe of the phrase table, so that words are stemmed alike.
    """
    counter = TargetBags(recipe, order)
    return pair_statistics(counter, originals, paraphrases, threads=threads, progress=progress)


def pair_statistics(
    counter: Counter,
    originals: Texts,
    paraphrases: Texts,
    outputs: Outputs | None = None,
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> Floats:
    """Return the rows of a counter; `outputs` says which system and segment each pair is of."""
    texts = as_segments(paraphrases, "paraphrases")
    refs = as_references(as_segments(originals, "originals"), len(texts), texts.name)
    found = run_batches(
        [counter],
        {texts.name: texts},
        refs,
        lambda _, rows, __: rows,
        outputs=outputs,
        threads=threads,
        progress=progress,
    )
    return np.concatenate([part[0][0] for part in found])


@dataclass(frozen=True, eq=False)
class PivotBags:
    """A counter of pivot n-grams of candidates (paraphrases) and references (originals)."""

    table: PhraseTable
    settings: PivotSettings

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """Ask for no plain n-grams."""
        return iter(())

    def rows(self, pairs: Pairs) -> Floats:
        """Return pairs x orders x (common, candidate, reference)."""
        recipe = self.table.recipe
        mine, theirs = pairs.candidates.tokens(recipe), pairs.references.tokens(recipe)
        maps = self.table.maps(pairs.candidates.vocab(recipe))
        rules = self.settings.rules
        found = self.table.kernel.overlaps(*mine, *theirs, pairs.starts, *maps, rules, pairs.check)
        if (bad := np.isnan(found[:, 0, 0])).any():
            raise InputError(
                f"segment {pairs.segment_number(int(bad.argmax())):,}: too many pivot n-grams with "
                f"edge={self.settings.edge:g} and order={self.settings.order}: give a larger edge "
                "or a smaller order"
            )
        return found


@dataclass(frozen=True)
class TargetBags:
    """A counter of the words' own n-grams."""

    recipe: Recipe
    order: int

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        """Ask for the n-grams of both texts."""
        yield self.recipe, self.order

    def rows(self, pairs: Pairs) -> Floats:
        """Return pairs x orders x (common, candidate, reference)."""
        mine = gram_totals(pairs.candidates.tokens(self.recipe).lengths, self.order)
        theirs = gram_totals(pairs.references.tokens(self.recipe).lengths, self.order)
        common = pairs.matches(self.recipe, self.order).per_pair
        spread = np.repeat(mine, np.diff(pairs.starts), axis=0)
        return np.stack([common, spread, theirs], axis=-1).astype(np.float64)
