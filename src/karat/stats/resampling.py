"""Random draws, and the intervals of resampled values.

Every bootstrap draws here. A resample is a vector of counts, how often each row was drawn; its
summed statistics are counts @ stats, so nothing is ever scored again from text. A random exchange
of two systems is a vector of zeros and ones. Sums are exact (`arithmetic.ExactRows`), so that equal
systems have equal sums in every draw. `bootstrap_counts` uses numpy's default generator in the same
way as sacreBLEU, so with the same seed both tools draw the same segments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from karat import _kernel
from karat.arithmetic import ExactRows, rounded
from karat.arrays import Flags, Floats, Ints, np
from karat.progress import Progress, silent
from karat.settings import SEED, check_seed, check_trials

_BATCH_CELLS = 1 << 17  # cells drawn at a time: a batch stays in the cache, and progress moves


def bootstrap_fields(resamples: int, seed: int) -> dict[str, object]:
    """Return the settings of a bootstrap, for signatures."""
    return {"bootstrap": resamples, "seed": seed} if resamples else {}


# ------------------------------------------------------------------------------------- draws


def bootstrap_counts(
    units: int, resamples: int, seed: int = SEED, progress: Progress = silent
) -> Iterator[Floats]:
    """Yield batches of bootstrap resamples: how often each unit was drawn, resamples x units.

    A unit is a row of statistics. The size of the batches does not change the draws.
    """
    rng = np.random.default_rng(seed)
    for rows in _batch_sizes(units, resamples, "resampling", progress):
        yield _kernel.tally(rng.integers(0, units, size=(rows, units)), units)


def exchange_choices(
    units: int, trials: int, seed: int = SEED, progress: Progress = silent
) -> Iterator[Floats]:
    """Yield batches of random exchanges: 1 for units that are exchanged, trials x units.

    numpy cuts 32 choices from one random number. Batches of a multiple of 32 rows leave none over,
    so that the choices are those of one draw, as in sacreBLEU.
    """
    rng = np.random.default_rng(seed)
    for rows in _batch_sizes(units, trials, "exchanging", progress, multiple=32):
        yield rng.integers(2, size=(rows, units), dtype=bool).astype(np.float64)


def bootstrap_indices(
    shape: tuple[int, ...], over: str, resamples: int, seed: int, progress: Progress = silent
) -> Iterator[tuple[Ints, Ints]]:
    """Yield batches of drawn systems and drawn segments, each resamples x number.

    Systems or segments that `over` does not resample appear once, in order. The size of the batches
    does not change the draws.
    """
    generators = [np.random.default_rng([seed, k]) for k in range(2)]
    is_fixed = over == "segments", over == "systems"
    for rows in _batch_sizes(max(shape), resamples, "resampling", progress):
        systems, segments = (
            np.tile(np.arange(n), (rows, 1)) if fixed else rng.integers(0, n, size=(rows, n))
            for n, fixed, rng in zip(shape, is_fixed, generators, strict=True)
        )
        yield systems, segments


def _batch_sizes(
    width: int, total: int, task: str, progress: Progress, multiple: int = 1
) -> Iterator[int]:
    """Yield the sizes of batches of rows of this width; report each batch when it is used.

    All sizes but the last are multiples of `multiple`.
    """
    size = max(1, _BATCH_CELLS // max(width, 1) // multiple) * multiple
    for start in range(0, total, size):
        rows = min(size, total - start)
        yield rows
        progress(start + rows, total, task)


# -------------------------------------------------------------------------------------- sums


def bootstrap_sums(
    stats: Floats, resamples: int, seed: int = SEED, progress: Progress = silent
) -> Floats:
    """Return the summed statistics of each bootstrap resample of the rows: resamples x columns."""
    return bootstrap_tables([ExactRows([stats])], resamples, seed, progress)[0]


def bootstrap_tables(
    tables: Sequence[ExactRows], resamples: int, seed: int = SEED, progress: Progress = silent
) -> list[Floats]:
    """Return the bootstrap sums of several tables of the same length, from one set of draws."""
    check_trials("resamples", resamples, 1)
    check_seed(seed)
    batches = bootstrap_counts(len(tables[0]), resamples, seed, progress)
    return [rounded(limbs) for limbs in _weighted_sums(batches, tables)]


def exchange_limbs(
    tables: Sequence[ExactRows], trials: int, seed: int = SEED, progress: Progress = silent
) -> list[Ints]:
    """Return sums of several tables over the same random choices, as limbs that add up exactly."""
    check_trials("trials", trials, 1)
    check_seed(seed)
    return _weighted_sums(exchange_choices(len(tables[0]), trials, seed, progress), tables)


def _weighted_sums(batches: Iterable[Floats], tables: Sequence[ExactRows]) -> list[Ints]:
    """Return the sums of each table by weights that come in batches: draws x rows."""
    parts = [[table.limbs(weights) for table in tables] for weights in batches]
    return [np.concatenate(limbs, axis=1) for limbs in zip(*parts, strict=True)]


# ------------------------------------------------------------------------------------ copies


class Copies(NamedTuple):
    """Repeated points in each row of a resample."""

    pairs: Ints  # pairs that consist of two copies of one point
    points: Ints  # distinct points


def count_copies(points: Ints, present: Flags) -> Copies:
    """Count the copies in each row of resampled points.

    Args:
        points: the number of the point that was drawn at each position.
        present: False at positions that do not count, because a score is missing.
    """
    positions = np.arange(points.shape[1])
    ordered = np.sort(np.where(present, points, -1 - positions), axis=1)  # absent ones all differ
    is_first = np.ones(ordered.shape, np.bool_)
    is_first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first_positions = np.maximum.accumulate(np.where(is_first, positions, 0), axis=1)
    earlier_copies = positions - first_positions
    return Copies(earlier_copies.sum(axis=1), (is_first & (ordered >= 0)).sum(axis=1))


# --------------------------------------------------------------------------------- intervals


def interval(values: Floats, level: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval: the same number of sorted values is cut off at both ends."""
    ordered = np.sort(values)
    cut = _tail_size(len(ordered), level)
    return float(ordered[cut]), float(ordered[len(ordered) - cut - 1])


def _tail_size(resamples: int, level: float) -> int:
    """Return how many sorted values a percentile interval cuts off at each end."""
    return int(resamples * (1 - level) / 2 + 1e-9)


class Percentiles(NamedTuple):
    """A percentile interval, and the number of resamples whose value is undefined."""

    low: float
    high: float
    undefined: int


def percentiles(values: Floats, estimate: float) -> Percentiles:
    """Return the percentile interval of resampled values, extended to include the estimate.

    Resampling adds noise, which biases some statistics: near r = 1 almost all resamples are below
    the estimate, near R^2 = 0 almost all are above it. An interval that excludes its own estimate
    would contradict it, so its nearer end is then the estimate.
    """
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Percentiles(float("nan"), float("nan"), len(values))
    low, high = interval(defined)
    if not np.isnan(estimate):
        low, high = min(low, estimate), max(high, estimate)
    return Percentiles(low, high, len(values) - len(defined))


def central(values: Floats) -> tuple[float, float]:
    """Return the 2.5% and 97.5% quantiles of the defined values; NaN if there are none."""
    defined_values = values[~np.isnan(values)]
    if not len(defined_values):
        return float("nan"), float("nan")
    low, high = np.quantile(defined_values, [0.025, 0.975], method="inverted_cdf")
    return float(low), float(high)
