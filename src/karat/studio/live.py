"""Live results of a store: coverage, progress, agreement, disputes and estimates."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from karat.errors import InputError, KaratError, OutputError
from karat.evalset.draft import EvalSetDraft
from karat.evalset.reading import Reading
from karat.evalset.sets import EvalSet
from karat.studio.contents import ESTIMATES_EVENT, Contents, Version, read_version, remember
from karat.studio.disputes import Dispute, find_disputes
from karat.studio.export.sets import assessor_preferences, make_evalset, make_nugget_set
from karat.studio.store.judgements import view_in
from karat.studio.store.people import Assessor, assessors, record, stamp
from karat.studio.store.projects import REVEALED, project_in
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, PAIRS, TASKS
from karat.studio.tasks.pairs import WIN
from karat.studio.tasks.task import AssignmentView

if TYPE_CHECKING:
    from karat.estimation.estimate_results import Estimate
    from karat.meta.judge_agreement import JudgeAgreement


class CalibrationScore(NamedTuple):
    """Agreement of an assessor with the known answers."""

    assessor: str
    judged: int
    likeness: float
    """The mean over calibration units, from 0 to 1."""


def calibration_scores(store: Store) -> list[CalibrationScore]:
    """Return the score of every assessor who judged a calibration unit."""
    with store.read() as connection:
        rows = connection.rows(
            "SELECT assessor.name, assignment.id, value, answer FROM assignment "
            "JOIN unit ON unit.id = unit JOIN judgement ON judgement.id = assignment.judged "
            "JOIN assessor ON assessor.id = assignment.assessor "
            "WHERE answer IS NOT NULL ORDER BY assessor.id, assignment.id"
        )
        scores: dict[str, list[float]] = {}
        for name, assignment, value, answer in rows:
            view = view_in(connection, assignment)
            scores.setdefault(name, []).append(_compare_answers(view, json.loads(value), answer))
    return [CalibrationScore(name, len(values), fmean(values)) for name, values in scores.items()]


def _compare_answers(view: AssignmentView, value: Mapping[str, Any], answer: str) -> float:
    return TASKS[view.task].likeness(value, json.loads(answer), view)


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


def get_evalset(store: Store) -> EvalSet:
    """Return ratings, penalties, scores and win shares under pseudonyms."""
    return remember(store, "set", make_evalset)


def make_pair_set(contents: Contents) -> EvalSet:
    """Return a set in which each pair is a segment, and its value the share of the first output."""
    preferences = assessor_preferences(contents)
    units = {(row.first, row.second): f"{row.first}-{row.second}" for row in preferences}
    name = contents.project.name
    draft = EvalSetDraft(
        name,
        list(units.values()),
        {PAIRS.name: list(units.values())},
        reading=Reading(),
        location=name,
        dimensions=[WIN],
    )
    for row in preferences:
        draft.judge(PAIRS.name, units[row.first, row.second], row.judge, WIN.name, row.share)
    return draft.finish()


def drop_pairs(contents: Contents) -> Contents:
    """Return all but comparisons."""
    tasks = {
        name: task_settings
        for name, task_settings in contents.project.settings.tasks.items()
        if name != PAIRS.name
    }
    settings = replace(contents.project.settings, tasks=tasks)
    return replace(
        contents,
        project=contents.project._replace(settings=settings),
        answers=tuple(row for row in contents.answers if row.task != PAIRS.name),
        decisions=tuple(row for row in contents.decisions if row.task != PAIRS.name),
    )


@dataclass(frozen=True)
class LiveAgreement:
    """Agreement in ratings and penalties, pairs and nuggets; None without judgements."""

    ratings: JudgeAgreement | None
    pairs: JudgeAgreement | None
    """On pairs that several compared: shares of wins would differ by the pairs that each saw."""
    nuggets: JudgeAgreement | None
    """With Cohen's kappa by judge and pair."""

    @property
    def results(self) -> list[JudgeAgreement]:
        """All results that are not None."""
        return [result for result in (self.ratings, self.pairs, self.nuggets) if result]


