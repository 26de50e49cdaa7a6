"""Statistics of all groups of cells at once, of many draws of them or after many exchanges.

The kernel sorts the points of a group once and works on 64 draws in step. What it gives for each
group and draw (counts of pairs, or r) becomes draws x groups of values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from karat import _kernel
from karat.arrays import Flags, Floats, Ints, NDArray, np

Pairs = list[Floats]
"""Of each row or draw: pairs that are concordant, discordant, tied in human scores, in metric
scores, in both; and the numbers of distinct human and metric scores."""
OfPairs = Callable[[Pairs, float | Floats], Floats]  # counts, distinct points -> value
Times = NDArray[np.int32]  # draws x items: how often each item is there


class Cells(NamedTuple):
    """Cells of a matrix that are known, group after group."""

    rows: Ints
    columns: Ints
    offsets: Ints

    def of(self, matrix: Floats) -> Floats:
        """Return the scores of the cells."""
        return matrix[self.rows, self.columns]


def all_cells(has_scores: Flags) -> Cells:
    """Return the known cells as one group."""
    rows, columns = np.nonzero(has_scores)
    return Cells(rows, columns, np.array([0, len(rows)]))


def cells_of_rows(has_scores: Flags) -> Cells:
    """Return the known cells, each row a group."""
    rows, columns = np.nonzero(has_scores)
    return Cells(rows, columns, np.concatenate([[0], np.cumsum(has_scores.sum(axis=1))]))


def cells_of_columns(has_scores: Flags) -> Cells:
    """Return the known cells, each column a group."""
    columns, rows, offsets = cells_of_rows(has_scores.T)
    return Cells(rows, columns, offsets)


class ExchangedCells(NamedTuple):
    """Cells whose scores two metrics exchange where their bit is set."""

    bits: Ints  # of each cell, in the words of a trial
    offsets: Ints
    words: NDArray[np.uint64]  # words x trials


@dataclass(frozen=True)
class GroupRoutine:
    """Kernel routines for a statistic of every group, or for the parts that groups add up to."""

    resample_kernel: Callable[..., Floats]
    exchange_kernel: Callable[..., Floats]
    values: Callable[[Floats], Floats]  # of what a routine returns: groups x draws

    def resample(
        self, human: Floats, metric: Floats, cells: Cells, row_times: Times, column_times: Times
    ) -> Floats:
        """Return draws x groups of cells' human and metric scores.

        A cell is drawn as often as its row times as often as its column.
        """
        counts = self.resample_kernel(human, metric, *cells, row_times, column_times)
        return np.ascontiguousarray(self.values(counts).swapaxes(0, 1))

    def exchange(self, human: Floats, first: Floats, second: Floats, of: ExchangedCells) -> Floats:
        """Return the values of the first metric after each exchange, then of the second."""
        counts = self.exchange_kernel(human, first, second, *of)
        return np.ascontiguousarray(self.values(counts).swapaxes(0, 1))


def pair_routine(value: OfPairs) -> GroupRoutine:
    """Return the routine of a statistic of counts of pairs, or of its parts."""

    def values(counts: Floats) -> Floats:
        *pairs, points = counts.reshape(len(counts), -1)
        group_values = value(pairs, points)
        return group_values.reshape(*counts.shape[1:], *group_values.shape[1:])

    return GroupRoutine(_kernel.drawn_group_pairs, _kernel.exchanged_group_pairs, values)


def pearson_routine(*, squared: bool = False) -> GroupRoutine:
    """Return the routine of Pearson's r, or of its square."""
    return GroupRoutine(
        _kernel.drawn_group_pearson,
        _kernel.exchanged_group_pearson,
        lambda r: r * r if squared else r,
    )
