"""Servers of stores that people judged already, with hostile text in every field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from studio.judged_store import RATINGS, judge_all, make_store, nugget_texts
from studio.web.studio_server import StudioServer, write_set

import karat as kt

TASKS: dict[str, Any] = {
    "ratings": RATINGS,
    "pairs": {"pairs": {}},
    "spans": {"spans": {"scheme": "esa"}},
    "nuggets": {"nuggets": {}},
}


def judged_server(
    folder: Path, task: str = "ratings", segments: int = 12, most: int = 10**6
) -> StudioServer:
    """A server of a project that ann, bob and cleo judged; zoe adjudicates."""
    hostile = kt.load_evalset(write_set(folder, segments))
    source = nugget_texts() if task == "nuggets" else hostile
    store = make_store(folder / "judged.sqlite", source, tasks=TASKS[task])
    judge_all(store, most=most)
    store.close()
    return StudioServer(folder, "judged")
