"""Reports of scores, of paraphrases that were made, of files and of word alignments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from karat.paraphrase.report.answers import generation_answer, scores_answer
from karat.report.charts.figures import intervals_figure
from karat.report.charts.models import Interval
from karat.report.model.table import Column, Document, Figure, Table

if TYPE_CHECKING:
    from karat.paraphrase.align.alignment import WordAlignment
    from karat.paraphrase.generate.paraphraser import GeneratedParaphrases
    from karat.paraphrase.pem.scoring import ParaphraseScores
    from karat.paraphrase.written_files import WrittenFile

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
_GENERATED = (
    Column("segment", "Line", align="right"),
    Column("shown", "Paraphrase", wrap=True, readers="people"),
    Column("source", "Original", wrap=True, readers="people"),
    Column("rank", "Rank", align="right"),
    Column("pem", "PEM", 2, align="right", help="1 to 5."),
    *(replace(part, detail=True) for part in _PARTS),
    Column("confidence", "Conf.", 2, align="right", help="0 to 1: how sure the generator is."),
    Column("original", "Original", readers="programs"),
    Column("paraphrase", "Paraphrase", readers="programs"),
    Column("reason", "Reason", readers="programs", help="Why there is no paraphrase."),
)
_WRITTEN = (
    Column("path", "File"),
    Column("content", "Content", wrap=True),
    Column("sentences", "Sentence pairs", align="right"),
    Column("links", "Links", align="right"),
    Column("empty", "Empty", align="right", help="Sentence pairs with an empty side."),
    Column("too_long", "Too long", align="right", help="Sentence pairs with too many words."),
)


def scores_document(result: ParaphraseScores, command: str) -> Document:
    """Return systems, with intervals if there are any, and every paraphrase if it was wanted."""
    systems = [row._asdict() for row in result.rows]
    has_intervals = any(row.low is not None for row in result.rows)
    shown = [one for one in _SYSTEMS if has_intervals or one.key not in ("low", "high")]
    tables = [Table("rows", "Paraphrases", tuple(shown), systems)]
    if result.segments:
        every = [row._asdict() for row in result.segments]
        tables.append(Table("segments", "Each paraphrase", _SEGMENTS, every, group="system"))
    pem = (Interval(row.system, row.pem, row.low, row.high) for row in result.rows)
    chart = intervals_figure("PEM by system", "PEM", pem)
    blocks: tuple[Table | Figure, ...] = (chart, replace(tables[0], open=True), *tables[1:])
    signed = {"pem": result.signature}
    answer = scores_answer(result)
    return Document("Paraphrases", blocks, command, signed, result.notes, answer=answer)


def generated_document(result: GeneratedParaphrases, command: str) -> Document:
    """Return a row for each paraphrase, and one with the reason for each original without any."""
    rows = [
        {
            **row._asdict(),
            "shown": f"(none: {row.reason})" if row.reason else row.paraphrase,
            "source": row.original,
        }
        for row in result.rows
    ]
    table = Table("rows", "Paraphrases", _GENERATED, rows, open=True)
    signatures = result.signatures
    told = generation_answer(result)
    title = "Generated paraphrases"
    return Document(title, (table,), command, signatures, result.notes, answer=told)


def file_document(result: WrittenFile | WordAlignment, command: str) -> Document:
    """Return the row of a file or of an alignment."""
    rows = [row._asdict() for row in result.rows]
    columns = tuple(column for column in _WRITTEN if column.key in rows[0])
    signatures = {"karat": result.signature} if result.signature else {}
    table = Table("rows", type(result).__name__, columns, rows)
    return Document(table.title, (table,), command, signatures, result.notes)
