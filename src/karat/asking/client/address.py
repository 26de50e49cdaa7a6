"""Addresses of endpoints: URLs that are checked, without anything secret in them."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from karat.errors import InputError, quoted

EXAMPLE = "http://localhost:8000/v1"
_COMPLETIONS = "/chat/completions"
_PORTS = {"http": 80, "https": 443}
_PATH = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@%/-]*")
_HOST = re.compile(r"[A-Za-z0-9._%:-]+")


class Address(NamedTuple):
    """The place of an endpoint: requests go to `path` + /chat/completions."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def secure(self) -> bool:
        """Whether the connection is encrypted."""
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """The host, with its port unless it is the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The base URL in one spelling, whatever the user wrote."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def target(self) -> str:
        """The path that requests are sent to."""
        return self.path + _COMPLETIONS


def as_address(url: str) -> Address:
    """Parse the URL of an endpoint; one that may hold a secret is refused and not shown."""
    if "@" in url:
        raise InputError(
            "the endpoint's URL has a user name or password in it (`@`): take it out, and give the "
            "key by the environment variable"
        )
    if "?" in url or "#" in url:
        raise InputError(
            f"the endpoint's URL has a query (`?` or `#`), which may hold a key: expected a base "
            f"URL such as {EXAMPLE}, and the key in the environment variable"
        )
    if not (url.isascii() and url.isprintable()) or " " in url or "\\" in url:
        raise _wrong(url, "has a character that URLs do not have")
    return _parsed(url)


def _wrong(url: str, why: str) -> InputError:
    return InputError(f"the endpoint's URL {quoted(url)} {why}: expected one such as {EXAMPLE}")


def _parsed(url: str) -> Address:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # brackets that do not match, a port that is no number or out of range
        raise _wrong(url, "has no valid host and port") from None
    if parts.scheme not in _PORTS or "://" not in url:  # not shown: it may be the key
        raise InputError(
            f"the endpoint's URL does not begin with http:// or https://: expected {EXAMPLE}, for "
            "example"
        )
    if not _HOST.fullmatch(parts.hostname or ""):
        raise _wrong(url, "has no valid host")
    if port == 0:
        raise _wrong(url, "has the port 0")
    return Address(
        parts.scheme, parts.hostname or "", port or _PORTS[parts.scheme], _path(parts, url)
    )


def _path(parts: SplitResult, url: str) -> str:
    """Return the path without slashes at its end and without /chat/completions."""
    if not _PATH.fullmatch(parts.path):
        raise _wrong(url, "has a character in its path that must be percent-encoded")
    return parts.path.rstrip("/").removesuffix(_COMPLETIONS).rstrip("/")
