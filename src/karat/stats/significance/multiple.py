"""Many tests at once: corrected p-values, and clusters of what cannot be told apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat.arithmetic import SLACK
from karat.errors import InputError

Floats = NDArray[np.float64]


def holm(p_values: ArrayLike) -> Floats:
    """Holm's correction (1979): the chance of any false finding stays below the level.

    The k-th smallest of m becomes the largest of (m - j + 1) p_j over j <= k, at most 1. A NaN
    stays one and does not count.
    """
    p = np.asarray(p_values, float)
    found, order = _sorted(p)
    m = len(order)
    scaled = p.ravel()[order] * (m - np.arange(m))
    found[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return found.reshape(p.shape)


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Benjamini and Hochberg's correction (1995): of the findings, few are false.

    The k-th smallest of m becomes the smallest of m p_j / j over j >= k. A NaN stays one and does
    not count.
    """
    p = np.asarray(p_values, float)
    found, order = _sorted(p)
    m = len(order)
    scaled = p.ravel()[order] * m / np.arange(1, m + 1)
    found[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1)
    return found.reshape(p.shape)


def uncorrected(p_values: ArrayLike) -> Floats:
    """The p-values as they are."""
    return np.array(p_values, float)


CORRECTIONS = {"none": uncorrected, "holm": holm, "bh": benjamini_hochberg}


def _sorted(p: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """A place for the answers, and the order of the p-values that are numbers."""
    flat = p.ravel()
    order = np.argsort(flat, kind="stable")[: int((~np.isnan(flat)).sum())]
    return np.full(flat.shape, np.nan), order


def clusters(p_values: ArrayLike, level: float = 0.05) -> list[int]:
    """Ranks of metrics that are sorted by falling score, as the WMT metrics tasks give them.

    p_values[i, j], i < j, is that of "metric i is better than metric j". The first metric has rank
    1. Going down, a metric starts the next rank if any metric of the present rank is better than it
    at p <= level, so metrics of one rank are not told apart. A NaN tells nothing apart.
    """
    p = np.asarray(p_values, float)
    if p.ndim != 2 or p.shape[0] != p.shape[1]:
        raise InputError(f"p-values have the shape {p.shape}: expected a square")
    ranks: list[int] = []
    start = 0
    for j in range(len(p)):
        if (p[start:j, j] <= level * (1 + SLACK)).any():
            start = j
        ranks.append(ranks[-1] + (start == j) if ranks else 1)
    return ranks
