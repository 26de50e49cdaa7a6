"""Resampling as a matrix product over statistics: nothing is ever scored again from text.

A bootstrap resample of n segments is a vector of counts, how often each was drawn; its summed
statistics are counts @ stats. A random exchange of two systems is a vector of zeros and ones. Sums
are exact (`arithmetic.ExactRows`), so that equal systems have equal sums in every draw. The draws
are numpy's default generator's and sacreBLEU's calls of it, so with the same seed the bootstrap
draws of both tools are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from karat import _kernel
from karat.arithmetic import ExactRows, rounded
from karat.arrays import Flags, Floats, Ints, np
from karat.progress import Progress, silent
from karat.settings import SEED, check_seed, check_trials

_BATCH_CELLS = 1 << 17  # drawn at a time: a batch stays in the cache


def bootstrap_sums(
    stats: Floats, resamples: int, seed: int = SEED, progress: Progress = silent
) -> Floats:
    """Return summed statistics of each bootstrap resample of the rows: resamples x columns."""
    return bootstrap_tables([ExactRows([stats])], resamples, seed, progress)[0]


def bootstrap_tables(
    tables: Sequence[ExactRows], resamples: int, seed: int = SEED, progress: Progress = silent
) -> list[Floats]:
    """Return the same of several tables with as many rows, from one set of draws."""
    check_trials("resamples", resamples, 1)

    def counts(rng: np.random.Generator, rows: int, n: int) -> Floats:
        return _kernel.tally(rng.integers(0, n, size=(rows, n)), n)

    sums = _products(counts, tables, resamples, seed, "resampling", progress)
    return [rounded(limbs) for limbs in sums]


def exchange_limbs(
    tables: Sequence[ExactRows], trials: int, seed: int = SEED, progress: Progress = silent
) -> list[Ints]:
    """Return sums of several tables over the same random choices, as limbs that add up exactly."""
    check_trials("trials", trials, 1)

    def chosen(rng: np.random.Generator, rows: int, n: int) -> Floats:
        return rng.integers(2, size=(rows, n), dtype=bool).astype(np.float64)

    return _products(chosen, tables, trials, seed, "exchanging", progress)


def _products(
    draw: Callable[[np.random.Generator, int, int], Floats],
    tables: Sequence[ExactRows],
    total: int,
    seed: int,
    task: str,
    progress: Progress,
) -> list[Ints]:
    check_seed(seed)
    n, rng, parts = len(tables[0]), np.random.default_rng(seed), []
    size = max(1, _BATCH_CELLS // max(n, 1))
    for start in range(0, total, size):
        done = min(start + size, total)
        counts = draw(rng, done - start, n)
        parts.append([table.limbs(counts) for table in tables])
        progress(done, total, task)
    return [np.concatenate(batches, axis=1) for batches in zip(*parts, strict=True)]


class Copies(NamedTuple):
    """Repeated points in each row of a resample."""

    pairs: Ints  # pairs that consist of two copies of one point
    points: Ints  # distinct points


def count_copies(points: Ints, present: Flags) -> Copies:
    """Count the copies in each row of resampled points.

    Args:
        points: the number of the point that was drawn at each place.
        present: False at places that do not count, because a score is missing.
    """
    places = np.arange(points.shape[1])
    ordered = np.sort(np.where(present, points, -1 - places), axis=1)  # absent ones all differ
    is_first = np.ones(ordered.shape, np.bool_)
    is_first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    earlier_copies = places - np.maximum.accumulate(np.where(is_first, places, 0), axis=1)
    return Copies(earlier_copies.sum(axis=1), (is_first & (ordered >= 0)).sum(axis=1))


def interval(values: Floats, level: float = 0.95) -> tuple[float, float]:
    """The central part of resampled scores: sorted, an equal share cut off at both ends."""
    ordered = np.sort(values)
    cut = int(len(ordered) * (1 - level) / 2 + 1e-9)
    return float(ordered[cut]), float(ordered[len(ordered) - cut - 1])


def central(values: Floats) -> tuple[float, float]:
    """The central 95% of the values that are defined, by the inverse of their distribution."""
    defined_values = values[~np.isnan(values)]
    if not len(defined_values):
        return float("nan"), float("nan")
    low, high = np.quantile(defined_values, [0.025, 0.975], method="inverted_cdf")
    return float(low), float(high)
