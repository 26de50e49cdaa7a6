"""Tie calibration: the threshold below which metric differences are best called ties.

Deutsch, Foster and Freitag, *Ties Matter*, 2023. Accuracy at epsilon is the mean over groups of
(C + Thm) / pairs, where a pair of a group is tied in the metric if |m1 - m2| <= epsilon. Every
difference is tried, none is sampled; of equally good thresholds the smallest is taken.
"""

from __future__ import annotations

from typing import NamedTuple

from karat import _kernel
from karat.arrays import ArrayLike, Ints, np
from karat.errors import InputError
from karat.progress import Stop

BAND = 1 << 18  # pairs that are in memory at once, 24 bytes each


class Calibration(NamedTuple):
    """The best threshold and its accuracy, and what it was found on."""

    epsilon: float
    accuracy: float  # NaN if there is no pair
    groups: int  # with at least one pair
    left_out: int  # groups without
    pairs: int


def calibrate(
    human: ArrayLike, metric: ArrayLike, stop: Stop | None = None, copies: Ints | None = None
) -> Calibration:
    """Calibrate on the rows of two matrices, or on two vectors; NaN is left out.

    O(p log p) in the number p of pairs within rows, in memory for a fixed number of them.
    `copies` is for resamples: the number of pairs in each row that consist of two copies of one
    point, which do not count.
    """
    h, m = np.atleast_2d(np.asarray(human, float)), np.atleast_2d(np.asarray(metric, float))
    if h.shape != m.shape:
        shapes = f"human scores have the shape {h.shape} and metric scores {m.shape}"
        raise InputError(f"{shapes}: expected the same")
    both = ~(np.isnan(h) | np.isnan(m))
    if not (np.isfinite(h[both]).all() and np.isfinite(m[both]).all()):
        raise InputError("tie calibration: scores must be finite")
    sizes = both.sum(axis=1)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if copies is None:
        copies = np.zeros(len(h), np.int64)
    epsilon, accuracy, groups, pairs = _kernel.calibrate_ties(
        h[both], m[both], offsets, copies, BAND, stop.check if stop else None
    )
    if not groups:
        epsilon = accuracy = float("nan")
    return Calibration(epsilon, accuracy, groups, len(h) - groups, pairs)
