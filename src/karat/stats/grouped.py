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


class DrawnCells(NamedTuple):
    """Cells, each drawn as often as its row times as often as its column."""

    cells: Cells
    row_times: Times
    column_times: Times


class ExchangedCells(NamedTuple):
    """Cells whose scores two metrics exchange where their bit is set."""

    offsets: Ints
    bits: Ints  # of each cell, in the words of a trial
    words: NDArray[np.uint64]  # words x trials


@dataclass(frozen=True)
class PairsOfGroups:
    """A statistic of counts of pairs, or the parts of one that groups add up to."""

    value: OfPairs

    def resample(self, human: Floats, metric: Floats, of: DrawnCells) -> Floats:
        """Return draws x groups of cells' human and metric scores."""
        return self._values(_kernel.drawn_group_pairs(human, metric, *of.cells, *of[1:]))

    def exchange(self, human: Floats, first: Floats, second: Floats, of: ExchangedCells) -> Floats:
        """Return the values of the first metric after each exchange, then of the second."""
        scores = human, first, second
        return self._values(_kernel.exchanged_group_pairs(*scores, of.bits, of.offsets, of.words))

    def _values(self, counts: Floats) -> Floats:
        *pairs, points = counts.reshape(len(counts), -1)
        values = self.value(pairs, points)
        shaped = values.reshape(*counts.shape[1:], *values.shape[1:])
        return np.ascontiguousarray(shaped.swapaxes(0, 1))


@dataclass(frozen=True)
class LinesOfGroups:
    """Pearson's r, or its square."""

    squared: bool = False

    def resample(self, human: Floats, metric: Floats, of: DrawnCells) -> Floats:
        """Return draws x groups of cells' human and metric scores."""
        return self._values(_kernel.drawn_group_pearson(human, metric, *of.cells, *of[1:]))

    def exchange(self, human: Floats, first: Floats, second: Floats, of: ExchangedCells) -> Floats:
        """Return the values of the first metric after each exchange, then of the second."""
        scores = human, first, second
        return self._values(_kernel.exchanged_group_pearson(*scores, of.bits, of.offsets, of.words))

    def _values(self, r: Floats) -> Floats:
        return np.ascontiguousarray((r * r if self.squared else r).T)
