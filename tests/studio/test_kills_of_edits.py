"""kill -9 while the key is edited and judged by: what was acknowledged is there, once."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from studio.projects_in_store import assessor, column, make_store, nugget_set

from karat.studio.store.store import Store


def killed(path: Path, people: list[int], again: list[str], rng: random.Random) -> list[str]:
    """Let a process edit for a while, kill it, and return its whole lines."""
    process = subprocess.Popen(
        [sys.executable, "-m", "studio.editing_process", str(path), *map(str, people)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(f"{line}\n" for line in again))
    process.stdin.close()
    lines = []
    while not lines or lines[-1] != "ready":
        lines.append(process.stdout.readline().removesuffix("\n"))
        assert lines[-1], "the process ended before it was ready"
    lines += [process.stdout.readline().removesuffix("\n") for _ in range(rng.randint(2, 40))]
    time.sleep(rng.uniform(0, 0.03))  # so that it dies anywhere within a transaction
    process.kill()
    rest = process.stdout.read()
    process.wait()
    return lines + rest.split("\n")[:-1]  # a last line without an end was cut off


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
        for line in killed(path, people, again, rng):
            kind, _, uuid = line.partition(" ")
            if kind in ("ack", "refused"):
                (acknowledged if kind == "ack" else refused).add(uuid)
            elif line != "ready":
                sent[json.loads(line)[0]] = line
        with Store.open(path) as store:
            found = store.check()
            assert found.ok, found.problems
            stored = column(store, "SELECT uuid FROM key_edit")
        assert acknowledged <= {*stored} <= {*sent} - refused
        assert len({*stored}) == len(stored)
    assert len(stored) > kills
    print(
        f"{kills} kills: {len(sent)} sent, {len(acknowledged)} acknowledged, {len(stored)} stored"
    )
