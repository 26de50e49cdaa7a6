"""HTTP client of OpenAI-compatible endpoints: one request, one reply or failure."""

from __future__ import annotations

import io
import json
import os
import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead
from typing import Any, NamedTuple, Protocol

from karat import __version__
from karat.errors import short
from karat.llm.endpoint import Address, Endpoint, Key
from karat.llm.requests import (
    DROPPED,
    EMPTY,
    GARBAGE,
    TIMEOUT,
    TOO_LARGE,
    UNREACHABLE,
    Completion,
    Failure,
    Job,
    Request,
    estimated_prompt,
    estimated_tokens,
)


def as_json(body: bytes) -> Any:
    """Return a body as JSON, or None."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, or lists in lists in lists
        return None


def as_text(text: str, key: Key) -> str:
    """Return a text without the key and without half characters, which cannot be stored."""
    return key.redact(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def error_said(found: Any, key: Key) -> str:
    """Return what a server said of an error: first without the key, then cut."""
    for names in (("error", "detail", "message"), ("message",)):
        if isinstance(found, dict):
            found = next((found[name] for name in names if name in found), None)
    text = as_text(found, key) if isinstance(found, str) else ""
    return short(text.strip()).rstrip(". ")


def seconds_to_wait(header: str | None) -> float | None:
    """Return the seconds that the header asks for (a number or an HTTP date), None without one."""
    text = (header or "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=timezone.utc)
    return max((until - datetime.now(timezone.utc)).total_seconds(), 0.0)


LARGEST = 1 << 23
"""Bytes of the largest body that is read."""
_IDLE = 2.0  # seconds after which servers may have closed a connection


class TooLarge(Exception):
    """The body is larger than any answer."""


class Unreachable(Exception):
    """There is no connection to the host; the text says why."""


class Untrusted(Exception):
    """The host's certificate is not valid; the text says why."""


class Reply(NamedTuple):
    """The reply of a server."""

    status: int
    headers: Mapping[str, str]
    """By names in lower case."""
    body: bytes


def _left(deadline: float) -> float:
    """Return the seconds that are left until a deadline."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Timed:
    """A socket as http.client uses it, whose every operation ends at the deadline.

    A time-out of the socket alone begins anew with every byte that drips in.
    """

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock, self._deadline = sock, deadline

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(_left(self._deadline))
        self._sock.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self._sock, self._deadline))

    def close(self) -> None:
        """Nothing: http.client closes what it still reads from."""


class _Incoming(io.RawIOBase):
    """The bytes that a socket receives until the deadline."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock, self._deadline = sock, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(_left(self._deadline))
        return self._sock.recv_into(buffer)


class Connection:
    """A connection to an address, kept open between requests; of one thread, save `abort`."""

    def __init__(self, address: Address, trusted: ssl.SSLContext | None) -> None:
        self._address, self._trusted = address, trusted
        self._sock: socket.socket | None = None
        self._used = 0.0

    def post(self, body: bytes, headers: Mapping[str, str], timeout: float) -> Reply:
        """Send a request and return the whole reply; whatever goes wrong, the connection ends."""
        try:
            return self._post(body, headers, time.monotonic() + timeout)
        except BaseException:
            self.close()
            raise

    def _post(self, body: bytes, headers: Mapping[str, str], deadline: float) -> Reply:
        http = HTTPConnection(self._address.host, self._address.port)
        http.set_debuglevel(0)  # else headers are printed, the key among them
        http.auto_open = 0
        http.sock = _Timed(self._open(deadline), deadline)
        own = {"Host": self._address.authority, "User-Agent": f"karat/{__version__}"}
        own["Content-Type"] = "application/json"
        http.request("POST", self._address.target, body, {**own, **headers})
        response = http.getresponse()
        told = {name.lower(): value for name, value in response.headers.items()}
        reply = Reply(response.status, told, _whole(response))
        self._used = time.monotonic()
        if response.will_close:
            self.close()
        return reply

    def close(self) -> None:
        """End the connection."""
        if self._sock is not None:
            self._sock.close()
        self._sock = None

    def abort(self) -> None:
        """End what another thread is waiting for."""
        sock = self._sock
        if sock is not None:
            with suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)  # no farewell of TLS, which waits

    def _open(self, deadline: float) -> socket.socket:
        if self._sock is not None and time.monotonic() - self._used < _IDLE:
            return self._sock
        self.close()
        try:
            self._sock = self._connect(deadline)
            self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._trusted is not None:
                self._sock.settimeout(_left(deadline))
                self._sock = self._trusted.wrap_socket(
                    self._sock, server_hostname=self._address.host
                )
        except ssl.SSLCertVerificationError as error:
            raise Untrusted(error.verify_message) from None
        except TimeoutError:
            raise Unreachable("timed out") from None
        except (OSError, ValueError) as error:  # a host's name may be too long
            raise Unreachable(getattr(error, "strerror", None) or type(error).__name__) from None
        return self._sock

    def _connect(self, deadline: float) -> socket.socket:
        """Connect to the first of the host's addresses that accepts."""
        where = (self._address.host, self._address.port)
        places = socket.getaddrinfo(*where, type=socket.SOCK_STREAM)
        for number, (family, kind, protocol, _, place) in enumerate(places):
            sock = socket.socket(family, kind, protocol)
            try:
                sock.settimeout(_left(deadline) / (len(places) - number))
                sock.connect(place)
                return sock
            except OSError:
                sock.close()
                if number == len(places) - 1:
                    raise
        raise OSError("the host has no address")


