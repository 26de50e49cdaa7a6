"""The report of `paraphrase score`: PEM and its three parts, by system and by paraphrase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat.paraphrase.report.bundled import CAUTION
from karat.report.model.table import Column, Document, Row, Table

if TYPE_CHECKING:
    from karat.paraphrase.pem.model import PEM, PEMScores
    from karat.text.segments import Segments

_PARTS = (
    Column("pivot_f1", "Pivot F1", 3, align="right", help="Adequacy: 1 is the same meaning."),
    Column("fluency", "Fluency", 3, align="right", help="log10 Pr / words: nearer to 0 is better."),
    Column("target_f1", "Target F1", 3, align="right", help="1 is the same words: lower is freer."),
)
_SYSTEMS = (
    Column("system", "System"),
    Column("pem", "PEM", 3, align="right", help="1 to 5; the mean over paraphrases."),
    Column("low", "Low", 3, align="right", help="95%, bootstrap over paraphrases."),
    Column("high", "High", 3, align="right", help="95%, bootstrap over paraphrases."),
    *_PARTS,
    Column("paraphrases", "n", align="right"),
)
_SEGMENTS = (
    Column("system", "System"),
    Column("segment", "Line", align="right"),
    Column("pem", "PEM", 2, align="right"),
    *_PARTS,
    Column("original", "Original", wrap=True),
    Column("paraphrase", "Paraphrase", wrap=True),
)


@dataclass(frozen=True, eq=False)
class ScoredSystem:
    """The paraphrases of one system, and what they scored."""

    name: str
    originals: Segments
    paraphrases: Segments
    scores: PEMScores


def scores_document(
    systems: Sequence[ScoredSystem],
    pem: PEM,
    segments: bool,
    resamples: int,
    seed: int,
    command: str,
    bundled: bool,
) -> Document:
    """Systems with intervals and, if asked for, every paraphrase."""
    rows = [_system(one, resamples, seed) for one in systems]
    tables = [Table("rows", "Paraphrases", _SYSTEMS, rows)]
    if segments:
        every = [row for one in systems for row in _paraphrases(one)]
        tables.append(Table("segments", "Each paraphrase", _SEGMENTS, every, group="system"))
    notes = []
    if bundled:
        notes.append(CAUTION)
    if pem.regression is None:
        notes.append("The model was trained without judgements: it has parts, but no PEM score.")
    return Document("Paraphrases", tuple(tables), command, {"pem": pem.signature}, tuple(notes))


def _system(one: ScoredSystem, resamples: int, seed: int) -> Row:
    low, high = one.scores.interval(resamples, seed)
    means = {name: float(column.mean()) for name, column in one.scores._asdict().items()}
    return {
        "system": one.name,
        **means,
        "low": low,
        "high": high,
        "paraphrases": len(one.scores.pem),
    }


def _paraphrases(one: ScoredSystem) -> list[Row]:
    count = len(one.paraphrases)
    originals = one.originals.views(0, count).strings()
    texts = one.paraphrases.views(0, count).strings()
    columns = {name: column.tolist() for name, column in one.scores._asdict().items()}
    return [
        {
            "system": one.name,
            "segment": i + 1,
            **{name: column[i] for name, column in columns.items()},
            "original": originals[i],
            "paraphrase": texts[i],
        }
        for i in range(count)
    ]
