"""Bodies that are malformed or slow, and a store that breaks while it is served."""

from __future__ import annotations

import re
import socket
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("jinja2")

from studio.web.browser_page import Visitor
from studio.web.person import Person, rows, values
from studio.web.studio_server import Client, StudioServer, write_set

from karat.studio.web.guard import MAX_BODIES
from karat.studio.web.server import MAX_CONNECTIONS

RATED = {"ratings": {"quality": 5}}
MALFORMED = (
    b"zz\r\n",
    b"-1\r\n",
    b"5\r\nhelloXX",
    b"5\r\nhello\r\nzz\r\n",
    b"f" * 40 + b"\r\n",
    b"5;" + b"x" * 70_000,
    b"\r\n\r\n",
    b"\x00\xff\x80",
    b"0\r\nBad Trailer\r\n\r\n",
)
"""Bodies that no chunked encoding has."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StudioServer]:
    people = [word for name in ("ada", "ben") for word in ("--assessor", name)]
    server = StudioServer(tmp_path, write_set(tmp_path), *people)
    yield server
    server.stop()


def head(client: Client, method: str = "POST", **more: str) -> bytes:
    """The head of a request that a page could send, with other headers."""
    headers = client.headers(method) | {name.replace("_", "-"): x for name, x in more.items()}
    lines = [f"{method} /api/judgements HTTP/1.1", *(f"{k}: {v}" for k, v in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def status_of(server: StudioServer, *parts: bytes) -> int:
    """The status of the answer to bytes that are sent one after the other; 0 without an answer."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as line:
        try:
            for part in parts:
                line.sendall(part)
            match = re.match(rb"HTTP/1.1 (\d+)", line.recv(4096))
        except ConnectionError:
            return 0
    return int(match[1]) if match else 0


def test_malformed_bodies_print_nothing(server: StudioServer) -> None:
    requests = [
        parts
        for who in (Client(server, None), Client(server, "ada"))
        for method in ("POST", "GET")
        for begin in [head(who, method, Transfer_Encoding="chunked")]
        for body in MALFORMED
        for parts in ((begin + body,), (begin, body), (begin + body[:1], body[1:]))
    ]
    with ThreadPoolExecutor(6) as pool:  # some are answered after the server's limit of 20 s
        statuses = list(pool.map(lambda parts: status_of(server, *parts), requests))
    assert set(statuses) <= {0, 400, 401, 403, 405, 408, 413}
    ada = Client(server, "ada")
    assert ada.judge(ada.next(), RATED).status == 200
    assert server.stop() == f"Stopped. Judgements: 1. All is saved in {server.store}.\n"


def test_slow_bodies_of_one_assessor_block_nobody(server: StudioServer) -> None:
    ada, ben = Client(server, "ada"), Client(server, "ben")
    item = ben.next()
    begin = head(ada, Content_Length="1000")
    with ExitStack() as stack:
        lines = []
        for _ in range(MAX_CONNECTIONS + 20):
            line = stack.enter_context(
                socket.create_connection(("127.0.0.1", server.port), timeout=20)
            )
            line.sendall(begin + b"{")
            lines.append(line)
        refused = [line.recv(4096) for line in lines[MAX_BODIES:]]
        assert {response.split(b" ", 2)[1] for response in refused} == {b"429"}
        assert ben.judge(item, RATED).status == 200
        assert ada.ask("GET", "/api/next").status == 200
        assert ada.judge(ada.next(), RATED).status == 429  # kept by the page, and sent again
    assert ada.judge(ada.next(), RATED).status == 200


def test_slow_bodies_of_many_assessors_leave_room_for_others(tmp_path: Path) -> None:
    count = MAX_CONNECTIONS // MAX_BODIES + 2
    people = [word for k in range(count) for word in ("--assessor", f"a{k}")]
    server = StudioServer(tmp_path, write_set(tmp_path, 3), *people, "--assessor", "zoe")
    zoe = Client(server, "zoe")
    item = zoe.next()
    begins = [head(Client(server, f"a{k}"), Content_Length="1000") for k in range(count)]
    with ExitStack() as stack:
        for begin in begins * MAX_BODIES:
            line = socket.create_connection(("127.0.0.1", server.port), timeout=20)
            stack.enter_context(line).sendall(begin + b"{")
        assert zoe.judge(item, RATED).status == 200
    server.stop()


def damage(path: Path) -> bytes:
    """Overwrite the pages of a store behind the first; return what was there."""
    with sqlite3.connect(path) as outside:
        outside.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    outside.close()
    before = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (len(before) - 4096))
    return before


def test_a_damaged_database_is_no_fault_of_the_answer(server: StudioServer) -> None:
    ada = Client(server, "ada")
    item = ada.next()
    before = damage(server.store)
    answer = ada.judge(item, RATED)
    assert answer.status == 503
    assert "is damaged" in answer.json["error"]
    assert ada.ask("GET", f"/api/item/{item['assignment']}").status == 503
    assert ada.ask("GET", "/api/item/abc").status in (404, 503)
    with server.store.open("r+b") as file:
        file.write(before)
    server.stop()
    server.start()
    ada = Client(server, "ada")
    assert ada.judge(item, RATED).status == 200
    assert ada.judge(item, {"ratings": {"quality": 99}}).status == 422  # still the answer's fault


def test_the_page_keeps_an_answer_that_a_damaged_store_does_not_take(
    browser: Any, server: StudioServer
) -> None:
    ada = Person(browser, server, "ada")
    owner = Visitor(browser, server, "owner")
    owner.open("/owner")
    before = damage(server.store)
    ada.press("4", "Enter")
    ada.page.wait_for_function(
        "() => document.getElementById('saved').textContent.includes('damaged')"
    )
    assert ada.page.locator("#saved.failed").count() == 0
    owner.page.wait_for_function(
        "() => document.getElementById('saved').textContent.includes('damaged')"
    )
    assert "signed in" not in owner.page.text_content("#saved")
    with server.store.open("r+b") as file:
        file.write(before)
    server.stop()
    server.start()
    ada.saved()
    assert [value["ratings"] for value in values(server, "ada")] == [{"quality": 4}]
    assert len(rows(server, "ada")) == 1
