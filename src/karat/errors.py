"""Everything Karat raises on purpose.

KaratError                the root; its text is one clear sentence, fit to be shown to a user
├── InputError            what was given cannot be scored (file, line, found, expected, what to do)
│   ├── MetricError       an unknown metric or parameter, or a value out of range
│   └── MissingExtra      an optional package is needed and not installed
├── EndpointError         a language model's endpoint is down, or refuses key, model or requests
├── OutputError           the result cannot be written where it was asked for
└── Interrupted           the work was stopped on request; nothing was written

Messages are bounded. What they quote goes through `quoted` or `short`, which cut it and say how
long it is; `sentence` escapes hidden characters, and is the last bound, for every error there is.
"""

from __future__ import annotations

import re
import unicodedata

JOINERS = "\u200c\u200d"
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SHORT = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}


def visible(text: str, keep: str = "") -> str:
    """The text with every hidden character escaped, save those in `keep`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(c) if c not in keep and _is_hidden(c) else c for c in text)


def _is_hidden(char: str) -> bool:
    if unicodedata.category(char) in _HIDDEN:
        return char not in JOINERS
    code = ord(char)
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF  # noncharacters: illegal in XML


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:
        return _SHORT.get(char, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""First characters of text that a spreadsheet may take for a formula, or drop before one."""
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", re.ASCII | re.IGNORECASE)


def no_formula(text: str) -> str:
    """Return text that a spreadsheet does not take for a formula: an apostrophe before it.

    Text that is a plain number, such as `-5`, stays as it is.
    """
    is_formula = text.startswith(FORMULA_STARTS) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


MAX_FIELD_LENGTH = 80
"""Characters of a field that a message shows."""
MAX_MESSAGE_LENGTH = 1500
"""Characters of a whole message; what is longer loses its middle."""


def short(text: object) -> str:
    """Return a name or text for a message as it is, or cut, with its length."""
    return _cut(str(text), "")


def quoted(value: object) -> str:
    """Return a value for a message as Python spells it, or cut, with its length."""
    if isinstance(value, str | bytes | bytearray):
        text = repr(value[:MAX_FIELD_LENGTH])
        length = f"… ({len(value):,} {'characters' if isinstance(value, str) else 'bytes'})"
        return visible(text + length * (len(value) > MAX_FIELD_LENGTH))
    try:
        return _cut(repr(value), "as text, ")
    except (ValueError, RecursionError):  # Python spells no number of more than 4,300 digits
        return "a value too long or too deep to be shown"


def _cut(text: str, prefix: str) -> str:
    length = f"… ({prefix}{len(text):,} characters)" * (len(text) > MAX_FIELD_LENGTH)
    return visible(text[:MAX_FIELD_LENGTH]) + length


def sentence(text: str) -> str:
    """Return a message with hidden characters escaped, and never longer than a short paragraph."""
    if len(text) <= MAX_MESSAGE_LENGTH:
        return visible(text)
    head, tail = text[: 2 * MAX_MESSAGE_LENGTH // 3], text[-MAX_MESSAGE_LENGTH // 3 :]
    return visible(f"{head} […, {len(text):,} characters in all, …] {tail}")


class KaratError(Exception):
    """The root of all errors that Karat raises on purpose."""

    def __init__(self, *parts: object) -> None:
        super().__init__(*(sentence(part) if isinstance(part, str) else part for part in parts))


class InputError(KaratError, ValueError):
    """Input that cannot be scored."""


class MetricError(InputError):
    """An unknown metric or parameter, or a value out of range."""


class MissingExtra(InputError):
    """An optional package is needed and not installed."""


class EndpointError(KaratError):
    """A language model's endpoint that cannot be used."""


class OutputError(KaratError):
    """The output cannot be written."""


class Interrupted(KaratError):
    """The work was stopped on request."""
