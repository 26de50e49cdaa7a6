"""Metrics beside the plane: real BLEU and ROUGE with the same agreement as the cells.

Section 4.1 of the paper sets R^2 of BLEU beside its tables, once with the one reference of the
plane and once with all references; so a metric has a row for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from karat.arrays import Floats, np
from karat.evalset.sets import EvalSet
from karat.meta.scores import ScoredSet, drawn_sums, score_evalset, with_references
from karat.metrics.base import Metric
from karat.progress import Progress, silent

ALL = "all"
"""The name of all references of a set."""


class BesideRow(NamedTuple):
    """A metric beside the cells; shares are between 0 and 1."""

    dimension: str
    metric: str
    references: str
    """`all`, or the numbers of those that were used."""
    r: float
    r2: float
    low: float
    high: float
    q2: float
    signature: str
    group: str = ""

    @property
    def label(self) -> str:
        """The metric and, unless it has all, its references."""
        chosen = "" if self.references == ALL else f", reference {self.references}"
        return f"{self.metric}{chosen}"


@dataclass(frozen=True, eq=False)
class Rival:
    """A metric beside the cells: its rows (systems x segments x statistics), 0 where unjudged."""

    metric: Metric
    references: str
    signature: str
    rows: Floats

    def scores(self, counts: Floats) -> Floats:
        """Draws x systems: its corpus scores, more being better; 0 where nothing is known."""
        sums = drawn_sums(counts, self.rows)
        flat = sums.reshape(-1, sums.shape[2])
        value = self.metric.sign * self.metric.measure(flat)["value"]
        return np.where(flat.any(axis=1), value, 0.0).reshape(sums.shape[:2])


@dataclass(frozen=True, eq=False)
class Lineup:
    """Outputs scored by metrics with some references: a step on the way to rivals."""

    references: str
    scored: ScoredSet

    def rivals(self, known: Floats) -> tuple[Rival, ...]:
        """Return all metrics on the outputs that somebody judged: 1 in `known`."""
        return tuple(
            Rival(m, self.references, self.scored.signature(m), rows * known[:, :, None])
            for m, rows in self.scored.rows.items()
        )


def lineups(
    evalset: EvalSet,
    metrics: Sequence[str | Metric],
    references: Sequence[int] = (),
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> tuple[Lineup, ...]:
    """Score a set by metrics with the references of these numbers, and with all that it has."""
    if not metrics:
        return ()
    chosen = {ALL: evalset}
    narrow = with_references(evalset, references)
    if narrow.references != evalset.references:
        chosen = {", ".join(map(str, references)): narrow, **chosen}
    return tuple(
        Lineup(name, score_evalset(one, metrics, threads=threads, progress=progress))
        for name, one in chosen.items()
    )
