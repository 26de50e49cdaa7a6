"""One segment with all that was said of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

from karat.errors import InputError
from karat.studio.browsing.output_scores import Scores, output_scores
from karat.studio.export.contents import pseudonym
from karat.studio.store.projects import REVEALED
from karat.studio.store.store import Store


class Said(NamedTuple):
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


class Segment(NamedTuple):
    """A segment with everything about it."""

    id: int
    segment: str
    source: str | None
    context: str | None
    references: tuple[str, ...]
    outputs: list[SegmentOutput]
    nuggets: dict[str, str]
    """Description by id."""
    said: list[Said]
    decisions: list[tuple[str, int | None, str, Any]]
    """Task, output, what it is about, and value."""
    previous: int | None
    following: int | None


def segment(store: Store, id: int) -> Segment:
    """Return one segment."""
    scores = output_scores(store)
    with store.read() as connection:
        row = connection.execute(
            "SELECT segment, source, context, refs FROM item WHERE id = ? AND NOT calibration",
            (id,),
        ).fetchone()
        if row is None:
            raise InputError(f"there is no segment {id}")
        return Segment(
            *(id, row[0], row[1], row[2]),
            tuple(json.loads(row[3])),
            _outputs(connection, id, scores),
            _nuggets(connection, id),
            _said(connection, id),
            _decisions(connection, id),
            *_beside(connection, id),
        )


def _outputs(connection: sqlite3.Connection, id: int, scores: Scores) -> list[SegmentOutput]:
    (state,) = connection.execute("SELECT state FROM project").fetchone()
    rows = connection.execute(
        "SELECT id, text, system FROM output WHERE item = ? ORDER BY id", (id,)
    )
    return [
        SegmentOutput(one, text, system if state == REVEALED else None, dict(scores.get(one, {})))
        for one, text, system in rows
    ]


def output_letters(store: Store, items: Iterable[int]) -> dict[int, str]:
    """Return the letter of each output of some items, as pages name outputs before the reveal."""
    found = {}
    with store.read() as connection:
        for item in {*items}:
            rows = connection.execute("SELECT id FROM output WHERE item = ? ORDER BY id", (item,))
            for k, (id,) in enumerate(rows):
                found[id] = chr(65 + k) if k < 26 else str(k + 1)
    return found


def _nuggets(connection: sqlite3.Connection, id: int) -> dict[str, str]:
    rows = connection.execute(
        "SELECT nugget, descriptions, dropped FROM nugget WHERE item = ? "
        "ORDER BY dropped, coalesce(ord, id), id",
        (id,),
    )
    return {
        nugget: " / ".join(json.loads(texts)) + " (no longer in the key)" * dropped
        for nugget, texts, dropped in rows
    }


def _said(connection: sqlite3.Connection, id: int) -> list[Said]:
    rows = connection.execute(
        "SELECT j.assessor, a.task, j.value, a.outputs, j.ms, j.time FROM assignment a "
        "JOIN judgement j ON j.id = a.judged WHERE a.item = ? ORDER BY j.id",
        (id,),
    )
    return [
        Said(pseudonym(who), task, json.loads(value), tuple(json.loads(of)), ms / 1000, time)
        for who, task, value, of, ms, time in rows
    ]


def _decisions(connection: sqlite3.Connection, id: int) -> list[tuple[str, int | None, str, Any]]:
    rows = connection.execute(
        "SELECT task, output, about, value FROM adjudication WHERE item = ? AND value IS NOT NULL "
        "AND id NOT IN (SELECT supersedes FROM adjudication WHERE supersedes IS NOT NULL) "
        "ORDER BY id",
        (id,),
    )
    return [(task, output, about, json.loads(value)) for task, output, about, value in rows]


def _beside(connection: sqlite3.Connection, id: int) -> tuple[int | None, int | None]:
    """Return the segments before and after, whose ids are in the order of the set."""
    found: tuple[int | None, int | None] = connection.execute(
        "SELECT (SELECT max(id) FROM item WHERE id < ?1), "
        "(SELECT min(id) FROM item WHERE id > ?1 AND NOT calibration)",
        (id,),
    ).fetchone()
    return found
