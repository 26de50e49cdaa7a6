"""Load test of the studio: concurrent assessors, and kills of the server, on loopback only.

    python benchmarks/studio_load.py --quick          # 10 s, 20,000 items, 3 kills
    python benchmarks/studio_load.py                  # two minutes, 100,000 items, 20 kills

Every assessor is a connection that sends an answer and asks for the next item, one action every two
seconds at independent times; a due request is sent whether or not earlier requests of others are
answered. Latencies are measured from the due time. With `--owner` an owner's page is open, whose
live part is requested every five seconds; `--judged` is the number of earlier judgements. Then the
closed loop: every assessor sends as fast as answers come. Then kills: `kill -9` of the server at
random moments under load; clients repeat unacknowledged answers with the same uuid. At the end the
store is compared with the acknowledged answers: each once, none lost, none duplicated.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RUN = "from karat.cli import run; run()"
PERIOD = 2.0
"""Seconds between two actions of an assessor."""


class Server:
    """`karat studio` in a separate process."""

    def __init__(self, folder: Path, items: int, people: int, port: int) -> None:
        self.folder, self.port, self.people = folder, port, people
        self.store = folder / "load.sqlite"
        self.links: dict[str, str] = {}
        self.set = folder / "set.jsonl"
        with self.set.open("w") as file:
            file.write(json.dumps({"evalset": "load", "systems": ["one"]}) + "\n")
            for k in range(items):
                row = {"id": str(k), "source": f"source {k}", "outputs": {"one": f"output {k}"}}
                file.write(json.dumps(row) + "\n")

    def start(self) -> float:
        """Start it, and return the seconds until it is ready."""
        begun = time.perf_counter()
        names = [word for k in range(self.people) for word in ("--assessor", f"a{k}")]
        arguments = ("--no-browser", "--port", str(self.port), "--store", str(self.store), *names)
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, "studio", str(self.set), "--overlap", "2", *arguments],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        for line in self.process.stdout:
            if match := re.match(r"(.*) \(\w+\): http://[^/]+(/join/\S+)", line):
                self.links[match[1]] = match[2]
            if line.startswith("Press Ctrl-C"):
                return time.perf_counter() - begun
        raise SystemExit("the studio did not start")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@dataclass
class Outcome:
    """What clients saw."""

    acknowledged: dict[str, int] = field(default_factory=dict)
    """uuid -> assignment"""
    latencies: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    """Seconds of each request"""
    errors: list[str] = field(default_factory=list)
    repeated: int = 0


def fill(path: Path, judged: int, people: int) -> None:
    """Store judgements as assessors give them; power cuts do not matter here."""
    from karat.studio.assignment import next_assignment
    from karat.studio.store.judgements import SentJudgement, judge
    from karat.studio.store.people import now
    from karat.studio.store.store import Store

    with Store.open(path) as store:
        for connection in store._idle:
            connection.execute("PRAGMA synchronous = OFF")
        for k in range(judged):
            who = 1 + k % people
            assignment = next_assignment(store, who, now())
            assert assignment
            value = {"ratings": {"quality": random.randint(1, 7)}}
            sent = SentJudgement(str(uuid.uuid4()), assignment.assignment, value, 2000)
            judge(store, who, sent)


class Assessor:
    """A client with one connection that stays open."""

    def __init__(self, server: Server, name: str, outcome: Outcome) -> None:
        self.server, self.name, self.outcome = server, name, outcome
        self.reader: Any = None
        self.writer: Any = None
        self.cookie = self.csrf = ""
        self.item: dict[str, Any] | None = None
        self.pending: dict[str, Any] | None = None

    async def ask(
        self, method: str, path: str, body: Any = None
    ) -> tuple[int, dict[str, str], str]:
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        host = f"127.0.0.1:{self.server.port}"
        head = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"Cookie: {self.cookie}"]
        raw = b"" if body is None else json.dumps(body).encode()
        if body is not None:
            head += [f"Origin: http://{host}", "Content-Type: application/json"]
            head += [f"X-Karat-CSRF: {self.csrf}", f"Content-Length: {len(raw)}"]
        begun = time.perf_counter()
        self.writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + raw)
        try:
            top = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {
                k.lower(): v.strip() for k, _, v in (line.partition(":") for line in top[1:])
            }
            text = (await self.reader.readexactly(int(headers["content-length"]))).decode()
        except (OSError, asyncio.IncompleteReadError):
            self.drop()
            raise ConnectionError from None
        self.outcome.answers.append(time.perf_counter() - begun)
        return int(top[0].split()[1]), headers, text

    def drop(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None

    async def join(self) -> None:
        _, headers, _ = await self.ask("GET", self.server.links[self.name])
        self.cookie = headers["set-cookie"].partition(";")[0]
        _, _, page = await self.ask("GET", "/")
        match = re.search('name="csrf" content="([0-9a-f]+)"', page)
        assert match
        self.csrf = match[1]

    async def act(self) -> None:
        """Send an answer, then request the next item."""
        if self.item is None:
            self.item = await self._next()
        if self.pending is None:
            self.pending = {
                "uuid": str(uuid.uuid4()),
                "assignment": self.item["assignment"],
                "value": {"ratings": {"quality": random.randint(1, 7)}},
                "ms": 2000,
                "supersedes": self.item["newest"],
            }
        status, _, text = await self.ask("POST", "/api/judgements", self.pending)
        if status != 200:
            self.outcome.errors.append(f"{status} {text}")
            self.item = self.pending = None
            return
        self.outcome.acknowledged[self.pending["uuid"]] = self.pending["assignment"]
        self.outcome.repeated += json.loads(text)["duplicate"]
        self.item = self.pending = None
        self.item = await self._next()

    async def _next(self) -> dict[str, Any]:
        status, _, text = await self.ask("GET", "/api/next")
        item = json.loads(text).get("item")
        if status != 200 or item is None:
            raise RuntimeError(f"no item: {status} {text}")
        next_item: dict[str, Any] = item
        return next_item

    async def at_a_pace(self, ends: float) -> None:
        """Act every two seconds; latencies count from when the action was due."""
        due = time.perf_counter() + random.random() * PERIOD
        while due < ends:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            try:
                await self.act()
                self.outcome.latencies.append(time.perf_counter() - due)
            except (ConnectionError, RuntimeError) as error:
                self.outcome.errors.append(repr(error))
            due += PERIOD

    async def watch(self, ends: float) -> None:
        """Ask for the live part of the owner's page every five seconds, as the page does."""
        while time.perf_counter() < ends:
            self.drop()  # the server closes connections idle this long
            status, _, text = await self.ask("GET", "/owner/live")
            if status != 200:
                self.outcome.errors.append(f"{status} {text}")
            await asyncio.sleep(5)

    async def in_a_loop(self, ends: float, patient: bool = False) -> None:
        """Act as fast as answers come; `patient` clients try again after a kill."""
        while time.perf_counter() < ends:
            begun = time.perf_counter()
            try:
                await self.act()
                self.outcome.latencies.append(time.perf_counter() - begun)
            except (OSError, RuntimeError) as error:
                if not patient:
                    self.outcome.errors.append(repr(error))
                await asyncio.sleep(0.1)

    async def finish(self) -> None:
        """Resend unacknowledged answers."""
        if self.pending is not None:
            await self.act()


