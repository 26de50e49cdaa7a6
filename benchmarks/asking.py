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
    """Start a client and kill it twice, then let it finish; print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--share", type=float, default=0.05, help="of attempts, for each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    shares = dict.fromkeys(KINDS, options.share)
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(shares=shares, seed=options.seed) as server,
    ):
        report(measure(server, Path(folder) / "cache", options), options)


def measure(server: ChatServer, cache: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Run the client three times, the first two until they are killed."""
    draw, began = random.Random(options.seed), time.monotonic()
    request_counts: dict[str, int] = {}
    asked_again, lost = 0, []
    ends = [draw.uniform(0.1, 0.45), draw.uniform(0.5, 0.9)]
    for end in ends:
        kill_after(server, cache, options, int(end * options.requests))
        asked_again += sum(
            server.times[content] != request_counts[content] for content in request_counts
        )
        request_counts = {content: server.times[content] for content in stored(cache)}
        lost.append(server.answered.total() - len(request_counts) - sum(lost))
    usage = finished(run(server, cache, options))
    asked_again += sum(
        server.times[content] != request_counts[content] for content in request_counts
    )
    return {
        "usage": usage,
        "asked again": asked_again,
        "lost": lost,
        "received": len(server.asked),
        "seconds": time.monotonic() - began,
        "kills": ends,
    }


def run(server: ChatServer, cache: Path, options: argparse.Namespace) -> subprocess.Popen[str]:
    return start(
        server.url,
        cache,
        options.requests,
        concurrency=options.concurrency,
        prices=PRICES,
        **PATIENT,
    )


def kill_after(server: ChatServer, cache: Path, options: argparse.Namespace, answers: int) -> None:
    """Kill a client with SIGKILL once the server has sent the given number of answers."""
    client = run(server, cache, options)
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
    usage: dict[str, Any] = json.loads(out)
    return usage


def stored(cache: Path) -> set[str]:
    """The messages whose answers are in a cache."""
    file = sqlite3.connect(cache)
    rows = file.execute("SELECT answer FROM requests WHERE state = 'answered'").fetchall()
    file.close()
    return {json.loads(text)["echo"] for (text,) in rows}


def report(outcome: dict[str, Any], options: argparse.Namespace) -> None:
    usage, totals, seconds = outcome["usage"], outcome["usage"]["totals"], outcome["seconds"]
    kills = " and ".join(f"{end:.0%}" for end in outcome["kills"])
    lines = {
        "requests": f"{options.requests:,}, {options.concurrency} at once, killed after {kills}",
        "failures": f"{options.share:.0%} of attempts for each of: {', '.join(KINDS)}",
        "answered": f"{usage['right']:,} right, {usage['missing']:,} missing",
        "stored answers asked again": outcome["asked again"],
        "answered and lost, by kill": f"{outcome['lost']} (at most {options.concurrency} each)",
        "repeated, as reported": f"{totals['repeated']}, {usage['repeated']} in the last run",
        "sent": f"{totals['sent']:,} as reported, {outcome['received']:,} received by the server",
        "failed attempts": ", ".join(f"{kind} {n:,}" for kind, n in totals["failures"].items()),
        "tokens": f"{totals['prompt_tokens']:,} prompt, {totals['completion_tokens']:,} completion",
        "cost": f"{totals['cost']:.6f} at {PRICES[0]:g} and {PRICES[1]:g} a million tokens",
        "time": f"{seconds:.1f} s: {outcome['received'] / seconds:,.0f} attempts and "
        f"{options.requests / seconds:,.0f} answers a second",
    }
    for name, value in lines.items():
        print(f"{name:28}{value}")


if __name__ == "__main__":
    main()
