"""Progress of each assessor: what is done, how fast, and how well calibration items were judged."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from statistics import median
from typing import NamedTuple

from karat.studio.disputes import disputes
from karat.studio.export.contents import Contents
from karat.studio.live.state import remembered
from karat.studio.store.assessors import Assessor, assessors
from karat.studio.store.calibration import calibration_scores
from karat.studio.store.projects import project_in
from karat.studio.store.store import Store

HOUR = timedelta(hours=1)


class AssessorProgress(NamedTuple):
    """The work of one assessor."""

    id: int
    name: str
    role: str
    active: bool
    done: int
    quota: int | None
    pace: int
    """Answers in the hour before the newest one."""
    seconds: float | None
    """Median time for an answer; None without answers."""
    newest: str | None
    """Time of the newest answer."""
    calibration: float | None
    """Agreement with known answers, from 0 to 1; None if none was judged."""


class Workload(NamedTuple):
    """The answers of an assessor: how fast, and when the newest was given."""

    pace: int
    seconds: float
    newest: str


def work_done(store: Store) -> Mapping[int, Workload]:
    """Return the work of each assessor, without calibration."""
    return remembered(store, "work", _work)


def assessor_progress(store: Store, work: Mapping[int, Workload]) -> list[AssessorProgress]:
    """Return the progress of everybody who was invited."""
    known = {one.assessor: one.likeness for one in calibration_scores(store)}
    return [_progress(one, work.get(one.id), known.get(one.name)) for one in assessors(store)]


def _progress(one: Assessor, work: Workload | None, calibration: float | None) -> AssessorProgress:
    about = one.id, one.name, one.role, one.active, one.judged, one.quota
    if work is None:
        return AssessorProgress(*about, 0, None, None, calibration)
    return AssessorProgress(*about, *work, calibration)


def _work(contents: Contents) -> dict[int, Workload]:
    answers: dict[int, list[tuple[str, int]]] = {}
    for one in contents.answers:
        answers.setdefault(one.assessor, []).append((one.time, one.ms))
    return {assessor: _of(own) for assessor, own in answers.items()}


def _of(answers: list[tuple[str, int]]) -> Workload:
    newest = max(time for time, _ in answers)
    # Times are texts of one width in UTC, which sort as the times do.
    since = (datetime.fromisoformat(newest) - HOUR).isoformat(timespec="milliseconds")
    pace = sum(time > since for time, _ in answers)
    return Workload(pace, median(ms for _, ms in answers) / 1000, newest)


class Coverage(NamedTuple):
    """Counts without calibration."""

    units: int
    judged: int
    """Units with an answer."""
    complete: int
    """Units with as many answers as the overlap asks for."""
    overlap: int
    answers: int
    needed: int
    """Answers until all units are complete."""
    disputes: int
    """Disputes that nobody has settled."""
    settled: int


def coverage(store: Store) -> Coverage:
    """Return the counts of a project."""
    every = disputes(store, settled=True)
    unsettled = sum(not one.settled for one in every)
    with store.read() as connection:
        found = project_in(connection)
        overlap = found.settings.overlap
        judged, complete, answers, counted = connection.execute(
            "SELECT count(*), coalesce(sum(n >= ?1), 0), coalesce(sum(n), 0), "
            "coalesce(sum(min(n, ?1)), 0) FROM (SELECT count(*) AS n FROM assignment "
            "JOIN item ON item.id = item WHERE judged IS NOT NULL AND NOT calibration "
            "GROUP BY unit)",
            (overlap,),
        ).fetchone()
    needed = found.units * overlap - counted
    counts = found.units, judged, complete, overlap, answers, needed
    return Coverage(*counts, unsettled, len(every) - unsettled)
