"""The n-gram family of Soricut and Brill (2004): AEv, with BLEU as one of its points.

P(n) is the share of the candidates' n-grams that occur in the references, R(n) the share of the
references' n-grams that occur in the candidates, with clipped matches. With weights w_n, N orders:

    PS(N) = BP exp(sum_n w_n log P(n))        BP = 1 if B|c| >= |r|, else exp(1 - |r| / (B|c|))
    RS(N) = WP exp(sum_n w_n log R(n))        WP = 1 if |c| <= W|r|, else exp(1 - |c| / (W|r|))
    AEv(alpha, N) = RS PS / (alpha RS + (1 - alpha) PS)

|c| and |r| count all tokens, stop words included. BLEU is PS(4) with B = 1 and equal weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import MetricError
from karat.metrics.base import Metric
from karat.metrics.pairs import Pairs
from karat.settings import setting, to_text
from karat.text.tokens import CASES, TOKENIZERS, Recipe, stemmers

SMOOTHINGS = {
    "none": "no smoothing: an order without a match makes the score 0",
    "exp": "halve the credit with every order without a match (mteval's)",
    "floor": "count a small number instead of 0 matches",
    "add-k": "add k to matches and totals of the orders above 1",
}
_SMOOTH_VALUES = {"floor": 0.1, "add-k": 1.0}
MAX_ORDER = 20


def smoothed_shares(
    matches: NDArray[Any], totals: NDArray[Any], method: str, value: float | None
) -> tuple[Floats, Flags]:
    """Return smoothed matches over totals for every order, and which orders were reached.

    The rules are sacreBLEU's: without any match all shares are 0; an order with a total of 0 is
    not reached and has the share 0.
    """
    smooth_value = _SMOOTH_VALUES.get(method, 0.0) if value is None else value
    shares = np.zeros(matches.shape)
    is_reached = np.zeros(matches.shape, dtype=np.bool_)
    has_match = matches.any(axis=1)
    divisor = np.ones(len(matches))
    for n in range(matches.shape[1]):
        matched, total = matches[:, n].astype(float), totals[:, n].astype(float)
        if method == "add-k" and n:
            matched, total = matched + smooth_value, total + smooth_value
        is_reached[:, n] = has_match & (total > 0)
        lacks_match = is_reached[:, n] & (matched == 0)
        if method == "exp":
            divisor = np.where(lacks_match, divisor * 2, divisor)
            matched = np.where(lacks_match, 1 / divisor, matched)
        elif method == "floor":
            matched = np.where(lacks_match, smooth_value, matched)
        np.divide(matched, total, out=shares[:, n], where=is_reached[:, n])
    return shares, is_reached


def weighted_product(shares: Floats, weights: NDArray[Any]) -> Floats:
    """Return exp(sum_n w_n log share_n); 0 if a share with a positive weight is 0."""
    from karat.arithmetic import exp, log

    logs = log(np.where(shares > 0, shares, 1.0))
    product = exp((weights * logs).sum(axis=1))
    zero = ((shares <= 0) & (weights > 0)).any(axis=1)
    return np.where(zero, 0.0, product)


def penalty(excess: Floats, free: Flags) -> Floats:
    """Return 1 where `free`, else exp(1 - excess)."""
    from karat.arithmetic import exp

    return np.where(free, 1.0, exp(1 - np.where(free, 1.0, excess)))


def ratio(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """Return a / b, infinite where b is 0."""
    quotients: Floats = np.divide(a, b, out=np.full(np.shape(a), np.inf), where=np.asarray(b) > 0)
    return quotients


def gram_totals(lengths: Ints, order: int) -> Ints:
    """Return the number of n-grams of each order in texts of these lengths."""
    totals: Ints = np.maximum(lengths[:, None] - np.arange(order), 0)
    return totals


def _per_order(letter: str, shares: Floats, factor: float = 1.0) -> dict[str, Floats]:
    return {f"{letter}{n + 1}": factor * shares[:, n] for n in range(shares.shape[1])}


def _full_smooth_value(metric: BLEU | AEv) -> str:
    """Return the smoothing value, with the default filled in."""
    default = _SMOOTH_VALUES.get(metric.smooth)
    return to_text(default if metric.smooth_value is None else metric.smooth_value)


@dataclass(frozen=True)
class BLEU(Metric):
    """Precision of n-grams up to 4 with a brevity penalty (Papineni et al. 2002), as sacreBLEU.

    Several references: matches are clipped by the largest count in any of them, and the length
    closest to the candidate's counts. An empty reference is a reference of no tokens.
    """

    name: ClassVar[str] = "bleu"
    full_scale: ClassVar[float] = 100.0
    aliases: ClassVar[Any] = MappingProxyType(
        {"max_ngram_order": "n", "tokenize": "tok", "smooth_method": "smooth"}
        | {"effective_order": "eff"}
    )

    n: int = setting(4, "the longest n-grams", low=1, high=MAX_ORDER)
    tok: str = setting("13a", "tokeniser", choices=TOKENIZERS)
    case: str = setting("mixed", "whether capitals count (mixed) or not (lower)", choices=CASES)
    smooth: str = setting("exp", "what to do with orders without a match", choices=SMOOTHINGS)
    smooth_value: float | None = setting(
        None, "for floor (default 0.1) and add-k (default 1)", kind=float, low=0, high=1e9
    )
    eff: bool | None = setting(
        None,
        "leave out orders longer than the text; auto: for segment scores, not for corpus scores",
        kind=bool,
        unset="auto",
    )

    @property
    def recipe(self) -> Recipe:
        """The recipe that turns text into tokens."""
        return Recipe(self.tok, self.case)

    @property
    def smoothed_by(self) -> float | None:
        """The smoothing value, with the default filled in; None if smoothing has none."""
        default = _SMOOTH_VALUES.get(self.smooth)
        return default if default is None or self.smooth_value is None else self.smooth_value

    def _full(self, name: str) -> str:
        if name == "eff":
            return to_text(bool(self.eff))
        return _full_smooth_value(self) if name == "smooth_value" else super()._full(name)

    def of_segments(self) -> BLEU:
        """Return the variant with effective order, unless `eff` was set: most segments are short.

        sacreBLEU's sentence BLEU, and so WMT's, is this variant.
        """
        return replace(self, eff=True) if self.eff is None else self

    def columns(self) -> tuple[str, ...]:
        orders = range(1, self.n + 1)
        return ("c", "r", *(f"match{n}" for n in orders), *(f"total{n}" for n in orders))

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        yield self.recipe, self.n

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        c = pairs.candidates.tokens(self.recipe).lengths
        r = pairs.closest(pairs.references.tokens(self.recipe).lengths, c)
        clipped = pairs.matches(self.recipe, self.n).clipped
        return np.column_stack([c, r, clipped, gram_totals(c, self.n)])

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        c, r = rows[:, 0], rows[:, 1]
        matches, totals = rows[:, 2 : 2 + self.n], rows[:, 2 + self.n :]
        shares, is_reached = smoothed_shares(matches, totals, self.smooth, self.smooth_value)
        orders = np.maximum(is_reached.sum(axis=1), 1) if self.eff else np.full(len(rows), self.n)
        counted = np.arange(self.n) < orders[:, None]
        bp = penalty(ratio(r, c), c >= r)
        value = 100 * bp * weighted_product(shares, counted / orders[:, None])
        share = np.where(r > 0, ratio(c, r), 0.0)
        parts = {"bp": bp, "ratio": share, "length": 1.0 * c, "reference_length": 1.0 * r}
        return {"value": value, **_per_order("p", shares, 100), **parts}


_SCOPES = {
    "sequence": "removed first; n-grams run across the gaps (ROUGE-1.5.5's way)",
    "unigrams": "left out of the unigrams only (the paper's section 4.1)",
}
_REFS = {
    "all": "precision clips by the largest count, recall sums over references",
    "best": "each segment's best-scoring reference; of equals, the one with more long matches",
    "average": "the mean of the rows against each reference",
}
_WP = {"corrected": "|c| against W|r|", "printed": "W|c| against |r|, as in the paper's formula"}


@dataclass(frozen=True)
class AEv(Metric):
    """The unified family of Soricut and Brill (2004): alpha weighs precision, n word order.

    alpha=1 is PS (BLEU-like), alpha=0 is RS (ROUGE-like). Several references: see `refs`; with
    refs=all |r| is the length closest to the candidate's, otherwise each reference's own. An order
    without a match makes the score 0.
    """

    name: ClassVar[str] = "aev"
    presets: ClassVar[Mapping[str, dict[str, Any]]] = MappingProxyType(
        {"paper": {"case": "lower", "stem": "porter", "stop": "en", "stop_scope": "unigrams"}}
    )
    """Section 3.3 names the stemmer and a stop list, section 4.1 what the list is for: "stop word
    elimination for unigrams". The paper does not mention case; Porter's stemmer is defined for
    lower-case words, and all our evidence on the plane is of this form (docs/lab/plane.md)."""

    alpha: float = setting(0.5, "weight of precision: 0 is recall, 1 is precision", low=0, high=1)
    n: int = setting(4, "the longest n-grams", low=1, high=MAX_ORDER)
    weights: tuple[float, ...] | None = setting(
        None,
        "one weight per order, as 0/0/1, used as they are; default 1/n each",
        kind=tuple,
        items=float,
    )
    b: float = setting(1.0, "brevity constant B; inf: no penalty", above=0)
    w: float = setting(2.0, "wordiness constant W; inf: no penalty", above=0)
    wp: str = setting("corrected", "form of the wordiness penalty", choices=_WP)
    tok: str = setting("13a", "tokeniser", choices=TOKENIZERS)
    case: str = setting("mixed", "whether capitals count (mixed) or not (lower)", choices=CASES)
    stem: str = setting("none", "stemmer", choices=stemmers)
    stop: str = setting("none", "stop words: none, en, iso-LANGUAGE or a file")
    stop_scope: str = setting("sequence", "where stop words are removed", choices=_SCOPES)
    smooth: str = setting("none", "what to do with orders without a match", choices=SMOOTHINGS)
    smooth_value: float | None = setting(
        None, "for floor (default 0.1) and add-k (default 1)", kind=float, low=0, high=1e9
    )
    refs: str = setting("all", "what to do with several references", choices=_REFS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights is None:
            return
        good = all(isinstance(x, int | float) and 0 <= x < math.inf for x in self.weights)
        if not good or len(self.weights) != self.n or not sum(self.weights) > 0:
            raise MetricError(
                f"aev: weights={to_text(self.weights)}: expected {self.n} numbers of 0 or more "
                f"(one per order, n={self.n}), not all 0; they are used as they are, so most "
                f"often they add up to 1"
            )

    @property
    def recipe(self) -> Recipe:
        """The recipe that turns text into the tokens of n-grams."""
        return Recipe(self.tok, self.case, self.stem, self.stop)

    def _full(self, name: str) -> str:
        return _full_smooth_value(self) if name == "smooth_value" else super()._full(name)

    @property
    def _all_words(self) -> Recipe:
        return Recipe(self.tok, self.case, self.stem)

    @property
    def _recipes(self) -> list[tuple[Recipe, slice]]:
        """Recipes of tokens, each with the orders of its n-grams."""
        if self.stop == "none" or self.stop_scope == "sequence" or self.n == 1:
            return [(self.recipe, slice(0, self.n))]
        return [(self.recipe, slice(0, 1)), (self._all_words, slice(1, self.n))]

    def columns(self) -> tuple[str, ...]:
        kinds = ("match_p", "total_c", "match_r", "total_r")
        return ("c", "r", *(f"{kind}{n + 1}" for kind in kinds for n in range(self.n)))

    def overlaps(self) -> Iterator[tuple[Recipe, int]]:
        for recipe, orders in self._recipes:
            yield recipe, orders.stop

    def rows(self, pairs: Pairs) -> NDArray[Any]:
        c = pairs.candidates.tokens(self._all_words).lengths
        r = pairs.references.tokens(self._all_words).lengths
        matches, clipped, total_c, total_r = self._counts(pairs)
        if self.refs == "all" or pairs.single:
            recall = pairs.sum(matches), pairs.sum(total_r)
            return np.column_stack([c, pairs.closest(r, c), clipped, total_c, *recall])
        candidate_totals = pairs.spread(total_c)
        counts = [matches, candidate_totals, matches, total_r]
        per_pair = np.column_stack([pairs.spread(c), r, *counts])
        if self.refs == "best":
            ties = [matches[:, n] for n in reversed(range(self.n))]
            return per_pair[pairs.best(self.measure(per_pair)["value"], *ties)]
        return pairs.sum(per_pair) / np.diff(pairs.starts)[:, None]

    def _counts(self, pairs: Pairs) -> tuple[Ints, ...]:
        """Return matches per pair, clipped matches, and n-grams of both sides, by order."""
        by_recipe = []
        for recipe, orders in self._recipes:
            matches, clipped = pairs.matches(recipe, orders.stop)
            candidate_totals = gram_totals(pairs.candidates.tokens(recipe).lengths, orders.stop)
            reference_totals = gram_totals(pairs.references.tokens(recipe).lengths, orders.stop)
            by_recipe.append(
                [part[:, orders] for part in (matches, clipped, candidate_totals, reference_totals)]
            )
        return tuple(np.hstack(parts).astype(np.int64) for parts in zip(*by_recipe, strict=True))

    def measure(self, rows: NDArray[Any]) -> dict[str, Floats]:
        c, r = rows[:, 0], rows[:, 1]
        match_p, total_c, match_r, total_r = np.split(rows[:, 2:], 4, axis=1)
        p, _ = smoothed_shares(match_p, total_c, self.smooth, self.smooth_value)
        recall, _ = smoothed_shares(match_r, total_r, self.smooth, self.smooth_value)
        order_weights = self.weights or (1 / self.n,) * self.n
        weights = np.broadcast_to(np.asarray(order_weights, dtype=float), p.shape)
        bp, wp = np.ones(len(c)), self._wp(c, r)
        if not math.isinf(self.b):
            bp = penalty(ratio(r, self.b * c), self.b * c >= r)
        ps, rs = bp * weighted_product(p, weights), wp * weighted_product(recall, weights)
        parts = {
            "ps": ps,
            "rs": rs,
            "bp": bp,
            "wp": wp,
            "length": 1.0 * c,
            "reference_length": 1.0 * r,
        }
        value = self.combine(ps, rs)
        return {"value": value, **_per_order("p", p), **_per_order("r", recall), **parts}

    def combine(self, ps: Floats, rs: Floats) -> Floats:
        """Return RS PS / (alpha RS + (1 - alpha) PS); 0/0 is 0."""
        if self.alpha in (0.0, 1.0):  # by definition, also where the quotient is 0/0
            return ps if self.alpha == 1 else rs
        below = self.alpha * rs + (1 - self.alpha) * ps
        return np.divide(rs * ps, below, out=np.zeros(len(ps)), where=below > 0)

    def _wp(self, c: NDArray[Any], r: NDArray[Any]) -> Floats:
        """Return the wordiness penalty, with W on the side of the reference.

        The paper has W|c| against |r|; but then W = 2 penalizes a candidate of exactly the
        reference's length, and W = inf, its setting for ROUGE, makes every score 0.
        """
        if self.wp == "printed":
            wordy = np.where(c > 0, self.w * np.maximum(c, 1), 0.0)
            return penalty(ratio(wordy, r), wordy <= r)
        if math.isinf(self.w):
            return np.ones(len(c))
        return penalty(ratio(c, self.w * r), c <= self.w * r)

    def notes(self, row: NDArray[Any]) -> tuple[str, ...]:
        """Return a note on orders without a match, if they made the score 0."""
        scores = self.measure(row[None, :])
        if scores["value"][0] > 0:
            return ()
        weights = self.weights or (1.0,) * self.n
        empty = [
            str(n)
            for n, weight in enumerate(weights, 1)
            if weight and not (scores[f"p{n}"][0] and scores[f"r{n}"][0])
        ]
        note = f"no n-gram of order {', '.join(empty)} matched, so the score is 0"
        return (note,) if empty else ()
