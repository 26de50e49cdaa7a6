"""PERM-BOTH at any level: the test that one metric agrees better with humans than another.

The points of an exchanged metric are some of those of both. So statistics of pairs are counted
over all points of both, sorted once, of which each is there or not; any other statistic is taken of
the exchanged matrices.
"""

from __future__ import annotations

from collections.abc import Callable

from karat.arrays import Flags, Floats, np
from karat.errors import InputError
from karat.meta.levels import agreement, arranged, check_matrix_level, each_group, over_groups
from karat.progress import Progress, silent
from karat.settings import check_trials
from karat.stats.correlation import Drawn, Statistic, statistic
from karat.stats.grouped import (
    DrawnCells,
    ExchangedCells,
    LinesOfGroups,
    PairsOfGroups,
    all_cells,
    cells_of_columns,
    cells_of_rows,
)
from karat.stats.resampling import SEED
from karat.stats.significance.exchanges import (
    Exchanges,
    Permutation,
    Words,
    places_of_bits,
)
from karat.stats.significance.permutation import (
    Measures,
    Triple,
    perm_both_many,
    perm_both_pearson,
    perm_both_system_pearson,
    standardised,
)

FAST = {("pearson", "segment"): perm_both_pearson, ("pearson", "system"): perm_both_system_pearson}
CELLS = {"segment": all_cells, "item": cells_of_columns, "by-system": cells_of_rows}
_TRIALS = 256  # at a time: what is counted of their groups stays in the cache
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
    keep: Callable[[Floats], None] | None = None,
) -> Permutation:
    """Test that the first metric agrees better with humans than the second.

    `keep` takes the differences of all exchanges, for averages over tasks.
    """
    chosen = statistic(by)
    check_matrix_level(at)
    check_trials("trials", trials, 1)
    if chosen.behind and at != "system":
        raise InputError(f"{chosen.name} compares systems: choose the level system")
    if not chosen.tested:
        test = "no such test, which exchanges standardised scores"
        raise InputError(f"{chosen.name} has {test}: choose another statistic")
    of = standardised(human, first, second)
    tried = Exchanges(of.known, trials, seed, progress, keep)
    if chosen.test:
        groups = of if chosen.behind else Triple(*(arranged(x[None], at)[0] for x in of))
        return chosen.test(*groups, tried)
    if fast := FAST.get((chosen.name, at)):
        return fast(of, tried)
    if chosen.grouped and at != "system":
        return _of_groups(of, chosen, chosen.grouped, at, tried)
    return perm_both_many(of, _measures(chosen, at), tried)


def _of_groups(
    of: Triple, by: Statistic, grouped: PairsOfGroups | LinesOfGroups, at: str, tried: Exchanges
) -> Permutation:
    """Test a statistic of groups from the bits of the exchanges, with no matrix exchanged."""
    cells = CELLS[at](of.known)
    human, first, second = (cells.of(x) for x in of)
    bits = places_of_bits(cells.rows, cells.columns, of.known.shape[1])

    def differences(words: Words) -> Floats:
        chosen = ExchangedCells(cells.offsets, bits, np.ascontiguousarray(words))
        values = over_groups(by, grouped.exchanged(human, first, second, chosen))
        return values[: words.shape[1]] - values[words.shape[1] :]

    once = DrawnCells(cells, *(np.ones((1, n), np.int32) for n in of.known.shape))
    one, other = (over_groups(by, grouped.drawn(human, x, once)) for x in (first, second))
    return tried.test(float((one - other)[0]), differences, _TRIALS)


def _measures(by: Statistic, at: str) -> Measures:
    """Return the function that measures `a` after exchanges with `b` against human scores.

    All are systems x segments, NaN at the same cells; `chosen` (draws x systems x segments) says
    which cells of `a` are taken from `b`.
    """
    if at in {"item", "by-system"} and by.together:
        return lambda h, a, b, chosen: np.array(
            [agreement(h, np.where(c, b, a), by, at).value for c in chosen]
        )
    if by.drawn_groups and at != "system":
        return _counted(by, by.drawn_groups, at)
    return _stacked(by, at)


def _stacked(by: Statistic, at: str) -> Measures:
    def some(h: Floats, a: Floats, b: Floats, chosen: Flags) -> Floats:
        human = arranged(np.broadcast_to(h, chosen.shape), at)
        return over_groups(by, each_group(human, arranged(np.where(chosen, b, a), at), by))

    def found(h: Floats, a: Floats, b: Floats, chosen: Flags) -> Floats:
        size = max(1, _WORK // max(1, h.size))
        starts = range(0, len(chosen), size)
        return np.concatenate([some(h, a, b, chosen[k : k + size]) for k in starts])

    return found


def _counted(by: Statistic, drawn: Drawn, at: str) -> Measures:
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
        return over_groups(by, np.stack(values, axis=1))

    return found
