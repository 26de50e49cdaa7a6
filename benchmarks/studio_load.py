"""Load on the studio: assessors who judge at once, kills of the server, on loopback only.

    python benchmarks/studio_load.py --quick          # 10 s, 20,000 items, 3 kills
    python benchmarks/studio_load.py                  # two minutes, 100,000 items, 20 kills

Every assessor is a connection that sends an answer and asks for the next item, one action every
two seconds at times of its own; a request that is due is sent whether or not earlier ones of others
are answered. Latencies are from when a request was due. With `--owner` an owner's page is open,
whose live part is asked for every five seconds; `--judged` is the number of judgements before. Then
the closed loop: every assessor sends as fast as answers come. Then kills: `kill -9` of the server
at random moments under load; clients repeat what was not acknowledged with the same uuid. At the
end the store is compared with what was acknowledged: each once, none lost, none doubled.
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
    """`karat studio` in a process of its own."""

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
        told = ("--no-browser", "--port", str(self.port), "--store", str(self.store), *names)
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, "studio", str(self.set), "--overlap", "2", *told],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        for line in self.process.stdout:
            if found := re.match(r"(.*) \(\w+\): http://[^/]+(/join/\S+)", line):
                self.links[found[1]] = found[2]
            if line.startswith("Press Ctrl-C"):
                return time.perf_counter() - begun
        raise SystemExit("the studio did not start")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@dataclass
class Told:
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
    from karat.studio.store.events import now
    from karat.studio.store.judgements import SentJudgement, judge
    from karat.studio.store.store import Store

    with Store.open(path) as store:
        for connection in store._idle:
            connection.execute("PRAGMA synchronous = OFF")
        for k in range(judged):
            who = 1 + k % people
            shown = next_assignment(store, who, now())
            assert shown
            value = {"ratings": {"quality": random.randint(1, 7)}}
            judge(store, who, SentJudgement(str(uuid.uuid4()), shown.assignment, value, 2000))


class Assessor:
    """A client with one connection that stays open."""

    def __init__(self, server: Server, name: str, told: Told) -> None:
        self.server, self.name, self.told = server, name, told
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
        self.told.answers.append(time.perf_counter() - begun)
        return int(top[0].split()[1]), headers, text

    def drop(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None

    async def join(self) -> None:
        _, headers, _ = await self.ask("GET", self.server.links[self.name])
        self.cookie = headers["set-cookie"].partition(";")[0]
        _, _, page = await self.ask("GET", "/")
        found = re.search('name="csrf" content="([0-9a-f]+)"', page)
        assert found
        self.csrf = found[1]

    async def act(self) -> None:
        """Send an answer, then ask for the next item."""
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
            self.told.errors.append(f"{status} {text}")
            self.item = self.pending = None
            return
        self.told.acknowledged[self.pending["uuid"]] = self.pending["assignment"]
        self.told.repeated += json.loads(text)["duplicate"]
        self.item = self.pending = None
        self.item = await self._next()

    async def _next(self) -> dict[str, Any]:
        status, _, text = await self.ask("GET", "/api/next")
        item = json.loads(text).get("item")
        if status != 200 or item is None:
            raise RuntimeError(f"no item: {status} {text}")
        found: dict[str, Any] = item
        return found

    async def at_a_pace(self, ends: float) -> None:
        """Act every two seconds; latencies count from when the action was due."""
        due = time.perf_counter() + random.random() * PERIOD
        while due < ends:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            try:
                await self.act()
                self.told.latencies.append(time.perf_counter() - due)
            except (ConnectionError, RuntimeError) as error:
                self.told.errors.append(repr(error))
            due += PERIOD

    async def watch(self, ends: float) -> None:
        """Ask for the live part of the owner's page every five seconds, as the page does."""
        while time.perf_counter() < ends:
            self.drop()  # the server closes what is idle for so long
            status, _, text = await self.ask("GET", "/owner/live")
            if status != 200:
                self.told.errors.append(f"{status} {text}")
            await asyncio.sleep(5)

    async def in_a_loop(self, ends: float, patient: bool = False) -> None:
        """Act as fast as answers come; `patient` clients try again after a kill."""
        while time.perf_counter() < ends:
            begun = time.perf_counter()
            try:
                await self.act()
                self.told.latencies.append(time.perf_counter() - begun)
            except (OSError, RuntimeError) as error:
                if not patient:
                    self.told.errors.append(repr(error))
                await asyncio.sleep(0.1)

    async def finish(self) -> None:
        """Send what was not acknowledged again."""
        if self.pending is not None:
            await self.act()


