"""Browsing: segments, outputs with their scores, searches, and tables of outputs with metrics.

The score of an output in a dimension is the adjudicated value, else the mean of people.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.evalset.judgements import ADJUDICATED
from karat.studio.contents import CachedResults, Contents, computed_once, pseudonym
from karat.studio.disputes import find_disputes
from karat.studio.export.formats import csv_line
from karat.studio.export.sets import all_values, nugget_values
from karat.studio.store.projects import REVEALED, project
from karat.studio.store.schema import StoreConnection
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS

Scores = Mapping[int, Mapping[str, float]]
"""Output -> dimension -> score."""


def score_names(settings: ProjectSettings) -> list[str]:
    """Return the names of scores: dimensions, and the share of supported nuggets."""
    nuggets = [NUGGETS.name] if settings.has(NUGGETS) else []
    return [dimension.name for dimension in settings.dimensions] + nuggets


@computed_once
def output_scores(store: Store, contents: Contents) -> Scores:
    """Return the scores of all judged outputs."""
    people: dict[tuple[int, str], list[float]] = defaultdict(list)
    adjudicated: dict[tuple[int, str], float] = {}
    for row in all_values(contents):
        if row.kind == ADJUDICATED:
            adjudicated[row.output, row.dimension] = row.value
        else:
            people[row.output, row.dimension].append(row.value)
    scores: dict[int, dict[str, float]] = defaultdict(dict)
    for (output, name), values in people.items():
        scores[output][name] = adjudicated.get((output, name), fmean(values))
    labels: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in nugget_values(contents):
        if row.kind != ADJUDICATED:
            labels[row.output][row.dimension].append(row.value)
        elif row.output in labels:
            labels[row.output][row.dimension] = [row.value]
    for output, by_nugget in labels.items():
        scores[output][NUGGETS.name] = fmean(fmean(values) for values in by_nugget.values())
    return dict(scores)


# One segment


def view_segment(store: Store, id: int) -> dict[str, Any]:
    """Return a segment with outputs, judgements and decisions; systems only after the reveal."""
    scores = output_scores(store)
    with store.read() as connection:
        row = connection.row(
            "SELECT segment, source, context, refs FROM item WHERE id = ? AND NOT calibration", id
        )
        if row is None:
            raise InputError(f"there is no segment {id}")
        revealed = connection.value("SELECT state FROM project") == REVEALED
        outputs = connection.rows(
            "SELECT id, text, system FROM output WHERE item = ? ORDER BY id", id
        )
        nuggets = connection.rows(
            "SELECT nugget, descriptions, dropped FROM nugget WHERE item = ? "
            "ORDER BY dropped, coalesce(ord, id), id",
            id,
        )
        judgements = connection.rows(
            "SELECT j.assessor, j.value, a.outputs, j.ms, j.time FROM assignment a "
            "JOIN judgement j ON j.id = a.judged WHERE a.item = ? ORDER BY j.id",
            id,
        )
        decisions = connection.rows(
            "SELECT output, about, value FROM adjudication WHERE item = ? AND value IS NOT NULL "
            "AND id NOT IN (SELECT supersedes FROM adjudication WHERE supersedes IS NOT NULL) "
            "ORDER BY id",
            id,
        )
        previous, following = connection.row(
            "SELECT (SELECT max(id) FROM item WHERE id < ?1), "
            "(SELECT min(id) FROM item WHERE id > ?1 AND NOT calibration)",
            id,
        )
    return {
        **{"id": id, "segment": row[0], "source": row[1], "context": row[2]},
        **{"references": json.loads(row[3]), "previous": previous, "following": following},
        "outputs": [
            {
                **{"id": output, "text": text, "system": system if revealed else None},
                "scores": scores.get(output, {}),
            }
            for output, text, system in outputs
        ],
        "nuggets": {
            nugget: " / ".join(json.loads(texts)) + " (no longer in the key)" * dropped
            for nugget, texts, dropped in nuggets
        },
        "judgements": [
            {
                **{"assessor": pseudonym(who), "value": json.loads(value), "time": time},
                **{"outputs": json.loads(ids), "seconds": ms / 1000},
            }
            for who, value, ids, ms, time in judgements
        ],
        "decisions": [(output, about, json.loads(value)) for output, about, value in decisions],
    }


def output_letters(store: Store, items: Iterable[int]) -> dict[int, str]:
    """Return the letters by which pages name the outputs of some items."""
    letters: dict[int, str] = {}
    with store.read() as connection:
        for item in {*items}:
            ids = connection.column("SELECT id FROM output WHERE item = ? ORDER BY id", item)
            letters |= {id: chr(65 + k) if k < 26 else str(k + 1) for k, id in enumerate(ids)}
    return letters


# Searches

PAGE = 50
KINDS = ("all", "judged", "unjudged", "disputed")


class Search(NamedTuple):
    """A search; empty criteria match everything."""

    text: str = ""
    kind: str = "all"
    dimension: str = ""
    low: float | None = None
    high: float | None = None
    system: str = ""
    """Only after the reveal."""

    def fits(self, scores: Mapping[str, float]) -> bool:
        """Return whether a score of the dimension (or of any, if "") is in the range."""
        values = [value for name, value in scores.items() if self.dimension in ("", name)]
        low = float("-inf") if self.low is None else self.low
        high = float("inf") if self.high is None else self.high
        return any(low <= value <= high for value in values)


class Page(NamedTuple):
    """One page of rows."""

    rows: list[Any]
    number: int
    pages: int
    total: int


def make_page(rows: list[Any], number: int) -> Page:
    """Return a page of rows; the last one if the number is too high."""
    pages = max(1, -(-len(rows) // PAGE))
    number = min(max(number, 1), pages)
    return Page(rows[(number - 1) * PAGE : number * PAGE], number, pages, len(rows))


def find_segments(store: Store, search: Search, number: int = 1) -> Page:
    """Return a page of the segments that match a search, in set order."""
    if search.kind not in KINDS:
        raise InputError(f"found {quoted(search.kind)}, expected one of {', '.join(KINDS)}")
    disputed = Counter(dispute.item for dispute in find_disputes(store))
    has_range = search.low is not None or search.high is not None
    scores = output_scores(store) if has_range else {}
    with store.read() as connection:
        ids = _items_with_text(connection, search.text)
        judged: dict[int, int] = dict(
            connection.rows(
                "SELECT item, count(*) FROM assignment WHERE judged IS NOT NULL GROUP BY item"
            )
        )
        if search.kind == "disputed":
            ids = [id for id in ids if id in disputed]
        elif search.kind != "all":
            ids = [id for id in ids if (id in judged) == (search.kind == "judged")]
        if has_range or search.system:
            if search.system and connection.value("SELECT state FROM project") != REVEALED:
                raise InputError("the systems are hidden: search by system after the reveal")
            query = "SELECT id, item FROM output WHERE system = ?1 OR ?1 = ''"
            outputs = connection.rows(query, search.system)
            matching = {
                item for id, item in outputs if not has_range or search.fits(scores.get(id, {}))
            }
            ids = [id for id in ids if id in matching]
        page = make_page(ids, number)
        # The text is the source, else the first reference, else the first output.
        query = (
            "SELECT segment, coalesce(nullif(source, ''), json_extract(refs, '$[0]'), "
            "(SELECT text FROM output WHERE item = i.id ORDER BY id), ''), outputs "
            "FROM item i WHERE id = ?"
        )
        rows = []
        for id in page.rows:
            name, text, n_outputs = connection.row(query, id)
            counts = {"outputs": n_outputs, "judged": judged.get(id, 0), "disputes": disputed[id]}
            rows.append({"id": id, "segment": name, "text": text, **counts})
        return page._replace(rows=rows)


def _items_with_text(connection: StoreConnection, text: str) -> list[int]:
    """Return the items whose name, source, references or outputs contain a text."""

    def contains(content: str | None, part: str) -> bool:
        return content is not None and part in content.casefold()

    if not text:
        return connection.column("SELECT id FROM item WHERE NOT calibration ORDER BY ord, id")
    connection.create_function("holds", 2, contains, deterministic=True)
    within = json.dumps(text, ensure_ascii=False)[1:-1]  # as in a JSON list
    return connection.column(
        "SELECT id FROM item WHERE NOT calibration AND (holds(segment, ?1) OR holds(source, ?1) "
        "OR holds(refs, ?2) OR id IN (SELECT item FROM output WHERE holds(text, ?1))) "
        "ORDER BY ord, id",
        *(text.casefold(), within.casefold()),
    )


# The table of outputs

BATCH = 500
"""Outputs per query."""
OFFERED_METRICS = (
    *("bleu", "chrf", "ter", "wer", "gtm", "gtm:e=2", "rouge1", "rouge2", "rougeL", "aev"),
    *("simple_accuracy", "generation_accuracy"),
)
"""Metrics offered on the page, without settings, because some settings name files."""


class OutputRow(NamedTuple):
    """A row of the table."""

    output: int
    item: int
    segment: str
    system: str | None
    """None before the reveal."""
    text: str
    values: Mapping[str, float]
    """Dimension or metric -> score."""


@dataclass(frozen=True)
class OutputTable:
    """All outputs in some order; texts are read only for the rows on display."""

    store: Store
    names: list[str]
    """The columns with scores."""
    ids: list[int]
    revealed: bool
    _people: Scores
    _metrics: Mapping[str, Mapping[int, float]]

    def rows(self, ids: Sequence[int]) -> list[OutputRow]:
        """Return the rows of some outputs."""
        rows: dict[int, OutputRow] = {}
        for at in range(0, len(ids), BATCH):
            batch = ids[at : at + BATCH]
            marks = ", ".join("?" * len(batch))
            with self.store.read() as connection:
                records = connection.rows(
                    "SELECT output.id, item, segment, iif(?, system, NULL), text FROM output "
                    f"JOIN item ON item.id = item WHERE output.id IN ({marks})",
                    *(self.revealed, *batch),
                )
            rows |= {
                record[0]: OutputRow._make((*record, self.values(record[0]))) for record in records
            }
        return [rows[id] for id in ids]

    def values(self, id: int) -> dict[str, float]:
        """Return the scores of an output by people and metrics."""
        metrics = {name: metric_scores[id] for name, metric_scores in self._metrics.items()}
        return {**self._people.get(id, {}), **metrics}


def make_output_table(
    store: Store, metrics: Sequence[str] = (), by: str = "", descending: bool = False
) -> OutputTable:
    """Return all outputs, in segment order or sorted by a column."""
    if unknown := [name for name in metrics if name not in OFFERED_METRICS]:
        expected = f"expected one of {', '.join(OFFERED_METRICS)}"
        raise InputError(f"no metric {quoted(unknown[0])}: {expected}")
    metric_scores = {name: _metric_scores(store, name) for name in metrics}
    current_project = project(store)
    revealed = current_project.state == REVEALED
    column = by if by == "text" or (by == "system" and revealed) else "ord"
    with store.read() as connection:
        ids = connection.column(
            "SELECT output.id FROM output JOIN item ON item.id = item WHERE NOT calibration "
            f"ORDER BY {column}, ord, output.id"
        )
    names = [*score_names(current_project.settings), *metric_scores]
    table = OutputTable(store, names, ids, revealed, output_scores(store), metric_scores)
    if by not in names:
        return replace(table, ids=ids[::-1] if descending else ids)
    sign = -1 if descending else 1
    sort_values = {id: sign * values[by] for id in ids if by in (values := table.values(id))}
    without_score = [id for id in ids if id not in sort_values]  # come last
    return replace(table, ids=sorted(sort_values, key=sort_values.__getitem__) + without_score)


def output_table_lines(table: OutputTable) -> Iterator[str]:
    """Yield the table as CSV."""
    yield csv_line(("segment", "output", "system", *table.names, "text"))
    for row in table.rows(table.ids):
        scores = (row.values.get(name, "") for name in table.names)
        yield csv_line((row.segment, row.output, row.system or "", *scores, row.text))


_ONE_AT_A_TIME = threading.Lock()


def _metric_scores(store: Store, name: str) -> dict[int, float]:
    """Return the scores of all outputs by a metric; cached, because texts never change."""

    def compute() -> dict[int, float]:
        from karat.api import score

        with store.read() as connection:
            rows = connection.rows(
                "SELECT output.id, text, refs FROM output JOIN item ON item.id = item "
                "WHERE NOT calibration"
            )
        references = [json.loads(refs) for _, _, refs in rows]
        if not all(references):
            raise InputError("metrics need references, and some segments have none")
        texts = {"all": [text for _, text, _ in rows]}
        ((_, values),) = score(texts, references, name, segments=True).values.items()
        return {id: float(value) for (id, _, _), value in zip(rows, values, strict=True)}

    with _ONE_AT_A_TIME:
        return store.companion(CachedResults).get(f"metric {name}", None, compute)
