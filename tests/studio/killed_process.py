"""A process that writes to a store and is killed with kill -9."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path


def killed(command: Sequence[object], again: list[str], rng: random.Random, most: int) -> list[str]:
    """Let a module work for a while, kill it, and return its whole lines.

    `again` is what it does first; it is killed after `most` lines of new work at the most.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", *map(str, command)],
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
    lines += [process.stdout.readline().removesuffix("\n") for _ in range(rng.randint(2, most))]
    time.sleep(rng.uniform(0, 0.03))  # so that it dies anywhere within a transaction
    process.kill()
    rest = process.stdout.read()
    process.wait()
    return lines + rest.split("\n")[:-1]  # a last line without an end was cut off
