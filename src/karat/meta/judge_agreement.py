"""`judge_agreement`: how far the judges of a set agree, and who stands apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from karat.arrays import np
from karat.evalset.kinds import SET_KINDS
from karat.evalset.loading import as_evalset
from karat.registry import load
from karat.results import Result
from karat.settings import renamed
from karat.stats.judges.agreement import SCALES, intraclass, krippendorff_alpha
from karat.stats.judges.standing import (
    FEWEST_COMPARED,
    HONEST_KAPPA,
    LEAST_CHANCE,
    JudgePair,
    JudgeTable,
    Standing,
    inter_judge,
    inter_judge_systems,
    judge_table,
    standings,
)


class DimensionAgreement(NamedTuple):
    """Agreement of all judges in one dimension; NaN where it is undefined."""

    dimension: str
    judges: int
    outputs: int
    """Outputs with at least one judgement."""
    shared: int
    """Outputs with at least two judges."""
    r: float
    """Mean Pearson's r of pairs of judges, over outputs."""
    r_systems: float
    """Mean Pearson's r of pairs of judges, over means of systems."""
    nominal: float
    ordinal: float
    interval: float
    """Krippendorff's alpha on three scales."""
    icc: float
    """ICC(2,1), where every judge saw every output."""


class JudgeRow(NamedTuple):
    """One judge in one dimension, beside the mean of the others."""

    dimension: str
    judge: str
    judgements: int
    mean: float
    sd: float
    r: float
    shared: int
    flagged: bool
    comparable: bool
    identical: str | None
    note: str


@dataclass(frozen=True, repr=False)
class JudgeAgreement(Result):
    """Agreement in each dimension (`rows`), and of each judge with the others (`judges`)."""

    name: str
    rows: tuple[DimensionAgreement, ...]
    judges: tuple[JudgeRow, ...]
    notes: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    signature: str = ""

    @property
    def flaggable(self) -> bool:
        """Return whether any dimension has enough comparable judges for one to be flagged."""
        comparable = Counter(row.dimension for row in self.judges if row.comparable)
        return max(comparable.values(), default=0) >= FEWEST_COMPARED


@renamed(controls="exclude")
def judge_agreement(
    given: Any, dimensions: Sequence[str] = (), exclude: Iterable[str] = ()
) -> JudgeAgreement:
    """Return how well the judges of a set agree, and flag judges that disagree with the others.

    Args:
        given: an evaluation set, its name or path, or a set of another registered kind.
        dimensions: by default all.
        exclude: systems to leave out, such as controls.
    """
    out = tuple(exclude)
    if type(given).__name__ in SET_KINDS:
        found: JudgeAgreement = load(SET_KINDS[type(given).__name__].agreement)(given, out)
        return found
    given = as_evalset(given)
    kept = given.without(*out) if out else given
    names = given.chosen_dimensions(dimensions)
    tables = []
    for name in names:  # judges x outputs, and the system of each output
        rows = kept.judgements.of_dimension(name)
        units = list(zip(rows.system.tolist(), rows.segment.tolist(), strict=True))
        table = judge_table(units, [rows.judges[k] for k in rows.judge.tolist()], rows.value)
        tables.append((name, table, [system for system, _ in table.units]))
    return agreement_of(given.name, tables, out)


def agreement_of(
    name: str, tables: Sequence[tuple[str, JudgeTable, Sequence[Hashable]]], out: Sequence[str]
) -> JudgeAgreement:
    """Return the agreement in tables: for each dimension judges x units, and units' systems."""
    rows = tuple(_dimension(*each) for each in tables)
    judges = tuple(
        _judge(dimension, table, k, one)
        for dimension, table, _ in tables
        for k, one in enumerate(standings(table))
    )
    settings = {"dimensions": tuple(row.dimension for row in rows), "exclude": tuple(out)}
    return JudgeAgreement(name, rows, judges, tuple(_notes(rows, judges, out)), settings)


def _dimension(name: str, table: JudgeTable, systems: Sequence[Hashable]) -> DimensionAgreement:
    alphas = {scale: krippendorff_alpha(table.values, scale) for scale in SCALES}
    return DimensionAgreement(
        *(name, len(table.judges), len(table.units), alphas["nominal"].units),
        *(_mean(inter_judge(table)), _mean(inter_judge_systems(table, systems))),
        *(alphas["nominal"].value, alphas["ordinal"].value, alphas["interval"].value),
        intraclass(table.values).icc2,
    )


def _mean(pairs: Sequence[JudgePair]) -> float:
    known = [pair.r for pair in pairs if not math.isnan(pair.r)]
    return sum(known) / len(known) if known else math.nan


def _judge(dimension: str, table: JudgeTable, k: int, one: Standing) -> JudgeRow:
    given = table.values[k][~np.isnan(table.values[k])]
    same = f"identical to {' and '.join(map(str, one.identical))}: counted as one judge"
    why = f"stands apart: {one.why}" if one.flagged else one.why
    return JudgeRow(
        *(dimension, str(one.judge), len(given), float(given.mean())),
        float(given.std(ddof=1)) if len(given) > 1 else math.nan,
        *(one.r, one.n, one.flagged, one.comparable),
        ", ".join(map(str, one.identical)) or None,
        "; ".join(filter(None, (same if one.identical else "", why))),
    )


def _notes(
    rows: Sequence[DimensionAgreement], judges: Sequence[JudgeRow], exclude: Sequence[str]
) -> Iterator[str]:
    flagged, who = sum(row.flagged for row in judges), len({row.judge for row in judges})
    left = f" Systems left out: {', '.join(exclude)}." if exclude else ""
    found = f"{who} judge{'s' * (who != 1)}, flagged in {flagged} of {len(judges)} rows"
    yield f"{found}; no judge was left out.{left}"
    alone = sum(row.judges == 1 for row in rows)
    if alone:
        yield f"One judge in {alone} of {len(rows)} dimensions: no agreement to measure there."
    apart = sum(not row.comparable for row in judges) - alone
    if apart:
        little = f"Too little overlap with others in {apart} of {len(judges)} rows"
        yield f"{little}: these judges cannot be compared."
    if any(row.identical for row in judges):
        yield (
            "Identical judges gave equal values to everything they share, more of it than judges "
            f"of a kappa of {HONEST_KAPPA} do by chance (p < {LEAST_CHANCE}). They count as one "
            "judge."
        )
