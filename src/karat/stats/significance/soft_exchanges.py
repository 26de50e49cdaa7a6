"""PERM-BOTH of two metrics' soft pairwise accuracies, as mt-metrics-eval does it.

Cells of the standardised metrics are exchanged by fair coins, and in every trial both metrics have
their soft pairwise accuracy anew: the p-values between systems are of the same 1,000 exchanges of
segments each time. What a segment adds to a sum it adds for one metric or for the other, so that
the sums of the second metric are those of both together less those of the first.
"""

from __future__ import annotations

from karat.arrays import Floats, np
from karat.stats.resampling import SEED
from karat.stats.significance.exchanges import (
    Exchanges,
    Permutation,
    Words,
    drawn_words,
    masks,
    no_exchange,
)
from karat.stats.soft_pairwise import (
    agreement_of_p_values,
    sign_sums,
    times_reached,
    whole_segments,
)

_TRIALS = 1000  # of the p-values between systems
_AT_A_TIME = 16  # trials between two reports


def exchange_soft(human: Floats, first: Floats, second: Floats, tried: Exchanges) -> Permutation:
    """Test that the first metric has the higher accuracy; NaN at the same cells in all three."""
    some, whole = whole_segments(np.isnan(human))
    h, a, b = (x[some][:, whole] for x in (human, first, second))
    if len(h) < 2 or not whole.any():
        return tried.undefined()
    inner = np.concatenate([*drawn_words((1, h.shape[1]), _TRIALS, SEED)], axis=1)
    sums = sign_sums(a, inner) + sign_sums(b, inner)
    p_human = times_reached(h, sign_sums(h, inner)) / _TRIALS

    def accuracy(scores: Floats, own: Floats) -> float:
        return agreement_of_p_values(p_human, times_reached(scores, own) / _TRIALS)

    def differences(words: Words) -> Floats:
        found = []
        for mask in masks(words, human.shape):
            taken = mask[some][:, whole]
            mine, theirs = np.where(taken, b, a), np.where(taken, a, b)
            own = sign_sums(mine, inner)
            found.append(accuracy(mine, own) - accuracy(theirs, sums - own))
        return np.array(found)

    delta = float(differences(no_exchange(human.shape))[0])
    return tried.test(delta, differences, _AT_A_TIME)
