"""The report of `meta`: metrics ranked by their agreement with human scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from karat.report.answers.metas import meta_answer, meta_basis
from karat.report.documents.rankings import difference_galleries, rank_galleries
from karat.report.model.cells import several
from karat.report.model.table import Block, Cell, Column, Document, Table, columns

if TYPE_CHECKING:
    from karat.meta.averages import AverageRow
    from karat.meta.evaluation import Ranking
    from karat.meta.ranking import MetaRow

Places: TypeAlias = "dict[tuple[str, str, str], list[MetaRow]]"
"""Rows by dimension, level and statistic."""

RANK_HELP = "Metrics with the same rank do not differ significantly."
_META = (
    Column("heading", "Heading", readers="people"),
    *columns("programs", dimension="Dimension", level="Level", statistic="Statistic"),
    Column("rank", "Rank", align="right", help=RANK_HELP),
    Column("metric", "Metric", help="The metric's name; its full signature is below.", filter=True),
    Column("value", "Value", 3, "right", "The statistic; higher is better (for rmse, lower)."),
    Column("low", "Low", 3, align="right", help="Lower end of the 95% bootstrap interval."),
    Column("high", "High", 3, align="right", help="Upper end of the 95% bootstrap interval."),
    Column(
        "delta_shown",
        "Delta",
        align="right",
        help="Value minus the best metric's.",
        readers="people",
    ),
    *columns("programs", points="Points", groups="Groups"),
    *columns("programs", left_out="Left out", undefined="Undefined"),
    Column("note", "", wrap=True),
    *columns("programs", delta="Delta", delta_low="Delta, low", delta_high="Delta, high"),
)
_P = Column(
    "p", "p", 4, align="right", help="p of no correlation, two-sided; see below.", positive=True
)
_META_TESTS = (
    *columns(dimension="Dimension", level="Level", statistic="Statistic"),
    *columns(better="Better", worse="Worse", delta="Delta", p="p", low="Low", high="High"),
)


def meta_document(result: Ranking, command: str) -> Document:
    """Return the metrics ranked, by dimension, level and statistic."""
    tested = tuple(test._asdict() for test in result.tests)
    tests = Table("tests", "Tests", _META_TESTS, tested, readers="programs")
    title = f"Agreement of metrics with human scores on {result.name}"
    places: Places = {}
    for row in result.rows:
        places.setdefault(row[:3], []).append(row)
    blocks: tuple[Block, ...] = (
        *rank_galleries(result),
        *difference_galleries(result),
        _table(places, result),
        tests,
    )
    told = meta_answer(result), meta_basis(result)
    return Document(title, blocks, command, result.signatures, result.notes, {}, *told)


def _table(places: Places, result: Ranking) -> Table:
    """One row for each metric, grouped by dimension, level and statistic."""
    after = 1 + [column.key for column in _META].index("high")
    with_p = (_P,) if result.experiment.p_values else ()
    every = (*_META[:after], *with_p, *_META[after:])
    meant = "; ".join(f"{name}: {text}" for name, text in result.terms.items())
    every = tuple(replace(c, help=f"{c.help} {meant}.") if c.key == "value" else c for c in every)
    rows: list[dict[str, Cell]] = [
        {
            "heading": f"{', '.join(place)}: {_counts(mine)}",
            "delta_shown": delta_shown(row),
            **row._asdict(),
        }
        for place, mine in places.items()
        for row in mine
    ]
    empty = {key for key in ("note", "delta_shown") if not any(row[key] for row in rows)}
    shown = tuple(c for c in every if c.key not in empty)
    return Table("rows", "Agreement with human scores", shown, tuple(rows), group="heading")


def delta_shown(row: MetaRow | AverageRow) -> str | None:
    """The difference to the best metric with its interval; None where there is none."""
    if row.delta is None or row.delta_low is None or row.delta_high is None:
        return None
    if math.isnan(row.delta_low):
        return f"{row.delta:+.3f}"
    return f"{row.delta:+.3f} [{row.delta_low:+.3f}, {row.delta_high:+.3f}]"


def _counts(rows: Sequence[MetaRow]) -> str:
    """Points, and how many groups count of how many."""
    first = rows[0]
    total = first.groups + first.left_out
    points = several(first.points, "point")
    if total < 2:
        return points
    used = [row.groups for row in rows]
    low, high = min(used), max(used)
    some = f"{low:,} of " if low == high else f"{low:,} to {high:,} of "
    return f"{points}, {some if low < total else ''}{total:,} groups"
