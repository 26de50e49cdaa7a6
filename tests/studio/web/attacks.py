"""Requests that no page of the studio sends, as functions of a world that they are sent to."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from studio.web.studio_server import Client, StudioServer, judgement

from karat.studio.store.people import active_link
from karat.studio.store.store import Store
from karat.studio.web.studio import Sessions

RATED = {"ratings": {"quality": 5}}


class World(NamedTuple):
    """A server, the people it knows, and an assignment of each of two assessors."""

    server: StudioServer
    ada: Client
    ben: Client
    owner: Client
    stranger: Client
    own: dict[str, Any]
    other: dict[str, Any]

    def rows(self) -> int:
        with Store.reading(self.server.store) as store, store.read() as connection:
            count: int = connection.execute("SELECT count(*) FROM judgement").fetchone()[0]
            return count


Attack = Callable[[World], int]
"""Sends something and returns the status of the answer."""


def get(path: str, who: str = "ada", method: str = "GET", **headers: str | None) -> Attack:
    named_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda world: getattr(world, who).ask(method, path, headers=named_headers).status


def post(who: str = "ada", path: str = "/api/judgements", **headers: str | None) -> Attack:
    """A good answer with headers that are not."""
    named_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda world: (
        getattr(world, who).ask("POST", path, judgement(world.own, RATED), named_headers).status
    )


def body(text: bytes | str, path: str = "/api/judgements", who: str = "ada") -> Attack:
    """A body as it is, in which ASSIGNMENT stands for one of the assessor's own."""
    raw = text.encode() if isinstance(text, str) else text

    def attack(world: World) -> int:
        sent = raw.replace(b"ASSIGNMENT", str(world.own["assignment"]).encode())
        status: int = getattr(world, who).ask("POST", path, sent).status
        return status

    return attack


def sent(value: Any = RATED, **more: Any) -> Attack:
    """A JSON answer whose parts are wrong."""
    return lambda world: (
        world.ada.ask("POST", "/api/judgements", judgement(world.own, value, **more)).status
    )


def raw(*lines: str, then: bytes = b"") -> Attack:
    """Bytes on the connection; 0 if it was closed without an answer."""

    def attack(world: World) -> int:
        head = "\r\n".join(lines).replace("PORT", str(world.server.port))
        with socket.create_connection(("127.0.0.1", world.server.port), timeout=20) as line:
            line.sendall(head.encode("latin-1") + b"\r\n\r\n" + then)
            match = re.match(rb"HTTP/1.1 (\d+)", line.recv(4096))
        return int(match[1]) if match else 0

    return attack


def to_other(world: World) -> int:
    return world.ada.ask("POST", "/api/judgements", judgement(world.other, RATED)).status


def undo_other(world: World) -> int:
    sent = {"uuid": "6c1f8b7e-4f5a-4e0a-9d1c-2b3a4c5d6e7f", "assignment": world.other["assignment"]}
    return world.ada.ask("POST", "/api/undo", sent).status


def look_at_other(world: World) -> int:
    return world.ada.ask("GET", f"/api/item/{world.other['assignment']}").status


def other_csrf(world: World) -> int:
    sent = judgement(world.own, RATED)
    return world.ada.ask("POST", "/api/judgements", sent, {"X-Karat-CSRF": world.ben.csrf}).status


def chunked(size: int) -> Attack:
    """A body without a length that is larger than allowed."""

    def attack(world: World) -> int:
        part = b"%x\r\n%s\r\n" % (4096, b" " * 4096)
        sent = world.ada.headers("POST") | {"Transfer-Encoding": "chunked"}
        head = "POST /api/judgements HTTP/1.1\r\n" + "".join(
            f"{k}: {v}\r\n" for k, v in sent.items()
        )
        with socket.create_connection(("127.0.0.1", world.server.port), timeout=20) as line:
            with suppress(OSError):  # it may be refused before all of it was sent
                line.sendall(head.encode() + b"\r\n" + part * (size // 4096 + 1) + b"0\r\n\r\n")
            match = re.match(rb"HTTP/1.1 (\d+)", line.recv(4096))
        assert match
        return int(match[1])

    return attack


def forged(key: bytes | None, clock: float | None = None) -> Attack:
    """A cookie under another key, or one that has expired under the right one."""

    def attack(world: World) -> int:
        stored = json.loads((world.server.folder / "judged.sqlite.keys").read_text())["key"]
        right = Sessions(bytes.fromhex(stored))
        sessions = Sessions(key or right.key, (lambda: clock) if clock is not None else right.clock)
        with Store.reading(world.server.store) as store:
            link = active_link(store, 2)
        assert link
        cookie = f"{right.cookie}={sessions.begin(2, link[1])}"
        return world.stranger.ask("GET", "/api/next", headers={"Cookie": cookie}).status

    return attack


def cookie(value: str) -> Attack:
    def attack(world: World) -> int:
        name = world.ada.cookie.partition("=")[0]
        return world.stranger.ask("GET", "/api/next", headers={"Cookie": f"{name}={value}"}).status

    return attack


def signature_of_another(world: World) -> int:
    name, _, value = world.ada.cookie.partition("=")
    id, rest = value.split(".", 1)
    sent = f"{name}={int(id) + 1}.{rest}"
    return world.stranger.ask("GET", "/api/next", headers={"Cookie": sent}).status
