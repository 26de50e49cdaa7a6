"""Times as texts of one width, which sort as the times do."""

from __future__ import annotations

from datetime import datetime, timezone


def now() -> datetime:
    """Return the time of now, in UTC."""
    return datetime.now(timezone.utc)


def stamp(time: datetime | None = None) -> str:
    """Return a time, or now, such as 2026-01-31T12:00:00.000+00:00."""
    return (time or now()).astimezone(timezone.utc).isoformat(timespec="milliseconds")
