"""Agreement of metrics with humans over matrices, systems x segments, in which NaN is missing.

A cell counts if it has a human score and a metric score. `agreement` is the value at a level,
`bootstrap` the values of resamples, `perm_both` the test between two metrics.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from karat import _kernel
from karat.arithmetic import exact_product, exact_sum
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.progress import Progress, silent
from karat.settings import SEED, check_trials
from karat.stats.correlation import Statistic, clipped, quotient, statistic, why_undefined
from karat.stats.exchanges import Exchanges, Permutation, Words, places_of_bits
from karat.stats.grouped import (
    ExchangedCells,
    GroupRoutine,
    all_cells,
    cells_of_columns,
    cells_of_rows,
)
from karat.stats.paired_tests import (
    Triple,
    perm_both_many,
    perm_both_pearson,
    perm_both_system_pearson,
    standardised,
)
from karat.stats.resampling import count_copies, interval


class Agreement(NamedTuple):
    """A statistic at a level."""

    value: float  # NaN if it is undefined
    points: int  # systems, cells or documents that were compared
    groups: int = 1  # that count
    left_out: int = 0  # groups in which the statistic is undefined
    reason: str = ""  # why it is NaN


MATRIX_LEVELS = ("system", "segment", "item", "by-system")
"""Levels of two matrices: means of systems, all cells in one pool ("global", "no grouping"), the
mean over segments ("group by item") and the mean over systems ("group by system")."""


def check_matrix_level(at: str) -> None:
    """Refuse a level that matrices do not have."""
    if at not in MATRIX_LEVELS:
        raise InputError(f"level {quoted(at)}: expected one of {', '.join(MATRIX_LEVELS)}")


def agreement(
    human: Floats, metric: Floats, by: Statistic | str = "pearson", at: str = "segment"
) -> Agreement:
    """Return the agreement of a metric with humans, systems x segments, by a statistic at a level.

    A level with groups has the mean over the groups in which the statistic is defined, or pools
    their pairs, as the statistic does.
    """
    check_matrix_level(at)
    chosen = statistic(by)
    h, m = (arranged(x[None], at)[0] for x in shared(human, metric))
    points = int((~np.isnan(h)).sum())
    if at in {"system", "segment"}:
        value = chosen(h, m)
        reason = why_undefined(h, m) or "humans tell no two points so far apart"
        return Agreement(value, points, reason=reason if np.isnan(value) else "")
    value, groups, left_out = chosen.over(h, m)
    group_name = "segment" if at == "item" else "system"
    reason = f"in no {group_name} do both human and metric scores differ" if np.isnan(value) else ""
    return Agreement(value, points, groups, left_out, reason)


# --------------------------------------------------------------------- many matrices at once


def arranged(stack: NDArray[Any], at: str) -> NDArray[Any]:
    """Draws x systems x segments as draws x groups x points, as the level compares them."""
    if at == "system":
        return row_means(stack.reshape(-1, stack.shape[2])).reshape(len(stack), 1, -1)
    if at == "segment":
        return stack.reshape(len(stack), 1, -1)
    return stack.swapaxes(1, 2) if at == "item" else stack


def each_group(human: Floats, metric: Floats, by: Statistic) -> Floats:
    """Draws x groups: the statistic of every group of two arranged stacks, NaN if undefined.

    Of pooled statistics it is draws x groups x parts.
    """
    flat = human.shape[0] * human.shape[1], human.shape[2]
    values = by.each_group(human.reshape(flat), metric.reshape(flat))
    return values.reshape(*human.shape[:2], *values.shape[1:])


def over_groups(by: Statistic, group_values: Floats, times: Floats | None = None) -> Floats:
    """Return the statistic of each draw from what `each_group` has; `times` are of the groups.

    Unless it pools groups, that is the mean over the groups in which it is defined.
    """
    if by.pooled:
        return by.pooled.total(group_values, times)
    is_defined = (~np.isnan(group_values)).astype(np.float64)
    weights = is_defined if times is None else is_defined * times
    return quotient((np.nan_to_num(group_values) * weights).sum(axis=1), weights.sum(axis=1))


# ---------------------------------------------------------------------------------- cells


def shared(human: Floats, metric: Floats) -> tuple[Floats, Floats]:
    """Both with NaN wherever one of them has it."""
    if human.shape != metric.shape or human.ndim != 2:
        shapes = f"human scores have the shape {human.shape} and metric scores {metric.shape}"
        raise InputError(f"{shapes}: expected the same, systems x segments")
    missing = np.isnan(human) | np.isnan(metric)
    return np.where(missing, np.nan, human), np.where(missing, np.nan, metric)


def row_means(scores: Floats) -> Floats:
    """The mean of each row's numbers; NaN for a row without any."""
    counts = (~np.isnan(scores)).sum(axis=1)
    return quotient(exact_sum(np.nan_to_num(scores), axis=1), counts)


