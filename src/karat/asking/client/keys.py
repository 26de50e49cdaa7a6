"""API keys of endpoints: read from the environment, sent to the endpoint, never shown."""

from __future__ import annotations

import html
import json
import os
import re
from base64 import b64encode
from urllib.parse import quote

from karat.errors import InputError

DEFAULT = "OPENAI_API_KEY"
SHORTEST = 8
"""Length of the shortest key that is treated as a secret. Servers that need no key are often given
`EMPTY` or `x`, which are ordinary words in answers."""
PLACEHOLDERS = frozenset({"sk-no-key-required", "no-key-required", "not-needed", "placeholder"})
"""Longer keys that servers without keys are given in their manuals; they are no secrets, and parts
of them are words."""
FRAGMENT = 8
"""Length of the shortest part of a key that is hidden."""
_REPLACEMENT = "[key]"
_VENDOR_PREFIX = re.compile(r"sk-((proj|ant|or|svcacct|admin)-)?((api\d\d|v\d)-)?")
_ESCAPE_LENGTH = 6
"""Longest escape of one character, such as `&#x2F;`: two hidden parts that are this close, with no
space between them, are one key in a spelling that we do not know."""
_ASCII_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


class Key:
    """The API key of an endpoint, or an empty one; its text appears in no representation."""

    __slots__ = ("_fragments", "_public_prefix", "_text", "variable")

    def __init__(self, variable: str, text: str = "") -> None:
        self.variable, self._text = variable, text
        is_secret = len(text) >= SHORTEST and text not in PLACEHOLDERS
        self._fragments = _fragments(text) if is_secret else frozenset()
        prefix = _VENDOR_PREFIX.match(text)
        self._public_prefix = prefix[0] if prefix else ""

    def __repr__(self) -> str:
        return f"Key({self.variable!r}, hidden)"

    def __bool__(self) -> bool:
        return bool(self._text)

    def headers(self) -> dict[str, str]:
        """Return the header that carries the key, or no header without a key."""
        return {"Authorization": f"Bearer {self._text}"} if self._text else {}

    def redact(self, text: str) -> str:
        """Return `text` without the key and without any part of it of FRAGMENT characters.

        The key is recognised in every spelling of `_spellings`, in capitals and small letters.
        """
        pieces, end = [], 0
        for start, stop in self._secret_ranges(text):
            pieces += [text[end:start], _REPLACEMENT]
            end = stop
        return "".join([*pieces, text[end:]])

    def is_in(self, text: str) -> bool:
        """Return whether `text` contains the key or a part of it."""
        return bool(self._secret_ranges(text))

    def _secret_ranges(self, text: str) -> list[tuple[int, int]]:
        """Return the ranges of `text` to hide, in order and apart from each other.

        The public prefix of a vendor, such as `sk-proj-`, is not hidden where it occurs alone.
        """
        if not self._fragments:
            return []
        lowered = text.translate(_ASCII_LOWER)
        ranges: list[tuple[int, int]] = []
        for start in range(len(lowered) - FRAGMENT + 1):
            if lowered[start : start + FRAGMENT] not in self._fragments:
                continue
            if ranges and _is_one_key(text[ranges[-1][1] : start]):
                ranges[-1] = ranges[-1][0], start + FRAGMENT
            else:
                ranges.append((start, start + FRAGMENT))
        return [
            (start, stop)
            for start, stop in ranges
            if lowered[start:stop] not in self._public_prefix
        ]


def _is_one_key(gap: str) -> bool:
    """Return whether the text between two hidden parts is short enough to belong to the key.

    It is empty where the parts touch or overlap.
    """
    return len(gap) <= _ESCAPE_LENGTH and not re.search(r"\s", gap)


def _fragments(key: str) -> frozenset[str]:
    """Return all substrings of FRAGMENT characters of all spellings, in small letters."""
    return frozenset(
        spelling[start : start + FRAGMENT].translate(_ASCII_LOWER)
        for spelling in _spellings(key)
        for start in range(len(spelling) - FRAGMENT + 1)
    )


def _spellings(key: str) -> set[str]:
    """Return the forms in which a server may quote the key: escaped, encoded or plain."""
    data = key.encode("utf-8")
    encoded = {b64encode(bytes(shift) + data).decode("ascii") for shift in range(3)}
    # The first and last characters of base64 depend on what surrounds the key: the fragments in
    # between do not. Any shift of the key within a longer text is one of the three.
    url_safe = {text.replace("+", "-").replace("/", "_") for text in encoded}
    escaped = {json.dumps(key)[1:-1], key.replace("/", r"\/"), html.escape(key), repr(key)[1:-1]}
    quoted = {quote(key, safe=""), quote(key), data.hex()}
    return {key} | escaped | quoted | encoded | url_safe


def check_variable(name: str) -> None:
    """Refuse what is no name of an environment variable; it is not shown, it may be the key."""
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,63}", name):
        raise InputError(
            "the name of the environment variable that holds the key must be of capital letters, "
            f"digits and underscores, such as {DEFAULT}; give its name, not the key itself"
        )


def key_of(variable: str) -> Key:
    """Return the key that an environment variable holds; without one, none is sent.

    White space around it is left out. A variable that is not the usual one must be set.
    """
    text = os.environ.get(variable, "").strip()
    if not text and variable != DEFAULT:
        raise InputError(
            f"the environment variable {variable} holds no key: set it, or leave its name out "
            "if the server needs no key"
        )
    wrong = next((at for at, char in enumerate(text, 1) if not "!" <= char <= "~"), 0)
    if wrong:
        raise InputError(
            f"the key in the environment variable {variable} has a space or another character at "
            f"position {wrong} that no key has: set it again"
        )
    return Key(variable, text)
