"""The report of `paraphrase generate`: the best paraphrases of each original, with their parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from karat.paraphrase.report.bundled import CAUTION
from karat.report.model.table import Column, Document, Row, Table

if TYPE_CHECKING:
    from karat.paraphrase.generate.paraphraser import Generated
    from karat.paraphrase.pem.model import PEM

_COLUMNS = (
    Column("segment", "Line", align="right"),
    Column("rank", "Rank", align="right"),
    Column("pem", "PEM", 2, align="right", help="1 to 5."),
    Column("pivot_f1", "Pivot F1", 3, align="right", help="Adequacy: 1 is the same meaning."),
    Column("fluency", "Fluency", 3, align="right", help="log10 Pr / words: nearer to 0 is better."),
    Column("target_f1", "Target F1", 3, align="right", help="1 is the same words: lower is freer."),
    Column("confidence", "Conf.", 2, align="right", help="0 to 1: how sure the generator is."),
    Column("original", "Original", wrap=True),
    Column("paraphrase", "Paraphrase", readers="programs"),
    Column("reason", "Reason", readers="programs", help="Why there is no paraphrase."),
    Column("shown", "Paraphrase", wrap=True, readers="people"),
)


def generated_document(
    originals: Iterable[str],
    found: Iterable[Generated],
    pem: PEM,
    confidence: float,
    command: str,
    bundled: bool,
) -> Document:
    """A row for each paraphrase, and one with the reason for each original without any."""
    rows: list[Row] = []
    without = 0
    for number, (original, one) in enumerate(zip(originals, found, strict=True), 1):
        without += one.reason is not None
        rows += _rows(number, original, one)
    table = Table("rows", "Paraphrases", _COLUMNS, rows)
    notes = tuple(generated_notes(without, confidence, pem, bundled))
    return Document("Generated paraphrases", (table,), command, {"pem": pem.signature}, notes)


def _rows(number: int, original: str, found: Generated) -> list[Row]:
    line: Row = {"segment": number, "original": original}
    if found.reason is not None:
        return [{**line, "reason": found.reason, "shown": f"(none: {found.reason})"}]
    return [
        {**line, "rank": rank, **one._asdict(), "paraphrase": one.text, "shown": one.text}
        for rank, one in enumerate(found.paraphrases, 1)
    ]


def generated_notes(without: int, confidence: float, pem: PEM, bundled: bool) -> Iterable[str]:
    """Return notes on lines without a paraphrase, and on what the model lacks."""
    if without:
        lines = "1 line has" if without == 1 else f"{without:,} lines have"
        yield (
            f"{lines} no paraphrase of confidence {confidence:g} or more: a lower --confidence "
            "gives more paraphrases, and more bad ones."
        )
    if pem.regression is None:
        yield "The model was trained without judgements: there is no PEM to rank by."
    if bundled:
        yield CAUTION
