"""Keys of endpoints: read from the environment, sent to the endpoint, never shown."""

from __future__ import annotations

import json
import os
import re
from urllib.parse import quote

from karat.errors import InputError

DEFAULT = "OPENAI_API_KEY"
SHORTEST = 8
"""Characters of the shortest key that is a secret: servers without keys are given `EMPTY` or `x`,
which answers may well contain."""
_BEGINNING = 12  # a server may quote the beginning of a key
_HIDDEN = "[key]"


class Key:
    """The key of an endpoint, or none; it does not show itself."""

    __slots__ = ("_spellings", "_text", "variable")

    def __init__(self, variable: str, text: str = "") -> None:
        self.variable, self._text = variable, text
        spelled = {text, json.dumps(text)[1:-1], text.replace("/", r"\/"), quote(text, safe="")}
        self._spellings = sorted(spelled, key=len, reverse=True) if len(text) >= SHORTEST else []

    def __repr__(self) -> str:
        return f"Key({self.variable!r}, hidden)"

    def __bool__(self) -> bool:
        return bool(self._text)

    def headers(self) -> dict[str, str]:
        """Return the header that carries the key; none without a key."""
        return {"Authorization": f"Bearer {self._text}"} if self._text else {}

    def redact(self, text: str) -> str:
        """Return a text without the key, or the beginning of it, in any spelling."""
        for spelling in self._spellings:
            if spelling[:_BEGINNING] in text:
                for end in range(len(spelling), min(_BEGINNING, len(spelling)) - 1, -1):
                    text = text.replace(spelling[:end], _HIDDEN)
        return text

    def is_in(self, text: str) -> bool:
        """Return whether a text has the key in it."""
        return self.redact(text) != text


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
