"""Checks of the parts of an answer; each returns an error message, or "" if there is none."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence, Set
from itertools import chain
from typing import Any

from karat.errors import InputError, quoted, short

MAX_COMMENT = 2000
SHARED_KEYS = ("comment", "done")


def is_done(value: Mapping[str, Any] | None) -> bool:
    """Return whether an answer is complete: neither undone nor a draft."""
    return value is not None and value.get("done", True) is True


def answer_error(value: object, keys: Sequence[str]) -> str:
    """Check the keys of an answer, its `done` and its `comment`."""
    allowed = (*keys, *SHARED_KEYS)
    if not isinstance(value, dict):
        return f"found {quoted(value)}, expected an object with {', '.join(allowed)}"
    if unknown := [key for key in value if key not in allowed]:
        return f"found the key {quoted(unknown[0])}, expected {', '.join(allowed)}"
    if not isinstance(value.get("done", True), bool):
        return f"found done={quoted(value['done'])}, expected true or false"
    return text_error("comment", value.get("comment", ""), MAX_COMMENT)


def text_error(name: str, text: object, max_length: int) -> str:
    """Check the type, length and encoding of a text."""
    if not isinstance(text, str):
        return f"found {short(name)}={quoted(text)}, expected a text"
    if len(text) > max_length:
        return f"the {short(name)} has {len(text):,} characters, expected at most {max_length:,}"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return f"the {short(name)} holds half a character (a lone surrogate), expected valid text"
    return ""


def choice_error(name: str, choice: object, choices: Collection[str]) -> str:
    """Check a choice from a list."""
    if isinstance(choice, str) and choice in choices:
        return ""
    return f"found {short(name)}={quoted(choice)}, expected one of {', '.join(choices)}"


def is_number(value: object) -> bool:
    """Return whether a value is a finite number and not a boolean."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def is_integer(value: object) -> bool:
    """Return whether a value is a whole number and not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def first_error(sentences: Sequence[str]) -> str:
    """Return the first sentence that is not empty."""
    return next(filter(None, sentences), "")


def spans_error(name: str, spans: object, text: str, max_spans: int) -> str:
    """Return what is wrong with the offsets of spans, which count Unicode code points."""
    if not isinstance(spans, list):
        return f"found {short(name)}={quoted(spans)}, expected a list"
    if len(spans) > max_spans:
        return f"found {len(spans):,} {short(name)}, expected at most {max_spans:,}"
    for span in spans:
        if not isinstance(span, dict):
            return f"found {quoted(span)} among {short(name)}, expected objects with start and end"
        start, end = span.get("start"), span.get("end")
        if not (is_integer(start) and is_integer(end) and 0 <= start < end <= len(text)):  # type: ignore[operator]
            problem = f"found a span from {quoted(start)} to {quoted(end)}"
            return f"{problem}, expected whole numbers with 0 <= start < end <= {len(text)}"
    return ""


def marked_characters(spans: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return the offsets of all characters that spans mark."""
    return set(chain.from_iterable(range(span["start"], span["end"]) for span in spans))


def overlap_f1(first: Set[Any], second: Set[Any]) -> float:
    """Return the F1 of marked characters; 1 if neither marks any."""
    total = len(first) + len(second)
    return 2 * len(first & second) / total if total else 1.0


def check_setting_names(task: str, options: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise InputError if an option is not a setting of the task."""
    if unknown := [key for key in options if key not in names]:
        expected = f"expected {', '.join(names)}" if names else "expected none"
        raise InputError(f"task {task}: found the setting {quoted(unknown[0])}, {expected}")
