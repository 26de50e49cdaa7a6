"""Sessions: the token of an invitation is swapped for a signed cookie.

A cookie says who it is and until when, signed with a key that lies beside the store and never in
it: a copy of the store lets nobody in. Nothing is remembered here, so that sessions outlive the
server. The name of the cookie depends on the key, since browsers share cookies between ports.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

LASTS = 30 * 24 * 3600
"""Seconds until the link of the invitation is needed again."""
LONGEST_COOKIE = 200


@dataclass(frozen=True)
class Sessions:
    """Signs cookies and reads them."""

    key: bytes
    clock: Callable[[], float] = time.time

    @property
    def cookie(self) -> str:
        """The name of the cookie."""
        return f"karat-studio-{self._signed('name')[:12]}"

    def begin(self, assessor: int) -> str:
        """Return the value of the cookie of an assessor."""
        content = f"{assessor}.{int(self.clock()) + LASTS}"
        return f"{content}.{self._signed('session', content)}"

    def assessor(self, cookie: str) -> int | None:
        """Return whose cookie it is; None if it is forged, of another studio, or has expired."""
        content, _, signature = cookie.rpartition(".")
        if len(cookie) > LONGEST_COOKIE or not cookie.isascii():
            return None
        if not hmac.compare_digest(signature, self._signed("session", content)):
            return None
        assessor, _, ends = content.partition(".")
        return int(assessor) if self.clock() < int(ends) else None

    def csrf(self, cookie: str) -> str:
        """Return what the page of a session sends with every write."""
        return self._signed("csrf", cookie)

    def is_csrf(self, given: str, cookie: str) -> bool:
        """Return whether a write comes from a page of the session."""
        return given.isascii() and hmac.compare_digest(given, self.csrf(cookie))

    def _signed(self, *parts: str) -> str:
        return hmac.new(self.key, "\n".join(parts).encode(), sha256).hexdigest()
