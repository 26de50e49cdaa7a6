"""The exceptions of Karat.

KaratError                base class; its text is one clear sentence for the user
├── InputError            input cannot be used (file, line, found, expected, what to do)
│   ├── MetricError       an unknown metric or parameter, or a value out of range
│   └── MissingExtra      an optional package is needed and not installed
├── EndpointError         a language model's endpoint is down, or rejects key, model or requests
├── OutputError           the output cannot be written
└── Interrupted           the work was stopped on request; nothing was written

Messages have a maximum length. Quoted values go through `quoted` or `short`, which truncate them
and state their length; `sentence` escapes hidden characters and truncates the whole message.
"""

from __future__ import annotations

import datetime
import re
import unicodedata

JOINERS = "\u200c\u200d"
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SHORT = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}


def visible(text: str, keep: str = "") -> str:
    """Return the text with hidden characters escaped, except characters in `keep`."""
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
"""First characters of text that spreadsheets read as a formula, or skip before one."""
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", re.ASCII | re.IGNORECASE)


def no_formula(text: str) -> str:
    """Return text with an apostrophe before it if a spreadsheet would read it as a formula.

    Plain numbers, such as `-5`, are unchanged.
    """
    is_formula = text.startswith(FORMULA_STARTS) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


MAX_FIELD_LENGTH = 80
"""Most characters of a quoted value."""
MAX_MESSAGE_LENGTH = 1500
"""Most characters of a message; longer ones lose their middle."""


def short(text: object) -> str:
    """Return a name or text for a message; if too long, truncated with its length."""
    return _cut(str(text), "")


def quoted(value: object) -> str:
    """Return the repr of a value for a message; if too long, truncated with its length."""
    if isinstance(value, str | bytes | bytearray):
        text = repr(value[:MAX_FIELD_LENGTH])
        length = f"… ({len(value):,} {'characters' if isinstance(value, str) else 'bytes'})"
        return visible(text + length * (len(value) > MAX_FIELD_LENGTH))
    if isinstance(value, datetime.date):
        return date_text(value)
    try:
        return _cut(repr(value), "as text, ")
    except (ValueError, RecursionError):  # Python does not print numbers of more than 4,300 digits
        return "a value too long or too deep to be shown"


def date_text(value: datetime.date) -> str:
    """Return a date as 2026-05-04, with the time of day unless it is midnight."""
    if isinstance(value, datetime.datetime) and value.time() != datetime.time():
        return value.isoformat(" ")
    return value.isoformat()[:10]


def _cut(text: str, prefix: str) -> str:
    length = f"… ({prefix}{len(text):,} characters)" * (len(text) > MAX_FIELD_LENGTH)
    return visible(text[:MAX_FIELD_LENGTH]) + length


def sentence(text: str) -> str:
    """Return a message with hidden characters escaped, truncated to a short paragraph."""
    if len(text) <= MAX_MESSAGE_LENGTH:
        return visible(text)
    head, tail = text[: 2 * MAX_MESSAGE_LENGTH // 3], text[-MAX_MESSAGE_LENGTH // 3 :]
    return visible(f"{head} […, {len(text):,} characters in all, …] {tail}")


class KaratError(Exception):
    """Base class of all errors that Karat raises."""

    def __init__(self, *parts: object) -> None:
        super().__init__(*(sentence(part) if isinstance(part, str) else part for part in parts))


class InputError(KaratError, ValueError):
    """Input that cannot be scored."""


class MetricError(InputError):
    """An unknown metric or parameter, or a value out of range."""


class UnknownMetric(MetricError):
    """A name that no metric has."""

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class MissingExtra(InputError):
    """An optional package is needed and not installed."""


class EndpointError(KaratError):
    """A language model's endpoint that cannot be used."""


class OutputError(KaratError):
    """The output cannot be written."""


class Interrupted(KaratError):
    """The work was stopped on request."""