def _whole(response: HTTPResponse) -> bytes:
    """Return the body; a part of it is as good as none."""
    body = response.read(LARGEST + 1)
    if len(body) > LARGEST:
        raise TooLarge
    if response.length:  # http.client does not mind if less comes than was announced
        raise IncompleteRead(b"")
    return body


_PASSING = {408, 409, 425, 429}
"""Statuses of a request that may succeed later, beside all from 500 on."""


def as_refusal(reply: Reply, endpoint: Endpoint, key: Key) -> Failure:
    """Return the failure that a reply with an error status is."""
    said = error_said(as_json(reply.body), key)
    told = f"HTTP {reply.status}" + f": {said}" * bool(said)
    again = reply.status in _PASSING or reply.status >= 500
    wait = seconds_to_wait(reply.headers.get("retry-after")) if again else None
    return Failure(f"HTTP {reply.status}", said, again, _stop(reply, endpoint, key, told), wait)


def _stop(reply: Reply, endpoint: Endpoint, key: Key, told: str) -> str:
    """Return the sentence that ends the run, if no other request can succeed either."""
    where, text = endpoint.name, reply.body.decode("utf-8", "replace")
    variable = f"the environment variable {endpoint.key_variable}"
    completions = f"{where}/chat/completions"
    match reply.status:
        case 401 | 403 if key:
            found = f"{where} refuses the key of {variable} ({told})"
            todo = "set it to a key for this server"
        case 401 | 403:
            found, todo = f"{where} wants a key ({told})", f"set {variable}"
        case 404:
            found = f"the server does not know the model {short(endpoint.model)} or {completions}"
            found, todo = f"{found} ({told})", "check both names"
        case 402 | 429 if reply.status == 402 or "insufficient_quota" in text:
            found, todo = f"{where} refuses further requests ({told})", "check your account there"
        case 400 | 422 if endpoint.json_object and "response_format" in text:
            found = f"{where} refuses response_format ({told})"
            todo = "leave it out (--omit response_format; in Python json_object=False)"
        case status if 300 <= status < 400:
            found = f"{where} redirects elsewhere ({told}), and the key would go there, too"
            todo = "give the URL of the endpoint itself"
        case _:
            return ""
    return f"{found}: {todo}"


def as_completion(body: bytes, key: Key, request: Request) -> Completion | Failure:
    """Return the completion that a body holds; an empty one is a failure."""
    found = as_json(body)
    choice = _first_choice(found)
    content = _get(_get(choice, "message"), "content", "")
    if choice is None or not isinstance(content, str | None):
        return Failure(GARBAGE, error_said(found, key))  # some send errors with status 200
    text = as_text(content or "", key)
    prompt = _count(found, "prompt_tokens")
    answer = _count(found, "completion_tokens")
    done = Completion(
        text,
        estimated_prompt(request) if prompt is None else prompt,
        estimated_tokens(text) if answer is None else answer,
        estimated=prompt is None or answer is None,
        cut=_get(choice, "finish_reason") == "length",
    )
    return done if text.strip() else _empty(done, _get(choice, "finish_reason"))


