"""Live results of a store: coverage, progress, agreement, disputes and estimates."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, NamedTuple

from karat.errors import InputError, KaratError, OutputError
from karat.evalset.draft import EvalSetDraft
from karat.evalset.reading import Reading
from karat.evalset.sets import EvalSet
from karat.studio.contents import (
    ESTIMATES_EVENT,
    Contents,
    Version,
    computed_once,
    outputs_in,
    read_version,
)
from karat.studio.disputes import Dispute, find_disputes
from karat.studio.export.sets import assessor_preferences, make_evalset, make_nugget_set
from karat.studio.store.judgements import view_in
from karat.studio.store.people import OWNER, Assessor, assessors, record, role_in, stamp
from karat.studio.store.projects import REVEALED, project_in
from karat.studio.store.schema import StoreConnection
from karat.studio.store.store import Store
from karat.studio.tasks import NUGGETS, PAIRS, TASKS
from karat.studio.tasks.pairs import WIN

if TYPE_CHECKING:
    from karat.estimation.estimate_results import Estimate, EstimateRow
    from karat.meta.judge_agreement import JudgeAgreement


# Progress


def calibration_scores(store: Store) -> dict[str, float]:
    """Return the mean agreement with known answers, from 0 to 1, of assessors who judged any."""
    scores: dict[str, list[float]] = {}
    with store.read() as connection:
        rows = connection.rows(
            "SELECT assessor.name, assignment.id, value, answer FROM assignment "
            "JOIN unit ON unit.id = unit JOIN judgement ON judgement.id = assignment.judged "
            "JOIN assessor ON assessor.id = assignment.assessor "
            "WHERE answer IS NOT NULL ORDER BY assessor.id, assignment.id"
        )
        for name, assignment, value, answer in rows:
            view = view_in(connection, assignment)
            similarity = TASKS[view.task].similarity(json.loads(value), json.loads(answer), view)
            scores.setdefault(name, []).append(similarity)
    return {name: fmean(values) for name, values in scores.items()}


class Workload(NamedTuple):
    """Speed of an assessor, and the time of the newest answer."""

    pace: int = 0
    """Answers in the hour before the newest one."""
    seconds: float | None = None
    """Median time for an answer; None without answers."""
    newest: str | None = None
    """Time of the newest answer."""


class AssessorProgress(NamedTuple):
    """The work of one assessor."""

    assessor: Assessor
    work: Workload
    calibration: float | None
    """Agreement with known answers, from 0 to 1; None without calibration answers."""


def list_progress(store: Store, work: Mapping[int, Workload]) -> list[AssessorProgress]:
    """Return the progress of all invited people."""
    calibration = calibration_scores(store)
    return [
        AssessorProgress(person, work.get(person.id, Workload()), calibration.get(person.name))
        for person in assessors(store)
    ]


@computed_once
def read_workloads(store: Store, contents: Contents) -> Mapping[int, Workload]:
    """Return the workload of each assessor, without calibration."""
    answers: dict[int, list[tuple[str, int]]] = {}
    for answer in contents.answers:
        answers.setdefault(answer.assessor, []).append((answer.time, answer.ms))
    workloads = {}
    for assessor, times in answers.items():
        newest = max(time for time, _ in times)
        # Times are texts of equal length in UTC, which sort in order of time.
        hour_before = datetime.fromisoformat(newest) - timedelta(hours=1)
        since = hour_before.isoformat(timespec="milliseconds")
        pace = sum(time > since for time, _ in times)
        workloads[assessor] = Workload(pace, median(ms for _, ms in times) / 1000, newest)
    return workloads


class Coverage(NamedTuple):
    """Counts without calibration."""

    units: int
    judged: int
    """Units with an answer."""
    complete: int
    """Units with the full number of answers (`overlap`)."""
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
        project = project_in(connection)
        overlap = project.settings.overlap
        judged, complete, answers, counted = connection.row(
            "SELECT count(*), coalesce(sum(n >= ?1), 0), coalesce(sum(n), 0), "
            "coalesce(sum(min(n, ?1)), 0) FROM (SELECT count(*) AS n FROM assignment "
            "JOIN item ON item.id = item WHERE judged IS NOT NULL AND NOT calibration "
            "GROUP BY unit)",
            overlap,
        )
    counts = project.units, judged, complete, overlap, answers, project.units * overlap - counted
    return Coverage(*counts, unsettled, len(disputes) - unsettled)


# Agreement


@dataclass(frozen=True)
class LiveAgreement:
    """Agreement in ratings and penalties, pairs and nuggets; None without judgements."""

    ratings: JudgeAgreement | None
    pairs: JudgeAgreement | None
    """On shared pairs: win shares would depend on the pairs that each assessor saw."""
    nuggets: JudgeAgreement | None
    """With Cohen's kappa by judge and pair."""

    @property
    def results(self) -> list[JudgeAgreement]:
        """All results that are not None."""
        return [result for result in (self.ratings, self.pairs, self.nuggets) if result]


