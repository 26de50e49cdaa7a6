"""The plane by loops: every cell of every resample is scored from text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import nan

import numpy as np
from oracles.pair_loops import pearson, repeated

import karat as kt

CELLS = [(k / 10, n) for n in (1, 2, 3, 4) for k in range(11)]
Numbers = Sequence[float]
Selection = list[tuple[int, int]]  # segment, how often


def system_scores(
    evalset: kt.EvalSet, human: np.ndarray, system: str, places: Sequence[int]
) -> tuple[float, list[str], list[list[str]]]:
    """The mean human score of the judged places, and their outputs and references."""
    row = list(evalset.systems).index(system)
    good = [
        j for j in places if not np.isnan(human[row, j]) and evalset.systems[system][j] is not None
    ]
    texts = [evalset.systems[system][j] or "" for j in good]
    references = [list(evalset.references[j]) for j in good]
    mean = float(np.mean([human[row, j] for j in good])) if good else nan
    return mean, texts, references


def cell_r(
    evalset: kt.EvalSet,
    human: np.ndarray,
    systems: Sequence[int],
    places: Sequence[int],
    alpha: float,
    n: int,
) -> float:
    """Pearson's r of one cell over drawn systems, on drawn segments, from text."""
    names = list(evalset.systems)
    xs, ys = [], []
    for k in systems:
        mean, texts, references = system_scores(evalset, human, names[k], places)
        if texts:
            xs.append(mean)
            ys.append(kt.AEv(alpha=alpha, n=n).corpus(texts, references).value)
    return pearson(xs, ys)


def weighted_r(human: Numbers, metric: Numbers, weights: Sequence[int]) -> float:
    """r with every system there as often as its weight says."""
    return pearson(repeated(human, weights), repeated(metric, weights))


def line(xs: Numbers, ys: Numbers, at: float) -> float:
    """The least-squares line; the mean where there is none."""
    if len(set(xs)) < 2:
        return sum(ys) / len(ys)
    slope, start = np.polyfit(xs, ys, 1)
    return float(start + slope * at)


def left_out(human: Numbers, metric: Numbers) -> float:
    """1 - PRESS / SST, refitting without each system."""
    if len(set(metric)) < 2:
        return nan
    press = sst = 0.0
    for i, real in enumerate(human):
        ys, xs = ([v for j, v in enumerate(z) if j != i] for z in (human, metric))
        press += (real - line(xs, ys, metric[i])) ** 2
        sst += (real - sum(ys) / len(ys)) ** 2
    return 1 - press / sst


def best(human: Numbers, cells: Sequence[Numbers]) -> int | None:
    """The first cell with the largest r above 0."""
    best_cell, top = None, 0.0
    for k, metric in enumerate(cells):
        r = pearson(human, metric)
        if r > top + 1e-12:
            best_cell, top = k, r
    return best_cell


def picking(human: Numbers, cells: Sequence[Numbers]) -> float:
    """1 - PRESS / SST where the cell, too, is picked without the system."""
    press = sst = 0.0
    for i, real in enumerate(human):
        ys = [v for j, v in enumerate(human) if j != i]
        rest = [[v for j, v in enumerate(metric) if j != i] for metric in cells]
        k = best(ys, rest)
        guess = sum(ys) / len(ys) if k is None else line(rest[k], ys, cells[k][i])
        press += (real - guess) ** 2
        sst += (real - sum(ys) / len(ys)) ** 2
    return 1 - press / sst


def largest(human: Numbers, cells: Sequence[Numbers]) -> float:
    """The largest r of all cells, at least 0."""
    k = best(human, cells)
    return 0.0 if k is None else pearson(human, cells[k])


def maximum_test(human: Numbers, cells: Sequence[Numbers]) -> float:
    """The share of all ways of dealing human scores that reach the real maximum."""
    real = largest(human, cells)
    tops = [largest(dealt, cells) for dealt in permutations(human)]
    return sum(top >= real - 1e-9 for top in tops) / len(tops)
