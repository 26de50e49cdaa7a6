"""Resampling by explicit loops over segments, with numpy's generator for the draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Row = Sequence[float]


def add_rows(rows: Sequence[Row]) -> list[float]:
    """Sum columns, one row after the other."""
    sums = [0.0] * len(rows[0])
    for row in rows:
        for k, number in enumerate(row):
            sums[k] += number
    return sums


def bootstrap(rows: Sequence[Row], resamples: int, seed: int) -> list[list[float]]:
    """The summed rows of every resample, n segments drawn with replacement."""
    draws = np.random.default_rng(seed).integers(0, len(rows), size=(resamples, len(rows)))
    return [add_rows([rows[i] for i in draw]) for draw in draws.tolist()]


def exchanges(
    first: Sequence[Row], second: Sequence[Row], trials: int, seed: int
) -> list[tuple[list[float], list[float]]]:
    """The summed rows of both systems after each segment was exchanged or not by a fair coin."""
    keeps = np.random.default_rng(seed).integers(2, size=(trials, len(first)), dtype=bool)
    summed_pairs = []
    for keep in keeps.tolist():
        a, b = [], []
        for first_row, second_row, stays in zip(first, second, keep, strict=True):
            a.append(first_row if stays else second_row)
            b.append(second_row if stays else first_row)
        summed_pairs.append((add_rows(a), add_rows(b)))
    return summed_pairs


def p_bootstrap(
    rows: Sequence[Row],
    base: Sequence[Row],
    score: Callable[[Row], float],
    resamples: int,
    seed: int,
) -> float:
    """Share of resamples whose centred |difference| is beyond the real one."""
    real = abs(score(add_rows(rows)) - score(add_rows(base)))
    a, b = bootstrap(rows, resamples, seed), bootstrap(base, resamples, seed)
    gaps = [abs(score(x) - score(y)) for x, y in zip(a, b, strict=True)]
    mean = float(np.mean(gaps))
    return (1 + sum(gap - mean > real for gap in gaps)) / (1 + resamples)


def p_exchange(
    rows: Sequence[Row],
    base: Sequence[Row],
    score: Callable[[Row], float],
    trials: int,
    seed: int,
) -> float:
    """Share of exchanges whose |difference| is beyond the real one."""
    real = abs(score(add_rows(rows)) - score(add_rows(base)))
    gaps = [abs(score(a) - score(b)) for a, b in exchanges(base, rows, trials, seed)]
    return (1 + sum(gap > real for gap in gaps)) / (1 + trials)


def middle(values: Sequence[float], level: float) -> tuple[float, float]:
    """The smallest and largest value after an equal share was cut off at both ends."""
    left = sorted(values)
    for _ in range(round(len(values) * (1 - level) / 2 - 0.5 + 1e-9)):
        left = left[1:-1]
    return left[0], left[-1]
