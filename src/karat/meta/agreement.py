"""Agreement of metrics with humans, from matrices of systems x segments; NaN is a missing score.

A cell counts if it has a human score and a metric score. `agreement` returns the value at a level,
`bootstrap` the values of resamples, `perm_both` the test between two metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from karat import _kernel
from karat.arithmetic import exact_product, exact_sum
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.meta.settings import OVER
from karat.progress import Progress, silent
from karat.settings import SEED, check_trials
from karat.stats.correlation import Statistic, clipped, quotient, statistic, why_undefined
from karat.stats.exchanges import Exchanges, Permutation, Words, bit_positions
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
from karat.stats.resampling import bootstrap_indices, count_copies


class Agreement(NamedTuple):
    """A statistic at a level."""

    value: float  # NaN if it is undefined
    points: int  # number of systems, cells or documents that were compared
    groups: int = 1  # number of groups in which the statistic is defined
    left_out: int = 0  # number of groups in which it is undefined
    reason: str = ""  # reason for a NaN


MATRIX_LEVELS = ("system", "segment", "item", "by-system")
"""Levels of two matrices: means of systems, all cells in one pool ("global", "no grouping"), the
mean over segments ("group by item") and the mean over systems ("group by system")."""


def check_matrix_level(at: str) -> None:
    """Raise unless `at` is a level of matrices."""
    if at not in MATRIX_LEVELS:
        raise InputError(f"level {quoted(at)}: expected one of {', '.join(MATRIX_LEVELS)}")


def agreement(
    human: Floats, metric: Floats, by: Statistic | str = "pearson", at: str = "segment"
) -> Agreement:
    """Return the agreement of a metric with humans, systems x segments, by a statistic at a level.

    At a level with groups it is the mean over the groups in which the statistic is defined; pooled
    statistics add up the pairs of all groups.
    """
    check_matrix_level(at)
    chosen = statistic(by)
    h, m = (group_points(x[None], at)[0] for x in keep_shared(human, metric))
    points = int((~np.isnan(h)).sum())
    if at in {"system", "segment"}:
        value = chosen(h, m)
        reason = why_undefined(h, m) or "no two human scores differ enough"
        return Agreement(value, points, reason=reason if np.isnan(value) else "")
    value, groups, left_out = chosen.over(h, m)
    group_name = "segment" if at == "item" else "system"
    reason = f"in no {group_name} do both human and metric scores differ" if np.isnan(value) else ""
    return Agreement(value, points, groups, left_out, reason)


# --------------------------------------------------------------------- many matrices at once


def group_points(stack: NDArray[Any], at: str) -> NDArray[Any]:
    """Return matrices, draws x systems x segments, as the level's draws x groups x points."""
    if at == "system":
        return row_means(stack.reshape(-1, stack.shape[2])).reshape(len(stack), 1, -1)
    if at == "segment":
        return stack.reshape(len(stack), 1, -1)
    return stack.swapaxes(1, 2) if at == "item" else stack


def each_group(human: Floats, metric: Floats, by: Statistic) -> Floats:
    """Return the statistic of every group, draws x groups, from draws x groups x points.

    It is NaN where undefined. Pooled statistics return draws x groups x parts.
    """
    flat = human.shape[0] * human.shape[1], human.shape[2]
    values = by.each_group(human.reshape(flat), metric.reshape(flat))
    return values.reshape(*human.shape[:2], *values.shape[1:])


def over_groups(by: Statistic, group_values: Floats, times: Floats | None = None) -> Floats:
    """Return the statistic of each draw from the values of its groups, as `each_group` returns.

    Unless the statistic pools groups, that is the mean over the groups in which it is defined;
    `times` is how often each group counts.
    """
    if by.pooled:
        return by.pooled.total(group_values, times)
    is_defined = (~np.isnan(group_values)).astype(np.float64)
    weights = is_defined if times is None else is_defined * times
    return quotient((np.nan_to_num(group_values) * weights).sum(axis=1), weights.sum(axis=1))


# ---------------------------------------------------------------------------------- cells


def keep_shared(human: Floats, metric: Floats) -> tuple[Floats, Floats]:
    """Return both matrices with NaN wherever either of them has it."""
    if human.shape != metric.shape or human.ndim != 2:
        shapes = f"human scores have the shape {human.shape} and metric scores {metric.shape}"
        raise InputError(f"{shapes}: expected the same, systems x segments")
    missing = np.isnan(human) | np.isnan(metric)
    return np.where(missing, np.nan, human), np.where(missing, np.nan, metric)


