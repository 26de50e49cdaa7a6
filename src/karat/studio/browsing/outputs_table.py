"""The table of all outputs: scores of people, and of metrics on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from karat.api.scores import score
from karat.errors import InputError, quoted
from karat.studio.browsing.output_scores import output_scores, score_names
from karat.studio.export.spans import csv_line
from karat.studio.store.projects import REVEALED, project
from karat.studio.store.store import Store

METRICS = (
    *("bleu", "chrf", "ter", "wer", "gtm", "gtm:e=2", "rouge1", "rouge2", "rougeL", "aev"),
    *("simple_accuracy", "generation_accuracy"),
)
"""Metrics that may be asked for. Settings are not taken from a page: some of them name files."""


class OutputRow(NamedTuple):
    """A row of the table."""

    item: int
    segment: str
    output: int
    system: str | None
    """None before the reveal."""
    text: str
    values: Mapping[str, float]
    """Dimension or metric -> score."""


class OutputTable(NamedTuple):
    """All outputs, and the names of the columns with scores."""

    names: list[str]
    rows: list[OutputRow]


def output_table(store: Store, metrics: Sequence[str] = ()) -> OutputTable:
    """Return all outputs with their scores, in the order of segments."""
    if unknown := [name for name in metrics if name not in METRICS]:
        raise InputError(f"no metric {quoted(unknown[0])}: expected one of {', '.join(METRICS)}")
    scored = {name: _metric_scores(store, name) for name in dict.fromkeys(metrics)}
    found, by_people = project(store), output_scores(store)
    revealed = found.state == REVEALED
    with store.read() as connection:
        rows = connection.execute(
            "SELECT item, segment, output.id, system, text FROM output "
            "JOIN item ON item.id = item WHERE NOT calibration ORDER BY ord, output.id"
        ).fetchall()
    table = []
    for item, segment, id, system, text in rows:
        values = {**by_people.get(id, {}), **{name: own[id] for name, own in scored.items()}}
        table.append(OutputRow(item, segment, id, system if revealed else None, text, values))
    return OutputTable([*score_names(found.settings), *scored], table)


def sorted_rows(table: OutputTable, by: str, descending: bool) -> list[OutputRow]:
    """Return rows by a column; outputs without a score come last."""
    if by == "text":
        return sorted(table.rows, key=lambda row: row.text, reverse=descending)
    if by == "system":
        return sorted(table.rows, key=lambda row: row.system or "", reverse=descending)
    if by not in table.names:
        return table.rows[::-1] if descending else table.rows
    sign = -1 if descending else 1
    scored = [row for row in table.rows if by in row.values]
    return sorted(scored, key=lambda row: sign * row.values[by]) + [
        row for row in table.rows if by not in row.values
    ]


def table_lines(table: OutputTable, rows: Sequence[OutputRow]) -> Iterator[str]:
    """Yield the table as CSV."""
    yield csv_line(("segment", "output", "system", *table.names, "text"))
    for row in rows:
        scores = (row.values.get(name, "") for name in table.names)
        yield csv_line((row.segment, row.output, row.system or "", *scores, row.text))


_SCORED: WeakKeyDictionary[Store, dict[str, dict[int, float]]] = WeakKeyDictionary()
_ONE_AT_A_TIME = threading.Lock()


def _metric_scores(store: Store, name: str) -> dict[int, float]:
    """Return the score of each output by a metric, computed once: texts never change."""
    with _ONE_AT_A_TIME:
        kept = _SCORED.setdefault(store, {})
        if name not in kept:
            kept[name] = _scored(store, name)
        return kept[name]


def _scored(store: Store, name: str) -> dict[int, float]:
    with store.read() as connection:
        rows = connection.execute(
            "SELECT output.id, text, refs FROM output JOIN item ON item.id = item "
            "WHERE NOT calibration"
        ).fetchall()
    references = [json.loads(refs) for _, _, refs in rows]
    if not all(references):
        raise InputError("metrics need references, and some segments have none")
    found = score({"all": [text for _, text, _ in rows]}, references, name, segments=True)
    ((_, values),) = found.values.items()
    return {id: float(value) for (id, _, _), value in zip(rows, values, strict=True)}
