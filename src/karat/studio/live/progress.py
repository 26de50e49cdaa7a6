"""Coverage of the project, and progress, speed and calibration of each assessor."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from statistics import median
from typing import NamedTuple

from karat.studio.disputes import find_disputes
from karat.studio.export.contents import Contents
from karat.studio.live.state import remember
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


def read_workloads(store: Store) -> Mapping[int, Workload]:
    """Return the work of each assessor, without calibration."""
    return remember(store, "work", _compute_workloads)


def list_progress(store: Store, work: Mapping[int, Workload]) -> list[AssessorProgress]:
    """Return the progress of everybody who was invited."""
    calibration_by_name = {
        assessor.assessor: assessor.likeness for assessor in calibration_scores(store)
    }
    return [
        _make_progress(assessor, work.get(assessor.id), calibration_by_name.get(assessor.name))
        for assessor in assessors(store)
    ]


def _make_progress(
    assessor: Assessor, work: Workload | None, calibration: float | None
) -> AssessorProgress:
    identity = (
        assessor.id,
        assessor.name,
        assessor.role,
        assessor.active,
        assessor.judged,
        assessor.quota,
    )
    if work is None:
        return AssessorProgress(*identity, 0, None, None, calibration)
    return AssessorProgress(*identity, *work, calibration)


def _compute_workloads(contents: Contents) -> dict[int, Workload]:
    answers: dict[int, list[tuple[str, int]]] = {}
    for answer in contents.answers:
        answers.setdefault(answer.assessor, []).append((answer.time, answer.ms))
    return {assessor: _summarize_answers(times) for assessor, times in answers.items()}


def _summarize_answers(answers: list[tuple[str, int]]) -> Workload:
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
    """Open disputes."""
    settled: int


def coverage(store: Store) -> Coverage:
    """Return the counts of a project."""
    disputes = find_disputes(store, settled=True)
    unsettled = sum(not dispute.settled for dispute in disputes)
    with store.read() as connection:
        current_project = project_in(connection)
        overlap = current_project.settings.overlap
        judged, complete, answers, counted = connection.row(
            "SELECT count(*), coalesce(sum(n >= ?1), 0), coalesce(sum(n), 0), "
            "coalesce(sum(min(n, ?1)), 0) FROM (SELECT count(*) AS n FROM assignment "
            "JOIN item ON item.id = item WHERE judged IS NOT NULL AND NOT calibration "
            "GROUP BY unit)",
            overlap,
        )
    needed = current_project.units * overlap - counted
    counts = current_project.units, judged, complete, overlap, answers, needed
    return Coverage(*counts, unsettled, len(disputes) - unsettled)
