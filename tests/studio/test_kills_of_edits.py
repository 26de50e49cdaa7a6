"""kill -9 while the key is edited and judged by: what was acknowledged is there, once."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from studio.killed_process import killed
from studio.projects_in_store import assessor, column, make_store, nugget_set

from karat.studio.store.store import Store


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.long)])
def test_no_acknowledged_edit_is_lost_or_doubled(tmp_path: Path, kills: int) -> None:
    with make_store(tmp_path, nugget_set(), {"nuggets": {}}, overlap=2) as store:
        people = [assessor(store, "olga", role="owner"), assessor(store), assessor(store, "bea")]
    path = tmp_path / "project.studio"
    rng = random.Random(1)
    sent: dict[str, str] = {}
    acknowledged: set[str] = set()
    refused: set[str] = set()
    for _ in range(kills):
        again = [line for uuid, line in sent.items() if uuid not in acknowledged | refused]
        for line in killed(("studio.editing_process", path, *people), again, rng, most=40):
            kind, _, uuid = line.partition(" ")
            if kind in ("ack", "refused"):
                (acknowledged if kind == "ack" else refused).add(uuid)
            elif line != "ready":
                sent[json.loads(line)[0]] = line
        with Store.open(path) as store:
            store_check = store.check()
            assert store_check.ok, store_check.problems
            stored = column(store, "SELECT uuid FROM key_edit")
        assert acknowledged <= {*stored} <= {*sent} - refused
        assert len({*stored}) == len(stored)
    assert len(stored) > kills
    print(
        f"{kills} kills: {len(sent)} sent, {len(acknowledged)} acknowledged, {len(stored)} stored"
    )
