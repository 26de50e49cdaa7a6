"""Coverage: how much of a project is judged, and what is still needed."""

from __future__ import annotations

from typing import NamedTuple

from karat.studio.live.disputes import disputes
from karat.studio.store.projects import project_in
from karat.studio.store.store import Store


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
