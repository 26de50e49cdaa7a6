"""Names by which browsers may address the studio: others are refused, whoever they resolve to.

A page of another site can let its own name resolve to this machine (DNS rebinding). Its requests
then carry that name as their Host, so a list of known names ends it.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

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