def row_means(scores: Floats) -> Floats:
    """Return the mean of the defined scores in each row; NaN for a row without any."""
    counts = (~np.isnan(scores)).sum(axis=1)
    return quotient(exact_sum(np.nan_to_num(scores), axis=1), counts)


def weighted_means(scores: Floats, counts: Floats) -> Floats:
    """Return draws x systems: mean scores, each segment counted `counts` times (draws x segments).

    Missing scores do not count; a system without any has NaN.
    """
    has_score = ~np.isnan(scores)
    return quotient(*(exact_product(counts, x.T) for x in (np.nan_to_num(scores), has_score)))


def document_means(scores: Floats, documents: Sequence[Any]) -> Floats:
    """Return systems x documents: means over the segments of each document, without NaN.

    `documents` names the document of each segment; documents are in order of first occurrence.
    """
    if len(documents) != scores.shape[1]:
        sizes = f"{len(documents)} documents for {scores.shape[1]} segments"
        raise InputError(f"{sizes}: expected one a segment")
    segments = segments_by_document(documents)
    return np.stack([row_means(scores[:, columns]) for columns in segments], axis=1)


def segments_by_document(documents: Sequence[Any]) -> list[Ints]:
    """Return the segments of each document, documents in order of first occurrence."""
    indices_by_document: dict[Any, list[int]] = {}
    for s, name in enumerate(documents):
        indices_by_document.setdefault(name, []).append(s)
    return [np.array(indices) for indices in indices_by_document.values()]


