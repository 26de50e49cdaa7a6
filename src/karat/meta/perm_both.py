"""PERM-BOTH at any level: the test that one metric agrees better with humans than another.

The points of an exchanged metric are some of those of both. So statistics of pairs are counted
over all points of both, sorted once, of which each is there or not; any other statistic is taken of
the exchanged matrices.
"""

from __future__ import annotations

from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.meta.levels import agreement, arranged, check_matrix_level, each_group, mean_of_defined
from karat.progress import Progress, silent
from karat.stats.correlation import Drawn, Statistic, statistic
from karat.stats.resampling import SEED
from karat.stats.significance.permutation import (
    Exchanges,
    Measures,
    Permutation,
    perm_both_many,
    perm_both_pearson,
    perm_both_system_pearson,
    standardised,
)
from karat.trials import check_trials

FAST = {("pearson", "segment"): perm_both_pearson, ("pearson", "system"): perm_both_system_pearson}
_WORK = 1 << 18  # cells of exchanged matrices at a time: they stay in the cache


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
    if not chosen.tested:
        test = "no such test, which exchanges standardised scores"
        raise InputError(f"{chosen.name} has {test}: choose another statistic")
    of = standardised(human, first, second)
    tried = Exchanges(of.known, trials, seed, progress)
    fast = FAST.get((chosen.name, at))
    return fast(of, tried) if fast else perm_both_many(of, _measures(chosen, at), tried)


def _measures(by: Statistic, at: str) -> Measures:
    """Return the function that measures `a` after exchanges with `b` against human scores.

    All are systems x segments, NaN at the same cells; `chosen` (draws x systems x segments) says
    which cells of `a` are taken from `b`.
    """
    if at in {"item", "by-system"} and by.together:
        return lambda h, a, b, chosen: np.array(
            [agreement(h, np.where(c, b, a), by, at).value for c in chosen]
        )
    if by.drawn and at != "system":
        return _counted(by.drawn, at)
    return _stacked(by, at)


def _stacked(by: Statistic, at: str) -> Measures:
    def some(h: Floats, a: Floats, b: Floats, chosen: Flags) -> Floats:
        human = arranged(np.broadcast_to(h, chosen.shape), at)
        return mean_of_defined(each_group(human, arranged(np.where(chosen, b, a), at), by))

    def found(h: Floats, a: Floats, b: Floats, chosen: Flags) -> Floats:
        size = max(1, _WORK // max(1, h.size))
        starts = range(0, len(chosen), size)
        return np.concatenate([some(h, a, b, chosen[k : k + size]) for k in starts])

    return found


def _counted(drawn: Drawn, at: str) -> Measures:
    def found(h: Floats, a: Floats, b: Floats, chosen: Flags) -> Floats:
        groups = (arranged(x[None], at)[0] for x in (h, a, b))
        taken = np.ascontiguousarray(arranged(chosen, at).swapaxes(0, 1))  # a group at a time
        values = []
        for human, first, second, cells in zip(*groups, taken, strict=True):
            known = ~np.isnan(human)
            there = cells[:, known]  # the points of `a` are there where those of `b` are not
            times = np.hstack([~there, there]).astype(np.int32)
            points = np.tile(human[known], 2), np.concatenate([first[known], second[known]])
            values.append(drawn(*points, times))
        return mean_of_defined(np.stack(values, axis=1))

    return found
