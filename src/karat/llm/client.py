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
from karat.llm.endpoint import Address, ApiKey, Endpoint
from karat.llm.requests import (
    DROPPED,
    EMPTY,
    GARBAGE,
    TIMEOUT,
    TOO_LARGE,
    UNREACHABLE,
    Completion,
    EndpointFailure,
    Request,
    RequestJob,
    estimated_prompt,
    estimated_tokens,
)


def as_json(body: bytes) -> Any:
    """Return a body as JSON, or None."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, or lists in lists in lists
        return None


def as_text(text: str, key: ApiKey) -> str:
    """Return a text without the key and without half characters, which cannot be stored."""
    return key.redact(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def server_error_message(document: Any, key: ApiKey) -> str:
    """Return what a server said of an error: first without the key, then cut."""
    for names in (("error", "detail", "message"), ("message",)):
        if isinstance(document, dict):
            document = next((document[name] for name in names if name in document), None)
    text = as_text(document, key) if isinstance(document, str) else ""
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


class ReplyTooLarge(Exception):
    """The body is larger than any answer."""


class Unreachable(Exception):
    """There is no connection to the host; the text says why."""


class Untrusted(Exception):
    """The host's certificate is not valid; the text says why."""


class HttpReply(NamedTuple):
    """The reply of a server."""

    status: int
    headers: Mapping[str, str]
    """By names in lower case."""
    body: bytes


