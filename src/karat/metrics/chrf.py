"""chrF and chrF++ (Popović 2015, 2017), as sacreBLEU computes them.

For each order the precision and recall of character n-grams (and of word n-grams in chrF++) are
taken from summed counts; their means over the orders that both texts reach, P and R, give

    chrF = 100 (1 + beta^2) P R / (beta^2 P + R)

Several references: the one with the best segment score counts. Orders longer than the reference do
not count for the candidate either; an empty text scores 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from karat.arrays import Floats, Ints, NDArray, np
from karat.metrics.base import Metric
from karat.metrics.ngram import gram_totals
from karat.metrics.pairs import Pairs
from karat.settings import setting
from karat.text.tokens import CASES, CHARACTERS, Recipe

_TINY = 1e-16  # chrF++.py's value of an undefined precision or recall


@dataclass(frozen=True)
class ChrF(Metric):
    """Character n-gram F-score; with words=2 it is chrF++."""

    name: ClassVar[str] = "chrf"
    full_scale: ClassVar[float] = 100.0
    aliases: ClassVar[Any] = MappingProxyType(
        {"char_order": "n", "word_order": "words", "whitespace": "space", "eps_smoothing": "eps"}
    )

    n: int = setting(6, "the longest character n-grams", low=1, high=20)
    words: int = setting(0, "the longest word n-grams; chrf++ has 2", low=0, high=20)
    beta: float = setting(2.0, "how much more recall counts than precision", low=0, high=1e6)
    case: str = setting("mixed", "whether capitals count (mixed) or not (lower)", choices=CASES)
    space: bool = setting(False, "count white space as characters")
    eps: bool = setting(False, "mean of the orders' F-scores (chrF++.py's way), all orders counted")

    @property
    def _characters(self) -> Recipe:
        return Recipe(CHARACTERS[self.space], self.case)

    @property
    def _words(self) -> Recipe:
        return Recipe("chrf", self.case)

    def columns(self) -> tuple[str, ...]:
        orders = [f"c{n + 1}" for n in range(self.n)] + [f"w{n + 1}" for n in range(self.words)]
        return tuple(f"{kind}_{o}" for o in orders for kind in ("candidate", "reference", "match"))

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        yield self._characters, self.n
        if self.words:
            yield self._words, self.words

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        rows = self.pair_rows(pairs)
        return rows if pairs.single else rows[pairs.best(self.measure(rows)["value"])]

    def pair_rows(self, pairs: Pairs) -> NDArray[Any]:
        """Return the row of each candidate with each of its references."""
        kinds = [(self._characters, self.n), (self._words, self.words)]
        parts = [self._triples(pairs, recipe, order) for recipe, order in kinds if order]
        return np.hstack(parts)

    @staticmethod
    def reversed_rows(rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows in which candidate and reference have changed places; not for `eps`."""
        order = np.arange(rows.shape[1]).reshape(-1, 3)[:, [1, 0, 2]].ravel()
        reordered: Ints = rows[:, order]
        return reordered

    @staticmethod
    def _triples(pairs: Pairs, recipe: Recipe, order: int) -> Ints:
        """Return n-grams of the candidate, of the reference, and matches, per pair and order."""
        candidates, references = pairs.candidates.tokens(recipe), pairs.references.tokens(recipe)
        reference = gram_totals(references.lengths, order)
        candidate = gram_totals(pairs.spread(candidates.lengths), order)
        candidate = np.where(reference > 0, candidate, 0)
        triples = np.stack([candidate, reference, pairs.matches(recipe, order).per_pair], axis=2)
        return triples.reshape(len(reference), 3 * order)

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        candidate, reference, match = rows[:, 0::3], rows[:, 1::3], rows[:, 2::3]
        tiny = np.full(candidate.shape, _TINY)
        p = np.divide(match, candidate, out=tiny.copy(), where=candidate > 0)
        r = np.divide(match, reference, out=tiny, where=reference > 0)
        both = (candidate > 0) & (reference > 0)
        orders = np.maximum(both.sum(axis=1), 1)
        mean_p = _sum(np.where(both, p, 0)) / orders
        mean_r = _sum(np.where(both, r, 0)) / orders
        if self.eps:
            value = 100 * _sum(self._f(p, r, _TINY)) / p.shape[1]
        else:
            value = 100 * self._f(mean_p, mean_r, 0.0)
        return {"value": value, "precision": 100 * mean_p, "recall": 100 * mean_r}

    def _f(self, p: Floats, r: Floats, undefined: float) -> Floats:
        factor = self.beta * self.beta
        below = factor * p + r
        out = np.full(p.shape, undefined)
        f_scores: Floats = np.divide((1 + factor) * p * r, below, out=out, where=below > 0)
        return f_scores


def _sum(orders: Floats) -> Floats:
    """Add up order by order, as sacreBLEU does: rounding decides between nearly tied references."""
    total: Floats = 0.0 * orders[:, 0]
    for n in range(orders.shape[1]):
        total = total + orders[:, n]
    return total
