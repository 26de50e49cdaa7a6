"""Bodies of replies: JSON that may be anything, texts that may hold anything."""

from __future__ import annotations

import json
from typing import Any

from karat.asking.client.keys import Key
from karat.errors import short


def as_json(body: bytes) -> Any:
    """Return a body as JSON, or None."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, or lists in lists in lists
        return None


def as_text(text: str, key: Key) -> str:
    """Return a text without the key and without half characters, which cannot be stored."""
    return key.redact(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def error_said(found: Any, key: Key) -> str:
    """Return what a server said of an error: first without the key, then cut."""
    for names in (("error", "detail", "message"), ("message",)):
        if isinstance(found, dict):
            found = next((found[name] for name in names if name in found), None)
    text = as_text(found, key) if isinstance(found, str) else ""
    return short(text.strip()).rstrip(". ")
