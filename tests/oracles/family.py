"""The n-gram family, from the formulas in Soricut and Brill (2004) as read in our docs.

PS(N) = BP exp(sum w_n log P(n)), RS(N) = WP exp(sum w_n log R(n)),
AEv = RS PS / (alpha RS + (1 - alpha) PS). Smoothing is sacreBLEU's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from oracles.ngrams import clipped, closest_length, matches, total

Number = float | int | Fraction
_DEFAULT_VALUES = {"floor": 0.1, "add-k": 1.0, "exp": 0.0, "none": 0.0}


def shares(
    hits: Sequence[Number], totals: Sequence[Number], method: str, value: float | None
) -> list[float]:
    """Matches over totals by order, smoothed; 0 where there is nothing to divide by."""
    if method == "none":
        return [float(h / t) if t else 0.0 for h, t in zip(hits, totals, strict=True)]
    amount = _DEFAULT_VALUES[method] if value is None else value
    smoothed = [0.0] * len(hits)
    if not any(hits):
        return smoothed
    halved = 1.0
    for n, (h, t) in enumerate(zip(hits, totals, strict=True)):
        plus = amount if method == "add-k" and n > 0 else 0.0
        if t + plus == 0:
            break
        if h + plus > 0:
            smoothed[n] = float(h + plus) / float(t + plus)
        elif method == "exp":
            halved *= 2
            smoothed[n] = 1 / (halved * float(t))
        elif method == "floor":
            smoothed[n] = amount / float(t)
    return smoothed


def geometric(values: Sequence[float], weights: Sequence[float]) -> float:
    """exp(sum w log v): 0 if a value that has a weight is 0."""
    counted = [(v, w) for v, w in zip(values, weights, strict=True) if w > 0]
    if any(v <= 0 for v, _ in counted):
        return 0.0
    return math.exp(sum(w * math.log(v) for v, w in counted))


def _exp_penalty(quotient: Callable[[], Number]) -> float:
    try:
        return math.exp(1 - float(quotient()))
    except ZeroDivisionError:
        return 0.0


def brevity(c: Number, r: Number, b: float) -> float:
    """BP = 1 if B|c| >= |r|, else exp(1 - |r| / (B|c|)); B = inf is no penalty."""
    if math.isinf(b) or b * c >= r:
        return 1.0
    return _exp_penalty(lambda: r / (b * c))


def wordiness(c: Number, r: Number, w: float, form: str) -> float:
    """WP in its corrected form, |c| against W|r|, or as printed, W|c| against |r|."""
    if form == "printed":
        if c == 0 or w * c <= r:
            return 1.0
        return _exp_penalty(lambda: w * c / r)
    if math.isinf(w) or c <= w * r:
        return 1.0
    return _exp_penalty(lambda: c / (w * r))


def combine(ps: float, rs: float, alpha: float) -> float:
    """RS PS / (alpha RS + (1 - alpha) PS), and 0 for 0/0; the ends are RS and PS."""
    if alpha == 0:
        return rs
    if alpha == 1:
        return ps
    below = alpha * rs + (1 - alpha) * ps
    return rs * ps / below if below else 0.0


@dataclass(frozen=True)
class Counts:
    """What one segment, or a corpus, adds to the formulas."""

    c: Number
    r: Number
    match_p: list[Number]
    total_c: list[Number]
    match_r: list[Number]
    total_r: list[Number]

    def flat(self) -> list[Number]:
        """All numbers in one list."""
        return [self.c, self.r, *self.match_p, *self.total_c, *self.match_r, *self.total_r]

    @staticmethod
    def from_flat(numbers: Sequence[Number]) -> Counts:
        """The inverse of `flat`."""
        n = (len(numbers) - 2) // 4
        parts = [list(numbers[2 + k * n : 2 + (k + 1) * n]) for k in range(4)]
        return Counts(numbers[0], numbers[1], *parts)


def add(counts: Sequence[Counts]) -> Counts:
    """The sums over segments."""
    return Counts.from_flat(
        [sum(column) for column in zip(*(c.flat() for c in counts), strict=True)]
    )


@dataclass(frozen=True)
class Family:
    """A member of the family; texts come as lists of surface tokens."""

    alpha: float = 0.5
    n: int = 4
    weights: tuple[float, ...] | None = None
    b: float = 1.0
    w: float = 2.0
    wp: str = "corrected"
    stem: Callable[[str], str] = field(default=lambda word: word)
    stop: frozenset[str] = frozenset()
    stop_scope: str = "sequence"
    smooth: str = "none"
    smooth_value: float | None = None
    refs: str = "all"

    def tokens(self, words: Sequence[str], n: int) -> list[str]:
        """The tokens that n-grams of order n are made of."""
        everywhere = self.stop_scope == "sequence" or n == 1
        return [self.stem(w) for w in words if not (everywhere and w.lower() in self.stop)]

    def counts(self, candidate: Sequence[str], references: Sequence[Sequence[str]]) -> Counts:
        """The counts of one segment."""
        if self.refs == "all":
            return self._against(candidate, references)
        counts_by_reference = [self._against(candidate, [reference]) for reference in references]
        if self.refs == "best":
            return max(counts_by_reference, key=self.score)
        shared = [
            sum(column) for column in zip(*(c.flat() for c in counts_by_reference), strict=True)
        ]
        return Counts.from_flat([Fraction(number, len(counts_by_reference)) for number in shared])

    def _against(self, candidate: Sequence[str], references: Sequence[Sequence[str]]) -> Counts:
        orders = range(1, self.n + 1)
        candidate_tokens = {n: self.tokens(candidate, n) for n in orders}
        reference_tokens = {
            n: [self.tokens(reference, n) for reference in references] for n in orders
        }
        return Counts(
            c=len(candidate),
            r=closest_length(len(candidate), [len(reference) for reference in references]),
            match_p=[clipped(candidate_tokens[n], reference_tokens[n], n) for n in orders],
            total_c=[total(candidate_tokens[n], n) for n in orders],
            match_r=[
                sum(matches(candidate_tokens[n], t, n) for t in reference_tokens[n]) for n in orders
            ],
            total_r=[sum(total(t, n) for t in reference_tokens[n]) for n in orders],
        )

    def parts(self, counts: Counts) -> dict[str, float]:
        """PS, RS, both penalties and the value."""
        weights = self.weights or (1 / self.n,) * self.n
        p = shares(counts.match_p, counts.total_c, self.smooth, self.smooth_value)
        r = shares(counts.match_r, counts.total_r, self.smooth, self.smooth_value)
        bp = brevity(counts.c, counts.r, self.b)
        wp = wordiness(counts.c, counts.r, self.w, self.wp)
        ps, rs = bp * geometric(p, weights), wp * geometric(r, weights)
        return {"value": combine(ps, rs, self.alpha), "ps": ps, "rs": rs, "bp": bp, "wp": wp}

    def score(self, counts: Counts) -> float:
        """AEv of one segment's counts or of summed ones."""
        return self.parts(counts)["value"]

    def corpus(
        self, candidates: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]]
    ) -> float:
        """AEv of a corpus: sum, then score."""
        pairs = zip(candidates, references, strict=True)
        return self.score(add([self.counts(c, r) for c, r in pairs]))
