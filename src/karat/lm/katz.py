"""Katz's back-off with Good-Turing discounts (Katz 1987).

    p(w | h) = d(r) r / c(h)             where hw was seen r times
             = alpha(h) p(w | h')        elsewhere
    d(r) = (r*/r - A) / (1 - A), r* = (r + 1) n_{r+1} / n_r, A = (k + 1) n_{k+1} / n_1

for r up to k, and 1 above; n_r is how many n-grams were seen r times. The limits are SRILM's.
"""

from __future__ import annotations

from collections.abc import Sequence

from karat.arrays import Flags, Floats, Ints, np
from karat.lm.counting import BOS, UNK
from karat.lm.smoothing import Contexts, Histograms, Rule

_LITTLE = 1e-9  # less than this is left over by rounding


def gt_min(n: int) -> int:
    """Return the smallest count of n-grams that are kept: 1 for one and two words, 2 for more."""
    return 1 if n <= 2 else 2


def gt_max(n: int) -> int:
    """Return the largest count that is discounted: 7, and none of single words.

    SRILM says 1 for single words, which amounts to this: with k = 1, r*/r is A.
    """
    return 0 if n == 1 else 7


class Katz:
    """Katz: the back-off weights are alpha."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def words(self, counts: Ints, preceding: Ints) -> Floats:
        """Return the probabilities of words, `<s>` left out."""
        words = counts.copy()
        words[BOS] = 0
        return _unigrams(words)

    def rule(self, n: int, seen: Histograms, words: int) -> Rule:
        """Return the formulas above with the discounts of a length."""
        d = good_turing(seen.counts, gt_max(n))
        if bad := [str(r) for r in range(1, gt_max(n) + 1) if d[r] == 1]:
            self.notes.append(f"{n}-grams: counts of {', '.join(bad)} are not discounted")

        def backed_off(some: Contexts, keep: Flags) -> tuple[Floats, Floats]:
            r = some.counts * d[np.minimum(some.counts, 8)]
            return _backed_off(some, r, keep, words)

        return backed_off


def _unigrams(words: Ints) -> Floats:
    """Give what is left over to `<unk>`, or evenly to all words if the text has `<unk>`."""
    seen = np.bincount(np.minimum(words, 9), minlength=10).tolist()
    r = words * good_turing(seen, gt_max(1))[np.minimum(words, 8)]
    total = words.sum()
    if r.sum() > total - _LITTLE:
        total += 1
    p: Floats = r / total
    left = 1 - p.sum()
    if words[UNK]:
        p += left / (len(p) - 1)
        p[BOS] = 0
    else:
        p[UNK] = left
    return p


def _backed_off(some: Contexts, r: Floats, keep: Flags, words: int) -> tuple[Floats, Floats]:
    """Return the probabilities of n-grams, and alpha of each context.

    alpha(h) = (1 - sum p(w | h)) / (1 - sum p(w | h')), over the words w that are kept after h.
    """
    h = some.contexts

    def by_context(values: Floats) -> Floats:
        return np.bincount(h, np.where(keep, values, 0.0), some.size).astype(np.float64)

    c = np.bincount(h, some.counts, some.size)
    kept, seen = by_context(np.ones(len(h))), by_context(r)
    c += (kept > 0) & (seen > c - _LITTLE)  # nothing was left: as if one more word had been seen
    everything = kept == words - 1  # all but <s>: there is nobody to leave anything to
    c = np.where(everything, seen, c)
    p = np.where(keep, r, 0.0) / c[h]
    left = np.where(kept > 0, 1 - seen / np.maximum(c, 1), 1.0)
    room = np.where(kept > 0, 1 - by_context(some.lower), 1.0)
    alpha = np.where(everything, 1.0, left / np.maximum(room, 1e-300))
    return p, alpha


def good_turing(n: Sequence[int], k: int) -> Floats:
    """Return d(0) to d(8); 1 where it cannot be estimated or is not in (0, 1], as SRILM has it.

    n[r] is how many n-grams were seen r times.
    """
    A = (k + 1) * n[k + 1] / n[1] if n[1] else 1.0
    d = np.ones(9)
    for r in range(1, k + 1):
        share = (r + 1) * n[r + 1] / (r * n[r]) if n[r] else 1.0
        found = (share - A) / (1 - A) if A < 1 else 1.0
        d[r] = found if 0 < found <= 1 and share <= 1 else 1.0
    return d
