"""The report of `score --worst` and `--best`: segments with their scores and texts."""

from __future__ import annotations

from collections.abc import Sequence

from karat.metrics.base import Metric
from karat.metrics.differing import differing_words
from karat.ranked_segments import RankedSegment, RankedSegments
from karat.report.documents.scores import SEGMENT_ID, SYSTEM, score_cell
from karat.report.model import (
    Cell,
    Column,
    Document,
    ExampleCase,
    Examples,
    Readers,
    Table,
    TextPassage,
    metric_label,
    number,
    score_digits,
)

_RANK = number("rank", "Rank", help="1 is the worst, or the best.")
_TEXTS = (
    Column("text", "Text", help="References and the candidate.", wrap=True, readers="people"),
    Column("candidate", "Candidate", readers="programs"),
    Column("references", "References", readers="programs", help="All of them, a line each."),
)

MAX_SHOWN_METRICS = 3
"""Metrics whose scores people see; beyond that, only the ranking metric."""


def ranked_document(ranked: RankedSegments, command: str) -> Document:
    """Return a table of the worst segments and one of the best, those that were asked for."""
    extremes = [extreme for extreme in ("worst", "best") if ranked.settings[extreme]]
    blocks = [
        _segment_examples(ranked, extreme, number == 0) for number, extreme in enumerate(extremes)
    ]
    title = f"{' and '.join(extremes).capitalize()} segments by {ranked.metric}"
    return Document(title, tuple(blocks), command, ranked.signatures, ranked.notes)


def _segment_examples(ranked: RankedSegments, extreme: str, first: bool) -> Examples:
    table = _segment_table(ranked, extreme, first)
    cases = tuple(
        _segment_case(row, ranked.metric) for row in ranked.rows if row.extreme == extreme
    )
    many = len({case.tags["system"] for case in cases}) > 1
    return Examples(table.title, cases, table, {"system": "System"} if many else {})


def _segment_case(row: RankedSegment, by: Metric) -> ExampleCase:
    score_texts = [f"{metric_label(m)} {row.scores[m]:.{score_digits(m)}f}" for m in row.scores]
    first = f"{metric_label(by)} {row.score:.{score_digits(by)}f}"
    facts = ", ".join(dict.fromkeys([first, *score_texts]))
    passages = [TextPassage(name, text) for name, text in _named_references(row)]
    marks = differing_words(row.text.candidate, row.text.references)
    passages.append(TextPassage("candidate", row.text.candidate, marks))
    number = row.segment + 1 if row.text.id is None else row.text.id
    title = f"{row.rank}. Segment {number} of {row.system}"
    return ExampleCase(title, facts, tuple(passages), {"system": row.system})


def _named_references(row: RankedSegment) -> list[tuple[str, str]]:
    refs = row.text.references
    names = [f"reference {n}" for n in range(1, len(refs) + 1)] if len(refs) > 1 else ["reference"]
    return list(zip(names, refs, strict=False))


def _segment_table(ranked: RankedSegments, extreme: str, first: bool) -> Table:
    rows = [row for row in ranked.rows if row.extreme == extreme]
    metrics = list(dict.fromkeys(m for row in rows for m in row.scores))
    metrics.sort(key=lambda m: m != ranked.metric)  # the one that ranks comes first
    readers: list[Readers] = ["all"] * len(metrics)
    if len(metrics) > MAX_SHOWN_METRICS:  # so that there is room for the texts
        readers[1:] = ["programs"] * (len(metrics) - 1)
    columns = (
        *(SYSTEM, _RANK, SEGMENT_ID),
        *(
            number(str(m), str(m), help=f"Score by {m}.", readers=who)
            for m, who in zip(metrics, readers, strict=True)
        ),
        *_TEXTS,
    )
    title = f"{extreme.capitalize()} segments by {ranked.metric}"
    cells = tuple(_segment_cells(row, metrics) for row in rows)
    # The first table is the one of data frames, whatever was asked for.
    return Table("rows" if first else extreme, title, columns, cells, group="system")


def _segment_cells(row: RankedSegment, metrics: Sequence[Metric]) -> dict[str, Cell]:
    lines = [f"{name}: {text}" for name, text in _named_references(row)]
    return {
        "system": row.system,
        "rank": row.rank,
        "segment": row.segment + 1 if row.text.id is None else row.text.id,
        **{str(m): score_cell(m, row.scores[m]) for m in metrics},
        "text": "\n".join([*lines, f"candidate: {row.text.candidate}"]),
        "candidate": row.text.candidate,
        "references": "\n".join(row.text.references),
    }
