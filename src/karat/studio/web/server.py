"""The server: one process, one port."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from karat.errors import InputError, short
from karat.studio.web.calls import message_page
from karat.studio.web.guard import Guard, Hosts
from karat.studio.web.owner import ROUTES as OWNER_ROUTES
from karat.studio.web.routes import ROUTES
from karat.studio.web.studio import Studio


def make_app(studio: Studio, hosts: Hosts) -> Guard:
    """Return the application of a studio."""
    app = Starlette(routes=[*ROUTES, *OWNER_ROUTES], exception_handlers={404: _missing})
    app.router.redirect_slashes = False
    app.state.studio = studio
    return Guard(app, hosts, studio.sessions)


async def _missing(request: Request, error: Exception) -> Response:
    return message_page("There is no such page.", 404)


MAX_CONNECTIONS = 500
MAX_HEAD_SECONDS = 10.0
"""Time limit for receiving the headers of a request."""
BACKLOG = 128
"""Queue of connections not yet accepted."""
MAX_HEAD = 64 * 1024
"""Maximum bytes of headers: browsers send the cookies of all local applications."""


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise InputError if the port is not available."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With an explicit protocol, asyncio sets TCP_NODELAY, which saves 40 ms per request.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except (OSError, OverflowError, TypeError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        advice = "choose an address of this machine with --host"
        if getattr(error, "errno", None) in (errno.EADDRINUSE, errno.EACCES):
            advice = "stop the program that uses it, or choose another with --port"
        raise InputError(
            f"cannot listen on {short(host)}, port {port} ({reason}): {advice}"
        ) from None
    return listener


class ServerConnection(H11Protocol):
    """A connection with a time limit for the headers of a request.

    At the maximum number of connections, one that keeps the studio waiting is closed: the oldest
    one without a request, else the oldest one that is slow to send its body or to read the answer.
    """

    _since = 0.0
    """Start of the connection or of its newest request."""
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._watch()
        if len(self.connections) >= MAX_CONNECTIONS:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._since = self.loop.time()
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """Reject malformed data, also in the body of a request in progress."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        super().send_400_response(msg)
        if self.cycle is not None:  # the application can send nothing more
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    def _make_room(self) -> None:
        clients = [cast(ServerConnection, connection) for connection in self.connections]
        clients = [client for client in clients if not client.transport.is_closing()]
        silent = [client for client in clients if client.cycle is None and client is not self]
        waiting = silent or [client for client in clients if client._is_stalled()]
        if waiting and len(clients) >= MAX_CONNECTIONS:
            min(waiting, key=lambda client: client._since).transport.abort()

    def _is_stalled(self) -> bool:
        """Return whether a request waits for its client to send the body or read the answer."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            return False
        return self.flow.write_paused or (cycle.more_body and not cycle.response_started)

    def _watch(self) -> None:
        """Start or stop the timer for the headers of a request."""
        if self.conn.their_state is not h11.IDLE:
            self._unwatch()
        elif self._timer is None:
            self._timer = self.loop.call_later(MAX_HEAD_SECONDS, self.transport.abort)

    def _unwatch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Server(uvicorn.Server):
    """A server that reports when it is ready, and ends without raising the signal again."""

    def __init__(self, studio: Studio, host: str, ready: Callable[[], None]) -> None:
        """Configure the server; `ready` is called when it accepts requests."""
        self._ready = ready
        config = uvicorn.Config(
            make_app(studio, Hosts.for_address(host)),
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            ws="none",
            http=ServerConnection,
            backlog=BACKLOG,
            loop="asyncio",
            limit_concurrency=MAX_CONNECTIONS,
            h11_max_incomplete_event_size=MAX_HEAD,
            timeout_graceful_shutdown=3,
        )
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield  # the main thread handles signals
            return
        kinds = (signal.SIGINT, signal.SIGTERM)
        before = {kind: signal.signal(kind, self.handle_exit) for kind in kinds}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)
