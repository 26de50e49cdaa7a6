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
from http.client import HTTPConnection, HTTPException, IncompleteRead
from typing import Any, NamedTuple

from karat import __version__
from karat.errors import short
from karat.llm.endpoint import ApiKey, Endpoint
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


def parse_body(body: bytes) -> Any:
    """Return a body as JSON, or None."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, or lists in lists in lists
        return None


def clean_text(text: str, key: ApiKey) -> str:
    """Return a text without the key and without lone surrogates, which cannot be stored."""
    return key.redact(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def server_error_message(document: Any, key: ApiKey) -> str:
    """Return the error message of a server, without the key and shortened."""
    for names in (("error", "detail", "message"), ("message",)):
        if isinstance(document, dict):
            document = next((document[name] for name in names if name in document), None)
    text = clean_text(document, key) if isinstance(document, str) else ""
    return short(text.strip()).rstrip(". ")


def seconds_to_wait(header: str | None) -> float | None:
    """Return the wait in seconds from Retry-After (a number or an HTTP date), or None."""
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


MAX_REPLY_BYTES = 1 << 23
_PROXIES = ("https_proxy", "http_proxy", "all_proxy")
_IDLE = 2.0  # seconds after which servers may have closed a connection


class AttemptFailed(Exception):
    """An exchange without a complete reply, and its failure."""

    def __init__(self, failure: EndpointFailure) -> None:
        super().__init__()
        self.failure = failure


class HttpReply(NamedTuple):
    """The reply of a server."""

    status: int
    headers: Mapping[str, str]
    """Names are in lower case."""
    body: bytes


def _seconds_left(deadline: float) -> float:
    """Return the seconds until a deadline; raise TimeoutError after it."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


class _TimedSocket(io.RawIOBase):
    """A socket for http.client on which every operation ends at the deadline.

    A plain socket time-out restarts with every byte received.
    """

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock, self._deadline = sock, deadline

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(_seconds_left(self._deadline))
        self._sock.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(_seconds_left(self._deadline))
        return self._sock.recv_into(buffer)

    def close(self) -> None:
        """Do nothing: http.client closes files that it still reads from."""


class EndpointConnection:
    """A connection to an endpoint, kept open between requests.

    All methods except `abort` must be called from one thread.
    """

    def __init__(self, endpoint: Endpoint, key: ApiKey, trusted: ssl.SSLContext | None) -> None:
        self._endpoint, self._key, self._trusted = endpoint, key, trusted
        self._address = endpoint.address
        self._sock: socket.socket | None = None
        self._used = 0.0

    def ask(self, job: RequestJob) -> Completion | EndpointFailure:
        """Send the request of a job and return its outcome.

        Failures are values because the frames of an exception would hold the key. After any
        failure the connection is closed.
        """
        endpoint, key = self._endpoint, self._key
        body = json.dumps(endpoint.body(job.request, job.rejections)).encode("ascii")
        try:
            reply = self._post(body, time.monotonic() + endpoint.timeout)
        except (OSError, HTTPException, ValueError, AttemptFailed) as error:
            self.close()
            return _failure_without_reply(error, endpoint)
        except BaseException:
            self.close()
            raise
        if 200 <= reply.status < 300:
            return as_completion(reply.body, key, job.request)
        return as_refusal(reply, endpoint, key)

    def _post(self, body: bytes, deadline: float) -> HttpReply:
        http = HTTPConnection(self._address.host, self._address.port)
        http.set_debuglevel(0)  # else headers are printed, the key among them
        http.auto_open = 0
        http.sock = _TimedSocket(self._open(deadline), deadline)
        headers = {
            "Host": self._address.authority,
            "User-Agent": f"karat/{__version__}",
            "Content-Type": "application/json",
            **self._key.headers(),
        }
        http.request("POST", self._address.target, body, headers)
        response = http.getresponse()
        reply_body = response.read(MAX_REPLY_BYTES + 1)
        if len(reply_body) > MAX_REPLY_BYTES:
            failure = EndpointFailure(TOO_LARGE, f"more than {MAX_REPLY_BYTES >> 20} MB")
            raise AttemptFailed(failure)
        if response.length:  # http.client accepts bodies shorter than announced
            raise IncompleteRead(b"")
        reply_headers = {name.lower(): value for name, value in response.headers.items()}
        self._used = time.monotonic()
        if response.will_close:
            self.close()
        return HttpReply(response.status, reply_headers, reply_body)

    def close(self) -> None:
        """Close the connection."""
        if self._sock is not None:
            self._sock.close()
        self._sock = None

    def abort(self) -> None:
        """Interrupt a thread that waits for a reply."""
        sock = self._sock
        if sock is not None:
            with suppress(OSError):
                socket.socket.shutdown(
                    sock, socket.SHUT_RDWR
                )  # without the closing TLS handshake, which waits

    def _open(self, deadline: float) -> socket.socket:
        if self._sock is not None and time.monotonic() - self._used < _IDLE:
            return self._sock
        self.close()
        try:
            self._sock = self._connect(deadline)
            self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._trusted is not None:
                self._sock.settimeout(_seconds_left(deadline))
                self._sock = self._trusted.wrap_socket(
                    self._sock, server_hostname=self._address.host
                )
        except ssl.SSLCertVerificationError as error:
            stop = f"{self._endpoint.name} has no valid certificate ({error.verify_message})"
            raise AttemptFailed(EndpointFailure(UNREACHABLE, stop=stop)) from None
        except (OSError, ValueError) as error:  # host names may be too long
            reason = getattr(error, "strerror", None) or type(error).__name__
            reason = "timed out" if isinstance(error, TimeoutError) else reason
            proxies = [name for name in os.environ if name.lower() in _PROXIES]
            hint = f"; {proxies[0]} is set, but Karat uses no proxy" if proxies else ""
            raise AttemptFailed(EndpointFailure(UNREACHABLE, f"{reason}{hint}")) from None
        return self._sock

    def _connect(self, deadline: float) -> socket.socket:
        """Connect to the first address of the host that accepts."""
        host_and_port = (self._address.host, self._address.port)
        addresses = socket.getaddrinfo(*host_and_port, type=socket.SOCK_STREAM)
        for number, (family, kind, protocol, _, address) in enumerate(addresses):
            sock = socket.socket(family, kind, protocol)
            try:
                sock.settimeout(_seconds_left(deadline) / (len(addresses) - number))
                sock.connect(address)
                return sock
            except OSError:
                sock.close()
                if number == len(addresses) - 1:
                    raise
        raise OSError("the host has no address")