def drawn_means(scores: Floats, counts: Floats) -> Floats:
    """Draws x systems: the mean score of the segments drawn, NaN where none is known."""
    has_score = ~np.isnan(scores)
    return quotient(*(exact_product(counts, x.T) for x in (np.nan_to_num(scores), has_score)))


def document_means(scores: Floats, documents: Sequence[Any]) -> Floats:
    """systems x documents: means over the segments s with documents[s] equal, NaN left out.

    Documents are in order of first sight.
    """
    if len(documents) != scores.shape[1]:
        sizes = f"{len(documents)} documents for {scores.shape[1]} segments"
        raise InputError(f"{sizes}: expected one a segment")
    return np.stack([row_means(scores[:, columns]) for columns in members(documents)], axis=1)


def members(documents: Sequence[Any]) -> list[Ints]:
    """The segments of each document, documents in order of first sight."""
    indices_by_document: dict[Any, list[int]] = {}
    for s, name in enumerate(documents):
        indices_by_document.setdefault(name, []).append(s)
    return [np.array(indices) for indices in indices_by_document.values()]


OVER = {
    "segments": "the same systems on other segments",
    "systems": "other systems on the same segments",
    "both": "other systems on other segments",
}
_CELLS = 1 << 17  # drawn at a time: few enough that progress is seen to move
_CELLS_AT_A_TIME = 1 << 18  # cells of drawn matrices at a time: they stay in the cache


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
    values = np.empty((len(metrics), resamples))
    done = 0
    for systems, segments in drawn_places(human.shape, over, resamples, seed):
        batch = slice(done, done + len(systems))
        for k, (h, m) in enumerate(pairs):
            values[k, batch] = _resample_batch(h, m, statistic(by), at, systems, segments)
            progress(done + len(systems) * (k + 1) // len(pairs), resamples, "resampling")
        done += len(systems)
    return values


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


def _resample_batch(
    h: Floats, m: Floats, by: Statistic, at: str, systems: Ints, segments: Ints
) -> Floats:
    """The statistic of each draw of systems and segments."""
    if at == "system":
        counts = _kernel.tally(segments, h.shape[1])
        human, metric = (
            np.take_along_axis(drawn_means(x, counts), systems, axis=1) for x in (h, m)
        )
        return by.of_resamples(human, metric, systems)
    if at == "item":
        return _resample_groups(h.T, m.T, by, segments, systems)
    if at == "by-system":
        return _resample_groups(h, m, by, systems, segments)
    weights = _kernel.tally(systems, len(h)), _kernel.tally(segments, h.shape[1])
    if by.name in {"pearson", "r2"}:
        r = _segment_pearson(h, m, *weights)
        return r if by.name == "pearson" else r * r
    if by.grouped is None:
        return _resample_stacked(h, m, by, systems, segments)
    cells = all_cells(~np.isnan(h))
    times = (x.astype(np.int32) for x in weights)
    return over_groups(by, by.grouped.resample(cells.of(h), cells.of(m), cells, *times))


def _segment_pearson(h: Floats, m: Floats, systems: Floats, segments: Floats) -> Floats:
    """r from weighted sums of 1, h, m, hh, mm, hm over cells, h and m standardised for accuracy."""
    h, m = _centred(h), _centred(m)
    moments = [np.where(np.isnan(h), 0.0, 1.0), h, m, h * h, m * m, h * m]
    by_segment = exact_product(systems, np.nan_to_num(np.hstack(moments)))
    sums = (by_segment.reshape(len(systems), 6, -1) * segments[:, None]).sum(axis=2)
    n, sh, sm, shh, smm, shm = sums.T
    spread_h, spread_m = n * shh - sh * sh, n * smm - sm * sm
    # A draw that is constant but for rounding has no correlation.
    fit = (n >= 2) & (spread_h > 1e-12 * n * shh) & (spread_m > 1e-12 * n * smm)
    spread = np.sqrt(np.where(fit, spread_h * spread_m, 0))
    return clipped(quotient(n * shm - sh * sm, spread))


def _centred(scores: Floats) -> Floats:
    defined_scores = scores[~np.isnan(scores)]
    if not len(defined_scores):
        return scores
    moved: Floats = scores - defined_scores.mean()
    return moved / (float(defined_scores.std()) or 1.0)


def _resample_groups(h: Floats, m: Floats, by: Statistic, groups: Ints, points: Ints) -> Floats:
    """The statistic over drawn groups (rows) of drawn points (columns)."""
    if by.together:  # where groups share something, each draw is a case of its own
        values = []
        for g, p in zip(groups, points, strict=True):
            human, metric = (x[np.ix_(g, p)] for x in (h, m))
            copies = count_copies(np.broadcast_to(p, human.shape), ~np.isnan(human))
            values.append(by.together(human, metric, copies.pairs)[0])
        return np.array(values)
    counts = _kernel.tally(groups, len(h))
    if (points == points[0]).all():  # not drawn anew: every draw has the same groups
        points = points[:1]
    if by.grouped:
        times = _kernel.tally(points, h.shape[1]).astype(np.int32)
        cells = cells_of_rows(~np.isnan(h))
        once = np.ones((len(times), len(h)), np.int32)
        group_values = by.grouped.resample(cells.of(h), cells.of(m), cells, once, times)
    else:
        parts = (
            _of_draws(h[:, p].swapaxes(0, 1), m[:, p].swapaxes(0, 1), p, by)
            for p in _batches(points, h.size)
        )
        group_values = np.concatenate([*parts])
    shape = *counts.shape, *group_values.shape[2:]
    return over_groups(by, np.broadcast_to(group_values, shape), counts)


def _resample_stacked(h: Floats, m: Floats, by: Statistic, systems: Ints, segments: Ints) -> Floats:
    """The statistic over all cells of each drawn matrix."""
    values = []
    for s, t in zip(_batches(systems, h.size), _batches(segments, h.size), strict=True):
        drawn_indices = s[:, :, None], t[:, None, :]
        human, metric = (arranged(x[drawn_indices], "segment") for x in (h, m))
        cells = (s[:, :, None] * h.shape[1] + t[:, None, :]).reshape(len(s), -1)
        values.append(over_groups(by, _of_draws(human, metric, cells, by)))
    return np.concatenate(values)


def _of_draws(human: Floats, metric: Floats, points: Ints, by: Statistic) -> Floats:
    """The statistic of every group of draws x groups x points; `points` are the drawn ones."""
    if by.resampled is None:
        return each_group(human, metric, by)
    flat = -1, human.shape[2]
    of_groups = np.broadcast_to(points[:, None], human.shape).reshape(flat)
    return by.of_resamples(human.reshape(flat), metric.reshape(flat), of_groups).reshape(
        human.shape[:2]
    )


def _batches(draws: NDArray[Any], cells: int) -> list[NDArray[Any]]:
    """Draws of matrices with so many cells, as many at a time as stay in the cache."""
    size = max(1, _CELLS_AT_A_TIME // max(1, cells))
    return [draws[start : start + size] for start in range(0, len(draws), size)]


FAST = {("pearson", "segment"): perm_both_pearson, ("pearson", "system"): perm_both_system_pearson}
LEVEL_CELLS = {"segment": all_cells, "item": cells_of_columns, "by-system": cells_of_rows}
_TRIALS_AT_A_TIME = 256  # at a time: what is counted of their groups stays in the cache


def perm_both(
    human: Floats,
    first: Floats,
    second: Floats,
    by: Statistic | str = "pearson",
    at: str = "segment",
    trials: int = 1000,
    seed: int = SEED,
    progress: Progress = silent,
) -> Permutation:
    """Test that the first metric agrees better with humans than the second."""
    chosen = statistic(by)
    check_matrix_level(at)
    check_trials("trials", trials, 1)
    if chosen.of_segments and at != "system":
        raise InputError(f"{chosen.name} compares systems: choose the level system")
    if not chosen.tested:
        test = "no such test, which exchanges standardised scores"
        raise InputError(f"{chosen.name} has {test}: choose another statistic")
    scores = standardised(human, first, second)
    exchanges = Exchanges(scores.has_scores, trials, seed, progress)
    if chosen.test:
        if not chosen.of_segments:
            scores = Triple(*(arranged(x[None], at)[0] for x in scores))
        return chosen.test(*scores, exchanges)
    if fast := FAST.get((chosen.name, at)):
        return fast(scores, exchanges)
    if chosen.grouped and at != "system":
        return _exchange_groups(scores, chosen, chosen.grouped, at, exchanges)

    def measure(h: Floats, a: Floats, b: Floats, is_exchanged: Flags) -> Floats:
        values = []
        for mask in _batches(is_exchanged, h.size):
            humans, exchanged = np.broadcast_to(h, mask.shape), np.where(mask, b, a)
            group_values = each_group(arranged(humans, at), arranged(exchanged, at), chosen)
            values.append(over_groups(chosen, group_values))
        return np.concatenate(values)

    return perm_both_many(scores, measure, exchanges)


def _exchange_groups(
    scores: Triple,
    by: Statistic,
    grouped: GroupRoutine,
    at: str,
    exchanges: Exchanges,
) -> Permutation:
    """Test a statistic of groups from the bits of the exchanges, with no matrix exchanged."""
    cells = LEVEL_CELLS[at](scores.has_scores)
    human, first, second = (cells.of(x) for x in scores)
    bits = places_of_bits(cells.rows, cells.columns, scores.has_scores.shape[1])

    def differences(words: Words) -> Floats:
        chosen = ExchangedCells(bits, cells.offsets, np.ascontiguousarray(words))
        values = over_groups(by, grouped.exchange(human, first, second, chosen))
        return values[: words.shape[1]] - values[words.shape[1] :]

    once = [np.ones((1, n), np.int32) for n in scores.has_scores.shape]
    first_value, second_value = (
        over_groups(by, grouped.resample(human, x, cells, *once)) for x in (first, second)
    )
    return exchanges.test(float((first_value - second_value)[0]), differences, _TRIALS_AT_A_TIME)