# ------------------------------------------------------------------------------- bootstrap


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
    """Return metrics x resamples: agreement with humans in each resample, NaN where undefined."""
    if over not in OVER:
        raise InputError(f"bootstrap over {quoted(over)}: expected one of {', '.join(OVER)}")
    check_trials("resamples", resamples, 1)
    pairs = [keep_shared(human, m) for m in metrics]
    values = np.empty((len(metrics), resamples))
    done = 0
    for systems, segments in bootstrap_indices(human.shape, over, resamples, seed):
        batch = slice(done, done + len(systems))
        for k, (h, m) in enumerate(pairs):
            values[k, batch] = _resample_batch(h, m, statistic(by), at, systems, segments)
            progress(done + len(systems) * (k + 1) // len(pairs), resamples, "resampling")
        done += len(systems)
    return values


def _resample_batch(
    h: Floats, m: Floats, by: Statistic, at: str, systems: Ints, segments: Ints
) -> Floats:
    """Return the statistic of each resample in a batch of drawn systems and segments."""
    if at == "system":
        counts = _kernel.tally(segments, h.shape[1])
        human, metric = (
            np.take_along_axis(weighted_means(x, counts), systems, axis=1) for x in (h, m)
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
    return over_groups(by, by.grouped.resample(cells.scores(h), cells.scores(m), cells, *times))


def _segment_pearson(h: Floats, m: Floats, systems: Floats, segments: Floats) -> Floats:
    """Return r from weighted sums of 1, h, m, hh, mm, hm over cells; the weights are counts.

    h and m are standardised first, for accuracy.
    """
    h, m = _standardize(h), _standardize(m)
    moments = [np.where(np.isnan(h), 0.0, 1.0), h, m, h * h, m * m, h * m]
    by_segment = exact_product(systems, np.nan_to_num(np.hstack(moments)))
    sums = (by_segment.reshape(len(systems), 6, -1) * segments[:, None]).sum(axis=2)
    n, sh, sm, shh, smm, shm = sums.T
    spread_h, spread_m = n * shh - sh * sh, n * smm - sm * sm
    # A resample that is constant except for rounding has no correlation.
    fit = (n >= 2) & (spread_h > 1e-12 * n * shh) & (spread_m > 1e-12 * n * smm)
    spread = np.sqrt(np.where(fit, spread_h * spread_m, 0))
    return clipped(quotient(n * shm - sh * sm, spread))


def _standardize(scores: Floats) -> Floats:
    """Return z-scores; missing scores stay NaN."""
    defined_scores = scores[~np.isnan(scores)]
    if not len(defined_scores):
        return scores
    centered: Floats = scores - defined_scores.mean()
    return centered / (float(defined_scores.std()) or 1.0)


def _resample_groups(h: Floats, m: Floats, by: Statistic, groups: Ints, points: Ints) -> Floats:
    """Return the statistic of each resample of groups (rows) and points (columns)."""
    if by.together:  # groups share something: one resample at a time
        values = []
        for g, p in zip(groups, points, strict=True):
            human, metric = (x[np.ix_(g, p)] for x in (h, m))
            copies = count_copies(np.broadcast_to(p, human.shape), ~np.isnan(human))
            values.append(by.together(human, metric, copies.pairs)[0])
        return np.array(values)
    counts = _kernel.tally(groups, len(h))
    if (points == points[0]).all():  # points are not resampled: every draw has the same groups
        points = points[:1]
    if by.grouped:
        times = _kernel.tally(points, h.shape[1]).astype(np.int32)
        cells = cells_of_rows(~np.isnan(h))
        once = np.ones((len(times), len(h)), np.int32)
        group_values = by.grouped.resample(cells.scores(h), cells.scores(m), cells, once, times)
    else:
        parts = (
            _each_resampled_group(h[:, p].swapaxes(0, 1), m[:, p].swapaxes(0, 1), p, by)
            for p in _batches(points, h.size)
        )
        group_values = np.concatenate([*parts])
    shape = *counts.shape, *group_values.shape[2:]
    return over_groups(by, np.broadcast_to(group_values, shape), counts)


def _resample_stacked(h: Floats, m: Floats, by: Statistic, systems: Ints, segments: Ints) -> Floats:
    """Return the statistic over all cells of each resampled matrix."""
    values = []
    for s, t in zip(_batches(systems, h.size), _batches(segments, h.size), strict=True):
        drawn_indices = s[:, :, None], t[:, None, :]
        human, metric = (group_points(x[drawn_indices], "segment") for x in (h, m))
        cells = (s[:, :, None] * h.shape[1] + t[:, None, :]).reshape(len(s), -1)
        values.append(over_groups(by, _each_resampled_group(human, metric, cells, by)))
    return np.concatenate(values)


def _each_resampled_group(human: Floats, metric: Floats, points: Ints, by: Statistic) -> Floats:
    """Return the statistic of every group of resamples; `points` are the drawn points."""
    if by.resampled is None:
        return each_group(human, metric, by)
    flat = -1, human.shape[2]
    drawn_points = np.broadcast_to(points[:, None], human.shape).reshape(flat)
    values = by.of_resamples(human.reshape(flat), metric.reshape(flat), drawn_points)
    return values.reshape(human.shape[:2])


_CELLS_AT_A_TIME = 1 << 18  # cells of resampled matrices: they stay in the cache


def _batches(draws: NDArray[Any], cells: int) -> list[NDArray[Any]]:
    """Split draws of matrices with this number of cells into batches that fit into the cache."""
    size = max(1, _CELLS_AT_A_TIME // max(1, cells))
    return [draws[start : start + size] for start in range(0, len(draws), size)]


# ------------------------------------------------------------------------------ PERM-BOTH


FAST = {("pearson", "segment"): perm_both_pearson, ("pearson", "system"): perm_both_system_pearson}
LEVEL_CELLS = {"segment": all_cells, "item": cells_of_columns, "by-system": cells_of_rows}
_TRIALS_AT_A_TIME = 256  # the counts of their groups stay in the cache


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
    """Test whether the first metric agrees better with humans than the second."""
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
            scores = Triple(*(group_points(x[None], at)[0] for x in scores))
        return chosen.test(*scores, exchanges)
    if fast := FAST.get((chosen.name, at)):
        return fast(scores, exchanges)
    if chosen.grouped and at != "system":
        return _exchange_groups(scores, chosen, chosen.grouped, at, exchanges)

    def measure(h: Floats, a: Floats, b: Floats, is_exchanged: Flags) -> Floats:
        values = []
        for mask in _batches(is_exchanged, h.size):
            humans, exchanged = np.broadcast_to(h, mask.shape), np.where(mask, b, a)
            group_values = each_group(group_points(humans, at), group_points(exchanged, at), chosen)
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
    """Test a statistic of groups by the bits of the exchanges, without exchanging matrices."""
    cells = LEVEL_CELLS[at](scores.has_scores)
    human, first, second = (cells.scores(x) for x in scores)
    bits = bit_positions(cells.rows, cells.columns, scores.has_scores.shape[1])

    def differences(words: Words) -> Floats:
        chosen = ExchangedCells(bits, cells.offsets, np.ascontiguousarray(words))
        values = over_groups(by, grouped.exchange(human, first, second, chosen))
        return values[: words.shape[1]] - values[words.shape[1] :]

    once = [np.ones((1, n), np.int32) for n in scores.has_scores.shape]
    first_value, second_value = (
        over_groups(by, grouped.resample(human, x, cells, *once)) for x in (first, second)
    )
    return exchanges.test(float((first_value - second_value)[0]), differences, _TRIALS_AT_A_TIME)
