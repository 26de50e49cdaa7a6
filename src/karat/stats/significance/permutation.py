"""PERM-BOTH: the test that metric A is better than metric B (Deutsch, Dror and Roth 2021).

Both metrics are standardised over the cells that humans and both metrics have, since only then
can scores of different scales stand in for each other. In each trial every cell of the
systems x segments matrix is exchanged between the metrics by a fair coin, and

    p = (1 + trials whose difference is at least the real one) / (1 + trials)

for the hypothesis that A agrees better with humans than B. `share` is the same without the ones,
as mt-metrics-eval prints it.

Where no more than 12 cells are compared, all exchanges are gone through instead, and p is the share
of those whose difference is at least the real one. It is exact then, and no seed matters; the cells
as they are count among the exchanges, so that p is never 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from karat.arithmetic import SLACK
from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.progress import Progress, silent
from karat.stats.correlation import pearson_rows
from karat.stats.resampling import SEED
from karat.stats.significance.exchanges import (
    Exchanges,
    Permutation,
    Words,
    chosen_sums,
    chosen_system_sums,
    masks,
)

Measures = Callable[[Floats, Floats, Floats, Flags], Floats]
_CELLS = 1 << 22  # that are exchanged or not at a time


class Triple(NamedTuple):
    """Human scores and two metrics, systems x segments, on the cells that all have; NaN elsewhere.

    Both metrics have mean 0 and standard deviation 1.
    """

    human: Floats
    first: Floats
    second: Floats

    @property
    def known(self) -> Flags:
        """The cells that all have."""
        return ~np.isnan(self.human)


def perm_both_many(of: Triple, measures: Measures, tried: Exchanges) -> Permutation:
    """Test any agreement.

    `measures(h, a, b, chosen)` is the agreement with h of `a` after the exchange of each mask in
    `chosen`, which says what is taken from `b`.
    """
    shape = of.human.shape

    def differences(chosen: Flags) -> Floats:
        # What `a` does not take from `b`, `b` takes from `a`.
        values = measures(*of, np.concatenate([chosen, ~chosen]))
        return values[: len(chosen)] - values[len(chosen) :]

    delta = float(differences(np.zeros((1, *shape), dtype=bool))[0])
    size = max(1, _CELLS // max(1, of.human.size))
    return tried.test(delta, lambda words: differences(masks(words, shape)), size)


def perm_both_pearson(of: Triple, tried: Exchanges) -> Permutation:
    """Test Pearson's r over all cells, from sums: nothing is exchanged one by one.

    With g = human, standardised, and n cells, r = sum(g m) / sqrt(n sum(m^2) - sum(m)^2), and each
    sum after an exchange is the sum before and the chosen cells' differences.
    """
    g, n = _standard(of.human), int(of.known.sum())
    before, after = (np.nan_to_num(np.stack([m, m * m, g * m], axis=-1)) for m in of[1:])
    sums, others = before.sum(axis=(0, 1)), after.sum(axis=(0, 1))

    def differences(words: Words) -> Floats:
        moved = chosen_sums(words, after - before)
        return _r(sums + moved, n) - _r(others - moved, n)

    return tried.test(float(_r(sums, n) - _r(others, n)), differences)


def _r(sums: Floats, n: int) -> Floats:
    spread = n * sums[..., 1] - sums[..., 0] ** 2
    spread = np.where(spread > SLACK * n * n, spread, np.nan)  # a constant, but for rounding
    return sums[..., 2] / np.sqrt(spread)


def perm_both_system_pearson(of: Triple, tried: Exchanges) -> Permutation:
    """Test Pearson's r of the systems' mean scores."""
    kept = of.known.any(axis=1)
    counts = of.known.sum(axis=1)[kept]
    human, ones, others = (np.nansum(x, axis=1)[kept] for x in of)
    means = (human / counts).reshape(1, -1)
    gaps = np.nan_to_num(of.second - of.first)

    def difference(moved: Floats) -> Floats:
        x, y = (ones + moved) / counts, (others - moved) / counts
        return pearson_rows(means, x) - pearson_rows(means, y)

    delta = float(difference(np.zeros((1, len(counts))))[0])
    return tried.test(delta, lambda words: difference(chosen_system_sums(words, gaps)[:, kept]))


def paired_permutation(
    first: Floats,
    second: Floats,
    trials: int = 10000,
    seed: int = SEED,
    progress: Progress = silent,
) -> Permutation:
    """Test that the mean of `first` is above that of `second` by exchanging pairs."""
    gaps = (first - second)[~np.isnan(first - second)].reshape(1, -1, 1)
    known = np.ones(gaps.shape[:2], dtype=bool)
    n = max(1, gaps.shape[1])
    total = float(gaps.sum()) if gaps.size else float("nan")
    return Exchanges(known, trials, seed, progress).test(
        total / n, lambda words: (total - 2 * chosen_sums(words, gaps)[:, 0]) / n
    )


def standardised(human: Floats, first: Floats, second: Floats) -> Triple:
    """Return the cells that all three have, the metrics on one scale."""
    if not human.shape == first.shape == second.shape or human.ndim != 2:
        shapes = f"scores have the shapes {human.shape}, {first.shape} and {second.shape}"
        raise InputError(f"{shapes}: expected one shape, systems x segments")
    missing = np.isnan(human) | np.isnan(first) | np.isnan(second)
    h, a, b = (np.where(missing, np.nan, x) for x in (human, first, second))
    return Triple(h, _standard(a), _standard(b))


def _standard(scores: Floats) -> Floats:
    """Mean 0 and standard deviation 1; a constant becomes 0, so that it correlates with nothing."""
    known = scores[~np.isnan(scores)]
    if not len(known) or (known == known[0]).all():
        return np.where(np.isnan(scores), np.nan, 0.0)
    moved: Floats = scores - known.mean()
    return moved / float(np.sqrt(np.nanmean(moved**2)))
