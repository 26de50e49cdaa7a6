"""The documents of `karat data`: contents and problems of a set, its judges, the known sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from karat.report.answers.evalsets import check_answer, judges_answer, judges_basis, known_answer
from karat.report.model.table import Column, Document, Row, Table, columns

if TYPE_CHECKING:
    from karat.estimation.drawing import DrawnUnits
    from karat.evalset.flooding import FloodedSet
    from karat.evalset.loading import KnownEvalSets
    from karat.evalset.saving import EvalSetCheck
    from karat.meta.judge_agreement import JudgeAgreement

_SET = (
    Column("name", "Set"),
    *columns(align="right", systems="Systems", segments="Segments"),
    Column("groups", "Groups", align="right", help="Documents or questions of the set."),
    Column("references_min", "Min refs", align="right", help="Fewest references of a segment."),
    Column(
        "references_median",
        "Med. refs",
        1,
        align="right",
        help="Median of references.",
        detail=True,
    ),
    Column("references_max", "Max refs", align="right", help="Most references of a segment."),
    *columns(align="right", judgements="Judgements", judges="Judges"),
    Column("missing", "Missing", align="right", help="Missing outputs."),
    Column("empty", "Empty", align="right", help="Empty outputs."),
)
_SYSTEMS = (
    Column("system", "System"),
    *columns(align="right", outputs="Outputs", missing="Missing", empty="Empty"),
    Column("judged", "Judged", align="right", help="Segments with at least one judgement."),
    Column("judgements", "Judgements", align="right"),
)
_DIMENSIONS = (
    *columns(dimension="Dimension", better="Better"),
    Column("scale", "Scale", readers="people"),
    *columns("programs", low="Low", high="High"),
    *columns(align="right", judgements="Judgements", judges="Judges"),
    Column("items", "Outputs", align="right", help="Outputs with at least one judgement."),
    Column("lowest", "Lowest", 2, align="right", help="The lowest value that was given."),
    Column("highest", "Highest", 2, align="right", help="The highest value that was given."),
    Column("off_scale", "Off scale", align="right", help="Values outside the scale."),
)
_PROBLEMS = (Column("problem", "Problem", wrap=True),)
_KNOWN = (
    Column("name", "Set", help="The name that --set and karat data take."),
    Column("here", "Here", help="Whether it can be read here."),
    Column("format", "Format"),
    Column("about", "About", wrap=True),
    Column("place", "Place", readers="programs"),
)
_FORMATS = (
    Column("format", "Format", help="The name that --read-as takes."),
    Column("about", "Files", wrap=True),
)
_FLOODED = columns(system="System", segment="Segment")


_AGREEMENT = (
    Column("dimension", "Dimension"),
    Column("judges", "Judges", align="right"),
    Column("outputs", "Outputs", align="right", help="Outputs with at least one judgement."),
    Column("shared", "Shared", align="right", help="Outputs with at least two judges."),
    Column("r", "r", 3, align="right", help="Mean Pearson's r of pairs of judges."),
    Column(
        "r_systems",
        "r systems",
        3,
        align="right",
        help="Mean r of pairs, over system means.",
    ),
    Column("nominal", "Nominal", 3, align="right", help="Krippendorff's alpha of categories."),
    Column("ordinal", "Ordinal", 3, align="right", help="Krippendorff's alpha of ranks."),
    Column("interval", "Interval", 3, align="right", help="Krippendorff's alpha of distances."),
    Column("icc", "ICC", 3, align="right", help="ICC(2,1), where every judge saw every output."),
)
_KIND = Column("kind", "Kind", help="person or model.")
_ADJUDICATED = (
    Column("adjudicated", "Adjudicated", readers="programs"),
    Column(
        "r_adjudicated", "r adj.", 3, align="right", help="Pearson's r with adjudicated values."
    ),
)
_JUDGES = (
    Column("dimension", "Dimension"),
    Column("judge", "Judge"),
    Column("judgements", "Judgements", align="right"),
    Column("mean", "Mean", 2, align="right"),
    Column("sd", "SD", 2, align="right", help="Standard deviation of the judge's scores."),
    Column("r", "r others", 3, align="right", help="Pearson's r with the mean of the others."),
    *columns("programs", shared="Shared", flagged="Flagged"),
    *columns("programs", comparable="Comparable", identical="Identical to"),
    Column("note", "", wrap=True),
)


def check_document(found: EvalSetCheck, command: str) -> Document:
    """Return what is in a set, if it could be read, and every problem."""
    tables: list[Table] = []
    if found.evalset is not None:
        tables.append(Table("rows", "Contents", _SET, _dicts(found.rows)))
        tables.append(Table("systems", "Systems", _SYSTEMS, _dicts(found.systems)))
        rows: list[Row] = []
        for count in found.dimensions:
            ends = ["?" if end is None else f"{end:g}" for end in (count.low, count.high)]
            scale = None if ends == ["?", "?"] else " to ".join(ends)
            rows.append({**count._asdict(), "scale": scale})
        tables += [Table("dimensions", "Dimensions", _DIMENSIONS, rows)] if rows else []
    else:
        problems: list[Row] = [{"problem": problem} for problem in found.problems]
        tables.append(Table("problems", "Problems", _PROBLEMS, problems))
    title, told = f"Evaluation set {found.name}", check_answer(found)
    tables = [replace(table, open=table.key != "systems") for table in tables]
    return Document(title, tuple(tables), command, {}, notes=found.notes, answer=told)


def known_document(found: KnownEvalSets, command: str) -> Document:
    """Return the sets that have names."""
    table = Table("rows", "Known sets", _KNOWN, _dicts(found.rows))
    formats = Table("formats", "Formats of sets", _FORMATS, _dicts(found.formats))
    told = known_answer(found)
    tables = replace(table, open=True), replace(formats, open=True)
    return Document("Known sets", tables, command, {}, notes=found.notes, answer=told)


def flooded_document(found: FloodedSet, command: str) -> Document:
    """Return the answers that were flooded."""
    table = Table("rows", "Flooded answers", _FLOODED, _dicts(found.rows))
    return Document(found.evalset.name, (table,), command, {}, notes=found.notes)


_DRAWN = (
    Column("unit", "Unit", help="Id of the segment or group to label."),
    Column("of", "Of", help="Kind of the unit: segment or group."),
    Column("probability", "Probability", digits=4, help="Probability with which it was drawn."),
    Column("reason", "Reason"),
    Column("round", "Round"),
)


def drawn_document(found: DrawnUnits, command: str) -> Document:
    """Return the units that were drawn."""
    table = Table("rows", "Units to label", _DRAWN, _dicts(found.rows))
    return Document(f"Draws from {found.name}", (table,), command, {}, notes=found.notes)


def judges_document(found: JudgeAgreement, command: str) -> Document:
    """Return agreement in each dimension, and each judge compared with the others."""
    rows, judges = ([row._asdict() for row in some] for some in (found.rows, found.judges))
    agreement = Table("rows", "Agreement between judges", _AGREEMENT, rows)
    each = Table("judges", "Each judge", _judge_columns(found), judges, group="dimension")
    told = judges_answer(found)
    title, basis = f"The judges of {found.name}", judges_basis() if told else ""
    blocks = (replace(agreement, open=True), each)
    return Document(title, blocks, command, {}, found.notes, answer=told, basis=basis)


def _judge_columns(found: JudgeAgreement) -> tuple[Column, ...]:
    """Return the columns of judges: kinds and adjudicated values where there are any."""
    kinds = [_KIND] if any(row.kind for row in found.judges) else []
    settled = _ADJUDICATED if any(row.adjudicated for row in found.judges) else ()
    *first, note = _JUDGES
    return (*first[:2], *kinds, *first[2:], *settled, note)


def _dicts(rows: Sequence[Any]) -> list[Row]:
    return [row._asdict() for row in rows]
