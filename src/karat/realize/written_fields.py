"""Fields of a word as people write them: what they may hold, in CoNLL-U, brackets and JSON."""

from __future__ import annotations

import re

from karat.errors import quoted

MISSING = "_"
"""CoNLL-U's mark for what is not given."""
NOTATIONS = "CoNLL-U, brackets or JSON"
"""Formats of trees, for messages."""
SNIFFED = 1 << 16
"""Bytes that tell a format."""
FEATURES = "expected features such as Number=Sing|Person=3"
_UNWRITABLE = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]")
_BEFORE = re.compile(r"(?:\s+|#[^\n]*)*")  # blank lines and comments


def opening(text: str) -> str:
    """Return the first character after blank lines and comments; empty if there is none."""
    found = _BEFORE.match(text)
    return text[found.end() :][:1] if found else ""


def is_notation(text: bytes) -> bool:
    """Return whether a file begins like trees in brackets or JSON, and not like CoNLL-U."""
    return opening(text.decode("utf-8-sig", "replace")) in ("(", "{", "[")


def text_problem(value: str) -> str:
    """Return what is wrong with a field, as sentences are written a line each; else nothing."""
    if _UNWRITABLE.search(value):
        return "expected no control characters, line ends or halves of characters"
    return "expected more than spaces" if value and not value.strip() else ""


def features_problem(features: str) -> str:
    """Return what is wrong with features, if some are given; else nothing.

    Names in lower case are none of Universal Dependencies. The Surface Realization tasks have them,
    some of them twice, and some beside the mark for no features.
    """
    parts = [] if features in ("", MISSING) else features.split("|")
    if any(part[:1].islower() for part in parts):
        parts = [part for part in parts if part != MISSING]
    names = list[str]()
    for part in parts:
        name, _, value = part.partition("=")
        if not name or not value or "=" in value or any(c.isspace() for c in part):
            return FEATURES
        if name in names and not name[0].islower():
            return f"expected {quoted(name)} once"
        names.append(name)
    return ""


def complete_problem(features: str) -> str:
    """Return what is wrong with the feature that says that nothing is inserted; else nothing."""
    for part in features.split("|"):
        if part.partition("=")[0].lower() == "complete" and part != "Complete=No":
            return "expected Complete=No, or no feature of this name"
    return ""
