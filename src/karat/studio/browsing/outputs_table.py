"""The table of all outputs: scores of people, and of metrics on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

from karat.errors import InputError, quoted
from karat.studio.browsing.output_scores import Scores, output_scores, score_names
from karat.studio.export.spans import csv_line
from karat.studio.store.projects import REVEALED, project
from karat.studio.store.store import Store

BATCH = 500
"""Outputs that are read at once."""
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


@dataclass(frozen=True)
class OutputTable:
    """All outputs in some order; texts are read for the rows that are looked at."""

    store: Store
    names: list[str]
    """The columns with scores."""
    ids: list[int]
    revealed: bool
    _people: Scores
    _metrics: Mapping[str, Mapping[int, float]]

    def rows(self, ids: Sequence[int]) -> list[OutputRow]:
        """Return the rows of some outputs."""
        return [row for at in range(0, len(ids), BATCH) for row in self._read(ids[at : at + BATCH])]

    def _read(self, ids: Sequence[int]) -> list[OutputRow]:
        marks = ", ".join("?" * len(ids))
        with self.store.read() as connection:
            found = connection.execute(
                "SELECT output.id, item, segment, system, text FROM output "
                f"JOIN item ON item.id = item WHERE output.id IN ({marks})",
                tuple(ids),
            ).fetchall()
        rows = {row[0]: self._row(*row) for row in found}
        return [rows[id] for id in ids]

    def _row(self, id: int, item: int, segment: str, system: str, text: str) -> OutputRow:
        shown = system if self.revealed else None
        return OutputRow(item, segment, id, shown, text, self.values(id))

    def values(self, id: int) -> dict[str, float]:
        """Return the scores of an output by people and metrics."""
        return {
            **self._people.get(id, {}),
            **{name: own[id] for name, own in self._metrics.items()},
        }


def output_table(
    store: Store, metrics: Sequence[str] = (), by: str = "", descending: bool = False
) -> OutputTable:
    """Return all outputs, in the order of segments or by a column."""
    if unknown := [name for name in metrics if name not in METRICS]:
        raise InputError(f"no metric {quoted(unknown[0])}: expected one of {', '.join(METRICS)}")
    scored = {name: _metric_scores(store, name) for name in metrics}
    found = project(store)
    revealed = found.state == REVEALED
    column = _COLUMNS.get(by if revealed or by != "system" else "", "ord")
    names = [*score_names(found.settings), *scored]
    table = OutputTable(store, names, _ids(store, column), revealed, output_scores(store), scored)
    return replace(table, ids=_sorted(table, by, descending))


_COLUMNS = {"text": "text", "system": "system"}


def _ids(store: Store, column: str) -> list[int]:
    with store.read() as connection:
        rows = connection.execute(
            "SELECT output.id FROM output JOIN item ON item.id = item WHERE NOT calibration "
            f"ORDER BY {column}, ord, output.id"
        ).fetchall()
    return [id for (id,) in rows]


def _sorted(table: OutputTable, by: str, descending: bool) -> list[int]:
    """Return outputs by a column; those without a score come last."""
    if by not in table.names:
        return table.ids[::-1] if descending else table.ids
    sign = -1 if descending else 1
    known = {id: sign * own[by] for id in table.ids if by in (own := table.values(id))}
    return sorted(known, key=known.__getitem__) + [id for id in table.ids if id not in known]


def table_lines(table: OutputTable) -> Iterator[str]:
    """Yield the table as CSV."""
    yield csv_line(("segment", "output", "system", *table.names, "text"))
    for row in table.rows(table.ids):
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
    from karat.api import score

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