def get_agreement(store: Store) -> LiveAgreement:
    """Return alpha, each judge against the others, and identical judges, under pseudonyms."""
    return remember(store, "agreement", partial(_compute_agreement, store))


def _compute_agreement(store: Store, contents: Contents) -> LiveAgreement:
    from karat.meta.judge_agreement import judge_agreement  # the studio starts without it

    tasks = {answer.task for answer in contents.answers}
    return LiveAgreement(
        judge_agreement(_rated_set(store, contents))
        if tasks - {NUGGETS.name, PAIRS.name}
        else None,
        judge_agreement(make_pair_set(contents)) if PAIRS.name in tasks else None,
        judge_agreement(make_nugget_set(contents)) if NUGGETS.name in tasks else None,
    )


def _rated_set(store: Store, contents: Contents) -> EvalSet:
    """Return ratings and penalties: win shares would differ by the pairs that each saw."""
    compared = contents.project.settings.has(PAIRS)
    return make_evalset(drop_pairs(contents)) if compared else get_evalset(store)


@dataclass(frozen=True)
class LiveEstimate:
    """The estimate of a dimension; without one, the reason."""

    dimension: str
    estimate: Estimate | None
    """Scores with intervals; `more` of a row is how many further labels halve the width."""
    reason: str = ""


def ask_estimates(store: Store, owner: int) -> None:
    """Record that an owner wants estimates before the reveal; once is enough."""
    with store.write() as connection:
        _check_owner(connection, owner)
        if not _has_asked(connection, owner):
            record(connection, ESTIMATES_EVENT, owner)


def has_asked_for_estimates(store: Store, owner: int) -> bool:
    """Return whether an owner has asked for estimates."""
    with store.read() as connection:
        return _has_asked(connection, owner)


def check_may_see_estimates(store: Store, owner: int) -> None:
    """Raise InputError before the reveal unless the owner has asked for estimates."""
    with store.read() as connection:
        _check_owner(connection, owner)
        state = connection.value("SELECT state FROM project")
        if state != REVEALED and not _has_asked(connection, owner):
            advice = "reveal the systems, or ask for estimates, which is recorded"
            raise InputError(f"estimates would tell which systems lead: {advice}")


def estimates(store: Store) -> list[LiveEstimate]:
    """Return the estimate of each dimension: for owners who may see them."""
    return remember(store, "estimates", partial(_compute_estimates, store))


def _check_owner(connection: StoreConnection, id: int) -> None:
    row = connection.row("SELECT 1 FROM assessor WHERE id = ? AND role = 'owner' AND active", id)
    if row is None:
        raise InputError("estimates are for the owner of the project alone")


def _has_asked(connection: StoreConnection, owner: int) -> bool:
    query = "SELECT 1 FROM event WHERE what = ? AND assessor = ?"
    return connection.row(query, ESTIMATES_EVENT, owner) is not None


def _compute_estimates(store: Store, contents: Contents) -> list[LiveEstimate]:
    from karat.estimation.estimates import estimate  # the studio starts without it

    settings, live_estimates = contents.project.settings, []
    if dimensions := settings.dimensions:
        evalset = get_evalset(store)
        live_estimates = [
            _try_estimate(dimension.name, partial(estimate, evalset, dimension.name))
            for dimension in dimensions
        ]
    if settings.has(NUGGETS):
        live_estimates.append(
            _try_estimate(NUGGETS.name, partial(estimate, make_nugget_set(contents)))
        )
    return live_estimates


def _try_estimate(dimension: str, make: partial[Estimate]) -> LiveEstimate:
    """Return an estimate, or why there is none yet."""
    try:
        return LiveEstimate(dimension, make())
    except InputError as error:
        return LiveEstimate(dimension, None, str(error))


MAX_DISPUTES = 10


class LiveResults(NamedTuple):
    """Results of one version of a store."""

    version: Version
    time: str
    """When they were computed."""
    coverage: Coverage
    agreement: LiveAgreement
    work: Mapping[int, Workload]
    disputes: list[Dispute]
    """The largest."""
    estimates: list[LiveEstimate]
    """Empty before somebody may see them."""