def _empty(done: Completion, end: object) -> Failure:
    why = {"length": "max_tokens was reached", "content_filter": "the server filtered it"}
    tokens = (done.prompt_tokens, done.completion_tokens, done.estimated)
    return Failure(EMPTY, why.get(str(end), ""), True, "", None, None, *tokens)


def _get(found: Any, name: str, default: Any = None) -> Any:
    return found.get(name, default) if isinstance(found, dict) else default


def _first_choice(found: Any) -> dict[str, Any] | None:
    """Return the first choice if it has a message."""
    choices = _get(found, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(_get(choice, "message"), dict) else None


def _count(found: Any, name: str) -> int | None:
    """Return a number of tokens that the server counted, or None."""
    count = _get(_get(found, "usage"), name)
    return count if type(count) is int and 0 <= count < 1 << 40 else None


_PROXIES = ("https_proxy", "http_proxy", "all_proxy")


def ask_once(
    connection: Connection, endpoint: Endpoint, key: Key, request: Request, rejections: int
) -> Completion | Failure:
    """Send a request and return what came of it; `rejections` answers to it were invalid.

    Failures are values: an exception's frames would hold the key.
    """
    body = json.dumps(endpoint.body(request, rejections)).encode("ascii")
    try:
        reply = connection.post(body, key.headers(), endpoint.timeout)
    except (OSError, HTTPException, ValueError, TooLarge, Unreachable, Untrusted) as error:
        return _without_reply(error, endpoint)
    if 200 <= reply.status < 300:
        return as_completion(reply.body, key, request)
    return as_refusal(reply, endpoint, key)


def _without_reply(error: Exception, endpoint: Endpoint) -> Failure:
    """Return the failure of an exchange that brought no whole reply."""
    if isinstance(error, Untrusted):
        return Failure(UNREACHABLE, stop=f"{endpoint.name} has no valid certificate ({error})")
    kinds: list[tuple[type[Exception], str, str]] = [
        (Unreachable, UNREACHABLE, f"{error}{_about_proxies()}"),
        (TimeoutError, TIMEOUT, f"no whole answer within {endpoint.timeout:g} s"),
        (TooLarge, TOO_LARGE, f"more than {LARGEST >> 20} MB"),
        (IncompleteRead, DROPPED, "the answer is cut short"),
        (OSError, DROPPED, ""),
    ]
    found = (Failure(name, told) for kind, name, told in kinds if isinstance(error, kind))
    return next(found, Failure(GARBAGE, "not HTTP"))


def _about_proxies() -> str:
    """Return a hint where the environment names a proxy, which is not used."""
    named = [name for name in os.environ if name.lower() in _PROXIES]
    return f"; {named[0]} is set, but Karat uses no proxy" if named else ""


class Line(Protocol):
    """A connection of a worker to a language model."""

    def ask(self, job: Job) -> Completion | Failure:
        """Send the request of a job and return what came of it."""

    def abort(self) -> None:
        """End what another thread is waiting for."""

    def close(self) -> None:
        """End the connection."""


class EndpointLine:
    """A connection to an endpoint."""

    def __init__(self, endpoint: Endpoint, key: Key, trusted: ssl.SSLContext | None) -> None:
        self._endpoint, self._key = endpoint, key
        self._connection = Connection(endpoint.address, trusted)

    def ask(self, job: Job) -> Completion | Failure:
        """Send the request of a job over HTTP."""
        return ask_once(self._connection, self._endpoint, self._key, job.request, job.rejections)

    def abort(self) -> None:
        """End what another thread is waiting for."""
        self._connection.abort()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


class DemoLine:
    """The offline stand-in; its tokens are estimated."""

    def ask(self, job: Job) -> Completion:
        """Answer the request of a job."""
        from karat.llm.demo import answer

        text = answer(job.request.messages)
        return Completion(text, job.prompt_tokens, estimated_tokens(text), estimated=True)

    def abort(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing is open."""


def line_to(endpoint: Endpoint, key: Key) -> Callable[[], Line]:
    """Return the function that opens a worker's line."""
    if endpoint.is_demo:
        return DemoLine
    trusted = ssl.create_default_context() if endpoint.address.secure else None
    return lambda: EndpointLine(endpoint, key, trusted)
