"""The permutation test of two metrics' accuracies with ties, as the WMT metrics tasks do it.

Each metric has the tie threshold that suits it best, so exchanged scores would need a new one in
every trial. What is exchanged instead, by a fair coin each, is what the two metrics say of a pair
of points: right or wrong. Pairs that both get right, or both wrong, change nothing. Of the d others
of a group with n pairs, b go to the first metric, and the difference of accuracies is the mean over
groups of (2 b - d) / n, where b has the binomial distribution of d coins.

mt-metrics-eval has this as PairwisePermutationSigDiff and draws every coin; here b is drawn, and no
more than 12 coins fall in all ways there are.
"""

from __future__ import annotations

from karat import _kernel
from karat.arrays import Floats, Ints, np
from karat.progress import own_stop
from karat.stats.grouped import cells_of_rows
from karat.stats.significance.exchanges import MOST_EXACT, Exchanges, Permutation
from karat.stats.ties import calibrate

_FAR = 8  # standard deviations, beyond which a share of 1e-15 lies


def exchange_pairs(human: Floats, first: Floats, second: Floats, tried: Exchanges) -> Permutation:
    """Test that the first metric is more accurate; rows are groups, NaN at the same cells in all.

    Where no group has two points, nothing is defined.
    """
    cells = cells_of_rows(~np.isnan(human))
    h, a, b = (cells.of(x) for x in (human, first, second))
    stop = own_stop()
    one, other = (calibrate(human, x, stop).epsilon for x in (first, second))
    if np.isnan(one):
        return tried.undefined()
    right = _kernel.right_pairs(h, a, b, cells.offsets, one, other, stop.check)
    points = np.diff(cells.offsets)
    pairs = points * (points - 1) // 2
    sizes = np.unique(pairs[pairs > 0])
    by_size = np.stack([right[pairs == n].sum(axis=0) for n in sizes])
    weights = 1 / (sizes * int((pairs > 0).sum()))
    delta = float(((by_size[:, 0] - by_size[:, 1]) * weights).sum())
    coins = by_size.sum(axis=1)
    exact = int(coins.sum()) <= MOST_EXACT
    found = _every_difference(coins, weights) if exact else _differences(coins, weights, tried)
    return tried.counted(delta, found, exact)


def _every_difference(coins: Ints, weights: Floats) -> Floats:
    """The difference of accuracies for each way in which few coins can fall."""
    own = np.repeat(weights, coins)
    ways = np.arange(1 << len(own))[:, None] >> np.arange(len(own)) & 1
    return np.asarray(((2 * ways - 1) * own).sum(axis=1))


def _differences(coins: Ints, weights: Floats, tried: Exchanges) -> Floats:
    """The difference of accuracies in each trial: so many coins for each size of groups."""
    rng = np.random.default_rng(tried.seed)
    found = np.zeros(tried.trials)
    for number, weight in zip(coins.tolist(), weights, strict=True):
        found += (2 * heads(number, rng.random(tried.trials)) - number) * weight
    tried.progress(tried.trials, tried.trials, "permuting")
    return found


def heads(coins: int, shares: Floats) -> Ints:
    """The numbers of heads of fair coins at these shares of their distribution.

    Going away from the middle, C(n, k + 1) / C(n, k) = (n - k) / (k + 1).
    """
    middle = (coins + 1) // 2  # and coins // 2 has as much
    last = min(coins, middle + 2 + int(_FAR * np.sqrt(coins)))
    k = np.arange(middle, last)
    above = np.cumprod(np.concatenate([[1.0], (coins - k) / (k + 1)]))
    below = above[1 - coins % 2 :][::-1]
    cumulated = np.cumsum(np.concatenate([below, above]))
    places: Ints = np.searchsorted(cumulated, shares * cumulated[-1], side="right")
    return places + (middle - len(below))
