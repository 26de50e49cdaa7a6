"""PERM-BOTH as a loop over trials with scipy's correlation, the way it is usually written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats


def share_beyond(
    human: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    trials: int,
    correlation: Callable[..., Any] = scipy.stats.pearsonr,
    seed: int = 1,
) -> tuple[float, float]:
    """The difference of a correlation over all cells, and the share of trials that reach it."""
    h = human.ravel()
    a, b = (scipy.stats.zscore(x.ravel()) for x in (first, second))
    rng = np.random.default_rng(seed)

    def difference(x: np.ndarray, y: np.ndarray) -> float:
        return float(correlation(h, x)[0] - correlation(h, y)[0])

    real, beyond = difference(a, b), 0
    for _ in range(trials):
        coin = rng.binomial(1, 0.5, len(h))
        beyond += difference(coin * a + (1 - coin) * b, (1 - coin) * a + coin * b) >= real
    return real, beyond / trials
