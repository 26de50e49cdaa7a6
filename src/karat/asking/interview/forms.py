"""Forms of answers: one JSON object, entries by id, values on a scale, quotes that occur in a text.

What breaks a form raises `InvalidAnswer`; its text is a clause that reports count.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

LONGEST_TEXT = 200_000
"""Characters of a text that is sent; nobody is asked about longer ones."""
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"```[a-zA-Z]*\n(.*)\n\s*```", re.DOTALL)


class InvalidAnswer(ValueError):
    """An answer that does not have the form that was asked for."""


def json_object(text: str) -> dict[str, Any]:
    """Return the one JSON object of an answer.

    It may stand in a code block or follow the model's thoughts, as many models write it.
    """
    text = _THOUGHT.sub("", text)
    fenced = _FENCE.search(text)
    start, end = text.find("{"), text.rfind("}")
    for part in (text, fenced[1] if fenced else "", text[max(start, 0) : end + 1]):
        try:
            found = json.loads(part)
            json.dumps(found, ensure_ascii=False).encode()  # refuses halves of characters
        except (ValueError, RecursionError):  # numbers of too many digits are ValueErrors, too
            continue
        if isinstance(found, dict):
            return found
        break
    raise InvalidAnswer("invalid JSON")


def entries(found: Mapping[str, Any], key: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the entries of a list by their ids: exactly those that were asked for, each once."""
    listed = found.get(key)
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise InvalidAnswer(f"no list of {key}")
    by_id = {str(one.get("id")): one for one in listed}
    if len(by_id) < len(listed) or set(by_id) != set(ids):
        raise InvalidAnswer("wrong ids")
    return {id: by_id[id] for id in ids}


def number_between(entry: Mapping[str, Any], key: str, low: float, high: float) -> float:
    """Return a number on a scale."""
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidAnswer(f"the {key} is not a number")
    if not low <= value <= high:  # NaN is nowhere on it, and whole numbers may be of any size
        raise InvalidAnswer(f"the {key} is off the scale")
    return float(value)


def one_of(entry: Mapping[str, Any], key: str, choices: Collection[str]) -> str:
    """Return one of some words."""
    value = entry.get(key)
    if not isinstance(value, str) or value.strip().lower() not in choices:
        raise InvalidAnswer(f"unknown {key}")
    return value.strip().lower()


def quote_from(entry: Mapping[str, Any], text: str, *, needed: bool, key: str = "evidence") -> str:
    """Return a quote that occurs in a text; white space and case do not matter.

    It may be empty unless it is needed.
    """
    value = entry.get(key, "")
    if value is None:
        value = ""
    if not isinstance(value, str):
        raise InvalidAnswer(f"the {key} is not a text")
    quote = " ".join(value.split())
    if not quote and needed:
        raise InvalidAnswer(f"no {key}")
    if not occurs(quote, text):
        raise InvalidAnswer(f"the {key} does not occur in the text")
    return quote


def occurs(quote: str, text: str) -> bool:
    """Return whether a quote stands in a text; white space and case do not matter."""
    return _plain(quote) in _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
