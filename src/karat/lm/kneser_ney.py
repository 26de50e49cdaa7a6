"""Modified Kneser-Ney smoothing, interpolated (Chen & Goodman 1998).

    p(w | h) = (a(hw) - D(a(hw))) / sum_x a(hx) + gamma(h) p(w | h')
    gamma(h) = sum_x D(a(hx)) / sum_x a(hx)

The longest n-grams have their counts for a; shorter ones the number of different words that
precede them, except those that begin with `<s>`, which nothing precedes: they have their counts.
Below single words stands the uniform distribution over all words but `<s>`: it is all that
`<unk>` has where the text has none.
"""

from __future__ import annotations

from karat.arrays import Flags, Floats, np
from karat.lm.counting import BOS, NgramCounts
from karat.lm.tables import Estimates

FALLBACK = (0.5, 1.0, 1.5)
"""Discounts of counts 1, 2, 3 and more where a text is too small to tell."""


def kneser_ney(counted: NgramCounts, keep: list[Flags]) -> Estimates:
    """Return the probabilities of all n-grams, and the back-off weights gamma.

    `keep` says which n-grams stay in the model; gamma has the whole count of the others.
    """
    p: list[Floats] = []
    gammas: list[Floats] = []
    notes = []
    for n in range(1, counted.order + 1):
        a = _adjusted(counted, n)
        D = discounts(a)
        if D is None:
            notes.append(f"{n}-grams: too few to estimate discounts, which are {FALLBACK} instead")
        discount = np.array([0.0, *(D or FALLBACK)])[np.minimum(a, 3).astype(np.int64)]
        taken = np.where(keep[n - 1], discount, a)
        if n == 1:
            uniform = 1 / (len(a) - 1)
            p.append((a - taken + taken.sum() * uniform) / a.sum())
            p[0][BOS] = 0
            continue
        level, below = counted.levels[n - 2], len(p[-1])
        h, total = level.contexts, np.bincount(level.contexts, a, below)
        gamma = np.where(total > 0, np.bincount(h, taken, below) / np.maximum(total, 1), 1.0)
        p.append((a - taken) / total[h] + gamma[h] * p[-1][level.suffixes])
        gammas.append(gamma)
    return Estimates(p, [*gammas, np.ones(len(p[-1]))], tuple(notes))


def _adjusted(counted: NgramCounts, n: int) -> Floats:
    """Return the counts a of one length; `<s>` is no word to be predicted."""
    counts = counted.words if n == 1 else counted.levels[n - 2].counts
    if n < counted.order:
        preceding = np.bincount(counted.levels[n - 1].suffixes, minlength=len(counts))
        begins = False if n == 1 else counted.levels[n - 2].firsts == BOS
        counts = np.where(begins, counts, preceding)
    a = counts.astype(np.float64)
    if n == 1:
        a[BOS] = 0
    return a


def discounts(a: Floats) -> tuple[float, float, float] | None:
    """Return D of 1, 2, and 3 and more: k - (k + 1) Y t_{k+1} / t_k, Y = t_1 / (t_1 + 2 t_2).

    t_k is how many n-grams have the count k. None where one of t_1, t_2 and t_3 is 0, or a
    discount is not above 0.
    """
    t = np.bincount(np.minimum(a, 5).astype(np.int64), minlength=6).tolist()
    if not (t[1] and t[2] and t[3]):
        return None
    y = t[1] / (t[1] + 2 * t[2])
    D1, D2, D3 = (k - (k + 1) * y * t[k + 1] / t[k] for k in (1, 2, 3))
    return (D1, D2, D3) if min(D1, D2, D3) > 0 else None