def shares(seconds: list[float]) -> str:
    ordered = sorted(seconds) or [0.0]
    at = [ordered[min(len(ordered) - 1, int(len(ordered) * q))] * 1e3 for q in (0.5, 0.95, 0.99)]
    return "p50 {:.1f}, p95 {:.1f}, p99 {:.1f} ms".format(*at)


def summary(name: str, outcome: Outcome, seconds: float) -> None:
    count = len(outcome.acknowledged)
    print(f"{name}: {count:,} judged in {seconds:.0f} s ({count / seconds:.0f} a second)")
    print(f"  one request: {shares(outcome.answers)} ({len(outcome.answers):,})")
    print(f"  an action, from when it was due (answer and next item): {shares(outcome.latencies)}")
    print(f"  errors: {len(outcome.errors)}", flush=True)
    for error in outcome.errors[:3]:
        print(f"  {error[:200]}")


def compare(server: Server, acknowledged: dict[str, int]) -> bool:
    """Compare the store with the acknowledged answers."""
    with sqlite3.connect(f"file:{server.store}?mode=ro", uri=True) as connection:
        rows = connection.execute("SELECT uuid, assignment FROM judgement").fetchall()
        (intact,) = connection.execute("PRAGMA integrity_check").fetchone()
    stored = dict(rows)
    lost = sum(stored.get(key) != assignment for key, assignment in acknowledged.items())
    doubled = len(rows) - len({assignment for _, assignment in rows})
    print(
        f"store: {len(rows):,} judgements; acknowledged {len(acknowledged):,}, lost {lost}, "
        f"doubled {doubled}, stored without an acknowledgement {len({*stored} - {*acknowledged})}; "
        f"integrity {intact}",
        flush=True,
    )
    return not lost and not doubled and intact == "ok"