@computed_once
def get_agreement(store: Store, contents: Contents) -> LiveAgreement:
    """Return the agreement of assessors, under pseudonyms."""
    from karat.meta.judge_agreement import judge_agreement  # the studio starts without it

    tasks = {answer.task for answer in contents.answers}
    rated = None
    if tasks - {NUGGETS.name, PAIRS.name}:
        compares = contents.project.settings.has(PAIRS)
        rated = make_rated_set(contents) if compares else _get_evalset(store)
    return LiveAgreement(
        judge_agreement(rated) if rated else None,
        judge_agreement(make_pair_set(contents)) if PAIRS.name in tasks else None,
        judge_agreement(make_nugget_set(contents)) if NUGGETS.name in tasks else None,
    )


@computed_once
def _get_evalset(store: Store, contents: Contents) -> EvalSet:
    return make_evalset(contents)


def make_pair_set(contents: Contents) -> EvalSet:
    """Return a set in which each pair is a segment, rated by the win share of its first output."""
    preferences = assessor_preferences(contents)
    units = {(row.first, row.second): f"{row.first}-{row.second}" for row in preferences}
    segments, name = list(units.values()), contents.project.name
    draft = EvalSetDraft(
        *(name, segments, {PAIRS.name: segments}),
        reading=Reading(),
        location=name,
        dimensions=[WIN],
    )
    for row in preferences:
        draft.judge(PAIRS.name, units[row.first, row.second], row.judge, WIN.name, row.share)
    return draft.finish()


def make_rated_set(contents: Contents) -> EvalSet:
    """Return the set without comparisons, in which win shares depend on the pairs seen."""
    settings, name = contents.project.settings, PAIRS.name
    tasks = {task: options for task, options in settings.tasks.items() if task != name}
    settings = replace(settings, tasks=tasks)
    rated = replace(
        contents,
        project=contents.project._replace(settings=settings),
        answers=tuple(row for row in contents.answers if row.task != name),
        decisions=tuple(row for row in contents.decisions if row.task != name),
    )
    return make_evalset(rated)


# Estimates


@dataclass(frozen=True)
class LiveEstimate:
    """The estimate of a dimension, or the reason why there is none."""

    dimension: str
    estimate: Estimate | None
    """Scores with intervals; `more` is the number of further labels that halve the width."""
    reason: str = ""

    @property
    def rows(self) -> Sequence[EstimateRow]:
        """The scores of systems; none without an estimate."""
        return self.estimate.rows if self.estimate else ()


def ask_estimates(store: Store, owner: int) -> None:
    """Record that an owner asked for estimates before the reveal."""
    with store.write() as connection:
        _check_owner(connection, owner)
        if not has_asked_for_estimates(store, owner):
            record(connection, ESTIMATES_EVENT, owner)


def has_asked_for_estimates(store: Store, owner: int) -> bool:
    """Return whether an owner has asked for estimates."""
    query = "SELECT 1 FROM event WHERE what = ? AND assessor = ?"
    with store.read() as connection:
        return connection.row(query, ESTIMATES_EVENT, owner) is not None


def check_may_see_estimates(store: Store, owner: int) -> None:
    """Raise InputError before the reveal unless the owner has asked for estimates."""
    with store.read() as connection:
        _check_owner(connection, owner)
        revealed = project_in(connection).state == REVEALED
        if not revealed and not has_asked_for_estimates(store, owner):
            advice = "reveal the systems, or ask for estimates, which is recorded"
            raise InputError(f"estimates would tell which systems lead: {advice}")


def _check_owner(connection: StoreConnection, id: int) -> None:
    if role_in(connection, id) != OWNER:
        raise InputError("estimates are for the owner of the project alone")


