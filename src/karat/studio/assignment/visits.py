"""Where an assessor is among the assignments: the one before, the one after, the time spent."""

from __future__ import annotations

from typing import NamedTuple

from karat.studio.store.store import Store


class Visit(NamedTuple):
    """The place of an assignment, for the page that shows it."""

    previous: int | None
    following: int | None
    ms: int
    """Milliseconds spent on it until its newest answer."""


def visit(store: Store, assessor: int, assignment: int) -> Visit:
    """Return the neighbours of an assignment in the order in which they were given out."""
    with store.read() as connection:
        (place,) = connection.execute(
            "SELECT ord FROM assignment WHERE id = ? AND assessor = ?", (assignment, assessor)
        ).fetchone()
        before, after = (
            connection.execute(
                f"SELECT id FROM assignment WHERE assessor = ? AND ord {sign} ? "
                f"ORDER BY ord {way} LIMIT 1",
                (assessor, place),
            ).fetchone()
            for sign, way in (("<", "DESC"), (">", "ASC"))
        )
        (ms,) = connection.execute(
            "SELECT coalesce(max(ms), 0) FROM judgement WHERE assignment = ?", (assignment,)
        ).fetchone()
    return Visit(before and before[0], after and after[0], ms)
