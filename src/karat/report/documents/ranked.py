"""The report of `score --worst` and `--best`: segments with their scores and texts."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import Any

from karat.metrics.differing import differing_words
from karat.ranked_segments import RankedSegment, RankedSegments
from karat.report.documents.facts import evidence_passages
from karat.report.documents.scores import SEGMENT_ID
from karat.report.model import (
    Document,
    ExampleCase,
    Examples,
    Table,
    TextPassage,
    metric_label,
    reference_passages,
    score_digits,
    text_column,
)
from karat.results import Column, number
from karat.scoring import SYSTEM, metric_digits

MAX_SHOWN_METRICS = 3
"""Metrics whose scores people see; beyond that, only the ranking metric."""


def _passages(row: RankedSegment) -> list[TextPassage]:
    references, candidate = row.text.references, row.text.candidate
    marked = TextPassage("candidate", candidate, differing_words(candidate, references))
    evidence = evidence_passages(row.scores, candidate, references, row.system, _segment_name(row))
    return [*reference_passages(references), marked, *evidence]


def _segment_name(row: RankedSegment) -> int | str:
    return row.segment + 1 if row.text.id is None else row.text.id


_PLACE = (
    SYSTEM,
    number("rank", "Rank", help="1 is the worst, or the best."),
    replace(SEGMENT_ID, value=_segment_name),
)
_TEXTS = (
    text_column(_passages, "References and the candidate."),
    Column("candidate", "Candidate", readers="programs", value=attrgetter("text.candidate")),
    Column(
        "references",
        "References",
        readers="programs",
        value=lambda row: "\n".join(row.text.references),
    ),
)


def ranked_document(ranked: RankedSegments) -> Document:
    """Return tables of the worst and the best segments, as requested."""
    extremes = [extreme for extreme in ("worst", "best") if ranked.settings[extreme]]
    blocks = [
        _segment_examples(ranked, extreme, number == 0) for number, extreme in enumerate(extremes)
    ]
    return Document(f"{' and '.join(extremes).capitalize()} segments by {ranked.metric}", blocks)


def _segment_examples(ranked: RankedSegments, extreme: str, first: bool) -> Examples:
    rows = [row for row in ranked.rows if row.extreme == extreme]
    metrics = list(dict.fromkeys(m for row in rows for m in row.scores))
    metrics.sort(key=lambda m: m != ranked.metric)  # the one that ranks comes first
    fits = len(metrics) <= MAX_SHOWN_METRICS  # else there is no room for the texts
    score_columns = []
    for position, m in enumerate(metrics):
        look: dict[str, Any] = {"readers": "all" if fits or position == 0 else "programs"}
        look["value"] = lambda row, m=m: row.scores[m]
        score_columns.append(number(str(m), str(m), metric_digits(m), f"Score by {m}.", **look))
    title = f"{extreme.capitalize()} segments by {ranked.metric}"
    # Data frames hold the first table, worst or best.
    key, columns = "rows" if first else extreme, (*_PLACE, *score_columns, *_TEXTS)
    table = Table(key, title, columns, rows, group="system")
    cases = []
    for row in rows:
        values = {ranked.metric: row.score, **row.scores}
        texts = [f"{metric_label(m)} {x:.{score_digits(m)}f}" for m, x in values.items()]
        name, facts = f"{row.rank}. Segment {_segment_name(row)}", ", ".join(dict.fromkeys(texts))
        passages, tags = tuple(_passages(row)), {"system": row.system}
        cases.append(ExampleCase(f"{name} of {row.system}", facts, passages, tags))
    return Examples(title, tuple(cases), table, {"system": "System"})