@computed_once
def estimates(store: Store, contents: Contents) -> list[LiveEstimate]:
    """Return the estimate of each dimension; callers check who may see them."""
    from karat.estimation.estimates import estimate  # the studio starts without it

    settings = contents.project.settings
    inputs: dict[str, partial[Estimate]] = {}
    if dimensions := settings.dimensions:
        with store.read() as connection:
            texts = outputs_in(connection)
        outputs = {  # under pseudonyms, and with the texts that covariates need
            id: output._replace(text=texts[id].text) for id, output in contents.outputs.items()
        }
        evalset = make_evalset(replace(contents, outputs=outputs))
        inputs = {row.name: partial(estimate, evalset, row.name) for row in dimensions}
    if settings.has(NUGGETS):
        inputs[NUGGETS.name] = partial(estimate, make_nugget_set(contents))
    live_estimates = []
    for dimension, make in inputs.items():
        try:
            live_estimates.append(LiveEstimate(dimension, make()))
        except InputError as error:
            live_estimates.append(LiveEstimate(dimension, None, str(error)))
    return live_estimates


# All results of one version of a store

MAX_DISPUTES = 10


class LiveResults(NamedTuple):
    """Results of one version of a store."""

    version: Version
    time: str
    """Time of the computation."""
    coverage: Coverage
    agreement: LiveAgreement
    work: Mapping[int, Workload]
    disputes: list[Dispute]
    """The largest."""
    estimates: list[LiveEstimate]
    """Empty until somebody may see them."""


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


NICENESS = 10
"""Priority of the worker, in steps below that of the studio."""


class Worker:
    """A process that computes results, one request at a time."""

    def __init__(self, path: Path) -> None:
        context = get_context("spawn")
        try:
            self._pipe, worker_end = context.Pipe()
            self._process = context.Process(target=serve, args=(worker_end, str(path)), daemon=True)
            self._process.start()
        except OSError as error:
            reason = error.strerror or error
            raise OutputError(f"the live results could not be computed: {reason}") from None
        worker_end.close()  # so that the end of the process is noticed

    def request_results(self) -> LiveResults:
        """Return the current results."""
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
    """Compute results on request, until the studio ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the studio, which ends this
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    with suppress(EOFError, OSError):  # the studio no longer listens
        try:
            with Store.reading(path) as store:
                while True:
                    pipe.recv()
                    reply: LiveResults | KaratError
                    try:
                        with store.explaining_damage():
                            reply = compute_live_results(store)
                    except KaratError as error:
                        reply = error
                    pipe.send(reply)
        except KaratError as error:  # it is no longer a store
            pipe.recv()
            pipe.send(error)


MAX_IN_PROCESS = 5000
"""Below this number of judgements, results are computed without a worker."""
WAIT_SECONDS = 0.5
"""Maximum wait of a request for newer results."""


class LatestResults:
    """The newest results of one store."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._newest: LiveResults | None = None
        self._error: KaratError | None = None
        self._is_computing = False
        self._pauses_until = 0.0
        self._worker: Worker | None = None

    def get(self, store: Store) -> LiveResults | None:
        """Return the newest results, or None if none is computed yet."""
        with store.read() as connection:
            version = read_version(connection)
        with self._changed:
            if self._is_current(version):
                return self._newest
            if version.judgement < MAX_IN_PROCESS:
                self._newest = compute_live_results(store)
                return self._newest
            if not self._is_computing and time.monotonic() >= self._pauses_until:
                self._is_computing = True
                threading.Thread(target=self._compute, args=(store,), daemon=True).start()
            self._changed.wait_for(
                lambda: self._is_current(version) or not self._is_computing, WAIT_SECONDS
            )
            if self._error and self._newest is None:
                raise self._error
            return self._newest

    def _is_current(self, version: Version) -> bool:
        return self._newest is not None and self._newest.version == version

    def _compute(self, store: Store) -> None:
        """Compute in the worker, then pause for as long as that took."""
        started, results, failure = time.monotonic(), None, None
        try:
            self._worker = self._worker or Worker(store.path)
            results = self._worker.request_results()
        except KaratError as error:
            self._worker, failure = None, error
        with self._changed:
            self._newest, self._error = results or self._newest, failure
            self._is_computing = False
            self._pauses_until = 2 * time.monotonic() - started
            self._changed.notify_all()


def get_latest_results(store: Store) -> LiveResults | None:
    """Return the newest results of an open store, or None if none is computed yet."""
    return store.companion(LatestResults).get(store)
