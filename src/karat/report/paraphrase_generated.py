"""The report of `paraphrase generate`: the best paraphrases of each original, with their parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from karat.report.paraphrase_bundled import CAUTION
from karat.report.table import Column, Document, Row, Table

if TYPE_CHECKING:
    from karat.paraphrase.paraphraser import Paraphrase
    from karat.paraphrase.pem import PEM

_COLUMNS = (
    Column("segment", "Line", align="right"),
    Column("rank", "Rank", align="right"),
    Column("pem", "PEM", 2, align="right", help="1 to 5."),
    Column("pivot_f1", "Pivot F1", 3, align="right", help="Adequacy: 1 is the same meaning."),
    Column("fluency", "Fluency", 3, align="right", help="log10 Pr / words: nearer to 0 is better."),
    Column("target_f1", "Target F1", 3, align="right", help="1 is the same words: lower is freer."),
    Column("original", "Original", wrap=True),
    Column("paraphrase", "Paraphrase", wrap=True),
)


def generated_document(
    originals: Iterable[str],
    found: Iterable[list[Paraphrase]],
    pem: PEM,
    command: str,
    bundled: bool,
) -> Document:
    """A row for each paraphrase; notes on what could not be paraphrased."""
    rows: list[Row] = []
    alone = 0
    for number, (original, each) in enumerate(zip(originals, found, strict=True), 1):
        alone += [one.text for one in each] == [original]
        rows += [_row(number, rank, original, one) for rank, one in enumerate(each, 1)]
    table = Table("rows", "Paraphrases", _COLUMNS, rows)
    notes = tuple(_notes(alone, pem, bundled))
    return Document("Generated paraphrases", (table,), command, {"pem": pem.signature}, notes)


def _row(number: int, rank: int, original: str, one: Paraphrase) -> Row:
    parts = one._asdict()
    text = parts.pop("text")
    return {"segment": number, "rank": rank, **parts, "original": original, "paraphrase": text}


def _notes(alone: int, pem: PEM, bundled: bool) -> Iterable[str]:
    if alone:
        lines = "1 line has" if alone == 1 else f"{alone:,} lines have"
        yield f"{lines} no other wording in this model: the original stands."
    if pem.regression is None:
        yield "The model was trained without judgements: there is no PEM to rank by."
    if bundled:
        yield CAUTION
