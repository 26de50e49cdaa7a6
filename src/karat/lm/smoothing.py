"""Smoothing: from counts to probabilities, for increasing lengths of n-grams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from karat.arrays import Flags, Floats, Ints, np
from karat.lm.tables import BOS, UNK


class HistoryContexts(NamedTuple):
    """All n-grams of one length in some contexts, those of a context in the order of the text.

    Sums over a context use this order, so rounding does not depend on the batch.
    """

    size: int  # number of contexts, which `contexts` numbers from 0
    contexts: Ints
    counts: Ints
    adjusted: Floats
    """Number of different words before each n-gram; the count of longest n-grams and of those that
    begin with `<s>`."""
    lower: Floats  # probability of each n-gram without its first word


Estimator = Callable[[HistoryContexts, Flags], tuple[Floats, Floats]]
"""From n-grams and flags of those to keep, to their probabilities and the back-off weights of the
contexts."""


FALLBACK = (0.5, 1.0, 1.5)  # discounts of counts 1, 2, and 3 or more, if a text is too small


class KneserNey:
    """Interpolated modified Kneser-Ney (Chen and Goodman 1998), over adjusted counts a:

    p(w | h) = (a(hw) - D(a(hw))) / sum_v a(hv) + gamma(h) p(w | h'), h' without its first word.

    The back-off weights are gamma(h), the share of discounts and of pruned n-grams.
    """

    def __init__(self) -> None:
        self.notes: list[str] = []  # notes on what could not be estimated

    def words(self, counts: Ints, preceding: Ints) -> Floats:
        """Return the probabilities of words; that of `<s>`, which is not predicted, is 0.

        `preceding` is the number of different words before each; in a unigram model, its count.
        """
        a = preceding.astype(np.float64)
        a[BOS] = 0
        D = self._discounts(1, np.bincount(np.minimum(a, 5).astype(np.int64), minlength=6).tolist())
        discount = D[np.minimum(a, 3).astype(np.int64)]
        uniform = 1 / (len(a) - 1)
        p: Floats = (a - discount + discount.sum() * uniform) / a.sum()
        p[BOS] = 0
        return p

    def estimator(self, n: int, adjusted: list[int], counts: list[int], n_words: int) -> Estimator:
        """Return the estimator of n-grams of length `n` over a vocabulary of `n_words` words.

        `adjusted` and `counts` are the numbers of n-grams by adjusted count (up to 5) and by count
        (up to 9); the last number includes all larger counts.
        """
        D = self._discounts(n, adjusted)

        def interpolated(ngrams: HistoryContexts, keep: Flags) -> tuple[Floats, Floats]:
            a, h = ngrams.adjusted, ngrams.contexts
            discount = np.where(keep, D[np.minimum(a, 3).astype(np.int64)], a)
            total = np.bincount(h, a, ngrams.size)
            gamma = np.bincount(h, discount, ngrams.size) / total
            return (a - discount) / total[h] + gamma[h] * ngrams.lower, gamma

        return interpolated

    def _discounts(self, n: int, t: Sequence[int]) -> Floats:
        """Return the discounts of counts 0, 1, 2, and 3 or more."""
        D = discounts(t)
        if D is None:
            note = f"{n}-grams: too few to estimate discounts, which are {FALLBACK} instead"
            self.notes.append(note)
        return np.array([0.0, *(D or FALLBACK)])


def discounts(t: Sequence[int]) -> tuple[float, float, float] | None:
    """Return D of 1, 2, and 3 or more: k - (k + 1) Y t_{k+1} / t_k, Y = t_1 / (t_1 + 2 t_2).

    t_k is the number of n-grams with count k. Return None if t_1, t_2 or t_3 is 0, or a discount is
    not positive.
    """
    if not (t[1] and t[2] and t[3]):
        return None
    y = t[1] / (t[1] + 2 * t[2])
    D1, D2, D3 = (k - (k + 1) * y * t[k + 1] / t[k] for k in (1, 2, 3))
    return (D1, D2, D3) if min(D1, D2, D3) > 0 else None


_LITTLE = 1e-9  # smaller remainders come from rounding


def gt_min(n: int) -> int:
    """Return the minimal count of n-grams to keep: 1 up to bigrams, 2 for longer ones."""
    return 1 if n <= 2 else 2


def gt_max(n: int) -> int:
    """Return the largest discounted count: 7, and 0 (none) for unigrams.

    SRILM has 1 for unigrams, which is equivalent: with k = 1, r*/r is A.
    """
    return 0 if n == 1 else 7


class Katz:
    """Katz: p(w | h) = d(r) r / c(h) with Good-Turing discounts d, else alpha(h) p(w | h')."""

    def __init__(self) -> None:
        self.notes: list[str] = []  # notes on what could not be estimated

    def words(self, counts: Ints, preceding: Ints) -> Floats:
        """Return the probabilities of words; that of `<s>` is 0.

        The remainder goes to `<unk>`, or evenly to all words if the text has `<unk>`.
        """
        words = counts.copy()
        words[BOS] = 0
        histogram = np.bincount(np.minimum(words, 9), minlength=10).tolist()
        r = words * good_turing(histogram, gt_max(1))[np.minimum(words, 8)]
        total = words.sum()
        if r.sum() > total - _LITTLE:
            total += 1
        p: Floats = r / total
        leftover = 1 - p.sum()
        if words[UNK]:
            p += leftover / (len(p) - 1)
            p[BOS] = 0
        else:
            p[UNK] = leftover
        return p

    def estimator(self, n: int, adjusted: list[int], counts: list[int], n_words: int) -> Estimator:
        """Return the estimator of n-grams of length `n`; arguments as for `KneserNey`.

        alpha(h) = (1 - sum p(w | h)) / (1 - sum p(w | h')), over the words w kept after h.
        """
        d = good_turing(counts, gt_max(n))
        if undiscounted := [str(r) for r in range(1, gt_max(n) + 1) if d[r] == 1]:
            self.notes.append(f"{n}-grams: counts of {', '.join(undiscounted)} are not discounted")

        def backed_off(ngrams: HistoryContexts, keep: Flags) -> tuple[Floats, Floats]:
            r = ngrams.counts * d[np.minimum(ngrams.counts, 8)]
            h = ngrams.contexts

            def by_context(values: Floats) -> Floats:
                return np.bincount(h, np.where(keep, values, 0.0), ngrams.size).astype(np.float64)

            c = np.bincount(h, ngrams.counts, ngrams.size)
            n_kept, discounted = by_context(np.ones(len(h))), by_context(r)
            # If nothing is left for other words, count one more.
            c += (n_kept > 0) & (discounted > c - _LITTLE)
            everything = n_kept == n_words - 1  # all but <s>: there are no other words
            c = np.where(everything, discounted, c)
            p = np.where(keep, r, 0.0) / c[h]
            leftover = np.where(n_kept > 0, 1 - discounted / np.maximum(c, 1), 1.0)
            room = np.where(n_kept > 0, 1 - by_context(ngrams.lower), 1.0)
            alpha = np.where(everything, 1.0, leftover / np.maximum(room, 1e-300))
            return p, alpha

        return backed_off


def good_turing(n: Sequence[int], k: int) -> Floats:
    """Return d(0) to d(8); 1 if it cannot be estimated or is not in (0, 1], as in SRILM.

    n[r] is the number of n-grams with count r.
    """
    A = (k + 1) * n[k + 1] / n[1] if n[1] else 1.0
    d = np.ones(9)
    for r in range(1, k + 1):
        share = (r + 1) * n[r + 1] / (r * n[r]) if n[r] else 1.0
        discount = (share - A) / (1 - A) if A < 1 else 1.0
        d[r] = discount if 0 < discount <= 1 and share <= 1 else 1.0
    return d
