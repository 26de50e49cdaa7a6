"""Time: the best of several rounds, all contestants taking turns so that noise hits them alike."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


Clock = Callable[[], float]


def seconds(function: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    """How long one call takes."""
    start = clock()
    function()
    return clock() - start


def take_turns(
    contestants: Mapping[str, Callable[[], object]],
    rounds: int,
    clock: Clock = time.perf_counter,
) -> dict[str, float]:
    """The best time of each contestant."""
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(rounds):
        for name, function in contestants.items():
            best[name] = min(best[name], seconds(function, clock))
    return best


def processor_time(
    function: Callable[[], object], rounds: int, before: Callable[[], object] = lambda: None
) -> float:
    """The best processor time of a call; `before` is called first and not timed."""
    best = float("inf")
    for _ in range(rounds):
        before()
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def command(argv: Sequence[str], **variables: str) -> Callable[[], object]:
    """A function that runs a whole command, its output thrown away."""
    environment = os.environ | variables

    def call() -> None:
        subprocess.run(
            argv,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    return call


def script(name: str) -> str:
    """A command of this environment."""
    return str(Path(sys.executable).with_name(name))


def in_child(job: str, *arguments: object) -> dict[str, Any]:
    """Run a job of jobs.py in a separate process, without caches; return seconds and peak MB."""
    argv = [sys.executable, str(HERE / "jobs.py"), job, *map(str, arguments)]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    record: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return record


def best_in_child(rounds: int, job: str, *arguments: object) -> float:
    """The best time of a job, each round in a new process."""
    return min(float(in_child(job, *arguments)["seconds"]) for _ in range(rounds))
