"""`judge_agreement`: how well the judges of a set agree, and which of them are outliers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from karat.arrays import Floats, np
from karat.errors import short
from karat.evalset.catalogue import SET_KINDS
from karat.evalset.judgements import (
    ADJUDICATED,
    CHANCE_LEVEL,
    HONEST_KAPPA,
    MODEL,
    PERSON,
    JudgementTable,
)
from karat.evalset.loading import SetSource, as_evalset
from karat.registry import load
from karat.results import Result
from karat.stats.correlation import pearson, quotient
from karat.stats.judges import (
    MIN_COMPARED_JUDGES,
    SCALES,
    JudgeTable,
    Standing,
    compare_with_people,
    distinct_judges,
    inter_judge,
    intraclass_correlation,
    judge_table,
    krippendorff_alpha,
    standings,
)

MIN_SHARED = 10  # outputs with two judges needed to report agreement or outliers


class DimensionAgreement(NamedTuple):
    """Agreement of all judges in one dimension; NaN if undefined.

    Identical judges count as one in every number.
    """

    dimension: str
    judges: int  # number of judges
    outputs: int  # number of outputs with at least one judgement
    shared: int  # number of outputs with at least two judges
    r: float  # mean Pearson's r of pairs of judges, over outputs
    r_systems: float  # mean Pearson's r of pairs of judges, over means of systems
    nominal: float
    ordinal: float
    interval: float  # Krippendorff's alpha on three scales
    icc: float  # ICC(2,1), over outputs that every judge judged


class JudgeRow(NamedTuple):
    """One judge in one dimension, compared with the mean of the others."""

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
    kind: str = ""  # the kind of the judge, if the kind of any judge of the set is known
    adjudicated: int = 0  # number of the judge's outputs that were adjudicated
    r_adjudicated: float = math.nan  # Pearson's r with the adjudicated values


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
        """True if any dimension has enough judges and outputs to flag a judge.

        Identical judges count as one.
        """
        enough = {row.dimension for row in self.rows if row.shared >= MIN_SHARED}
        people = {
            (row.dimension, frozenset((row.judge, *(row.identical or row.judge).split(", "))))
            for row in self.judges
            if row.dimension in enough and row.kind != MODEL and row.comparable
        }
        comparable = Counter(dimension for dimension, _ in people)
        return max(comparable.values(), default=0) >= MIN_COMPARED_JUDGES


def judge_agreement(
    evalset: SetSource, dimensions: Sequence[str] = (), exclude: Iterable[str] = ()
) -> JudgeAgreement:
    """Return how well the judges of a set agree, and flag judges that disagree with the others.

    Agreement is that of people. A model is compared with the mean of people and is never flagged.

    Args:
        evalset: an evaluation set, its name or path, the path of a table, a frame, or a set of
            another registered kind.
        dimensions: by default all.
        exclude: systems to leave out, such as controls.
    """
    excluded = tuple(exclude)
    if type(evalset).__name__ in SET_KINDS:
        agreement: JudgeAgreement = load(SET_KINDS[type(evalset).__name__].agreement)(
            evalset, excluded
        )
        return agreement
    evalset = as_evalset(evalset)
    remaining = evalset.without(*excluded) if excluded else evalset
    names = evalset.known_dimensions(dimensions)
    parts = {name: _split_by_kind(remaining.judgements.select_dimension(name)) for name in names}
    tables = [(name, part.people, part.systems) for name, part in parts.items()]
    base = agreement_of(evalset.name, tables, excluded)
    base = replace(base, notes=(*base.notes, *evalset.remarks))
    if not remaining.judgements.judge_kinds:
        return base
    judges: list[JudgeRow] = []
    for name, part in parts.items():
        judges += _flagged_first(_rows_with_kinds(name, part, base.judges))
    notes = list(base.notes)
    models = list(dict.fromkeys(row.judge for row in judges if row.kind == MODEL))
    if models:
        single = f"1 judge is a model: {models[0]}. It is"
        several = f"{len(models)} judges are models: {short(', '.join(models))}. They are"
        notes.append(
            f"{single if len(models) == 1 else several} compared with the mean of people and never "
            "flagged. Alpha, ICC and r of pairs are of people only."
        )
    if any(row.adjudicated for row in judges):
        notes.append("r adj.: Pearson's r with the adjudicated values, which are no judge's.")
    return replace(base, judges=tuple(judges), notes=tuple(notes))


class _JudgementsByKind(NamedTuple):
    """The judgements of a dimension, judges x outputs, with people separated from the others."""

    people: JudgeTable
    systems: list[int]  # the system of each output that people judged
    all_judges: JudgeTable  # all judges except adjudicators
    of_people: Floats  # values of people for the outputs of `all_judges`
    adjudicated: Floats  # adjudicated value of each output of `all_judges`, or NaN
    kinds: Mapping[str, str]


def _split_by_kind(rows: JudgementTable) -> _JudgementsByKind:
    units = list(zip(rows.system.tolist(), rows.segment.tolist(), strict=True))
    table = judge_table(units, [rows.judges[k] for k in rows.judge.tolist()], rows.value)
    kinds = [rows.judge_kinds.get(judge, PERSON) for judge in table.judges]
    people, models, final = (
        [k for k, kind in enumerate(kinds) if kind == kind_name]
        for kind_name in (PERSON, MODEL, ADJUDICATED)
    )
    judged_units = np.flatnonzero(~np.isnan(table.values[people]).all(axis=0))
    outputs = [table.units[u] for u in judged_units.tolist()]
    names, settled = [table.judges[k] for k in people], table.values[final]
    all_names = [*names, *(table.judges[k] for k in models)]
    return _JudgementsByKind(
        JudgeTable(names, outputs, table.values[people][:, judged_units]),
        [system for system, _ in outputs],
        JudgeTable(all_names, table.units, table.values[[*people, *models]]),
        table.values[people],
        quotient(np.nansum(settled, axis=0), (~np.isnan(settled)).sum(axis=0)),
        dict(zip(table.judges, kinds, strict=True)),
    )


def _rows_with_kinds(
    dimension: str, judgements: _JudgementsByKind, people: Sequence[JudgeRow]
) -> Iterator[JudgeRow]:
    """Yield the rows of people and of models, with their kinds."""
    rows_by_judge = {row.judge: row for row in people if row.dimension == dimension}
    table = judgements.all_judges
    for judge, values in zip(table.judges, table.values, strict=True):
        row = rows_by_judge.get(judge)
        if row is None:
            standing = compare_with_people(judge, values, judgements.of_people)
            row = _judge_row(dimension, values, standing)
        both = int((~np.isnan(values + judgements.adjudicated)).sum())
        r = pearson(values, judgements.adjudicated) if both > 1 else math.nan
        yield row._replace(kind=judgements.kinds[judge], adjudicated=both, r_adjudicated=r)


def agreement_of(
    name: str, tables: Sequence[tuple[str, JudgeTable, Sequence[Hashable]]], out: Sequence[str]
) -> JudgeAgreement:
    """Return the agreement in tables: for each dimension judges x units, and systems of units."""
    rows = tuple(_dimension_agreement(*arguments) for arguments in tables)
    judges: list[JudgeRow] = []
    for dimension, table, _ in tables:
        compared = zip(table.values, standings(table), strict=True)
        judges += _flagged_first(_judge_row(dimension, values, judge) for values, judge in compared)
    settings = {"dimensions": tuple(row.dimension for row in rows), "exclude": tuple(out)}
    return JudgeAgreement(name, rows, tuple(judges), tuple(_notes(rows, judges, out)), settings)


def _flagged_first(rows: Iterable[JudgeRow]) -> list[JudgeRow]:
    """Sort the judges of a dimension: flagged ones, identical ones, then all others."""
    return sorted(rows, key=lambda row: (not row.flagged, row.identical is None))


def _dimension_agreement(
    name: str, all_judges: JudgeTable, systems: Sequence[Hashable]
) -> DimensionAgreement:
    table = distinct_judges(all_judges)
    alphas = {scale: krippendorff_alpha(table.values, scale) for scale in SCALES}
    return DimensionAgreement(
        *(name, len(table.judges), len(table.units), alphas["nominal"].units),
        *(_defined_mean(inter_judge(table)), _defined_mean(inter_judge(table, systems))),
        *(alphas["nominal"].value, alphas["ordinal"].value, alphas["interval"].value),
        intraclass_correlation(table.values),
    )


def _defined_mean(correlations: Sequence[float]) -> float:
    defined = [r for r in correlations if not math.isnan(r)]
    return sum(defined) / len(defined) if defined else math.nan


def _judge_row(dimension: str, values: Floats, standing: Standing) -> JudgeRow:
    judgements = values[~np.isnan(values)]
    notes = [f"stands apart: {standing.reason}" if standing.flagged else standing.reason]
    if standing.identical:
        twins = " and ".join(map(str, standing.identical))
        notes.insert(0, f"identical to {twins}: counted as one judge")
    return JudgeRow(
        *(dimension, str(standing.judge), len(judgements), float(judgements.mean())),
        float(judgements.std(ddof=1)) if len(judgements) > 1 else math.nan,
        *(standing.r, standing.n, standing.flagged, standing.comparable),
        ", ".join(map(str, standing.identical)) or None,
        "; ".join(filter(None, notes)),
    )


def _notes(
    rows: Sequence[DimensionAgreement], judges: Sequence[JudgeRow], exclude: Sequence[str]
) -> Iterator[str]:
    n_flagged, n_judges = sum(row.flagged for row in judges), len({row.judge for row in judges})
    left_out = f" Systems left out: {', '.join(exclude)}." if exclude else ""
    counts = (
        f"{n_judges} judge{'s' * (n_judges != 1)}, flagged in {n_flagged} of {len(judges)} rows"
    )
    yield f"{counts}; no judge was left out.{left_out}"
    n_single = sum(row.judges == 1 for row in rows)
    if n_single:
        yield f"One judge in {n_single} of {len(rows)} dimensions: no agreement to measure there."
    several_judges = {row.dimension for row in rows if row.judges > 1}
    n_incomparable = sum(not row.comparable for row in judges if row.dimension in several_judges)
    if n_incomparable:
        overlap = f"Too little overlap with others in {n_incomparable} of {len(judges)} rows"
        yield f"{overlap}: these judges cannot be compared."
    if any(row.identical for row in judges):
        yield (
            "Identical judges gave equal values to everything they share, more of it than judges "
            f"of a kappa of {HONEST_KAPPA} do by chance (p < {CHANCE_LEVEL}). They count as one "
            "judge in alpha, r and ICC."
        )
