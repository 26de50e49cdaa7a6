"""The report of `score --worst` and `--best`: segments with their scores and texts."""

from __future__ import annotations

from collections.abc import Sequence

from karat.metrics.base import Metric
from karat.metrics.differing import differing_words
from karat.ranked_segments import RankedSegment, RankedSegments
from karat.report.documents.scores import SEGMENT_ID, SYSTEM, decimals
from karat.report.model import (
    Case,
    Cell,
    Column,
    Document,
    Examples,
    Passage,
    Readers,
    Table,
    metric_label,
    score_digits,
)

_RANK = Column("rank", "Rank", align="right", help="1 is the worst, or the best.")
_TEXTS = (
    Column("text", "Text", help="References and the candidate.", wrap=True, readers="people"),
    Column("candidate", "Candidate", readers="programs"),
    Column("references", "References", readers="programs", help="All of them, a line each."),
)

MOST_SHOWN = 3
"""Metrics whose scores people see; of more than that, only the one that ranks."""


def ranked_document(ranked: RankedSegments, command: str) -> Document:
    """Return a table of the worst segments and one of the best, those that were asked for."""
    asked = [which for which in ("worst", "best") if ranked.settings[which]]
    blocks = [_examples(ranked, which, number == 0) for number, which in enumerate(asked)]
    title = f"{' and '.join(asked).capitalize()} segments by {ranked.metric}"
    return Document(title, tuple(blocks), command, ranked.signatures, ranked.notes)


def _examples(ranked: RankedSegments, which: str, first: bool) -> Examples:
    """The segments as cards on a page, as a table elsewhere."""
    table = _table(ranked, which, first)
    cases = tuple(_case(row, ranked.metric) for row in ranked.rows if row.which == which)
    many = len({case.tags["system"] for case in cases}) > 1
    return Examples(table.title, cases, table, {"system": "System"} if many else {})


def _case(row: RankedSegment, by: Metric) -> Case:
    shown = [f"{metric_label(m)} {row.scores[m]:.{score_digits(m)}f}" for m in row.scores]
    first = f"{metric_label(by)} {row.score:.{score_digits(by)}f}"
    facts = ", ".join(dict.fromkeys([first, *shown]))
    passages = [Passage(name, text) for name, text in _named(row)]
    marks = differing_words(row.text.candidate, row.text.references)
    passages.append(Passage("candidate", row.text.candidate, marks))
    number = row.segment + 1 if row.text.id is None else row.text.id
    title = f"{row.rank}. Segment {number} of {row.system}"
    return Case(title, facts, tuple(passages), {"system": row.system})


def _named(row: RankedSegment) -> list[tuple[str, str]]:
    refs = row.text.references
    names = [f"reference {n}" for n in range(1, len(refs) + 1)] if len(refs) > 1 else ["reference"]
    return list(zip(names, refs, strict=False))


def _table(ranked: RankedSegments, which: str, first: bool) -> Table:
    rows = [row for row in ranked.rows if row.which == which]
    metrics = list(dict.fromkeys(m for row in rows for m in row.scores))
    metrics.sort(key=lambda m: m != ranked.metric)  # the one that ranks comes first
    readers: list[Readers] = ["all"] * len(metrics)
    if len(metrics) > MOST_SHOWN:  # so that there is room for the texts
        readers[1:] = ["programs"] * (len(metrics) - 1)
    columns = (
        *(SYSTEM, _RANK, SEGMENT_ID),
        *(
            Column(str(m), str(m), align="right", help=f"Score by {m}.", readers=who)
            for m, who in zip(metrics, readers, strict=True)
        ),
        *_TEXTS,
    )
    title = f"{which.capitalize()} segments by {ranked.metric}"
    cells = tuple(_cells(row, metrics) for row in rows)
    # The first table is the one of data frames, whatever was asked for.
    return Table("rows" if first else which, title, columns, cells, group="system")


def _cells(row: RankedSegment, metrics: Sequence[Metric]) -> dict[str, Cell]:
    lines = [f"{name}: {text}" for name, text in _named(row)]
    return {
        "system": row.system,
        "rank": row.rank,
        "segment": row.segment + 1 if row.text.id is None else row.text.id,
        **{str(m): decimals(m, row.scores[m]) for m in metrics},
        "text": "\n".join([*lines, f"candidate: {row.text.candidate}"]),
        "candidate": row.text.candidate,
        "references": "\n".join(row.text.references),
    }
