"""The reports of `karat data`: what is in a set, what is wrong with it, which sets there are."""

from __future__ import annotations

import os
from collections.abc import Sequence

from karat.evalset.catalogue import VARIABLE
from karat.evalset.census import (
    DimensionCount,
    count_dimensions,
    count_references,
    count_systems,
    remarks,
)
from karat.evalset.loading import KNOWN
from karat.evalset.sets import EvalSet
from karat.report.model.table import Cell, Column, Document, Table

_SET = (
    Column("name", "Set"),
    Column("systems", "Systems", align="right"),
    Column("segments", "Segments", align="right"),
    Column("groups", "Groups", align="right", help="Documents or questions."),
    Column("references_min", "Fewest refs", align="right", help="Of any segment."),
    Column("references_median", "Median", 1, align="right", help="References of a segment."),
    Column("references_max", "Most", align="right", help="References of any segment."),
    Column("judgements", "Judgements", align="right"),
    Column("judges", "Judges", align="right"),
    Column("missing", "Missing", align="right", help="Outputs that are not there."),
    Column("empty", "Empty", align="right", help="Outputs that are there and empty."),
)
_SYSTEMS = (
    Column("system", "System"),
    Column("outputs", "Outputs", align="right"),
    Column("missing", "Missing", align="right"),
    Column("empty", "Empty", align="right"),
    Column("judged", "Judged", align="right", help="Segments with at least one judgement."),
    Column("judgements", "Judgements", align="right"),
)
_DIMENSIONS = (
    Column("dimension", "Dimension"),
    Column("better", "Better"),
    Column("scale", "Scale", readers="people"),
    Column("low", "Low", readers="programs"),
    Column("high", "High", readers="programs"),
    Column("judgements", "Judgements", align="right"),
    Column("judges", "Judges", align="right"),
    Column("items", "Outputs", align="right", help="Outputs with at least one judgement."),
    Column("lowest", "Lowest", 2, align="right", help="The lowest value that was given."),
    Column("highest", "Highest", 2, align="right", help="The highest value that was given."),
    Column("off_scale", "Off scale", align="right", help="Values that are not on the scale."),
)
_PROBLEMS = (Column("problem", "Problem", wrap=True),)
_KNOWN = (
    Column("name", "Set", help="What --set and karat data call it."),
    Column("here", "Here", help="Whether it is there to be read."),
    Column("format", "Format"),
    Column("about", "About", wrap=True),
    Column("place", "Place", readers="programs"),
)


def check_document(
    given: str, evalset: EvalSet | None, problems: Sequence[str], command: str
) -> Document:
    """What is in a set, if it could be read, and every problem."""
    tables: list[Table] = []
    notes: list[str] = []
    if evalset is not None:
        tables += _tables(evalset)
        texts = (evalset.description, f"Licence: {evalset.licence}" if evalset.licence else "")
        notes += [text for text in texts if text] + remarks(evalset)
    rows: list[dict[str, Cell]] = [{"problem": problem} for problem in problems]
    if rows or evalset is None:
        tables.append(Table("problems", "Problems", _PROBLEMS, rows))
    return Document(f"Evaluation set {given}", tuple(tables), command, {}, notes=tuple(notes))


def _tables(evalset: EvalSet) -> list[Table]:
    systems = [count._asdict() for count in count_systems(evalset)]
    dimensions = [_dimension(count) for count in count_dimensions(evalset)]
    tables = [
        Table("rows", "Contents", _SET, [_contents(evalset)]),
        Table("systems", "Systems", _SYSTEMS, systems),
    ]
    if dimensions:
        tables.append(Table("dimensions", "Dimensions", _DIMENSIONS, dimensions))
    return tables


def _contents(evalset: EvalSet) -> dict[str, Cell]:
    references = count_references(evalset)
    systems = count_systems(evalset)
    return {
        "name": evalset.name,
        "systems": len(systems),
        "segments": len(evalset),
        "groups": None if evalset.groups is None else len(set(evalset.groups)),
        "references_min": references.least,
        "references_median": references.median,
        "references_max": references.most,
        "judgements": len(evalset.judgements),
        "judges": len(evalset.judgements.judges),
        "missing": sum(system.missing for system in systems),
        "empty": sum(system.empty for system in systems),
    }


def _dimension(count: DimensionCount) -> dict[str, Cell]:
    dimension = count.dimension
    ends = ["?" if end is None else f"{end:g}" for end in (dimension.low, dimension.high)]
    return {
        "dimension": dimension.name,
        "better": dimension.better,
        "scale": None if ends == ["?", "?"] else " to ".join(ends),
        "low": dimension.low,
        "high": dimension.high,
        "judgements": count.judgements,
        "judges": count.judges,
        "items": count.items,
        "lowest": count.lowest,
        "highest": count.highest,
        "off_scale": count.off_scale,
    }


def known_document(command: str) -> Document:
    """The sets that have names."""
    folder = os.environ.get(VARIABLE, "")
    rows: list[dict[str, Cell]] = [
        {
            "name": name,
            "here": known.bundled
            or os.path.exists(os.path.join(folder or os.devnull, known.place)),
            "format": known.format,
            "about": known.about,
            "place": None if known.bundled else known.place,
        }
        for name, known in KNOWN.items()
    ]
    where = f"{VARIABLE} is {folder}." if folder else f"{VARIABLE} is not set: no data to look for."
    return Document(
        "Known sets", (Table("rows", "Known sets", _KNOWN, rows),), command, {}, notes=(where,)
    )
