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
    """Return the application of a studio that is reached under some names."""
    app = Starlette(routes=[*ROUTES, *OWNER_ROUTES], exception_handlers={404: _missing})
    app.router.redirect_slashes = False
    app.state.studio = studio
    return Guard(app, hosts, studio.sessions)


async def _missing(request: Request, error: Exception) -> Response:
    return message_page("There is no such page.", 404)


MAX_CONNECTIONS = 500
MAX_HEAD_SECONDS = 10.0
"""Seconds in which the head of a request must have come."""
BACKLOG = 128
"""Connections that are accepted at once, before any of them is looked at."""
MAX_HEAD = 64 * 1024
"""Bytes of the headers of a request: browsers send the cookies of every local application."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; a port that is taken is refused in one sentence."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio turns off the delay of small packets: 40 ms a request else.
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
    """A connection on which the head of a request must come in time.

    If all places are taken, a connection that keeps the studio waiting is closed: the oldest one
    without a request, else the oldest one whose body or whose reading of the answer is stalled.
    """

    _since = 0.0
    """When the connection was opened or its newest request began."""
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
        """Reject malformed bytes, also in the body of a request in progress."""
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
        connections = [cast(ServerConnection, connection) for connection in self.connections]
        open_connections = [
            connection for connection in connections if not connection.transport.is_closing()
        ]
        silent = [
            connection
            for connection in open_connections
            if connection.cycle is None and connection is not self
        ]
        waiting = silent or [
            connection for connection in open_connections if connection._is_stalled()
        ]
        if waiting and len(open_connections) >= MAX_CONNECTIONS:
            min(waiting, key=lambda connection: connection._since).transport.abort()

    def _is_stalled(self) -> bool:
        """Return whether a request waits for its own client: for the body, or to be read."""
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            return False
        return self.flow.write_paused or (cycle.more_body and not cycle.response_started)

    def _watch(self) -> None:
        """Begin to wait for the head of a request, or end it."""
        if self.conn.their_state is not h11.IDLE:
            self._unwatch()
        elif self._timer is None:
            self._timer = self.loop.call_later(MAX_HEAD_SECONDS, self.transport.abort)

    def _unwatch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Server(uvicorn.Server):
    """A server that says when it is ready, and ends without raising the signal again."""

    def __init__(self, studio: Studio, host: str, ready: Callable[[], None]) -> None:
        """Set up a studio's server; `ready` is called when the first request can come."""
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
            yield  # who started the thread ends it
            return
        kinds = (signal.SIGINT, signal.SIGTERM)
        before = {kind: signal.signal(kind, self.handle_exit) for kind in kinds}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)
