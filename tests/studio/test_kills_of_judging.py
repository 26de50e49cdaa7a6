"""kill -9 while judgements are written: what was acknowledged is there, once."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from studio.killed_process import killed
from studio.projects_in_store import assessor, column, make_store, small_set
from studio.store_rows import history

from karat.studio.store.store import Store

ASSESSORS = 6


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.long)])
def test_no_acknowledged_judgement_is_lost_or_doubled(tmp_path: Path, kills: int) -> None:
    with make_store(tmp_path, small_set(2000, 2), overlap=3, round_items=50) as store:
        for k in range(ASSESSORS):
            assessor(store, f"a{k}")
    path = tmp_path / "project.studio"
    rng = random.Random(1)
    sent: dict[str, str] = {}
    acknowledged: set[str] = set()
    for _ in range(kills):
        again = [line for uuid, line in sent.items() if uuid not in acknowledged]
        for line in killed(("studio.judging_process", path, ASSESSORS), again, rng, most=60):
            if line.startswith("ack "):
                acknowledged.add(line.removeprefix("ack "))
            elif line != "ready":
                sent[json.loads(line)[1][0]] = line
        with Store.open(path) as store:
            assert column(store, "PRAGMA integrity_check") == ["ok"]
            assert store.check().ok
            stored = [row.uuid for row in history(store)]
        assert acknowledged <= {*stored}
        assert {*stored} <= {*sent}
        assert len({*stored}) == len(stored)
    with Store.open(path) as store:
        judged = [row.assignment for row in history(store)]
    assert len({*judged}) == len(judged) > kills
    print(
        f"{kills} kills: {len(sent)} sent, {len(acknowledged)} acknowledged, {len(stored)} stored"
    )
