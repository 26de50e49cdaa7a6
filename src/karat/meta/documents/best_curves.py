"""The curve that agrees best with the human scores on the longest texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from karat.meta.documents.reliability import ReliabilityRow
from karat.stats.correlation import STATISTICS


class BestCurve(NamedTuple):
    """The best curve of one dimension and statistic: its ends, and how many curves there are."""

    shortest: ReliabilityRow
    longest: ReliabilityRow
    curves: int

    @property
    def sign(self) -> int:
        """1 if its value is the highest of all, -1 if it is the lowest: lower is better."""
        return STATISTICS[self.longest.statistic].sign


def best_curve(rows: Sequence[ReliabilityRow]) -> BestCurve | None:
    """Return the best of some curves of one dimension and statistic; None if none is defined."""
    known = [row for row in rows if row.value == row.value]  # NaN is not
    if not known:
        return None
    sign, length = STATISTICS[known[0].statistic].sign, max(row.length for row in known)
    last = max((row for row in known if row.length == length), key=lambda row: sign * row.value)
    name = last.metric, last.references
    own = [row for row in known if (row.metric, row.references) == name]
    first = min(own, key=lambda row: row.length)
    return BestCurve(first, last, len({(row.metric, row.references) for row in known}))
