"""Paired permutation tests of corpus scores: segments' statistics change places, sums are scored.

A corpus score is no mean of segment scores, so a test of it exchanges rows of statistics between
two systems and scores the two sums again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from karat.progress import Progress, silent
from karat.stats.resampling import SEED
from karat.stats.significance.exchanges import chosen_sums, drawn_words

Floats = NDArray[np.float64]
ScoreSums = Callable[[Floats], Floats]
"""Sums of statistics, a row each -> their scores, more being better."""
_ROUNDING = 1e-10  # of a score: sums of statistics here are rounded at every step


def corpus_p_values(
    rows: Floats,
    score: ScoreSums,
    trials: int = 1000,
    seed: int = SEED,
    progress: Progress = silent,
) -> Floats:
    """Return p[i, j] for "the corpus score of system i is above that of j"; the diagonal is NaN.

    `rows` are the statistics, systems x segments x columns. p is the share of trials in which
    exchanging segments of the two at random gives at least the real difference. Where scores are
    means, these are the p-values of `soft_pairwise.pairwise_p_values`.
    """
    systems, segments, width = rows.shape
    totals = rows.sum(axis=1)
    values = score(totals)
    slack = _ROUNDING * float(np.abs(values).max(initial=0.0))  # rounding is no difference
    reached = np.zeros((systems, systems))
    flat = np.ascontiguousarray(rows.swapaxes(0, 1)).reshape(1, segments, -1)
    for words in drawn_words((1, segments), trials, seed, progress):
        taken = chosen_sums(words, flat).reshape(-1, systems, width)
        for i in range(systems - 1):
            rest = slice(i + 1, systems)
            moved = taken[:, rest] - taken[:, i : i + 1]
            both = np.stack([totals[i] + moved, totals[rest] - moved])
            mine, theirs = score(both.reshape(-1, width)).reshape(both.shape[:3])
            real = values[i] - values[rest]
            reached[i, rest] += (mine - theirs >= real - slack).sum(axis=0)
            reached[rest, i] += (mine - theirs <= real + slack).sum(axis=0)
    p = reached / trials
    np.fill_diagonal(p, np.nan)
    return p
