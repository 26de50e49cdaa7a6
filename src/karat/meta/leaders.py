"""Leaders: in each setting of a meta-evaluation the best metric, and those tied with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from karat.meta.ranking import MetaRow
from karat.meta.views import OF_SYSTEMS
from karat.stats.correlation import STATISTICS

FEWEST_RANKED = 6
"""Points, such as systems, from which on metrics are ranked by their agreement over them."""


class Leader(NamedTuple):
    """The metrics of one dimension, level and statistic, from the best to the worst."""

    dimension: str
    level: str
    statistic: str
    rows: tuple[MetaRow, ...]
    """Those whose agreement is defined; at least one."""

    @property
    def best(self) -> MetaRow:
        """The metric that agrees best."""
        return self.rows[0]

    @property
    def tied(self) -> tuple[MetaRow, ...]:
        """The other metrics of rank 1, which do not differ significantly from the best."""
        return tuple(row for row in self.rows[1:] if row.rank == 1)

    @property
    def tested(self) -> bool:
        """Return whether the metrics were compared with each other."""
        return self.best.rank is not None

    @property
    def sign(self) -> int:
        """1 where a higher value of the statistic is better, else -1."""
        return STATISTICS[self.statistic].sign

    @property
    def unit(self) -> str:
        """A point of the correlation."""
        return "system" if self.level in OF_SYSTEMS else "point"

    @property
    def few(self) -> bool:
        """Return whether the points are too few to rank metrics by."""
        return self.best.points < FEWEST_RANKED

    @property
    def uncertain(self) -> bool:
        """Return whether the best metric's correlation may be zero, by its interval."""
        correlates = STATISTICS[self.statistic].lowest < 0 < self.sign
        return correlates and self.best.low <= 0 <= self.best.high


def leaders(rows: Iterable[MetaRow]) -> list[Leader]:
    """Return the leaders of all settings in which any agreement is defined, in their order."""
    places: dict[tuple[str, str, str], list[MetaRow]] = {}
    for row in rows:
        if row.value == row.value:  # NaN is not
            places.setdefault(row[:3], []).append(row)
    return [Leader(*place, tuple(own)) for place, own in places.items()]


def by_mean_rank(settings: Iterable[Sequence[MetaRow]], metrics: Sequence[str]) -> list[str]:
    """Return the metrics from the lowest to the highest mean rank, untested ones by their places.

    `settings` are rows from the best to the worst; a metric that lacks one counts as last there.
    """
    every = list(settings)

    def mean(metric: str) -> tuple[float, float]:
        ranks, places = 0, 0
        for rows in every:
            found = [(row.rank, at) for at, row in enumerate(rows) if row.metric == metric]
            rank, place = found[0] if found else (None, len(rows))
            ranks += len(rows) if rank is None else rank
            places += place
        return ranks, places

    return sorted(metrics, key=mean)
