"""The report of `data judges` for nugget sets: ratings' report, and kappa beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from karat.errors import InputError
from karat.report.documents.judges import tables_document
from karat.report.model.table import Cell, Column, Document, Row, Table

if TYPE_CHECKING:
    from karat.nuggets.sets.label_table import LabelTable
    from karat.nuggets.sets.nugget_set import NuggetSet
    from karat.stats.judges.kappa import Kappa

_KAPPA = "Cohen's kappa, carried (if in part) or not."
_JUDGES = (
    Column("judge", "Judge"),
    Column("kind", "Kind"),
    Column("labels", "Labels", align="right"),
    Column("carried", "Carried", 3, align="right", help="Share of labels, partial support too."),
    Column("others_units", "Others", align="right", help="Pairs on which the others agree."),
    Column("others_equal", "Equal", 3, align="right", help="To the majority of the others."),
    Column("others_kappa", "Kappa", 3, align="right", help=_KAPPA),
    Column("adjudicated_units", "Adjudicated", align="right", help="Pairs that were adjudicated."),
    Column("adjudicated_equal", "Equal", 3, align="right", help="To what was adjudicated."),
    Column("adjudicated_kappa", "Kappa", 3, align="right", help=_KAPPA),
)
_PAIRS = (
    Column("first", "Judge"),
    Column("second", "Judge"),
    Column("units", "Pairs", align="right", help="Of response and nugget, judged by both."),
    Column("equal", "Equal", 3, align="right"),
    Column("kappa", "Kappa", 3, align="right", help=_KAPPA),
    Column("note", "", wrap=True),
)


def nugget_judges_document(nuggets: NuggetSet, controls: Iterable[str], command: str) -> Document:
    """Agreement of judges on which response carries which nugget; some runs may be left out."""
    from karat.nuggets.sets.label_table import label_table
    from karat.nuggets.sets.nugget_set import remarks

    out = tuple(controls)
    for tag in out:
        nuggets.run(tag)
    found = label_table(nuggets.judgements, out)
    if not found.table.judges:
        found_only = "found only what was adjudicated, " if nuggets.judgements.rows else ""
        raise InputError(
            f"{nuggets.name}: {found_only}expected judgements of judges; name some with "
            "--judgements"
        )
    dimension = [("nuggets", found.table, found.runs)]
    document = tables_document(nuggets.name, dimension, out, command)
    count = len(found.table.judges)
    tables = (
        Table(
            "kappa", "Each judge: Cohen's kappa", _JUDGES, [_row(found, k) for k in range(count)]
        ),
        Table("pairs", "Two judges", _PAIRS, _pairs(found)),
    )
    notes = (*document.notes, *remarks(nuggets))
    return replace(document, blocks=(*document.blocks, *tables[: 1 + (count > 1)]), notes=notes)


def _row(found: LabelTable, k: int) -> Row:
    name = found.table.judges[k]
    return {
        "judge": name,
        "kind": found.kinds[name],
        "labels": found.count(k),
        "carried": found.share(k),
        **_cells("others_", found.against_others(k)),
        **_cells("adjudicated_", found.against_adjudicated(k)),
    }


def _pairs(found: LabelTable) -> list[Row]:
    judges = found.table.judges
    rows: list[Row] = []
    for i, j in combinations(range(len(judges)), 2):
        kappa = found.between(i, j)
        rows.append(
            {"first": judges[i], "second": judges[j], **_cells("", kappa), "note": kappa.why}
        )
    return rows


def _cells(prefix: str, kappa: Kappa) -> dict[str, Cell]:
    cells = {"units": kappa.units, "equal": kappa.equal, "kappa": kappa.value}
    return {f"{prefix}{key}": value for key, value in cells.items()}