def shares(seconds: list[float]) -> str:
    found = sorted(seconds) or [0.0]
    at = [found[min(len(found) - 1, int(len(found) * q))] * 1e3 for q in (0.5, 0.95, 0.99)]
    return "p50 {:.1f}, p95 {:.1f}, p99 {:.1f} ms".format(*at)


def summary(name: str, told: Told, seconds: float) -> None:
    count = len(told.acknowledged)
    print(f"{name}: {count:,} judged in {seconds:.0f} s ({count / seconds:.0f} a second)")
    print(f"  one request: {shares(told.answers)} ({len(told.answers):,})")
    print(f"  an action, from when it was due (answer and next item): {shares(told.latencies)}")
    print(f"  errors: {len(told.errors)}", flush=True)
    for error in told.errors[:3]:
        print(f"  {error[:200]}")


def compare(server: Server, told: dict[str, int]) -> bool:
    """Compare the store with what was acknowledged."""
    with sqlite3.connect(f"file:{server.store}?mode=ro", uri=True) as connection:
        rows = connection.execute("SELECT uuid, assignment FROM judgement").fetchall()
        (intact,) = connection.execute("PRAGMA integrity_check").fetchone()
    stored = dict(rows)
    lost = sum(stored.get(key) != assignment for key, assignment in told.items())
    doubled = len(rows) - len({assignment for _, assignment in rows})
    print(
        f"store: {len(rows):,} judgements; acknowledged {len(told):,}, lost {lost}, "
        f"doubled {doubled}, stored without an acknowledgement {len({*stored} - {*told})}; "
        f"integrity {intact}",
        flush=True,
    )
    return not lost and not doubled and intact == "ok"


async def kill_and_start(server: Server, people: list[Assessor], kills: int) -> None:
    """Kill the server at random moments while people judge, and start it again."""
    ends = time.perf_counter() + 3600
    working = [asyncio.create_task(one.in_a_loop(ends, patient=True)) for one in people]
    for number in range(1, kills + 1):
        await asyncio.sleep(random.uniform(0.3, 2.0))
        server.kill()
        seconds = await asyncio.to_thread(server.start)
        print(f"kill {number}: started again in {seconds:.1f} s", flush=True)
    await asyncio.sleep(1)
    for task in working:
        task.cancel()
    await asyncio.gather(*working, return_exceptions=True)
    for one in people:
        one.drop()
        await one.finish()


async def measure(given: argparse.Namespace, folder: Path) -> bool:
    server = Server(folder, given.items, given.assessors, given.port)
    print(f"start with the import of {given.items:,} items: {server.start():.1f} s", flush=True)
    server.kill()
    fill(server.store, given.judged, given.assessors)
    print(f"start of the same store: {server.start():.1f} s", flush=True)
    acknowledged: dict[str, int] = {}

    async def phase(name: str, seconds: float, act: Any) -> None:
        told = Told()
        for one in people:
            one.drop()  # the server closes connections that were idle for seconds
            one.told = told
        begun = time.perf_counter()
        watching = [one.watch(begun + seconds) for one in owners]
        await asyncio.gather(*(act(one, begun + seconds) for one in people), *watching)
        for one in owners:
            print(f"  the owner's page: {shares(one.told.answers[2:])}")  # without joining
        summary(name, told, time.perf_counter() - begun)
        acknowledged.update(told.acknowledged)

    people = [Assessor(server, f"a{k}", Told()) for k in range(given.assessors)]
    owners = [Assessor(server, "owner", Told())] if given.owner else []
    try:
        for one in (*people, *owners):
            await one.join()
        await phase("paced", given.seconds, Assessor.at_a_pace)
        await phase("closed loop", min(given.seconds, 20), Assessor.in_a_loop)
        if given.kills:
            told = Told()
            for one in people:
                one.told = told
            await kill_and_start(server, people, given.kills)
            acknowledged.update(told.acknowledged)
            print(f"kills: {len(told.acknowledged):,} judged, {told.repeated} were repeated")
        return compare(server, acknowledged)
    finally:
        for one in people:
            one.drop()
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
    given = parser.parse_args()
    items, seconds, kills = (20_000, 10.0, 3) if given.quick else (100_000, 120.0, 20)
    given.items, given.seconds = given.items or items, given.seconds or seconds
    given.kills = kills if given.kills is None else given.kills
    with tempfile.TemporaryDirectory() as folder:
        good = asyncio.run(measure(given, Path(folder)))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
