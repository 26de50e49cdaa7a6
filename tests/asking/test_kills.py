"""Runs that are killed or interrupted: nothing stored is asked again, the rest goes on."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from asking.chats import asked, requests, start, wait_for
from asking.server import ChatServer, serving

from karat.errors import Interrupted
from karat.llm.cache import Cache
from karat.progress import Stop, map_in_order

MANY = {
    **{"429": 0.05, "429 after": 0.05, "500": 0.05, "503": 0.05, "reset": 0.05, "truncated": 0.05},
    **{"invalid json": 0.05, "no completion": 0.05, "empty": 0.05, "wrong id": 0.05, "slow": 0.05},
}
PATIENT = {"attempts": 20, "backoff": 0.002}


def stored(cache: Path) -> set[str]:
    """The messages whose answers are in a cache."""
    with sqlite3.connect(cache) as file:
        rows = file.execute("SELECT answer FROM requests WHERE state = 'answered'").fetchall()
    file.close()
    return {json.loads(text)["echo"] for (text,) in rows}


def killed(server: ChatServer, cache: Path, number: int, after: int, concurrency: int) -> set[str]:
    """Start a client and kill it once `after` answers are out; return what is stored then."""
    client = start(server.url, cache, number, concurrency=concurrency, **PATIENT)
    wait_for(lambda: server.answered.total() >= after or client.poll() is not None)
    client.kill()
    client.communicate()
    assert client.returncode == -signal.SIGKILL
    wait_for(lambda: server.at_once == 0)
    return stored(cache)


def test_after_two_kills_nothing_stored_is_asked_again(tmp_path: Path) -> None:
    cache, number, concurrency = tmp_path / "cache", 600, 8
    draw = random.Random(5)
    times: dict[str, int] = {}
    with serving(shares=MANY, seed=5, pause=0.01) as server:
        for after in (draw.randrange(20, 250), draw.randrange(300, 550)):
            expected = killed(server, cache, number, after, concurrency)
            assert times.items() <= server.times.items()  # those stored before
            times = {content: server.times[content] for content in expected}
        client = start(server.url, cache, number, concurrency=concurrency, **PATIENT)
        out, err = client.communicate(timeout=60)
        assert client.returncode == 0, err
        assert times.items() <= server.times.items()
    usage = json.loads(out)
    assert (usage["right"], usage["missing"], usage["cached"]) == (number, 0, len(expected))
    assert usage["repeated"] <= concurrency
    totals = usage["totals"]
    assert usage["repeated"] <= totals["repeated"] <= 2 * concurrency
    # what the server answered twice was under way at a kill: it is counted
    assert server.answered.total() - number <= totals["repeated"]
    assert totals["answered"] == number
    assert 0 <= totals["sent"] - len(server.asked) <= totals["repeated"]


def test_what_was_in_flight_at_a_kill_is_asked_again_and_counted(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with serving(["ok"] * 2, always="hang") as server:
        client = start(server.url, cache, 10, concurrency=3, timeout=30.0)
        wait_for(lambda: server.at_once == 3 and server.answered.total() == 2)
        client.kill()
        client.communicate()
        server.always = "ok"
        run = asked(server.url, requests(10), cache)
    assert (run.usage.cached, run.usage.repeated, run.usage.missing) == (2, 3, 0)
    assert run.usage.totals.repeated == 3
    assert run.usage.totals.sent == 2 + 3 + 8
    assert asked("http://127.0.0.1:9", [], cache).usage.repeated == 0


def interrupted(client: subprocess.Popen[str]) -> str:
    """Interrupt a client, which must end long before its time-out; return what it says."""
    client.send_signal(signal.SIGINT)
    return client.communicate(timeout=30)[1]


def test_ctrl_c_stores_what_arrives_within_the_grace(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with serving(always="slow", pause=0.4) as server:
        client = start(server.url, cache, 50, concurrency=4, grace=20.0, timeout=60.0)
        wait_for(lambda: server.at_once == 4)
        assert "KeyboardInterrupt" in interrupted(client)
        answered = server.answered.total()
        server.always = "ok"
        run = asked(server.url, requests(50), cache)
    assert 4 <= run.usage.cached == answered < 50
    assert run.usage.repeated == 0


def test_ctrl_c_does_not_wait_for_a_hanging_server(tmp_path: Path) -> None:
    with serving(always="hang") as server:
        client = start(server.url, tmp_path / "cache", 10, grace=0.0, timeout=600.0)
        wait_for(lambda: server.at_once == 4)
        assert "KeyboardInterrupt" in interrupted(client)


def test_an_interrupt_while_storing_counts_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Cache.write

    def interrupted_write(self: Cache, *given: Any) -> None:
        write(self, *given)
        if given[0]:
            signal.raise_signal(signal.SIGINT)

    cache = tmp_path / "cache"
    with serving() as server:
        with monkeypatch.context() as patch:
            patch.setattr(Cache, "write", interrupted_write)
            with pytest.raises(KeyboardInterrupt):
                asked(server.url, requests(20), cache)
        usage = asked(server.url, requests(20), cache).usage
        assert usage.totals.answered == 20
        assert usage.totals.sent == len(server.asked) == 20
        assert usage.repeated == 0


def test_a_request_to_stop_ends_the_run(tmp_path: Path) -> None:
    stop, cache = Stop(), tmp_path / "cache"
    with serving(["ok"] * 5, always="hang") as server:

        def work(number: int) -> object:
            return asked(server.url, requests(number), cache, limits={"grace": 0.1})

        def request_stop() -> None:
            wait_for(lambda: server.answered.total() == 5)
            stop.request()

        thread = threading.Thread(target=request_stop)
        thread.start()
        with pytest.raises(Interrupted):
            list(map_in_order(work, [20], 1, stop))
        thread.join()
        server.always = "ok"
        assert asked(server.url, requests(20), cache).usage.cached == 5


def test_no_thread_is_left(tmp_path: Path) -> None:
    with serving(always="hang") as server:

        def progress(done: int, total: int, subject: str) -> None:
            if server.at_once == 4:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            asked(server.url, requests(9), progress=progress, limits={"grace": 0.0})
        wait_for(lambda: all(thread.name != "karat" for thread in threading.enumerate()))
