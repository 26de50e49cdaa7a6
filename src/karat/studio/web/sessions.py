"""Sessions: the token of an invitation is swapped for a signed cookie.

A cookie holds the assessor, the time of its end and a mark of the link that began the session. It
is signed with a key that lies beside the store and never in it: a copy of the store lets nobody in.
Nothing is remembered here, so sessions outlive the server. A session ends when its link is renewed
or withdrawn, because the mark no longer fits.

Browsers send the cookies of every local application to every port. The name of the cookie therefore
depends on the key, and cookies of other applications are skipped, however they are written.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

LASTS = 30 * 24 * 3600
"""Seconds until the link of the invitation is needed again."""
LONGEST_COOKIE = 200
_MARK = 16
"""Characters of a link's mark."""


class Session(NamedTuple):
    """A session that has not expired."""

    assessor: int
    mark: str
    """The mark of the link that began it."""


@dataclass(frozen=True)
class Sessions:
    """Signs cookies and reads them."""

    key: bytes
    clock: Callable[[], float] = time.time

    @property
    def cookie(self) -> str:
        """The name of the cookie."""
        return f"karat-studio-{self._signed('name')[:12]}"

    def begin(self, assessor: int, token_hash: str) -> str:
        """Return the cookie's value for an assessor who opened the link with this token hash."""
        content = f"{assessor}.{int(self.clock()) + LASTS}.{self.mark(token_hash)}"
        return f"{content}.{self._signed('session', content)}"

    def mark(self, token_hash: str) -> str:
        """Return the mark of a link, which tells nothing about its token."""
        return self._signed("link", token_hash)[:_MARK]

    def read(self, cookie: str) -> Session | None:
        """Return the session of a cookie; None if it is forged, of another studio, or expired."""
        content, _, signature = cookie.rpartition(".")
        if len(cookie) > LONGEST_COOKIE or not cookie.isascii() or content.count(".") != 2:
            return None
        if not hmac.compare_digest(signature, self._signed("session", content)):
            return None
        assessor, ends, mark = content.split(".")
        return Session(int(assessor), mark) if self.clock() < int(ends) else None

    def cookie_in(self, headers: Iterable[str]) -> str:
        """Return the session cookie from the Cookie headers of a request; "" if there is none.

        The headers are split at semicolons and nothing else is parsed: values of other applications
        may hold quotes, braces, commas or anything else. Of several cookies with the right name,
        the first valid one counts.
        """
        pairs = [part.partition("=") for header in headers for part in header.split(";")]
        values = [
            value.strip(" \t") for name, _, value in pairs if name.strip(" \t") == self.cookie
        ]
        return next((value for value in values if self.read(value)), "")

    def csrf(self, cookie: str) -> str:
        """Return what the page of a session sends with every write."""
        return self._signed("csrf", cookie)

    def is_csrf(self, given: str, cookie: str) -> bool:
        """Return whether a write comes from a page of the session."""
        return given.isascii() and hmac.compare_digest(given, self.csrf(cookie))

    def _signed(self, *parts: str) -> str:
        return hmac.new(self.key, "\n".join(parts).encode(), sha256).hexdigest()