class DemoConnection:
    """The offline stand-in; its tokens are estimated."""

    def ask(self, job: RequestJob) -> Completion:
        """Answer the request of a job."""
        from karat.llm.demo import answer

        text = answer(job.request.messages)
        return Completion(text, job.prompt_tokens, estimated_tokens(text), estimated=True)

    def abort(self) -> None:
        """Do nothing: no reply is ever pending."""

    def close(self) -> None:
        """Do nothing: there is no connection."""


ModelConnection = EndpointConnection | DemoConnection
"""The connection of a worker to a language model."""


def connection_maker(endpoint: Endpoint, key: ApiKey) -> Callable[[], ModelConnection]:
    """Return a function that makes the connection of a worker."""
    if endpoint.is_demo:
        return DemoConnection
    trusted = ssl.create_default_context() if endpoint.address.secure else None
    return lambda: EndpointConnection(endpoint, key, trusted)


def _failure_without_reply(error: Exception, endpoint: Endpoint) -> EndpointFailure:
    """Return the failure of an exchange without a complete reply."""
    match error:
        case AttemptFailed():
            return error.failure
        case TimeoutError():
            return EndpointFailure(TIMEOUT, f"no whole answer within {endpoint.timeout:g} s")
        case IncompleteRead():
            return EndpointFailure(DROPPED, "the answer is cut short")
        case OSError():
            return EndpointFailure(DROPPED)
    return EndpointFailure(GARBAGE, "not HTTP")


_TEMPORARY = {408, 409, 425, 429}
"""Statuses below 500 of requests that may succeed later."""


def as_refusal(reply: HttpReply, endpoint: Endpoint, key: ApiKey) -> EndpointFailure:
    """Return the failure for a reply with an error status."""
    detail = server_error_message(parse_body(reply.body), key)
    status = f"HTTP {reply.status}"
    retry = reply.status in _TEMPORARY or reply.status >= 500
    wait = seconds_to_wait(reply.headers.get("retry-after")) if retry else None
    stop = _stop_message(reply, endpoint, key, status + f": {detail}" * bool(detail))
    return EndpointFailure(status, detail, retry, stop, wait)


def _stop_message(reply: HttpReply, endpoint: Endpoint, key: ApiKey, status_text: str) -> str:
    """Return the message that ends the run if no other request can succeed, else ""."""
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
    """Return the completion in a body; an empty one is a failure."""
    document = parse_body(body)
    choices = _get(document, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    content = _get(_get(choice, "message"), "content", "")
    if not isinstance(_get(choice, "message"), dict) or not isinstance(content, str | None):
        # Some servers send errors with status 200.
        return EndpointFailure(GARBAGE, server_error_message(document, key))
    text, reason = clean_text(content or "", key), _get(choice, "finish_reason")
    counted = [_count(document, name) for name in ("prompt_tokens", "completion_tokens")]
    prompt_tokens = estimated_prompt(request) if counted[0] is None else counted[0]
    completion_tokens = estimated_tokens(text) if counted[1] is None else counted[1]
    is_estimated = None in counted
    if text.strip():
        is_cut = reason == "length"
        return Completion(text, prompt_tokens, completion_tokens, is_estimated, is_cut)
    details = {"length": "max_tokens was reached", "content_filter": "the server filtered it"}
    return EndpointFailure(
        EMPTY,
        details.get(str(reason), ""),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        estimated=is_estimated,
    )


def _get(document: Any, name: str, default: Any = None) -> Any:
    return document.get(name, default) if isinstance(document, dict) else default


def _count(document: Any, name: str) -> int | None:
    """Return a token count from the server, or None."""
    count = _get(_get(document, "usage"), name)
    return count if type(count) is int and 0 <= count < 1 << 40 else None
