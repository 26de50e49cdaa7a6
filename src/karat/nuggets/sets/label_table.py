"""The labels of judges as a table, judges x pairs of response and nugget: for their agreement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karat.nuggets.guess.pool import Floats
from karat.nuggets.sets.judgements import UNNAMED, Judgements, Words
from karat.nuggets.sets.voting import ADJUDICATED, PERSON
from karat.stats.judges.kappa import Kappa, cohen_kappa
from karat.stats.judges.standing import JudgeTable, judge_table


@dataclass(frozen=True, eq=False)
class LabelTable:
    """The labels of judges for pairs of response and nugget, known by the words of the response."""

    table: JudgeTable
    """Without what was adjudicated."""
    runs: tuple[str, ...]
    """The first run in which each pair was judged."""
    kinds: dict[str, str]
    """The kind of each judge."""
    adjudicated: Floats
    """The adjudicated value of each pair, or NaN."""

    def others(self, judge: int) -> Floats:
        """The majority of the other judges, carried or not; NaN in a tie and without others."""
        rest = np.delete(self.table.values, judge, axis=0)
        yes, no = (rest > 0).sum(axis=0), (rest == 0).sum(axis=0)
        return np.where(yes == no, np.nan, (yes > no).astype(np.float64))

    def carried(self, judge: int) -> Floats:
        """The labels of a judge, carried or not."""
        return _carried(self.table.values[judge])

    def count(self, judge: int) -> int:
        """The number of a judge's labels."""
        return int((~np.isnan(self.table.values[judge])).sum())

    def share(self, judge: int) -> float:
        """The share of a judge's labels that say carried."""
        return float(np.nanmean(self.carried(judge)))

    def against_others(self, judge: int) -> Kappa:
        """Agreement with the majority of the others."""
        return cohen_kappa(self.carried(judge), self.others(judge))

    def against_adjudicated(self, judge: int) -> Kappa:
        """Agreement with what was adjudicated."""
        return cohen_kappa(self.carried(judge), _carried(self.adjudicated))

    def between(self, first: int, second: int) -> Kappa:
        """Agreement of two judges."""
        return cohen_kappa(self.carried(first), self.carried(second))


class _Label(NamedTuple):
    run: str
    value: float


def label_table(judgements: Judgements, out: tuple[str, ...] = ()) -> LabelTable:
    """All labels but those of some runs; of a judge's labels of one pair the most favourable."""
    found: dict[tuple[str, Words], _Label] = {}
    settled: dict[Words, float] = {}
    kinds: dict[str, str] = {}
    for row in judgements.rows:
        words, name = row.words, row.judge or UNNAMED
        if row.run in out:
            continue
        if row.kind == ADJUDICATED:
            settled[words] = max(row.value, settled.get(words, 0.0))
            continue
        kinds.setdefault(name, row.kind or PERSON)
        old = found.get((name, words))
        if old is None or row.value > old.value:
            found[name, words] = _Label(old.run if old else row.run, row.value)
    units = [words for _, words in found]
    table = judge_table(units, [name for name, _ in found], [one.value for one in found.values()])
    runs: dict[Words, str] = {}
    for (_, words), one in found.items():
        runs.setdefault(words, one.run)
    known = np.array([settled.get(words, np.nan) for words in table.units], dtype=np.float64)
    return LabelTable(table, tuple(runs[words] for words in table.units), kinds, known)


def _carried(values: Floats) -> Floats:
    return np.where(np.isnan(values), np.nan, (values > 0).astype(np.float64))
