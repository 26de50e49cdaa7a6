"""A local server that speaks the chat protocol of OpenAI and misbehaves on demand.

with serving(["429", "ok"]) as server:      # the first request gets 429, all others are answered
    Endpoint(server.url, "model")
with serving(shares={"500": 0.05}, seed=1)  # a share of attempts fails, the same ones every time

`server.asked` lists what came in, `server.times[content]` counts how often a message was asked and
`server.answered[content]` how often a valid answer to it was sent. See BEHAVIOURS.
"""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Body = dict[str, Any]


class Came(NamedTuple):
    """A request that came in."""

    content: str
    """The content of its last message."""
    number: int
    """How often this content came in, this time included."""
    behaviour: str
    body: Body
    headers: Mapping[str, str]
    path: str


def content_of(body: Body) -> str:
    return str(body["messages"][-1]["content"])


def echo(body: Body) -> str:
    """The default answer: a JSON object with the last message."""
    return json.dumps({"echo": content_of(body)})


class ChatServer(ThreadingHTTPServer):
    """The server: what it is to do, and what it was asked."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(
        self,
        script: Sequence[str] = (),
        shares: Mapping[str, float] | None = None,
        seed: int = 0,
        answer: Callable[[Body], str] = echo,
        always: str = "ok",
        retry_after: str = "0.01",
        pause: float = 0.05,
    ) -> None:
        self.script, self.shares, self.seed = list(script), dict(shares or {}), seed
        self.answer, self.always = answer, always
        self.retry_after, self.pause = retry_after, pause
        self.asked: list[Came] = []
        self.connections = 0
        self.times: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.at_once = self.most_at_once = self.hanging = 0
        self.closing = threading.Event()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def behaviours(self) -> Counter[str]:
        return Counter(came.behaviour for came in self.asked)

    def behaving(self) -> int:
        """The number of requests that are being answered; those that hang will not be."""
        with self._lock:
            return self.at_once - self.hanging

    def come(self, body: Body, headers: Mapping[str, str], path: str) -> Came:
        """Note a request and decide what to do with it."""
        content = content_of(body)
        with self._lock:
            self.times[content] += 1
            number = self.times[content]
            behaviour = self.script.pop(0) if self.script else self._drawn(content, number)
            self.asked.append(Came(content, number, behaviour, body, headers, path))
            self.at_once += 1
            self.hanging += behaviour == "hang"
            self.most_at_once = max(self.most_at_once, self.at_once)
            return self.asked[-1]

    def go(self, came: Came, answered: bool) -> None:
        """Note that a request is done with."""
        with self._lock:
            self.at_once -= 1
            self.hanging -= came.behaviour == "hang"
            self.answered[came.content] += answered

    def _drawn(self, content: str, number: int) -> str:
        """Draw a behaviour that depends on the seed, the message and the attempt alone."""
        message = f"{self.seed} {content!a} {number}".encode()
        drawing = int.from_bytes(hashlib.sha256(message).digest()[:8], "big") / 2**64
        for name, share in self.shares.items():
            drawing -= share
            if drawing < 0:
                return name
        return self.always

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients go away on purpose."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: ChatServer
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        came = self.server.come(body, dict(self.headers), self.path)
        answered = False
        try:
            answered = bool(BEHAVIOURS[came.behaviour](self, body))
        except OSError:
            self.close_connection = True
        finally:
            self.server.go(came, answered)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def reply(self, status: int, content: bytes, length: int | None = None, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        self.end_headers()
        self.wfile.write(content)

    def fail(self, status: int, message: str, **headers: str) -> None:
        self.reply(status, json.dumps({"error": {"message": message}}).encode(), **headers)

    def complete(self, text: str | None, end: str = "stop", usage: bool = True) -> bool:
        self.reply(200, completion(text, end, usage))
        return True

    def wait(self, seconds: float) -> None:
        if self.server.closing.wait(seconds):
            raise ConnectionAbortedError

    @property
    def key(self) -> str:
        return self.headers.get("Authorization", "Bearer ").removeprefix("Bearer ")


def completion(text: str | None, end: str = "stop", usage: bool = True) -> bytes:
    """The body of an answer; tokens are words."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": end}
    run: Body = {"object": "chat.completion", "choices": [choice]}
    if usage:
        run["usage"] = {"prompt_tokens": 10, "completion_tokens": len((text or "").split())}
    return json.dumps(run).encode()


# ------------------------------------------------------------------------- behaviours


def ok(handler: Handler, body: Body) -> bool:
    return handler.complete(handler.server.answer(body))


def slow(handler: Handler, body: Body) -> bool:
    handler.wait(handler.server.pause)
    return ok(handler, body)


def old_http(handler: Handler, body: Body) -> bool:
    """Answer as HTTP/1.0 does: the end of the connection is the end of the body."""
    handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n" + completion(handler.server.answer(body)))
    handler.close_connection = True
    return True


