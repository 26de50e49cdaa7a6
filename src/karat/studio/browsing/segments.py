"""Segments by search and filter."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.studio.browsing.output_scores import Scores, output_scores
from karat.studio.live.disputes import disputes
from karat.studio.store.projects import REVEALED
from karat.studio.store.store import Store

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
    """Some of the rows that were found."""

    rows: list[Any]
    number: int
    pages: int
    total: int


def paged(rows: list[Any], number: int, size: int = PAGE) -> Page:
    """Return a page of rows, the last one if there are not so many."""
    pages = max(1, -(-len(rows) // size))
    number = min(max(number, 1), pages)
    return Page(rows[(number - 1) * size : number * size], number, pages, len(rows))


def find_segments(store: Store, search: Search, number: int = 1) -> Page:
    """Return a page of the segments that fit a search, in the order of the set."""
    if search.kind not in KINDS:
        raise InputError(f"found {quoted(search.kind)}, expected one of {', '.join(KINDS)}")
    disputed = _disputed(store)
    by_score = search.low is not None or search.high is not None
    scores = output_scores(store) if by_score else {}
    with store.read() as connection:
        ids = _with_text(connection, search.text)
        judged = _judged(connection)
        if search.kind == "disputed":
            ids = [id for id in ids if id in disputed]
        elif search.kind != "all":
            ids = [id for id in ids if (id in judged) == (search.kind == "judged")]
        if by_score or search.system:
            fitting = _with_output(connection, search, scores if by_score else None)
            ids = [id for id in ids if id in fitting]
        page = paged(ids, number)
        return page._replace(rows=[_line(connection, id, judged, disputed) for id in page.rows])


def _disputed(store: Store) -> dict[int, int]:
    found: dict[int, int] = {}
    for one in disputes(store):
        found[one.item] = found.get(one.item, 0) + 1
    return found


def _with_text(connection: sqlite3.Connection, text: str) -> list[int]:
    """Return the items whose name, source, references or outputs hold a text."""
    query = "SELECT id FROM item WHERE NOT calibration"
    given: tuple[str, ...] = ()
    if text:
        connection.create_function("holds", 2, _holds, deterministic=True)
        query += (
            " AND (holds(segment, ?1) OR holds(source, ?1) OR holds(refs, ?2)"
            " OR id IN (SELECT item FROM output WHERE holds(text, ?1)))"
        )
        within = json.dumps(text, ensure_ascii=False)[1:-1]  # as a JSON list has it
        given = text.casefold(), within.casefold()
    return [id for (id,) in connection.execute(f"{query} ORDER BY ord, id", given)]


def _holds(text: str | None, part: str) -> bool:
    return text is not None and part in text.casefold()


def _judged(connection: sqlite3.Connection) -> dict[int, int]:
    """Return how many complete answers each item has."""
    rows = connection.execute(
        "SELECT item, count(*) FROM assignment WHERE judged IS NOT NULL GROUP BY item"
    )
    return dict(rows.fetchall())


def _with_output(connection: sqlite3.Connection, search: Search, scores: Scores | None) -> set[int]:
    """Return the items with an output of the system whose score is in the range."""
    query = "SELECT id, item FROM output"
    given: tuple[str, ...] = ()
    if search.system:
        (state,) = connection.execute("SELECT state FROM project").fetchone()
        if state != REVEALED:
            raise InputError("the systems are hidden: search by system after the reveal")
        query, given = f"{query} WHERE system = ?", (search.system,)
    rows = connection.execute(query, given)
    return {item for id, item in rows if scores is None or _in_range(scores.get(id, {}), search)}


def _in_range(scores: Any, search: Search) -> bool:
    found = [scores[search.dimension]] if search.dimension in scores else []
    found = found if search.dimension else [*scores.values()]
    low = float("-inf") if search.low is None else search.low
    high = float("inf") if search.high is None else search.high
    return any(low <= value <= high for value in found)


def _line(
    connection: sqlite3.Connection, id: int, judged: dict[int, int], disputed: dict[int, int]
) -> FoundSegment:
    row = connection.execute(
        "SELECT segment, coalesce(nullif(source, ''), json_extract(refs, '$[0]'), "
        "(SELECT text FROM output WHERE item = i.id ORDER BY id), ''), outputs "
        "FROM item i WHERE id = ?",
        (id,),
    ).fetchone()
    name, text, outputs = row
    return FoundSegment(id, name, text, outputs, judged.get(id, 0), disputed.get(id, 0))
