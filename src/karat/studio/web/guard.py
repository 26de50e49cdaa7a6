"""Checks that every request passes before a route sees it, and the headers of every answer.

Checked here, for all routes at once: Host, path, method, where a write comes from (Origin and the
header against forged requests), its type and its size. Who may do what is checked by the routes.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple

from karat.studio.web.bodies import LARGEST, Incomplete, Receive, TooLarge, read_body
from karat.studio.web.hosts import Hosts
from karat.studio.web.sessions import Sessions

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CSRF = "x-karat-csrf"
MOST_BODIES = 8
"""Bodies of one assessor that are read at the same time: pages send one after the other."""
_HEADERS = (
    ("content-security-policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
     "form-action 'self'; object-src 'none'"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
)  # fmt: skip
HEADERS = tuple((name.encode(), value.encode()) for name, value in _HEADERS)
_UNKEPT = (b"cache-control", b"no-store")
_PATH = re.compile(rb"/(?:[A-Za-z0-9_.~-]+/)*[A-Za-z0-9_.~-]*")
_LONGEST_PATH = 400
_TYPES = re.compile(r"application/json(?:\s*;\s*charset=\"?utf-8\"?)?", re.IGNORECASE)


class Refusal(NamedTuple):
    """Why a request is refused."""

    status: int
    told: str


class Headers:
    """The headers of a request; those that decide anything must stand there once."""

    def __init__(self, scope: Scope) -> None:
        self._all: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            self._all.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))

    def all(self, name: str) -> list[str]:
        """Return all values of a header."""
        return self._all.get(name, [])

    def only(self, name: str) -> str:
        """Return the value of a header; "" if there is none or more than one."""
        found = self.all(name)
        return found[0] if len(found) == 1 else ""


class Guard:
    """The application behind the checks."""

    def __init__(self, app: App, hosts: Hosts, sessions: Sessions) -> None:
        self._app, self._hosts, self._sessions = app, hosts, sessions
        self._bodies: Counter[int] = Counter()
        """Bodies that are being read, by assessor."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # the server speaks nothing else
            return
        headers = Headers(scope)
        answer = _hardened(send)
        refused = self._refusal(scope, headers)
        if refused or scope["method"] != "POST":
            await (_refuse(answer, refused) if refused else self._app(scope, receive, answer))
            return
        body = await self._read(headers, receive)
        if isinstance(body, Refusal):
            await _refuse(answer, body)
        else:
            await self._app(scope, _replay(body, receive), answer)

    async def _read(self, headers: Headers, receive: Receive) -> bytes | Refusal:
        """Return the body of a write; one assessor cannot keep all places with slow bodies."""
        session = self._sessions.read(self._sessions.cookie_in(headers.all("cookie")))
        sender = session.assessor if session else 0
        if self._bodies[sender] >= MOST_BODIES:
            return Refusal(429, "too many requests at once: wait until the others are answered")
        self._bodies[sender] += 1
        try:
            return await read_body(receive)
        except TooLarge:
            return Refusal(413, f"expected a body of at most {LARGEST:,} bytes")
        except Incomplete:
            return Refusal(408, "the body did not come to its end")
        finally:
            self._bodies[sender] -= 1

    def _refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        if not self._hosts.know(headers.only("host")):
            return Refusal(421, "this name does not belong to the studio: use the link as printed")
        path: bytes = scope.get("raw_path") or scope["path"].encode()
        if not _PATH.fullmatch(path) or len(path) > _LONGEST_PATH or b"/." in path:
            return Refusal(404, "there is no such page")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return Refusal(405, "expected GET or POST")
        if scope["method"] == "POST":
            return _not_ours(headers) or self._forged(headers) or _wrong_body(headers)
        if path.startswith(b"/api/") and _from_elsewhere(headers):
            return Refusal(403, "the request comes from another site")
        return None

    def _forged(self, headers: Headers) -> Refusal | None:
        """Refuse a write without the header that only a page of the session knows."""
        cookie = self._sessions.cookie_in(headers.all("cookie"))
        if not self._sessions.is_csrf(headers.only(CSRF), cookie):
            return Refusal(403, "the page is out of date: load it again")
        return None


def _from_elsewhere(headers: Headers) -> bool:
    return any(found not in ("same-origin", "none") for found in headers.all("sec-fetch-site"))


def _not_ours(headers: Headers) -> Refusal | None:
    """Refuse a write that a page of another origin sends, or that does not say where it is from."""
    host = headers.only("host").lower()
    origin = headers.only("origin").lower()
    if origin not in (f"http://{host}", f"https://{host}") or _from_elsewhere(headers):
        return Refusal(403, "the request comes from another site")
    return None


def _wrong_body(headers: Headers) -> Refusal | None:
    if not _TYPES.fullmatch(headers.only("content-type")) or headers.all("content-encoding"):
        return Refusal(415, "expected a body of the type application/json")
    lengths = headers.all("content-length")
    if lengths and headers.all("transfer-encoding"):
        return Refusal(400, "the body has two lengths")
    if any(not text.isdigit() or len(text) > 12 or int(text) > LARGEST for text in lengths):
        return Refusal(413, f"expected a body of at most {LARGEST:,} bytes")
    return None


def _hardened(send: Send) -> Send:
    """Return a `send` that adds the headers of every answer."""

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", ()))
            given = {name for name, _ in own}
            # Reports bring a policy of their own, which names their scripts and lets in no others.
            more = [one for one in (*HEADERS, _UNKEPT) if one[0] not in given]
            message = {**message, "headers": [*own, *more]}
        await send(message)

    return sending


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that was read already."""
    parts = [{"type": "http.request", "body": body, "more_body": False}]

    async def replaying() -> MutableMapping[str, Any]:
        return parts.pop() if parts else await receive()

    return replaying


async def _refuse(send: Send, refusal: Refusal) -> None:
    body = json.dumps({"error": refusal.told}).encode()
    # What is left of a body is not read: the connection ends.
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
