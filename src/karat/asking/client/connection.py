"""A connection to an endpoint: one request after the other, each with one deadline for all of it.

No proxy is used and no redirect is followed: the key goes to the named host alone.
"""

from __future__ import annotations

import io
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPResponse, IncompleteRead
from typing import Any, NamedTuple

from karat import __version__
from karat.asking.client.address import Address

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
