"""Many requests to a local server that fails in every way, with two kills on the way.

python benchmarks/asking.py [--requests 10000] [--concurrency 16] [--share 0.05] [--seed 1]
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "asking"))

from chats import start
from server import ChatServer, serving

KINDS = (
    *("429", "429 after", "500", "503", "reset", "truncated", "invalid json", "no completion"),
    *("empty", "no json", "wrong id", "hang"),
)
PATIENT = {"attempts": 30, "backoff": 0.005, "timeout": 0.5}
PRICES = [1.0, 4.0]  # of a million tokens, prompt and completion


def main() -> None:
    """Ask, kill, ask, kill, ask; print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--share", type=float, default=0.05, help="of attempts, for each kind")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    shares = dict.fromkeys(KINDS, given.share)
    with tempfile.TemporaryDirectory() as folder, serving(shares=shares, seed=given.seed) as server:
        report(measure(server, Path(folder) / "cache", given), given)


def measure(server: ChatServer, cache: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Run the client three times, the first two until they are killed."""
    draw, began = random.Random(given.seed), time.monotonic()
    known: dict[str, int] = {}
    asked_again, lost = 0, []
    ends = [draw.uniform(0.1, 0.45), draw.uniform(0.5, 0.9)]
    for end in ends:
        kill_after(server, cache, given, int(end * given.requests))
        asked_again += sum(server.times[content] != known[content] for content in known)
        known = {content: server.times[content] for content in stored(cache)}
        lost.append(server.answered.total() - len(known) - sum(lost))
    usage = finished(run(server, cache, given))
    asked_again += sum(server.times[content] != known[content] for content in known)
    return {
        "usage": usage,
        "asked again": asked_again,
        "lost": lost,
        "received": len(server.asked),
        "seconds": time.monotonic() - began,
        "kills": ends,
    }


def run(server: ChatServer, cache: Path, given: argparse.Namespace) -> subprocess.Popen[str]:
    return start(
        server.url, cache, given.requests, concurrency=given.concurrency, prices=PRICES, **PATIENT
    )


def kill_after(server: ChatServer, cache: Path, given: argparse.Namespace, answers: int) -> None:
    """Kill a client with SIGKILL once the server has sent so many answers."""
    client = run(server, cache, given)
    wait_for(lambda: server.answered.total() >= answers or client.poll() is not None)
    client.kill()
    client.communicate()
    wait_for(lambda: server.behaving() == 0)


def wait_for(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.001)


def finished(client: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = client.communicate()
    if client.returncode:
        raise SystemExit(err)
    found: dict[str, Any] = json.loads(out)
    return found


def stored(cache: Path) -> set[str]:
    """The messages whose answers are in a cache."""
    file = sqlite3.connect(cache)
    rows = file.execute("SELECT answer FROM requests WHERE state = 'answered'").fetchall()
    file.close()
    return {json.loads(text)["echo"] for (text,) in rows}


def report(found: dict[str, Any], given: argparse.Namespace) -> None:
    usage, totals, seconds = found["usage"], found["usage"]["totals"], found["seconds"]
    kills = " and ".join(f"{end:.0%}" for end in found["kills"])
    lines = {
        "requests": f"{given.requests:,}, {given.concurrency} at once, killed after {kills}",
        "failures": f"{given.share:.0%} of attempts for each of: {', '.join(KINDS)}",
        "answered": f"{usage['right']:,} right, {usage['missing']:,} missing",
        "stored answers asked again": found["asked again"],
        "answered and lost, by kill": f"{found['lost']} (at most {given.concurrency} each)",
        "repeated, as reported": f"{totals['repeated']}, {usage['repeated']} in the last run",
        "sent": f"{totals['sent']:,} as reported, {found['received']:,} received by the server",
        "failed attempts": ", ".join(f"{kind} {n:,}" for kind, n in totals["failures"].items()),
        "tokens": f"{totals['prompt_tokens']:,} prompt, {totals['completion_tokens']:,} completion",
        "cost": f"{totals['cost']:.6f} at {PRICES[0]:g} and {PRICES[1]:g} a million tokens",
        "time": f"{seconds:.1f} s: {found['received'] / seconds:,.0f} attempts and "
        f"{given.requests / seconds:,.0f} answers a second",
    }
    for name, told in lines.items():
        print(f"{name:28}{told}")


if __name__ == "__main__":
    main()
