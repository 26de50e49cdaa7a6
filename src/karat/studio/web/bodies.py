"""Bodies of requests: read up to a limit, and JSON without any of its ambiguities."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from karat.errors import InputError, quoted

LARGEST = 256 * 1024
"""Bytes of a body."""
SLOWEST = 20.0
"""Seconds in which a body must have come."""
DEEPEST = 12
MOST_DIGITS = 15
"""Digits of a whole number: browsers hold larger ones inexactly."""

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class TooLarge(Exception):
    """A body is over the limit."""


class Incomplete(Exception):
    """A body did not come to its end in time."""


async def read_body(receive: Receive) -> bytes:
    """Return a body, whether or not its length was announced."""
    try:
        return await asyncio.wait_for(_read(receive), SLOWEST)
    except asyncio.TimeoutError:
        raise Incomplete from None


async def _read(receive: Receive) -> bytes:
    found = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Incomplete
        found += message.get("body", b"")
        if len(found) > LARGEST:
            raise TooLarge
        if not message.get("more_body", False):
            return bytes(found)


def parse(body: bytes) -> dict[str, Any]:
    """Return a JSON object; anything that two readers could read differently is refused."""
    try:
        found = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_real,
            parse_int=_whole,
        )
    except UnicodeDecodeError:
        raise InputError("the body is not valid UTF-8: expected JSON in UTF-8") from None
    except RecursionError:
        raise InputError(
            f"the JSON is nested too deep: expected {DEEPEST} levels at most"
        ) from None
    except json.JSONDecodeError as error:
        raise InputError(f"the body is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"found {quoted(found)}, expected a JSON object")
    _check(found, 1)
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InputError("a key stands twice in an object of the JSON: expected each key once")
    return found


def _constant(name: str) -> Any:
    raise InputError(f"found {name} in the JSON: expected finite numbers")


def _real(text: str) -> float:
    found = float(text)
    return found if math.isfinite(found) else _constant(quoted(text))


def _whole(text: str) -> int:
    if len(text.lstrip("-")) > MOST_DIGITS:
        raise InputError(f"found the number {quoted(text)}: expected at most {MOST_DIGITS} digits")
    return int(text)


def _check(value: object, depth: int) -> None:
    """Refuse what is nested too deep, and texts that are not texts."""
    if depth > DEEPEST:
        raise InputError(f"the JSON is nested too deep: expected {DEEPEST} levels at most")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_text(key)
            _check(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth + 1)


def _check_text(text: str) -> None:
    if "\0" in text or any(0xD800 <= ord(letter) < 0xE000 for letter in text):
        told = "a NUL or half a character (a lone surrogate)"
        raise InputError(f"a text of the JSON holds {told}: expected valid text")