async def kill_and_start(server: Server, people: list[Assessor], kills: int) -> None:
    """Kill the server at random moments while people judge, and start it again."""
    ends = time.perf_counter() + 3600
    working = [asyncio.create_task(assessor.in_a_loop(ends, patient=True)) for assessor in people]
    for number in range(1, kills + 1):
        await asyncio.sleep(random.uniform(0.3, 2.0))
        server.kill()
        seconds = await asyncio.to_thread(server.start)
        print(f"kill {number}: started again in {seconds:.1f} s", flush=True)
    await asyncio.sleep(1)
    for task in working:
        task.cancel()
    await asyncio.gather(*working, return_exceptions=True)
    for assessor in people:
        assessor.drop()
        await assessor.finish()


async def measure(options: argparse.Namespace, folder: Path) -> bool:
    server = Server(folder, options.items, options.assessors, options.port)
    print(f"start with the import of {options.items:,} items: {server.start():.1f} s", flush=True)
    server.kill()
    fill(server.store, options.judged, options.assessors)
    print(f"start of the same store: {server.start():.1f} s", flush=True)
    acknowledged: dict[str, int] = {}

    async def phase(name: str, seconds: float, act: Any) -> None:
        outcome = Outcome()
        for person in people:
            person.drop()  # the server closes connections that were idle for seconds
            person.outcome = outcome
        begun = time.perf_counter()
        watching = [person.watch(begun + seconds) for person in owners]
        await asyncio.gather(*(act(person, begun + seconds) for person in people), *watching)
        for person in owners:
            print(f"  the owner's page: {shares(person.outcome.answers[2:])}")  # without joining
        summary(name, outcome, time.perf_counter() - begun)
        acknowledged.update(outcome.acknowledged)

    people = [Assessor(server, f"a{k}", Outcome()) for k in range(options.assessors)]
    owners = [Assessor(server, "owner", Outcome())] if options.owner else []
    try:
        for person in (*people, *owners):
            await person.join()
        await phase("paced", options.seconds, Assessor.at_a_pace)
        await phase("closed loop", min(options.seconds, 20), Assessor.in_a_loop)
        if options.kills:
            outcome = Outcome()
            for person in people:
                person.outcome = outcome
            await kill_and_start(server, people, options.kills)
            acknowledged.update(outcome.acknowledged)
            print(f"kills: {len(outcome.acknowledged):,} judged, {outcome.repeated} were repeated")
        return compare(server, acknowledged)
    finally:
        for person in people:
            person.drop()
        server.kill()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="10 s, 20,000 items, 3 kills")
    parser.add_argument("--assessors", type=int, default=50)
    parser.add_argument("--items", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--kills", type=int)
    parser.add_argument("--owner", action="store_true", help="an owner's page is open")
    parser.add_argument("--judged", type=int, default=0, help="judgements before")
    parser.add_argument("--port", type=int, default=8643)
    options = parser.parse_args()
    items, seconds, kills = (20_000, 10.0, 3) if options.quick else (100_000, 120.0, 20)
    options.items, options.seconds = options.items or items, options.seconds or seconds
    options.kills = kills if options.kills is None else options.kills
    with tempfile.TemporaryDirectory() as folder:
        good = asyncio.run(measure(options, Path(folder)))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
