"""Numbers and texts that stand after the question mark of an address."""

from __future__ import annotations

import math

from karat.errors import InputError, quoted
from karat.studio.web.calls import Call

LONGEST = 500
"""Characters of a text."""


def text_of(call: Call, name: str) -> str:
    """Return a text; "" if there is none."""
    found = call.query.get(name, "")
    if len(found) > LONGEST:
        raise InputError(f"{name}: found {len(found):,} characters, expected at most {LONGEST}")
    return found


def page_number(call: Call) -> int:
    """Return the number of a page, from 1."""
    text = text_of(call, "page") or "1"
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise InputError(f"found the page {quoted(text)}, expected a number")
    return int(text)


def number_of(call: Call, name: str) -> float | None:
    """Return a finite number; None if there is none."""
    text = text_of(call, name).strip()
    if not text:
        return None
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{name}: found {quoted(text)}, expected a number")
    return found