def _left(deadline: float) -> float:
    """Return the seconds that are left until a deadline."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


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


class HttpConnection:
    """A connection to an address, kept open between requests; of one thread, save `abort`."""

    def __init__(self, address: Address, trusted: ssl.SSLContext | None) -> None:
        self._address, self._trusted = address, trusted
        self._sock: socket.socket | None = None
        self._used = 0.0

    def post(self, body: bytes, headers: Mapping[str, str], timeout: float) -> HttpReply:
        """Send a request and return the whole reply; whatever goes wrong, the connection ends."""
        try:
            return self._post(body, headers, time.monotonic() + timeout)
        except BaseException:
            self.close()
            raise

    def _post(self, body: bytes, headers: Mapping[str, str], deadline: float) -> HttpReply:
        http = HTTPConnection(self._address.host, self._address.port)
        http.set_debuglevel(0)  # else headers are printed, the key among them
        http.auto_open = 0
        http.sock = _Timed(self._open(deadline), deadline)
        base_headers = {"Host": self._address.authority, "User-Agent": f"karat/{__version__}"}
        base_headers["Content-Type"] = "application/json"
        http.request("POST", self._address.target, body, {**base_headers, **headers})
        response = http.getresponse()
        response_headers = {name.lower(): value for name, value in response.headers.items()}
        reply = HttpReply(response.status, response_headers, _read_body(response))
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
        host_and_port = (self._address.host, self._address.port)
        addresses = socket.getaddrinfo(*host_and_port, type=socket.SOCK_STREAM)
        for number, (family, kind, protocol, _, address) in enumerate(addresses):
            sock = socket.socket(family, kind, protocol)
            try:
                sock.settimeout(_left(deadline) / (len(addresses) - number))
                sock.connect(address)
                return sock
            except OSError:
                sock.close()
                if number == len(addresses) - 1:
                    raise
        raise OSError("the host has no address")


def _read_body(response: HTTPResponse) -> bytes:
    """Return the body; a part of it is as good as none."""
    body = response.read(LARGEST + 1)
    if len(body) > LARGEST:
        raise ReplyTooLarge
    if response.length:  # http.client does not mind if less comes than was announced
        raise IncompleteRead(b"")
    return body


_PASSING = {408, 409, 425, 429}
"""Statuses of a request that may succeed later, beside all from 500 on."""


def as_refusal(reply: HttpReply, endpoint: Endpoint, key: ApiKey) -> EndpointFailure:
    """Return the failure that a reply with an error status is."""
    detail = server_error_message(as_json(reply.body), key)
    status_text = f"HTTP {reply.status}" + f": {detail}" * bool(detail)
    retry = reply.status in _PASSING or reply.status >= 500
    wait = seconds_to_wait(reply.headers.get("retry-after")) if retry else None
    return EndpointFailure(
        f"HTTP {reply.status}", detail, retry, _stop(reply, endpoint, key, status_text), wait
    )


def _stop(reply: HttpReply, endpoint: Endpoint, key: ApiKey, status_text: str) -> str:
    """Return the sentence that ends the run, if no other request can succeed either."""
    server, text = endpoint.name, reply.body.decode("utf-8", "replace")
    variable = f"the environment variable {endpoint.key_variable}"
    completions = f"{server}/chat/completions"
    match reply.status:
        case 401 | 403 if key:
            problem = f"{server} refuses the key of {variable} ({status_text})"
            advice = "set it to a key for this server"
        case 401 | 403:
            problem, advice = f"{server} wants a key ({status_text})", f"set {variable}"
        case 404:
            problem = f"the server does not know the model {short(endpoint.model)} or {completions}"
            problem, advice = f"{problem} ({status_text})", "check both names"
        case 402 | 429 if reply.status == 402 or "insufficient_quota" in text:
            problem, advice = (
                f"{server} refuses further requests ({status_text})",
                "check your account there",
            )
        case 400 | 422 if endpoint.json_object and "response_format" in text:
            problem = f"{server} refuses response_format ({status_text})"
            advice = "leave it out (--omit response_format; in Python json_object=False)"
        case status if 300 <= status < 400:
            problem = (
                f"{server} redirects elsewhere ({status_text}), and the key would go there, too"
            )
            advice = "give the URL of the endpoint itself"
        case _:
            return ""
    return f"{problem}: {advice}"


def as_completion(body: bytes, key: ApiKey, request: Request) -> Completion | EndpointFailure:
    """Return the completion that a body holds; an empty one is a failure."""
    document = as_json(body)
    choice = _first_choice(document)
    content = _get(_get(choice, "message"), "content", "")
    if choice is None or not isinstance(content, str | None):
        return EndpointFailure(
            GARBAGE, server_error_message(document, key)
        )  # some send errors with status 200
    text = as_text(content or "", key)
    prompt_tokens = _count(document, "prompt_tokens")
    completion_tokens = _count(document, "completion_tokens")
    completion = Completion(
        text,
        estimated_prompt(request) if prompt_tokens is None else prompt_tokens,
        estimated_tokens(text) if completion_tokens is None else completion_tokens,
        estimated=prompt_tokens is None or completion_tokens is None,
        cut=_get(choice, "finish_reason") == "length",
    )
    return completion if text.strip() else _empty(completion, _get(choice, "finish_reason"))


def _empty(completion: Completion, finish_reason: object) -> EndpointFailure:
    reasons = {"length": "max_tokens was reached", "content_filter": "the server filtered it"}
    tokens = (completion.prompt_tokens, completion.completion_tokens, completion.estimated)
    return EndpointFailure(
        EMPTY, reasons.get(str(finish_reason), ""), True, "", None, None, *tokens
    )


def _get(document: Any, name: str, default: Any = None) -> Any:
    return document.get(name, default) if isinstance(document, dict) else default


def _first_choice(document: Any) -> dict[str, Any] | None:
    """Return the first choice if it has a message."""
    choices = _get(document, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(_get(choice, "message"), dict) else None


def _count(document: Any, name: str) -> int | None:
    """Return a number of tokens that the server counted, or None."""
    count = _get(_get(document, "usage"), name)
    return count if type(count) is int and 0 <= count < 1 << 40 else None


_PROXIES = ("https_proxy", "http_proxy", "all_proxy")


def ask_once(
    connection: HttpConnection, endpoint: Endpoint, key: ApiKey, request: Request, rejections: int
) -> Completion | EndpointFailure:
    """Send a request and return what came of it; `rejections` answers to it were invalid.

    Failures are values: an exception's frames would hold the key.
    """
    body = json.dumps(endpoint.body(request, rejections)).encode("ascii")
    try:
        reply = connection.post(body, key.headers(), endpoint.timeout)
    except (OSError, HTTPException, ValueError, ReplyTooLarge, Unreachable, Untrusted) as error:
        return _without_reply(error, endpoint)
    if 200 <= reply.status < 300:
        return as_completion(reply.body, key, request)
    return as_refusal(reply, endpoint, key)


def _without_reply(error: Exception, endpoint: Endpoint) -> EndpointFailure:
    """Return the failure of an exchange that brought no whole reply."""
    if isinstance(error, Untrusted):
        return EndpointFailure(
            UNREACHABLE, stop=f"{endpoint.name} has no valid certificate ({error})"
        )
    kinds: list[tuple[type[Exception], str, str]] = [
        (Unreachable, UNREACHABLE, f"{error}{_about_proxies()}"),
        (TimeoutError, TIMEOUT, f"no whole answer within {endpoint.timeout:g} s"),
        (ReplyTooLarge, TOO_LARGE, f"more than {LARGEST >> 20} MB"),
        (IncompleteRead, DROPPED, "the answer is cut short"),
        (OSError, DROPPED, ""),
    ]
    failures = (
        EndpointFailure(name, detail) for kind, name, detail in kinds if isinstance(error, kind)
    )
    return next(failures, EndpointFailure(GARBAGE, "not HTTP"))


def _about_proxies() -> str:
    """Return a hint where the environment names a proxy, which is not used."""
    proxies = [name for name in os.environ if name.lower() in _PROXIES]
    return f"; {proxies[0]} is set, but Karat uses no proxy" if proxies else ""


class RequestLine(Protocol):
    """A connection of a worker to a language model."""

    def ask(self, job: RequestJob) -> Completion | EndpointFailure:
        """Send the request of a job and return what came of it."""

    def abort(self) -> None:
        """End what another thread is waiting for."""

    def close(self) -> None:
        """End the connection."""


class EndpointLine:
    """A connection to an endpoint."""

    def __init__(self, endpoint: Endpoint, key: ApiKey, trusted: ssl.SSLContext | None) -> None:
        self._endpoint, self._key = endpoint, key
        self._connection = HttpConnection(endpoint.address, trusted)

    def ask(self, job: RequestJob) -> Completion | EndpointFailure:
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

    def ask(self, job: RequestJob) -> Completion:
        """Answer the request of a job."""
        from karat.llm.demo import answer

        text = answer(job.request.messages)
        return Completion(text, job.prompt_tokens, estimated_tokens(text), estimated=True)

    def abort(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing is open."""


def line_to(endpoint: Endpoint, key: ApiKey) -> Callable[[], RequestLine]:
    """Return the function that opens a worker's line."""
    if endpoint.is_demo:
        return DemoLine
    trusted = ssl.create_default_context() if endpoint.address.secure else None
    return lambda: EndpointLine(endpoint, key, trusted)
