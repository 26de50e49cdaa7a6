"""The score of each output in each dimension: what was adjudicated, else the mean of people."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from karat.errors import InputError, quoted
from karat.evalset.judgements import ADJUDICATED
from karat.studio.contents import Contents, pseudonym, remember
from karat.studio.disputes import find_disputes
from karat.studio.export.formats import csv_line
from karat.studio.export.sets import all_values
from karat.studio.store.projects import REVEALED, project
from karat.studio.store.schema import StoreConnection
from karat.studio.store.settings import ProjectSettings
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS

Scores = Mapping[int, Mapping[str, float]]
"""Output -> dimension -> score."""


def score_names(settings: ProjectSettings) -> list[str]:
    """Return the dimensions in which outputs have scores; for nuggets, the share supported."""
    nuggets = [NUGGETS.name] if settings.has(NUGGETS) else []
    return [dimension.name for dimension in settings.dimensions] + nuggets


def output_scores(store: Store) -> Scores:
    """Return the scores of all outputs that somebody judged."""
    return remember(store, "scores", _mean_scores)


def _mean_scores(contents: Contents) -> Scores:
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
    for output, share in _nugget_shares(contents):
        scores[output][NUGGETS.name] = share
    return dict(scores)


def _nugget_shares(contents: Contents) -> Iterator[tuple[int, float]]:
    """Yield the mean label of the nuggets of each response."""
    labels_by_output: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for answer in contents.answers_to(NUGGETS):
        for output, nugget, value in NUGGETS.to_judgements(answer.value, answer.outputs):
            labels_by_output[output][nugget].append(value)
    for decision in contents.decisions_on(NUGGETS):
        if decision.output in labels_by_output:
            labels_by_output[decision.output][decision.about] = [NUGGETS.decided_label(decision)]
    for output, labels in labels_by_output.items():
        if labels:
            yield output, fmean(fmean(values) for values in labels.values())


class JudgementView(NamedTuple):
    """An answer of an assessor on an output or a pair."""

    assessor: str
    """A pseudonym."""
    task: str
    value: Any
    outputs: tuple[int, ...]
    seconds: float
    time: str


class SegmentOutput(NamedTuple):
    """An output with its scores."""

    id: int
    text: str
    system: str | None
    """None before the reveal."""
    scores: dict[str, float]


class SegmentView(NamedTuple):
    """A segment with everything about it."""

    id: int
    segment: str
    source: str | None
    context: str | None
    references: tuple[str, ...]
    outputs: list[SegmentOutput]
    nuggets: dict[str, str]
    """Description by id."""
    judgements: list[JudgementView]
    decisions: list[tuple[str, int | None, str, Any]]
    """Task, output, what it is about, and value."""
    previous: int | None
    following: int | None


def segment(store: Store, id: int) -> SegmentView:
    """Return one segment."""
    scores = output_scores(store)
    with store.read() as connection:
        row = connection.row(
            "SELECT segment, source, context, refs FROM item WHERE id = ? AND NOT calibration", id
        )
        if row is None:
            raise InputError(f"there is no segment {id}")
        return SegmentView(
            *(id, row[0], row[1], row[2]),
            tuple(json.loads(row[3])),
            _segment_outputs(connection, id, scores),
            _nugget_texts(connection, id),
            _judgement_views(connection, id),
            _decisions(connection, id),
            *_neighbour_ids(connection, id),
        )


def _segment_outputs(connection: StoreConnection, id: int, scores: Scores) -> list[SegmentOutput]:
    state = connection.value("SELECT state FROM project")
    rows = connection.execute(
        "SELECT id, text, system FROM output WHERE item = ? ORDER BY id", (id,)
    )
    return [
        SegmentOutput(
            output_id, text, system if state == REVEALED else None, dict(scores.get(output_id, {}))
        )
        for output_id, text, system in rows
    ]


def output_letters(store: Store, items: Iterable[int]) -> dict[int, str]:
    """Return the letter of each output of some items, as pages name outputs before the reveal."""
    letters = {}
    with store.read() as connection:
        for item in {*items}:
            rows = connection.execute("SELECT id FROM output WHERE item = ? ORDER BY id", (item,))
            for k, (id,) in enumerate(rows):
                letters[id] = chr(65 + k) if k < 26 else str(k + 1)
    return letters


def _nugget_texts(connection: StoreConnection, id: int) -> dict[str, str]:
    rows = connection.execute(
        "SELECT nugget, descriptions, dropped FROM nugget WHERE item = ? "
        "ORDER BY dropped, coalesce(ord, id), id",
        (id,),
    )
    return {
        nugget: " / ".join(json.loads(texts)) + " (no longer in the key)" * dropped
        for nugget, texts, dropped in rows
    }


def _judgement_views(connection: StoreConnection, id: int) -> list[JudgementView]:
    rows = connection.execute(
        "SELECT j.assessor, a.task, j.value, a.outputs, j.ms, j.time FROM assignment a "
        "JOIN judgement j ON j.id = a.judged WHERE a.item = ? ORDER BY j.id",
        (id,),
    )
    return [
        JudgementView(
            pseudonym(who), task, json.loads(value), tuple(json.loads(of)), ms / 1000, time
        )
        for who, task, value, of, ms, time in rows
    ]


def _decisions(connection: StoreConnection, id: int) -> list[tuple[str, int | None, str, Any]]:
    rows = connection.execute(
        "SELECT task, output, about, value FROM adjudication WHERE item = ? AND value IS NOT NULL "
        "AND id NOT IN (SELECT supersedes FROM adjudication WHERE supersedes IS NOT NULL) "
        "ORDER BY id",
        (id,),
    )
    return [(task, output, about, json.loads(value)) for task, output, about, value in rows]


def _neighbour_ids(connection: StoreConnection, id: int) -> tuple[int | None, int | None]:
    """Return the segments before and after, whose ids are in the order of the set."""
    neighbours: tuple[int | None, int | None] = connection.row(
        "SELECT (SELECT max(id) FROM item WHERE id < ?1), "
        "(SELECT min(id) FROM item WHERE id > ?1 AND NOT calibration)",
        id,
    )
    return neighbours


PAGE = 50
KINDS = ("all", "judged", "unjudged", "disputed")


class Search(NamedTuple):
    """A search; empty parts find everything."""

    text: str = ""
    kind: str = "all"
    dimension: str = ""
    low: float | None = None
    high: float | None = None
    system: str = ""
    """After the reveal only."""


class FoundSegment(NamedTuple):
    """A line of the list."""

    id: int
    segment: str
    text: str
    """The source, else the first reference, else the first output."""
    outputs: int
    judged: int
    """Complete answers of assessors."""
    disputes: int


class Page(NamedTuple):
    """One page of rows."""

    rows: list[Any]
    number: int
    pages: int
    total: int


def make_page(rows: list[Any], number: int, size: int = PAGE) -> Page:
    """Return a page of rows, the last one if there are not so many."""
    pages = max(1, -(-len(rows) // size))
    number = min(max(number, 1), pages)
    return Page(rows[(number - 1) * size : number * size], number, pages, len(rows))


def find_segments(store: Store, search: Search, number: int = 1) -> Page:
    """Return a page of the segments that fit a search, in the order of the set."""
    if search.kind not in KINDS:
        raise InputError(f"found {quoted(search.kind)}, expected one of {', '.join(KINDS)}")
    disputed = _count_disputes(store)
    by_score = search.low is not None or search.high is not None
    scores = output_scores(store) if by_score else {}
    with store.read() as connection:
        ids = _items_with_text(connection, search.text)
        judged = _count_answers(connection)
        if search.kind == "disputed":
            ids = [id for id in ids if id in disputed]
        elif search.kind != "all":
            ids = [id for id in ids if (id in judged) == (search.kind == "judged")]
        if by_score or search.system:
            fitting = _items_with_output(connection, search, scores if by_score else None)
            ids = [id for id in ids if id in fitting]
        page = make_page(ids, number)
        return page._replace(
            rows=[_summarize_segment(connection, id, judged, disputed) for id in page.rows]
        )


def _count_disputes(store: Store) -> dict[int, int]:
    counts: dict[int, int] = {}
    for dispute in find_disputes(store):
        counts[dispute.item] = counts.get(dispute.item, 0) + 1
    return counts


def _items_with_text(connection: StoreConnection, text: str) -> list[int]:
    """Return the items whose name, source, references or outputs hold a text."""
    query = "SELECT id FROM item WHERE NOT calibration"
    parameters: tuple[str, ...] = ()
    if text:
        connection.create_function("holds", 2, _contains, deterministic=True)
        query += (
            " AND (holds(segment, ?1) OR holds(source, ?1) OR holds(refs, ?2)"
            " OR id IN (SELECT item FROM output WHERE holds(text, ?1)))"
        )
        within = json.dumps(text, ensure_ascii=False)[1:-1]  # as a JSON list has it
        parameters = text.casefold(), within.casefold()
    return [id for (id,) in connection.execute(f"{query} ORDER BY ord, id", parameters)]


def _contains(text: str | None, part: str) -> bool:
    return text is not None and part in text.casefold()


def _count_answers(connection: StoreConnection) -> dict[int, int]:
    """Return how many complete answers each item has."""
    rows = connection.execute(
        "SELECT item, count(*) FROM assignment WHERE judged IS NOT NULL GROUP BY item"
    )
    return dict(rows.fetchall())


def _items_with_output(
    connection: StoreConnection, search: Search, scores: Scores | None
) -> set[int]:
    """Return the items with an output of the system whose score is in the range."""
    query = "SELECT id, item FROM output"
    parameters: tuple[str, ...] = ()
    if search.system:
        state = connection.value("SELECT state FROM project")
        if state != REVEALED:
            raise InputError("the systems are hidden: search by system after the reveal")
        query, parameters = f"{query} WHERE system = ?", (search.system,)
    rows = connection.execute(query, parameters)
    return {item for id, item in rows if scores is None or _in_range(scores.get(id, {}), search)}


def _in_range(scores: Any, search: Search) -> bool:
    values = [scores[search.dimension]] if search.dimension in scores else []
    values = values if search.dimension else [*scores.values()]
    low = float("-inf") if search.low is None else search.low
    high = float("inf") if search.high is None else search.high
    return any(low <= value <= high for value in values)


def _summarize_segment(
    connection: StoreConnection, id: int, judged: dict[int, int], disputed: dict[int, int]
) -> FoundSegment:
    row = connection.row(
        "SELECT segment, coalesce(nullif(source, ''), json_extract(refs, '$[0]'), "
        "(SELECT text FROM output WHERE item = i.id ORDER BY id), ''), outputs "
        "FROM item i WHERE id = ?",
        id,
    )
    name, text, outputs = row
    return FoundSegment(id, name, text, outputs, judged.get(id, 0), disputed.get(id, 0))


BATCH = 500
"""Outputs that are read at once."""
OFFERED_METRICS = (
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
            records = connection.rows(
                "SELECT output.id, item, segment, system, text FROM output "
                f"JOIN item ON item.id = item WHERE output.id IN ({marks})",
                *tuple(ids),
            )
        rows = {row[0]: self._row(*row) for row in records}
        return [rows[id] for id in ids]

    def _row(self, id: int, item: int, segment: str, system: str, text: str) -> OutputRow:
        visible_system = system if self.revealed else None
        return OutputRow(item, segment, id, visible_system, text, self.values(id))

    def values(self, id: int) -> dict[str, float]:
        """Return the scores of an output by people and metrics."""
        return {
            **self._people.get(id, {}),
            **{name: metric_scores[id] for name, metric_scores in self._metrics.items()},
        }


def make_output_table(
    store: Store, metrics: Sequence[str] = (), by: str = "", descending: bool = False
) -> OutputTable:
    """Return all outputs, in the order of segments or by a column."""
    if unknown := [name for name in metrics if name not in OFFERED_METRICS]:
        raise InputError(
            f"no metric {quoted(unknown[0])}: expected one of {', '.join(OFFERED_METRICS)}"
        )
    metric_scores = {name: _metric_scores(store, name) for name in metrics}
    current_project = project(store)
    revealed = current_project.state == REVEALED
    column = _SORT_COLUMNS.get(by if revealed or by != "system" else "", "ord")
    names = [*score_names(current_project.settings), *metric_scores]
    table = OutputTable(
        store, names, _output_ids(store, column), revealed, output_scores(store), metric_scores
    )
    return replace(table, ids=_sort_ids(table, by, descending))


_SORT_COLUMNS = {"text": "text", "system": "system"}


def _output_ids(store: Store, column: str) -> list[int]:
    with store.read() as connection:
        rows = connection.rows(
            "SELECT output.id FROM output JOIN item ON item.id = item WHERE NOT calibration "
            f"ORDER BY {column}, ord, output.id"
        )
    return [id for (id,) in rows]


def _sort_ids(table: OutputTable, by: str, descending: bool) -> list[int]:
    """Return outputs by a column; those without a score come last."""
    if by not in table.names:
        return table.ids[::-1] if descending else table.ids
    sign = -1 if descending else 1
    sort_values = {id: sign * values[by] for id in table.ids if by in (values := table.values(id))}
    return sorted(sort_values, key=sort_values.__getitem__) + [
        id for id in table.ids if id not in sort_values
    ]


def output_table_lines(table: OutputTable) -> Iterator[str]:
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
        scores_by_metric = _SCORED.setdefault(store, {})
        if name not in scores_by_metric:
            scores_by_metric[name] = _score_outputs(store, name)
        return scores_by_metric[name]


def _score_outputs(store: Store, name: str) -> dict[int, float]:
    from karat.api import score

    with store.read() as connection:
        rows = connection.rows(
            "SELECT output.id, text, refs FROM output JOIN item ON item.id = item "
            "WHERE NOT calibration"
        )
    references = [json.loads(refs) for _, _, refs in rows]
    if not all(references):
        raise InputError("metrics need references, and some segments have none")
    score_table = score({"all": [text for _, text, _ in rows]}, references, name, segments=True)
    ((_, values),) = score_table.values.items()
    return {id: float(value) for (id, _, _), value in zip(rows, values, strict=True)}
