"""Statistics of all groups of cells at once, for many resamples or exchanges.

The kernel sorts the points of a group once and handles 64 draws at a time. For each group and draw
it returns counts of pairs, or r, from which the values (draws x groups) are computed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from karat import _kernel
from karat.arrays import Flags, Floats, Ints, NDArray, np

Pairs = list[Floats]
"""Counts for each row or draw: pairs that are concordant, discordant, tied in human scores only, in
metric scores only, in both; and the numbers of distinct human and metric scores."""
OfPairs = Callable[[Pairs, float | Floats], Floats]  # from counts and distinct points to values
Times = NDArray[np.int32]  # draws x items: how often each item was drawn


class Cells(NamedTuple):
    """The scored cells of a matrix, group after group."""

    rows: Ints
    columns: Ints
    offsets: Ints

    def scores(self, matrix: Floats) -> Floats:
        """Return the scores of the cells."""
        return matrix[self.rows, self.columns]


def all_cells(has_scores: Flags) -> Cells:
    """Return the scored cells as one group."""
    rows, columns = np.nonzero(has_scores)
    return Cells(rows, columns, np.array([0, len(rows)]))


def cells_of_rows(has_scores: Flags) -> Cells:
    """Return the scored cells, each row a group."""
    rows, columns = np.nonzero(has_scores)
    return Cells(rows, columns, np.concatenate([[0], np.cumsum(has_scores.sum(axis=1))]))


def cells_of_columns(has_scores: Flags) -> Cells:
    """Return the scored cells, each column a group."""
    columns, rows, offsets = cells_of_rows(has_scores.T)
    return Cells(rows, columns, offsets)


class ExchangedCells(NamedTuple):
    """Cells whose scores two metrics exchange if their bit is set."""

    bits: Ints  # position of the bit of each cell in the words of a trial
    offsets: Ints
    words: NDArray[np.uint64]  # words x trials


@dataclass(frozen=True)
class GroupRoutine:
    """Kernel routines that compute a statistic, or its parts, for every group."""

    resample_kernel: Callable[..., Floats]
    exchange_kernel: Callable[..., Floats]
    values: Callable[[Floats], Floats]  # from the result of a routine to groups x draws

    def resample(
        self, human: Floats, metric: Floats, cells: Cells, row_times: Times, column_times: Times
    ) -> Floats:
        """Return draws x groups: the statistic of resampled cells.

        A cell counts as often as its row was drawn times as often as its column was.
        """
        counts = self.resample_kernel(human, metric, *cells, row_times, column_times)
        return np.ascontiguousarray(self.values(counts).swapaxes(0, 1))

    def exchange(
        self, human: Floats, first: Floats, second: Floats, cells: ExchangedCells
    ) -> Floats:
        """Return the values of the first metric after each exchange, then of the second."""
        counts = self.exchange_kernel(human, first, second, *cells)
        return np.ascontiguousarray(self.values(counts).swapaxes(0, 1))


def pair_routine(value: OfPairs) -> GroupRoutine:
    """Return the routine of a statistic, or of its parts, that is computed from pair counts."""

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
