"""The report of `data judges`: how far judges agree, and who stands apart."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from karat.report.model.table import Cell, Column, Document, Table

if TYPE_CHECKING:
    from karat.evalset.sets import EvalSet
    from karat.stats.judges.standing import JudgeTable, Standing

_DIMENSIONS = (
    Column("dimension", "Dimension"),
    Column("judges", "Judges", align="right"),
    Column("outputs", "Outputs", align="right", help="With at least one judgement."),
    Column("shared", "Shared", align="right", help="With at least two judges."),
    Column("r", "r", 3, align="right", help="Mean Pearson's r of pairs of judges, over outputs."),
    Column("r_systems", "r systems", 3, align="right", help="The same over means of systems."),
    Column("nominal", "Nominal", 3, align="right", help="Krippendorff's alpha, equal or not."),
    Column("ordinal", "Ordinal", 3, align="right", help="Krippendorff's alpha of ranks."),
    Column("interval", "Interval", 3, align="right", help="Krippendorff's alpha of distances."),
    Column("icc", "ICC", 3, align="right", help="ICC(2,1), where every judge saw every output."),
)
_JUDGES = (
    Column("dimension", "Dimension"),
    Column("judge", "Judge"),
    Column("judgements", "Judgements", align="right"),
    Column("mean", "Mean", 2, align="right"),
    Column("sd", "SD", 2, align="right", help="Standard deviation of the judge's scores."),
    Column("r", "r others", 3, align="right", help="Pearson's r with the mean of the others."),
    Column("shared", "Shared", align="right", readers="programs"),
    Column("flagged", "Flagged", readers="programs"),
    Column("comparable", "Comparable", readers="programs"),
    Column("identical", "Identical to", readers="programs"),
    Column("note", "", wrap=True),
)


def judges_document(
    evalset: EvalSet, dimensions: Sequence[str], controls: Iterable[str], command: str
) -> Document:
    """Agreement in each dimension, and each judge beside the others."""
    out = tuple(controls)
    given = evalset.without(*out) if out else evalset
    tables = [(name, *_table(given, name)) for name in evalset.chosen_dimensions(dimensions)]
    return tables_document(evalset.name, tables, out, command)


def tables_document(
    given: str,
    tables: Sequence[tuple[str, JudgeTable, Sequence[Hashable]]],
    out: Sequence[str],
    command: str,
) -> Document:
    """Return the report of tables: for each dimension judges by units, and each unit's system."""
    rows, judges = [], []
    for name, table, systems in tables:
        overall, each = _dimension(name, table, systems)
        rows.append(overall)
        judges += each
    return Document(
        title=f"The judges of {given}",
        blocks=(
            Table("rows", "Agreement between judges", _DIMENSIONS, tuple(rows)),
            Table("judges", "Each judge", _JUDGES, tuple(judges), group="dimension"),
        ),
        command=command,
        signatures={},
        notes=tuple(_notes(judges, out)),
    )


def _notes(judges: Sequence[dict[str, Cell]], controls: Sequence[str]) -> Iterator[str]:
    flagged, apart = (
        sum(row[key] is wanted for row in judges)
        for key, wanted in (("flagged", True), ("comparable", False))
    )
    who = len({row["judge"] for row in judges})
    left = f" Left out as controls: {', '.join(controls)}." if controls else ""
    yield (
        f"{who} judge{'s' * (who != 1)}, flagged in {flagged} of {len(judges)} rows; no judge "
        f"was left out.{left}"
    )
    if apart:
        yield (
            f"Too little overlap with others in {apart} of {len(judges)} rows: these judges cannot "
            "be compared."
        )
    if any(row["identical"] for row in judges):
        from karat.stats.judges.identical import HONEST_KAPPA, LEAST_CHANCE

        yield (
            "Identical judges gave equal values to everything they share, more of it than judges "
            f"of a kappa of {HONEST_KAPPA} do by chance (p < {LEAST_CHANCE}). They count as one "
            "judge."
        )


def _dimension(
    name: str, table: JudgeTable, systems: Sequence[Hashable]
) -> tuple[dict[str, Cell], list[dict[str, Cell]]]:
    from karat.stats.judges.agreement import intraclass, krippendorff_alpha
    from karat.stats.judges.standing import inter_judge, inter_judge_systems, standings

    scales = ("nominal", "ordinal", "interval")
    alphas = {scale: krippendorff_alpha(table.values, scale) for scale in scales}
    overall: dict[str, Cell] = {
        "dimension": name,
        "judges": len(table.judges),
        "outputs": len(table.units),
        "shared": alphas["nominal"].units,
        "r": _mean(pair.r for pair in inter_judge(table)),
        "r_systems": _mean(pair.r for pair in inter_judge_systems(table, systems)),
        **{scale: found.value for scale, found in alphas.items()},
        "icc": intraclass(table.values).icc2,
    }
    return overall, [_judge(name, table, k, one) for k, one in enumerate(standings(table))]


def _table(evalset: EvalSet, name: str) -> tuple[JudgeTable, list[int]]:
    """Judges by outputs in one dimension, and the system of each output."""
    from karat.stats.judges.standing import judge_table

    rows = evalset.judgements
    known = rows.dimensions.index(name) if name in rows.dimensions else -1
    rows = rows.where(rows.dimension == known)
    units = list(zip(rows.system.tolist(), rows.segment.tolist(), strict=True))
    table = judge_table(units, [rows.judges[k] for k in rows.judge.tolist()], rows.value)
    return table, [system for system, _ in table.units]


def _judge(dimension: str, table: JudgeTable, k: int, one: Standing) -> dict[str, Cell]:
    import numpy as np

    given = table.values[k][~np.isnan(table.values[k])]
    return {
        "dimension": dimension,
        "judge": str(one.judge),
        "judgements": len(given),
        "mean": float(given.mean()),
        "sd": float(given.std(ddof=1)) if len(given) > 1 else math.nan,
        "r": one.r,
        "note": standing_note(one),
        "shared": one.n,
        "flagged": one.flagged,
        "comparable": one.comparable,
        "identical": ", ".join(map(str, one.identical)) or None,
    }


def standing_note(one: Standing) -> str:
    """Return what is to be said of a judge beside the others; most often nothing."""
    same = f"identical to {' and '.join(map(str, one.identical))}: counted as one judge"
    why = f"stands apart: {one.why}" if one.flagged else one.why
    return "; ".join(filter(None, (same if one.identical else "", why)))


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan
