"""The server: one process, one port."""

from __future__ import annotations

import errno
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from karat.errors import InputError, short
from karat.studio.web.app import make_app
from karat.studio.web.hosts import Hosts
from karat.studio.web.studio import Studio

MOST_CONNECTIONS = 500
LONGEST_HEAD = 16 * 1024
"""Bytes of the headers of a request."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; a port that is taken is refused in one sentence."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio turns off the delay of small packets: 40 ms a request else.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(128)
    except (OSError, OverflowError, TypeError) as error:
        found.close()
        why = getattr(error, "strerror", None) or error
        told = "choose an address of this machine with --host"
        if getattr(error, "errno", None) in (errno.EADDRINUSE, errno.EACCES):
            told = "stop the program that uses it, or choose another with --port"
        raise InputError(f"cannot listen on {short(host)}, port {port} ({why}): {told}") from None
    return found


class Server(uvicorn.Server):
    """A server that says when it is ready, and ends without raising the signal again."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    @classmethod
    def of(cls, studio: Studio, host: str, ready: Callable[[], None]) -> Server:
        """Return the server of a studio; `ready` is called when the first request can come."""
        config = uvicorn.Config(
            make_app(studio, Hosts.of(host)),
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            ws="none",
            http="h11",
            loop="asyncio",
            limit_concurrency=MOST_CONNECTIONS,
            h11_max_incomplete_event_size=LONGEST_HEAD,
            timeout_graceful_shutdown=3,
        )
        return cls(config, ready)

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
