"""Checks of every request before it reaches a route, and the headers of every answer.

Checked for all routes: Host, path, method, and for writes the origin, the CSRF token, the type and
the size. Routes check who may call them.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import math
import re
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers

from karat.errors import InputError, quoted
from karat.studio.web.studio import Sessions

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
MAX_BODY = 256 * 1024
"""Bytes of a body."""
MAX_BODY_SECONDS = 20.0
"""Time limit for receiving a body."""
MAX_DEPTH = 12
_TOO_DEEP = f"the JSON is nested too deep: expected {MAX_DEPTH} levels at most"
MAX_DIGITS = 15
"""Maximum digits of an integer: larger ones are inexact in browsers."""
CSRF = "x-karat-csrf"
MAX_BODIES = 8
"""Maximum bodies of one assessor read at the same time; pages send one after the other."""
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
_NO_STORE = (b"cache-control", b"no-store")
_PATH = re.compile(rb"/(?:[A-Za-z0-9_.~-]+/)*[A-Za-z0-9_.~-]*")
_MAX_PATH = 400
_TYPES = re.compile(r"application/json(?:\s*;\s*charset=\"?utf-8\"?)?", re.IGNORECASE)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class HttpRefusal(Exception):
    """A refused request: a status and a message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Hosts:
    """The host names of one server."""

    names: frozenset[str]
    any_address: bool = False
    """Whether any IP address is accepted; DNS rebinding needs a name."""

    @classmethod
    def for_address(cls, bound: str) -> Hosts:
        """Return the host names of a server bound to an address."""
        if bound in LOOPBACK:
            return cls(frozenset(LOOPBACK))
        names = {*LOOPBACK, bound.lower(), socket.gethostname().lower()}
        return cls(frozenset(names - {*EVERYWHERE}), bound in EVERYWHERE)

    def accepts(self, header: str) -> bool:
        """Return whether a Host header, with or without a port, names this server."""
        name = _host_name(header)
        if name in self.names or not self.any_address:
            return name in self.names
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _host_name(header: str) -> str:
    """Return the host in lower case, without port and brackets; "" if it is malformed."""
    name, colon, port = header.rpartition(":")
    if header.startswith("[") and header.endswith("]"):
        name, colon, port = header, "", ""
    elif not colon:
        name, port = header, ""
    if colon and not (port.isascii() and port.isdigit()):
        return ""
    if name.startswith("[") and name.endswith("]"):
        return name[1:-1].lower()
    return "" if ":" in name else name.lower()


# JSON bodies


