"""Bootstrap of agreement: systems, segments or both are drawn anew, the same for all metrics.

Since all metrics see the same draws, differences between them are paired. Pearson's r over cells
comes from weighted sums, statistics of pairs from counts of how often each point was drawn,
everything else from the drawn matrices themselves. A group that was drawn twice is worked out once
and counts twice. A point that was drawn twice makes no pair with itself: the sample has no such
pairs, and a metric would be right on all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from karat import _kernel
from karat.arithmetic import exact_product
from karat.arrays import Floats, Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.meta.levels import arranged, drawn_means, each_group, over_groups, shared
from karat.progress import Progress, silent
from karat.settings import check_trials
from karat.stats.correlation import Statistic, Together, clipped, quotient, statistic
from karat.stats.grouped import DrawnCells, all_cells, cells_of_rows
from karat.stats.resampling import SEED, count_copies, interval

OVER = {
    "segments": "the same systems on other segments",
    "systems": "other systems on the same segments",
    "both": "other systems on other segments",
}
_CELLS = 1 << 17  # drawn at a time: few enough that progress is seen to move
_WORK = 1 << 18  # cells of drawn matrices at a time: they stay in the cache


def bootstrap(
    human: Floats,
    metrics: Sequence[Floats],
    by: Statistic | str = "pearson",
    at: str = "segment",
    over: str = "both",
    resamples: int = 1000,
    seed: int = SEED,
    progress: Progress = silent,
) -> Floats:
    """Metrics x resamples: agreement with humans on each draw; NaN where it is undefined."""
    if over not in OVER:
        raise InputError(f"bootstrap over {quoted(over)}: expected one of {', '.join(OVER)}")
    check_trials("resamples", resamples, 1)
    pairs = [shared(human, m) for m in metrics]
    found = np.empty((len(metrics), resamples))
    done = 0
    for systems, segments in drawn_places(human.shape, over, resamples, seed):
        batch = slice(done, done + len(systems))
        for k, (h, m) in enumerate(pairs):
            found[k, batch] = _values(h, m, statistic(by), at, systems, segments)
            progress(done + len(systems) * (k + 1) // len(pairs), resamples, "resampling")
        done += len(systems)
    return found


def drawn_places(
    shape: tuple[int, ...], over: str, resamples: int, seed: int, progress: Progress = silent
) -> Iterator[tuple[Ints, Ints]]:
    """Drawn systems and segments, resamples x number, a batch at a time; what is not drawn anew is
    there once and in order. The batches do not change the draws.
    """
    generators = [np.random.default_rng([seed, k]) for k in range(2)]
    fixed = over == "segments", over == "systems"
    size = max(1, _CELLS // max(1, *shape))
    for start in range(0, resamples, size):
        rows = min(size, resamples - start)
        systems, segments = (
            np.tile(np.arange(n), (rows, 1)) if stays else rng.integers(0, n, size=(rows, n))
            for n, stays, rng in zip(shape, fixed, generators, strict=True)
        )
        yield systems, segments
        progress(start + rows, resamples, "resampling")


class Percentiles(NamedTuple):
    """The central part of the resampled values, and how many of them are undefined."""

    low: float
    high: float
    undefined: int


def percentiles(values: Floats, estimate: float, share: float = 0.95) -> Percentiles:
    """Return the percentile interval of resampled values, extended to the estimate if need be.

    Resampling adds noise, which biases some statistics: near r = 1 almost all resamples are below
    the estimate, near R^2 = 0 almost all are above it. An interval that excludes its own estimate
    would contradict it, so its nearer end is then the estimate.
    """
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Percentiles(float("nan"), float("nan"), len(values))
    low, high = interval(defined, share)
    if not np.isnan(estimate):
        low, high = min(low, estimate), max(high, estimate)
    return Percentiles(low, high, len(values) - len(defined))


# ------------------------------------------------------------------------------- one batch


def _values(h: Floats, m: Floats, by: Statistic, at: str, systems: Ints, segments: Ints) -> Floats:
    if at == "segment":
        return _of_cells(h, m, by, systems, segments)
    if at == "system":
        counts = _kernel.tally(segments, h.shape[1])
        human, metric = (
            np.take_along_axis(drawn_means(x, counts), systems, axis=1) for x in (h, m)
        )
        return by.of_resamples(human, metric, systems)
    if by.together:  # where groups share something, each draw is a case of its own
        draws = zip(systems, segments, strict=True)
        if at == "item":
            return np.array([_together(h.T, m.T, by.together, t, s) for s, t in draws])
        return np.array([_together(h, m, by.together, s, t) for s, t in draws])
    if at == "item":
        return _grouped(h.T, m.T, by, segments, systems)
    return _grouped(h, m, by, systems, segments)


def _of_cells(h: Floats, m: Floats, by: Statistic, systems: Ints, segments: Ints) -> Floats:
    weights = _kernel.tally(systems, len(h)), _kernel.tally(segments, h.shape[1])
    if by.name in {"pearson", "r2"}:
        r = _segment_pearson(h, m, *weights)
        return r if by.name == "pearson" else r * r
    if by.grouped:
        cells = all_cells(~np.isnan(h))
        drawn = DrawnCells(cells, *(x.astype(np.int32) for x in weights))
        return over_groups(by, by.grouped.drawn(cells.of(h), cells.of(m), drawn))
    return _stacked(h, m, by, systems, segments)


def _together(h: Floats, m: Floats, statistic_over: Together, groups: Ints, points: Ints) -> float:
    """Return the statistic of one draw of groups (rows) and points (columns)."""
    human, metric = (x[np.ix_(groups, points)] for x in (h, m))
    points_of_groups = np.broadcast_to(points, human.shape)
    return statistic_over(human, metric, count_copies(points_of_groups, ~np.isnan(human)).pairs)[0]


def _grouped(h: Floats, m: Floats, by: Statistic, groups: Ints, points: Ints) -> Floats:
    """The statistic over drawn groups (rows) of drawn points (columns)."""
    counts = _kernel.tally(groups, len(h))
    if (points == points[0]).all():  # not drawn anew: every draw has the same groups
        points = points[:1]
    if by.grouped:
        times = _kernel.tally(points, h.shape[1]).astype(np.int32)
        cells = cells_of_rows(~np.isnan(h))
        drawn = DrawnCells(cells, np.ones((len(times), len(h)), np.int32), times)
        values = by.grouped.drawn(cells.of(h), cells.of(m), drawn)
    elif of_draws := by.drawn_groups:
        times = _kernel.tally(points, h.shape[1]).astype(np.int32)
        rows = zip(h, m, ~np.isnan(h), strict=True)
        found = [of_draws(x[k], y[k], np.ascontiguousarray(times[:, k])) for x, y, k in rows]
        values = np.stack(found, axis=1)
    else:
        parts = (
            (h[:, p].swapaxes(0, 1), m[:, p].swapaxes(0, 1), p) for p in _parts(points, h.size)
        )
        values = np.concatenate([_of_draws(*part, by) for part in parts])
    return over_groups(by, np.broadcast_to(values, (*counts.shape, *values.shape[2:])), counts)


def _stacked(h: Floats, m: Floats, by: Statistic, systems: Ints, segments: Ints) -> Floats:
    """The statistic over all cells of each drawn matrix."""
    found = []
    for s, t in zip(_parts(systems, h.size), _parts(segments, h.size), strict=True):
        drawn = s[:, :, None], t[:, None, :]
        human, metric = (arranged(x[drawn], "segment") for x in (h, m))
        cells = (s[:, :, None] * h.shape[1] + t[:, None, :]).reshape(len(s), -1)
        found.append(over_groups(by, _of_draws(human, metric, cells, by)))
    return np.concatenate(found)


def _of_draws(human: Floats, metric: Floats, points: Ints, by: Statistic) -> Floats:
    """The statistic of every group of draws x groups x points; `points` are the drawn ones."""
    if by.resampled is None:
        return each_group(human, metric, by)
    flat = -1, human.shape[2]
    of_groups = np.broadcast_to(points[:, None], human.shape).reshape(flat)
    return by.of_resamples(human.reshape(flat), metric.reshape(flat), of_groups).reshape(
        human.shape[:2]
    )


def _parts(draws: Ints, cells: int) -> list[Ints]:
    return _cut(draws, max(1, _WORK // max(1, cells)))


def _cut(rows: NDArray[Any], size: int) -> list[NDArray[Any]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _segment_pearson(h: Floats, m: Floats, systems: Floats, segments: Floats) -> Floats:
    """r from weighted sums of 1, h, m, hh, mm, hm over cells, h and m standardised for accuracy."""
    h, m = _centred(h), _centred(m)
    moments = [np.where(np.isnan(h), 0.0, 1.0), h, m, h * h, m * m, h * m]
    by_segment = exact_product(systems, np.nan_to_num(np.hstack(moments)))
    sums = (by_segment.reshape(len(systems), 6, -1) * segments[:, None]).sum(axis=2)
    return _r(*sums.T)


def _centred(scores: Floats) -> Floats:
    known = scores[~np.isnan(scores)]
    if not len(known):
        return scores
    moved: Floats = scores - known.mean()
    return moved / (float(known.std()) or 1.0)


def _r(n: Floats, sh: Floats, sm: Floats, shh: Floats, smm: Floats, shm: Floats) -> Floats:
    spread_h, spread_m = n * shh - sh * sh, n * smm - sm * sm
    # A draw that is constant but for rounding has no correlation.
    fit = (n >= 2) & (spread_h > 1e-12 * n * shh) & (spread_m > 1e-12 * n * smm)
    spread = np.sqrt(np.where(fit, spread_h * spread_m, 0))
    return clipped(quotient(n * shm - sh * sm, spread))