def chunked(handler: Handler, body: Body) -> bool:
    """Answer in chunks."""
    full_result = completion(handler.server.answer(body))
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for piece in (full_result[:7], full_result[7:]):
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
    handler.wfile.write(b"0\r\n\r\n")
    return True


def hang(handler: Handler, body: Body) -> None:
    handler.wait(60)


def reset(handler: Handler, body: Body) -> None:
    """Close the connection with RST."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    raise ConnectionResetError


def closed(handler: Handler, body: Body) -> None:
    """Close the connection without a word."""
    handler.close_connection = True


def truncated(handler: Handler, body: Body) -> None:
    full_result = completion(handler.server.answer(body))
    handler.reply(200, full_result[: len(full_result) // 2], length=len(full_result))
    handler.close_connection = True


def cut_chunks(handler: Handler, body: Body) -> None:
    """Announce chunks and send half of one."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b'50\r\n{"choices"')
    handler.close_connection = True


def no_http(handler: Handler, body: Body) -> None:
    handler.wfile.write(b"\x00\xff nothing of the kind\r\n\r\n")
    handler.close_connection = True


def drip(handler: Handler, body: Body) -> None:
    """Send a byte of the body at a time, for ever."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while True:
        handler.wfile.write(b" ")
        handler.wait(handler.server.pause)


def drip_headers(handler: Handler, body: Body) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        handler.wfile.write(b"x")
        handler.wait(handler.server.pause)


def endless(handler: Handler, body: Body) -> None:
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.closing.is_set():
        handler.wfile.write(b" " * 65536)


def response_format(handler: Handler, body: Body) -> bool:
    if "response_format" not in body:
        return ok(handler, body)
    handler.fail(400, "Unknown parameter: 'response_format'.")
    return False


def echo_of_the_key(handler: Handler, body: Body) -> bool:
    return handler.complete(json.dumps({"echo": content_of(body), "key": handler.key}))


def error_with_the_key(handler: Handler, body: Body) -> None:
    handler.fail(500, f"trouble with {handler.key} and {handler.key[:20]}...")


def refusal_with_the_key(handler: Handler, body: Body) -> None:
    handler.fail(401, f"Incorrect API key provided: {handler.key}.")


def failing(status: int, message: str = "", **headers: str) -> Callable[[Handler, Body], None]:
    return lambda handler, body: handler.fail(status, message, **headers)


def replying(content: bytes) -> Callable[[Handler, Body], None]:
    return lambda handler, body: handler.reply(200, content)


def completing(text: str | None, end: str = "stop") -> Callable[[Handler, Body], bool]:
    return lambda handler, body: handler.complete(text, end) and False


BEHAVIOURS: dict[str, Callable[[Handler, Body], bool | None]] = {
    "ok": ok,
    "slow": slow,
    "old http": old_http,
    "chunked": chunked,
    "hang": hang,
    "no usage": lambda handler, body: handler.complete(handler.server.answer(body), usage=False),
    "429": failing(429, "Too many requests"),
    "429 after": lambda handler, body: handler.fail(
        429, "Too many requests", retry_after=handler.server.retry_after
    ),
    "quota": lambda handler, body: handler.reply(
        429, b'{"error": {"message": "You have no credit.", "code": "insufficient_quota"}}'
    ),
    "500": failing(500, "Internal error"),
    "503": failing(503, "Overloaded"),
    "400": failing(400, "The prompt is too long"),
    "401": failing(401, "Invalid key"),
    "402": failing(402, "Pay first"),
    "403": failing(403, "Not allowed"),
    "404": failing(404, "No such model"),
    "redirect": failing(307, location="http://127.0.0.1:9/v1/chat/completions"),
    "reset": reset,
    "closed": closed,
    "truncated": truncated,
    "cut chunks": cut_chunks,
    "no http": no_http,
    "invalid json": replying(b'{"choices": ['),
    "deep json": replying(b"[" * 200_000),
    "error with 200": replying(b'{"error": {"message": "The provider is down."}}'),
    "no completion": replying(b'{"hello": [1, 2]}'),
    "strange completion": replying(b'{"choices": [{"message": {"content": {"a": 1}}}]}'),
    "not utf-8": replying(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    "half character": completing('{"echo": "\ud800"}'),
    "empty": completing(""),
    "none": completing(None, "content_filter"),
    "no json": completing("I think that the answer is yes."),
    "cut": completing('{"echo": "re', "length"),
    "wrong id": completing('{"echo": "another"}'),
    "huge": replying(b" " * (9 << 20)),
    "endless": endless,
    "drip": drip,
    "drip headers": drip_headers,
    "response_format": response_format,
    "echo of the key": echo_of_the_key,
    "error with the key": error_with_the_key,
    "refusal with the key": refusal_with_the_key,
}
"""What the server can do with a request, by name; a valid answer returns True."""


@contextmanager
def serving(script: Sequence[str] = (), **more: Any) -> Iterator[ChatServer]:
    """A running server."""
    server = ChatServer(script, **more)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        with suppress(OSError):
            server.server_close()
        thread.join()
