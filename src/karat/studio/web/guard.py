"""Checks that every request passes before a route sees it, and the headers of every answer.

Checked here, for all routes at once: Host, path, method, where a write comes from (Origin and the
header against forged requests), its type and its size. Who may do what is checked by the routes.
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
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.studio.web.studio import Sessions

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")


@dataclass(frozen=True)
class Hosts:
    """The names of one server."""

    names: frozenset[str]
    any_address: bool = False
    """Whether any address in digits is taken: rebinding needs a name."""

    @classmethod
    def of(cls, bound: str) -> Hosts:
        """Return the names under which a server that is bound to an address is reached."""
        if bound in LOOPBACK:
            return cls(frozenset(LOOPBACK))
        names = {*LOOPBACK, bound.lower(), socket.gethostname().lower()}
        return cls(frozenset(names - {*EVERYWHERE}), bound in EVERYWHERE)

    def know(self, header: str) -> bool:
        """Return whether a Host header, with or without a port, names this server."""
        name = host_name(header)
        return name in self.names or (self.any_address and _is_address(name))


def host_name(header: str) -> str:
    """Return the name in a Host header: lower case, no port, no brackets; "" if it is malformed."""
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


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


MAX_BODY = 256 * 1024
"""Bytes of a body."""
MAX_BODY_SECONDS = 20.0
"""Seconds in which a body must have come."""
MAX_DEPTH = 12
MAX_DIGITS = 15
"""Digits of a whole number: browsers hold larger ones inexactly."""

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class BodyTooLarge(Exception):
    """A body is over the limit."""


class Incomplete(Exception):
    """A body did not come to its end in time."""


async def read_body(receive: Receive) -> bytes:
    """Return a body, whether or not its length was announced."""
    try:
        return await asyncio.wait_for(_receive_body(receive), MAX_BODY_SECONDS)
    except asyncio.TimeoutError:
        raise Incomplete from None


async def _receive_body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Incomplete
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            raise BodyTooLarge
        if not message.get("more_body", False):
            return bytes(body)


def parse(body: bytes) -> dict[str, Any]:
    """Return a JSON object; anything that two readers could read differently is refused."""
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
        raise InputError(
            f"the JSON is nested too deep: expected {MAX_DEPTH} levels at most"
        ) from None
    except json.JSONDecodeError as error:
        raise InputError(f"the body is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"found {quoted(content)}, expected a JSON object")
    _check_json(content, 1)
    return content


def _parse_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise InputError("a key stands twice in an object of the JSON: expected each key once")
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
        raise InputError(f"the JSON is nested too deep: expected {MAX_DEPTH} levels at most")
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


Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CSRF = "x-karat-csrf"
MAX_BODIES = 8
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
_MAX_PATH = 400
_TYPES = re.compile(r"application/json(?:\s*;\s*charset=\"?utf-8\"?)?", re.IGNORECASE)


class HttpRefusal(NamedTuple):
    """Why a request is refused."""

    status: int
    message: str


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
        values = self.all(name)
        return values[0] if len(values) == 1 else ""


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
        answer = _add_headers(send)
        refused = self._refusal(scope, headers)
        if refused or scope["method"] != "POST":
            await (_refuse(answer, refused) if refused else self._app(scope, receive, answer))
            return
        body = await self._read(headers, receive)
        if isinstance(body, HttpRefusal):
            await _refuse(answer, body)
        else:
            await self._app(scope, _replay(body, receive), answer)

    async def _read(self, headers: Headers, receive: Receive) -> bytes | HttpRefusal:
        """Return the body of a write; one assessor cannot keep all places with slow bodies."""
        session = self._sessions.read(self._sessions.cookie_in(headers.all("cookie")))
        sender = session.assessor if session else 0
        if self._bodies[sender] >= MAX_BODIES:
            return HttpRefusal(429, "too many requests at once: wait until the others are answered")
        self._bodies[sender] += 1
        try:
            return await read_body(receive)
        except BodyTooLarge:
            return HttpRefusal(413, f"expected a body of at most {MAX_BODY:,} bytes")
        except Incomplete:
            return HttpRefusal(408, "the body did not come to its end")
        finally:
            self._bodies[sender] -= 1

    def _refusal(self, scope: Scope, headers: Headers) -> HttpRefusal | None:
        if not self._hosts.know(headers.only("host")):
            return HttpRefusal(
                421, "this name does not belong to the studio: use the link as printed"
            )
        path: bytes = scope.get("raw_path") or scope["path"].encode()
        if not _PATH.fullmatch(path) or len(path) > _MAX_PATH or b"/." in path:
            return HttpRefusal(404, "there is no such page")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return HttpRefusal(405, "expected GET or POST")
        if scope["method"] == "POST":
            return _origin_refusal(headers) or self._forged(headers) or _body_refusal(headers)
        if path.startswith(b"/api/") and _from_elsewhere(headers):
            return HttpRefusal(403, "the request comes from another site")
        return None

    def _forged(self, headers: Headers) -> HttpRefusal | None:
        """Reject a write without the CSRF header of the session."""
        cookie = self._sessions.cookie_in(headers.all("cookie"))
        if not self._sessions.is_csrf(headers.only(CSRF), cookie):
            return HttpRefusal(403, "the page is out of date: load it again")
        return None


def _from_elsewhere(headers: Headers) -> bool:
    return any(site not in ("same-origin", "none") for site in headers.all("sec-fetch-site"))


def _origin_refusal(headers: Headers) -> HttpRefusal | None:
    """Reject a write from another origin, or without an origin."""
    host = headers.only("host").lower()
    origin = headers.only("origin").lower()
    if origin not in (f"http://{host}", f"https://{host}") or _from_elsewhere(headers):
        return HttpRefusal(403, "the request comes from another site")
    return None


def _body_refusal(headers: Headers) -> HttpRefusal | None:
    if not _TYPES.fullmatch(headers.only("content-type")) or headers.all("content-encoding"):
        return HttpRefusal(415, "expected a body of the type application/json")
    lengths = headers.all("content-length")
    if lengths and headers.all("transfer-encoding"):
        return HttpRefusal(400, "the body has two lengths")
    if any(not text.isdigit() or len(text) > 12 or int(text) > MAX_BODY for text in lengths):
        return HttpRefusal(413, f"expected a body of at most {MAX_BODY:,} bytes")
    return None


def _add_headers(send: Send) -> Send:
    """Return a `send` that adds the headers of every answer."""

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            names = {name for name, _ in headers}
            # Reports bring a policy of their own, which names their scripts and lets in no others.
            missing = [header for header in (*HEADERS, _UNKEPT) if header[0] not in names]
            message = {**message, "headers": [*headers, *missing]}
        await send(message)

    return sending


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that was read already."""
    parts = [{"type": "http.request", "body": body, "more_body": False}]

    async def replaying() -> MutableMapping[str, Any]:
        return parts.pop() if parts else await receive()

    return replaying


async def _refuse(send: Send, refusal: HttpRefusal) -> None:
    body = json.dumps({"error": refusal.message}).encode()
    # What is left of a body is not read: the connection ends.
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
