"""Examples of a model's ratings: the lowest ones, with the words that it quoted marked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from karat.report.model import Case, Column, Examples, Passage, Table

if TYPE_CHECKING:
    from karat.judge.results import ModelRatings, RatingRow

MOST = 6
_COLUMNS = (
    Column("system", "System"),
    Column("segment", "Segment"),
    Column("value", "Rating", 2, align="right"),
    Column("evidence", "Evidence", wrap=True),
)


def rating_examples(found: ModelRatings) -> list[Examples]:
    """Return the worst outputs by the ratings of a model, at most one for each segment."""
    sign = 1 if found.dimension.better == "higher" else -1
    worst: dict[str, RatingRow] = {}
    for row in sorted(found.rows, key=lambda row: sign * row.value):
        if row.evidence:
            worst.setdefault(row.segment, row)
    rows = list(worst.values())[:MOST]
    if not rows:
        return []
    keys = [column.key for column in _COLUMNS]
    records = [{key: getattr(row, key) for key in keys} for row in rows]
    table = Table("examples", "Lowest ratings", _COLUMNS, records)
    told = "Marked: words that the model quoted as evidence."
    return [Examples("Lowest ratings", tuple(map(_case, rows)), table, marked=told)]


def _case(row: RatingRow) -> Case:
    passage = Passage(row.system, row.output, quote_marks(row.evidence, row.output))
    return Case(f"Segment {row.segment}", f"rated {row.value:.3g}", (passage,), {})


def quote_marks(quote: str, text: str) -> tuple[tuple[int, int], ...]:
    """Return where a quote stands in a text, whatever the white space; nothing if nowhere."""
    pattern = r"\s+".join(map(re.escape, quote.split()))
    found = re.search(pattern, text, re.IGNORECASE) if pattern else None
    return (found.span(),) if found else ()
