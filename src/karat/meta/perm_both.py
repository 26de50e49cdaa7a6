"""A statistic at a level after many exchanges of cells between two metrics: PERM-BOTH's work.

The points of an exchanged metric are some of those of both. So statistics of pairs are counted
over all points of both, sorted once, of which each is there or not; any other statistic is taken of
the exchanged matrices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from karat.meta.levels import arranged, each_group, level, mean_of_defined
from karat.stats.correlation import Drawn, Statistic

Floats = NDArray[np.float64]
Chosen = NDArray[np.bool_]
_WORK = 1 << 18  # cells
Measures = Callable[[Floats, Floats, Floats, Chosen], Floats]


def measures(by: Statistic, at: str) -> Measures:
    """How `by` is measured at a level: of human scores and of `a` after exchanges with `b`.

    All are systems x segments, NaN at the same cells; `chosen` (draws x systems x segments) says
    which cells of `a` are taken from `b`.
    """
    grouped = at in {"item", "by-system"}
    if grouped and by.together:
        return _one_by_one(by, at)
    if by.drawn and at != "system":
        return _counted(by.drawn, at)
    return _stacked(by, at)


def _one_by_one(by: Statistic, at: str) -> Measures:
    measure = level(at)

    def found(h: Floats, a: Floats, b: Floats, chosen: Chosen) -> Floats:
        return np.array([measure(h, np.where(c, b, a), by).value for c in chosen])

    return found


def _stacked(by: Statistic, at: str) -> Measures:
    def found(h: Floats, a: Floats, b: Floats, chosen: Chosen) -> Floats:
        human = arranged(np.broadcast_to(h, chosen.shape), at)
        return mean_of_defined(each_group(human, arranged(np.where(chosen, b, a), at), by))

    return _in_parts(found)


def _counted(drawn: Drawn, at: str) -> Measures:
    def found(h: Floats, a: Floats, b: Floats, chosen: Chosen) -> Floats:
        human, first, second = (arranged(x[None], at)[0] for x in (h, a, b))
        taken = np.ascontiguousarray(arranged(chosen, at).swapaxes(0, 1))  # a group at a time
        groups = zip(human, first, second, taken, strict=True)
        return mean_of_defined(np.stack([_group(drawn, *group) for group in groups], axis=1))

    return found


def _in_parts(measure: Measures) -> Measures:
    """A few draws at a time, so that what is made of them stays in the cache."""

    def found(h: Floats, a: Floats, b: Floats, chosen: Chosen) -> Floats:
        size = max(1, _WORK // max(1, h.size))
        starts = range(0, len(chosen), size)
        return np.concatenate([measure(h, a, b, chosen[k : k + size]) for k in starts])

    return found


def _group(drawn: Drawn, h: Floats, a: Floats, b: Floats, taken: Chosen) -> Floats:
    """One group on all draws: the points of `a` are there where those of `b` are not."""
    known = ~np.isnan(h)
    there = taken[:, known]
    times = np.hstack([~there, there]).astype(np.int32)
    return drawn(np.tile(h[known], 2), np.concatenate([a[known], b[known]]), times)