def compute_live_results(store: Store) -> LiveResults:
    """Compute the results of the current version of a store."""
    with store.read() as connection:
        version = read_version(connection)
        may_estimate = version.has_asked or version.state == REVEALED
        return LiveResults(
            version,
            stamp(),
            coverage(store),
            get_agreement(store),
            read_workloads(store),
            find_disputes(store)[:MAX_DISPUTES],
            estimates(store) if may_estimate else [],
        )


LOWER = 10
"""The priority: steps below that of the studio."""


class Worker:
    """The process, as the studio knows it; one question at a time."""

    def __init__(self, path: Path) -> None:
        context = get_context("spawn")
        try:
            self._pipe, worker_end = context.Pipe()
            self._process = context.Process(target=serve, args=(worker_end, str(path)), daemon=True)
            self._process.start()
        except OSError as error:
            reason = error.strerror or error
            raise OutputError(f"the live results could not be computed: {reason}") from None
        worker_end.close()  # so that an end of the process is noticed

    def ask(self) -> LiveResults:
        """Return the results as they are now."""
        try:
            self._pipe.send(None)
            reply = self._pipe.recv()
        except (EOFError, OSError):
            raise OutputError("the live results could not be computed: try again") from None
        if isinstance(reply, KaratError):
            raise reply
        results: LiveResults = reply
        return results


def serve(pipe: Connection, path: str) -> None:
    """Compute whenever asked, until the studio ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the studio, and that ends this
    if hasattr(os, "nice"):
        os.nice(LOWER)
    with suppress(OSError):  # the studio no longer listens
        try:
            with Store.reading(path) as store:
                while _wait_for_request(pipe):
                    pipe.send(_results(store))
        except KaratError as error:  # it is not a store any more
            if _wait_for_request(pipe):
                pipe.send(error)


def _results(store: Store) -> LiveResults | KaratError:
    try:
        with store.intact():
            return compute_live_results(store)
    except KaratError as error:
        return error


def _wait_for_request(pipe: Connection) -> bool:
    try:
        pipe.recv()
    except (EOFError, OSError):
        return False
    return True


FEW = 5000
"""Judgements of which results take a fraction of a second."""
PATIENCE = 0.5
"""Seconds that somebody waits for newer results."""


class LatestResults:
    """The results of one store."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._known: LiveResults | None = None
        self._fault: KaratError | None = None
        self._busy = False
        self._rests_until = 0.0
        self._worker: Worker | None = None

    def get(self, store: Store) -> LiveResults | None:
        """Return the newest results; None if there are none yet."""
        with store.read() as connection:
            version = read_version(connection)
        with self._changed:
            if self._is_known(version):
                return self._known
            if version.judgement < FEW:
                self._known = compute_live_results(store)
                return self._known
            self._begin(store)
            self._changed.wait_for(lambda: self._is_known(version) or not self._busy, PATIENCE)
            if self._fault and self._known is None:
                raise self._fault
            return self._known

    def _is_known(self, version: Version) -> bool:
        return self._known is not None and self._known.version == version

    def _begin(self, store: Store) -> None:
        """Let the process compute, if it does not yet and has rested."""
        if not self._busy and time.monotonic() >= self._rests_until:
            self._busy = True
            threading.Thread(target=self._compute, args=(store,), daemon=True).start()

    def _compute(self, store: Store) -> None:
        begun, results, fault = time.monotonic(), None, None
        try:
            self._worker = self._worker or Worker(store.path)
            results = self._worker.ask()
        except KaratError as error:
            self._worker, fault = None, error
        with self._changed:
            self._known, self._fault = results or self._known, fault
            self._busy = False
            self._rests_until = 2 * time.monotonic() - begun  # as long as it took
            self._changed.notify_all()


_LATEST: WeakKeyDictionary[Store, LatestResults] = WeakKeyDictionary()
_LATEST_LOCK = threading.Lock()


def get_latest_results(store: Store) -> LiveResults | None:
    """Return the newest results of an open store; None if they are being computed."""
    with _LATEST_LOCK:
        latest = _LATEST.setdefault(store, LatestResults())
    return latest.get(store)