def parse(body: bytes) -> dict[str, Any]:
    """Return a JSON object; raise InputError for anything that parsers could read differently."""
    try:
        content = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_parse_object,
            parse_constant=_reject_constant,
            parse_float=_parse_float,
            parse_int=_parse_int,
        )
    except UnicodeDecodeError:
        raise InputError("the body is not valid UTF-8: expected JSON in UTF-8") from None
    except RecursionError:
        raise InputError(_TOO_DEEP) from None
    except json.JSONDecodeError as error:
        raise InputError(f"the body is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"found {quoted(content)}, expected a JSON object")
    _check_json(content, 1)
    return content


def _parse_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise InputError("a key occurs twice in a JSON object: expected each key once")
    return members


def _reject_constant(name: str) -> Any:
    raise InputError(f"found {name} in the JSON: expected finite numbers")


def _parse_float(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _reject_constant(quoted(text))


def _parse_int(text: str) -> int:
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise InputError(f"found the number {quoted(text)}: expected at most {MAX_DIGITS} digits")
    return int(text)


def _check_json(value: object, depth: int) -> None:
    """Raise InputError for deep nesting and invalid text."""
    if depth > MAX_DEPTH:
        raise InputError(_TOO_DEEP)
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_text(key)
            _check_json(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check_json(inner, depth + 1)


def _check_text(text: str) -> None:
    if "\0" in text or any(0xD800 <= ord(letter) < 0xE000 for letter in text):
        problem = "a NUL or half a character (a lone surrogate)"
        raise InputError(f"a text of the JSON holds {problem}: expected valid text")


# Checks of requests


def _single_header(headers: Headers, name: str) -> str:
    """Return the value of a header; "" if it is missing or repeated."""
    values = headers.getlist(name)
    return values[0] if len(values) == 1 else ""


class Guard:
    """The application behind the checks."""

    def __init__(self, app: App, hosts: Hosts, sessions: Sessions) -> None:
        self._app, self._hosts, self._sessions = app, hosts, sessions
        self._bodies: Counter[int] = Counter()
        """Number of bodies being read, by assessor."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # the server supports only HTTP
            return
        headers, answer = Headers(scope=scope), _add_headers(send)
        try:
            self._check(scope, headers)
            if scope["method"] == "POST":
                receive = _replay(await self._read(headers, receive), receive)
        except HttpRefusal as refusal:
            body = json.dumps({"error": str(refusal)}).encode()
            # The rest of the body is not read, so the connection must close.
            fields = [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                (b"connection", b"close"),
            ]
            start = {"type": "http.response.start", "status": refusal.status, "headers": fields}
            await answer(start)
            await answer({"type": "http.response.body", "body": body})
            return
        await self._app(scope, receive, answer)

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Raise HttpRefusal for a request that must not reach a route."""
        if not self._hosts.accepts(_single_header(headers, "host")):
            problem = "this name does not belong to the studio: use the link as printed"
            raise HttpRefusal(421, problem)
        path: bytes = scope.get("raw_path") or scope["path"].encode()
        if not _PATH.fullmatch(path) or len(path) > _MAX_PATH or b"/." in path:
            raise HttpRefusal(404, "there is no such page")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            raise HttpRefusal(405, "expected GET or POST")
        sites = headers.getlist("sec-fetch-site")
        from_elsewhere = any(site not in ("same-origin", "none") for site in sites)
        if scope["method"] == "POST":
            host, origin = (_single_header(headers, name).lower() for name in ("host", "origin"))
            from_elsewhere |= origin not in (f"http://{host}", f"https://{host}")
        elif not path.startswith(b"/api/"):
            return
        if from_elsewhere:
            raise HttpRefusal(403, "the request comes from another site")
        if scope["method"] == "POST":
            cookie = self._sessions.cookie_in(headers.getlist("cookie"))
            if not self._sessions.is_csrf(_single_header(headers, CSRF), cookie):
                raise HttpRefusal(403, "the page is out of date: load it again")
            _check_body_headers(headers)

    async def _read(self, headers: Headers, receive: Receive) -> bytes:
        """Return the body of a write, with a limit on simultaneous bodies per assessor."""
        session = self._sessions.read(self._sessions.cookie_in(headers.getlist("cookie")))
        sender = session.assessor if session else 0
        if self._bodies[sender] >= MAX_BODIES:
            problem = "too many requests at once: wait until the others are answered"
            raise HttpRefusal(429, problem)
        self._bodies[sender] += 1
        try:
            return await asyncio.wait_for(_receive_body(receive), MAX_BODY_SECONDS)
        except asyncio.TimeoutError:
            raise HttpRefusal(408, _INCOMPLETE) from None
        finally:
            self._bodies[sender] -= 1


_INCOMPLETE = "the body did not come to its end"
_TOO_LARGE = f"expected a body of at most {MAX_BODY:,} bytes"


def _check_body_headers(headers: Headers) -> None:
    if not _TYPES.fullmatch(_single_header(headers, "content-type")) or headers.getlist(
        "content-encoding"
    ):
        raise HttpRefusal(415, "expected a body of the type application/json")
    lengths = headers.getlist("content-length")
    if lengths and headers.getlist("transfer-encoding"):
        raise HttpRefusal(400, "the body has two lengths")
    if any(not text.isdigit() or len(text) > 12 or int(text) > MAX_BODY for text in lengths):
        raise HttpRefusal(413, _TOO_LARGE)


async def _receive_body(receive: Receive) -> bytes:
    """Return a body; raise HttpRefusal if it is incomplete or too large."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise HttpRefusal(408, _INCOMPLETE)
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            raise HttpRefusal(413, _TOO_LARGE)
        if not message.get("more_body", False):
            return bytes(body)


def _add_headers(send: Send) -> Send:
    """Return a `send` that adds the security headers."""

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            names = {name for name, _ in headers}
            # Reports have their own, stricter policy.
            missing = [header for header in (*HEADERS, _NO_STORE) if header[0] not in names]
            message = {**message, "headers": [*headers, *missing]}
        await send(message)

    return sending


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that returns a body already read."""
    parts = [{"type": "http.request", "body": body, "more_body": False}]

    async def replaying() -> MutableMapping[str, Any]:
        return parts.pop() if parts else await receive()

    return replaying
