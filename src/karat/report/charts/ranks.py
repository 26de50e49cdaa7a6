"""The model of a ranking: metrics against settings, with the rank and the value in each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from karat.report.charts.axis import drawable


class RankCell(NamedTuple):
    """A metric's value in one setting, with its rank where metrics were compared."""

    value: float
    rank: int | None
    story: str
    """The cell in words."""


class RankColumn(NamedTuple):
    """A setting: columns side by side that share a head stand below it; both may be explained."""

    head: str
    name: str
    head_help: str = ""
    name_help: str = ""


@dataclass(frozen=True)
class RankMap:
    """A row per metric, a column per setting; the better the rank, the darker the cell."""

    title: str
    metrics: Sequence[str]
    columns: Sequence[RankColumn]
    cells: Sequence[Sequence[RankCell | None]]
    """A row for each metric; None where its agreement is undefined."""
    caption: str = ""
    narrow: ClassVar[bool] = True

    @cached_property
    def shown(self) -> list[RankCell]:
        """The cells that have a value."""
        return [cell for row in self.cells for cell in row if cell and drawable([cell.value])]

    @property
    def ranked(self) -> bool:
        """Return whether any metrics were compared."""
        return any(cell.rank is not None for cell in self.shown)

    @property
    def story(self) -> str:
        """The chart in words: who has rank 1 in each setting."""
        told = []
        for k, column in enumerate(self.columns):
            cells = [row[k] for row in self.cells]
            first = [
                name
                for name, cell in zip(self.metrics, cells, strict=True)
                if cell and cell.rank == 1
            ]
            told.append(f"{column.head}, {column.name}: rank 1 {', '.join(first) or 'nobody'}")
        return f"Ranks of {len(self.metrics)} metrics. {'; '.join(told)}."
