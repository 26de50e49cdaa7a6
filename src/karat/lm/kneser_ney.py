"""Modified Kneser-Ney smoothing, interpolated (Chen & Goodman 1998).

    p(w | h) = (a(hw) - D(a(hw))) / sum_x a(hx) + gamma(h) p(w | h')
    gamma(h) = sum_x D(a(hx)) / sum_x a(hx)

The longest n-grams have their counts for a; shorter ones the number of different words that
precede them, except those that begin with `<s>`, which nothing precedes: they have their counts.
Below single words stands the uniform distribution over all words but `<s>`: it is all that
`<unk>` has where the text has none.
"""

from __future__ import annotations

from collections.abc import Sequence

from karat.arrays import Flags, Floats, Ints, np
from karat.lm.counting import BOS
from karat.lm.smoothing import Contexts, Histograms, Rule

FALLBACK = (0.5, 1.0, 1.5)
"""Discounts of counts 1, 2, 3 and more where a text is too small to tell."""


class KneserNey:
    """Kneser-Ney: the back-off weights are gamma, with the whole count of what is left out."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def words(self, counts: Ints, preceding: Ints) -> Floats:
        """Return the probabilities of words; `<s>` is no word to be predicted."""
        a = preceding.astype(np.float64)
        a[BOS] = 0
        D = self._discounts(1, np.bincount(np.minimum(a, 5).astype(np.int64), minlength=6).tolist())
        taken = D[np.minimum(a, 3).astype(np.int64)]
        uniform = 1 / (len(a) - 1)
        p: Floats = (a - taken + taken.sum() * uniform) / a.sum()
        p[BOS] = 0
        return p

    def rule(self, n: int, seen: Histograms, words: int) -> Rule:
        """Return the formulas above with the discounts of a length."""
        D = self._discounts(n, seen.adjusted)

        def interpolated(some: Contexts, keep: Flags) -> tuple[Floats, Floats]:
            a, h = some.adjusted, some.contexts
            taken = np.where(keep, D[np.minimum(a, 3).astype(np.int64)], a)
            total = np.bincount(h, a, some.size)
            gamma = np.bincount(h, taken, some.size) / total
            return (a - taken) / total[h] + gamma[h] * some.lower, gamma

        return interpolated

    def _discounts(self, n: int, t: Sequence[int]) -> Floats:
        """Return the discounts of 0, 1, 2, and 3 and more."""
        D = discounts(t)
        if D is None:
            told = f"{n}-grams: too few to estimate discounts, which are {FALLBACK} instead"
            self.notes.append(told)
        return np.array([0.0, *(D or FALLBACK)])


def discounts(t: Sequence[int]) -> tuple[float, float, float] | None:
    """Return D of 1, 2, and 3 and more: k - (k + 1) Y t_{k+1} / t_k, Y = t_1 / (t_1 + 2 t_2).

    t_k is how many n-grams have the count k. None where one of t_1, t_2 and t_3 is 0, or a
    discount is not above 0.
    """
    if not (t[1] and t[2] and t[3]):
        return None
    y = t[1] / (t[1] + 2 * t[2])
    D1, D2, D3 = (k - (k + 1) * y * t[k + 1] / t[k] for k in (1, 2, 3))
    return (D1, D2, D3) if min(D1, D2, D3) > 0 else None
