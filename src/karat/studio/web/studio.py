"""The state shared by routes: the store, sessions, and the private file of keys."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError, OutputError, short
from karat.studio.store import people
from karat.studio.store.people import OWNER, Assessor
from karat.studio.store.store import Store


@dataclass
class Keys:
    """The session key, and tokens by the names of assessors, in a file next to the store."""

    path: Path
    key: bytes
    tokens: dict[str, str] = field(default_factory=dict)

    @classmethod
    def for_store(cls, store: Path) -> Keys:
        """Read the keys of a store, or make them."""
        path = store.with_name(f"{store.name}.keys")
        content = _read_keys(path)
        keys = cls(path, *(content or (secrets.token_bytes(32), {})))
        if content is None:
            keys.save()
        return keys

    def add(self, store: Store, name: str, token: str) -> None:
        """Save the token of an assessor, and keep those that other processes added.

        A transaction of the store is the lock: one thread or process at a time changes the file.
        """
        with store.write():
            content = _read_keys(self.path)
            tokens = content[1] if content else self.tokens
            if content is None or tokens.get(name) != token:
                self.tokens = {**tokens, name: token}
                self.save()
            else:
                self.tokens = tokens

    def save(self) -> None:
        """Write the file (atomic), readable only by its owner."""
        content = json.dumps({"key": self.key.hex(), "tokens": self.tokens}, ensure_ascii=False)
        part = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}.part")
        try:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.path)
        except OSError as error:
            part.unlink(missing_ok=True)
            reason = error.strerror or error
            raise OutputError(f"cannot write {short(self.path)}: {reason}") from None


def _read_keys(path: Path) -> tuple[bytes, dict[str, str]] | None:
    """Return the key and the tokens in a file, or None if it does not exist."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {short(path)}: {error}") from None
    try:
        content = json.loads(text)
        key, tokens = bytes.fromhex(content["key"]), dict(content["tokens"])
    except (ValueError, TypeError, KeyError, RecursionError):
        key, tokens = b"", {}
    texts = all(isinstance(part, str) for pair in tokens.items() for part in pair)
    if len(key) != 32 or not texts:
        advice = "remove it, and new links are made"
        raise InputError(f"{short(path)} is not a file of keys of the studio: {advice}")
    return key, tokens


SESSION_SECONDS = 30 * 24 * 3600
"""Lifetime of a session."""
MAX_COOKIE = 200
_MARK = 16
"""Characters of the mark of a link."""


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
        """Return the cookie of a new session."""
        content = f"{assessor}.{int(self.clock()) + SESSION_SECONDS}.{self.mark(token_hash)}"
        return f"{content}.{self._signed('session', content)}"

    def mark(self, token_hash: str) -> str:
        """Return a mark that identifies the link of a session without revealing its token."""
        return self._signed("link", token_hash)[:_MARK]

    def read(self, cookie: str) -> Session | None:
        """Return the session of a cookie, or None if it is invalid or expired."""
        content, _, signature = cookie.rpartition(".")
        if len(cookie) > MAX_COOKIE or not cookie.isascii() or content.count(".") != 2:
            return None
        if not hmac.compare_digest(signature, self._signed("session", content)):
            return None
        assessor, ends, mark = content.split(".")
        return Session(int(assessor), mark) if self.clock() < int(ends) else None

    def cookie_in(self, headers: Iterable[str]) -> str:
        """Return the first valid session cookie in the Cookie headers of a request, or "".

        Headers are only split at semicolons: cookies of other applications may contain quotes,
        braces, commas or anything else.
        """
        pairs = [part.partition("=") for header in headers for part in header.split(";")]
        values = [
            value.strip(" \t") for name, _, value in pairs if name.strip(" \t") == self.cookie
        ]
        return next((value for value in values if self.read(value)), "")

    def csrf(self, cookie: str) -> str:
        """Return the CSRF token of a session."""
        return self._signed("csrf", cookie)

    def is_csrf(self, token: str, cookie: str) -> bool:
        """Return whether a token is the CSRF token of a session."""
        return token.isascii() and hmac.compare_digest(token, self.csrf(cookie))

    def _signed(self, *parts: str) -> str:
        return hmac.new(self.key, "\n".join(parts).encode(), sha256).hexdigest()


MAX_TOKEN = 200


@dataclass(frozen=True)
class Studio:
    """An open studio."""

    store: Store
    keys: Keys

    @property
    def sessions(self) -> Sessions:
        """Sessions under the key of this studio."""
        return Sessions(self.keys.key)

    def invited(self, token: str) -> Assessor | None:
        """Return the assessor with a token, or None."""
        if not token or len(token) > MAX_TOKEN:
            return None
        return people.find_assessor(self.store, token)

    def signed_in(self, cookie: str) -> Assessor | None:
        """Return the assessor of a session, or None if it expired or its link is invalid."""
        sessions = self.sessions
        session = sessions.read(cookie)
        link = session and people.active_link(self.store, session.assessor)
        if not session or not link:
            return None
        who, token_hash = link
        return who if hmac.compare_digest(session.mark, sessions.mark(token_hash)) else None


class StudioLink(NamedTuple):
    """The link of an invitation: name, role and path."""

    name: str
    role: str
    path: str


def make_links(
    studio: Studio, names: Iterable[str], owner_token: str | None = None
) -> list[StudioLink]:
    """Invite the owner and all new names; return the links of all active people.

    `owner_token`, if any, is the token of the owner's link; it is not written to the file of keys.
    """
    invited = {assessor.name for assessor in people.assessors(studio.store)}
    for name in dict.fromkeys((OWNER, *names)):
        if name not in invited:
            role = "owner" if name == OWNER else "assessor"
            token = people.invite(studio.store, name, role)
            studio.keys.add(studio.store, name, token)
    active = [assessor for assessor in people.assessors(studio.store) if assessor.active]
    owner = next((assessor for assessor in active if assessor.role == OWNER), None)
    links = []
    for assessor in active:
        chosen_token = owner_token if assessor == owner else None
        token = chosen_token or studio.keys.tokens.get(assessor.name, "")
        holder = people.find_assessor(studio.store, token) if token else None
        if holder is None or holder.id != assessor.id:  # lost, or replaced by `owner_token`
            _, token = people.renew(studio.store, assessor.id, token=chosen_token)
        if chosen_token is None:
            studio.keys.add(studio.store, assessor.name, token)
        links.append(StudioLink(assessor.name, assessor.role, f"/join/{token}"))
    return links
