"""Exchanges of cells between two metrics, every one that there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np

Matrix = np.ndarray
Measure = Callable[[Matrix, Matrix], float]


def z_scores(scores: Matrix) -> Matrix:
    """Mean 0 and standard deviation 1, over all cells that are numbers."""
    numbers = [x for x in scores.ravel().tolist() if not np.isnan(x)]
    mean = sum(numbers) / len(numbers)
    sd = (sum((x - mean) ** 2 for x in numbers) / len(numbers)) ** 0.5
    return (scores - mean) / sd


def exchanged(first: Matrix, second: Matrix) -> Iterator[Matrix]:
    """The first matrix after each choice of cells to exchange.

    The choices begin with no cell and end with all. The n-th from the end takes just the cells
    that the n-th leaves: it is the second matrix after the n-th choice.
    """
    cells = np.argwhere(~np.isnan(first))
    for choice in product((False, True), repeat=len(cells)):
        a = first.copy()
        exchanged_cells = tuple(cells[list(choice)].T)
        a[exchanged_cells] = second[exchanged_cells]
        yield a


def perm_both(human: Matrix, first: Matrix, second: Matrix, measure: Measure) -> float:
    """The exact share of exchanges with at least the real difference of agreement, of those that
    have one."""
    missing = np.isnan(human + first + second)
    h, a, b = (np.where(missing, np.nan, x) for x in (human, first, second))
    a, b = z_scores(a), z_scores(b)
    real = measure(h, a) - measure(h, b)
    values = [measure(h, x) for x in exchanged(a, b)]
    gaps = [x - y for x, y in zip(values, reversed(values), strict=True)]
    defined_gaps = [gap for gap in gaps if not np.isnan(gap)]
    if np.isnan(real):
        return float("nan")
    return sum(gap >= real - 1e-9 for gap in defined_gaps) / len(defined_gaps)


def p_better(first: Matrix, second: Matrix) -> float:
    """The exact share of exchanges of segments with at least the real difference of sums."""
    real = sum(first) - sum(second)
    gaps = [
        sum(x - y if keep else y - x for x, y, keep in zip(first, second, choice, strict=True))
        for choice in product((False, True), repeat=len(first))
    ]
    return sum(gap >= real - 1e-9 for gap in gaps) / len(gaps)


def corpus_p(
    first: Matrix, second: Matrix, chosen: Matrix, score: Callable[[Matrix], float]
) -> float:
    """The share of choices of segments whose exchange gives at least the real difference.

    `first` and `second` are rows of statistics, segment by segment; a sum of rows has a score.
    """
    real = score(first.sum(axis=0)) - score(second.sum(axis=0))
    reached = 0
    for choice in chosen:
        a, b = np.zeros(first.shape[1]), np.zeros(first.shape[1])
        for first_row, second_row, swapped in zip(first, second, choice, strict=True):
            a, b = (
                a + (second_row if swapped else first_row),
                b + (first_row if swapped else second_row),
            )
        reached += score(a) - score(b) >= real - 1e-9
    return reached / len(chosen)
