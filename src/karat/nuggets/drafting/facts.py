"""Facts that a model proposes as nuggets: short, all different, and quoted from a document.

A fact that breaks a rule is refused. An answer without a fact that keeps them is asked again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from karat.llm.interview import InvalidAnswer, json_object, occurs
from karat.nuggets.sets.runs import normal

MOST_WORDS = 12
_MARKS = re.compile(r"\W+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Fact(NamedTuple):
    """A proposed nugget, and the words of a document that state it."""

    text: str
    vital: bool
    document: int
    """Number of the document, from 0."""
    quote: str


class Refusal(NamedTuple):
    """A fact that is no nugget, and why."""

    text: str
    why: str


class Facts(NamedTuple):
    """The facts of an answer."""

    kept: tuple[Fact, ...]
    refused: tuple[Refusal, ...]


def read_facts(documents: Sequence[str], most: int, answer: str) -> Facts:
    """Return the facts of an answer, at most so many; there must be one that can be kept."""
    listed = json_object(answer).get("facts")
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise InvalidAnswer("no list of facts")
    kept: dict[str, Fact] = {}
    refused = []
    for entry in listed:
        text = " ".join(str(entry.get("fact") or "").split())
        why = _wrong(entry, text, documents)
        same = _MARKS.sub(" ", normal(text)).strip()
        if not why and same in kept:
            why = "a duplicate"
        if not why and len(kept) == most:
            why = f"more than {most} facts"
        if why:
            refused.append(Refusal(text, why))
        else:
            document = int(entry["document"]) - 1
            quote = " ".join(entry["quote"].split())
            kept[same] = Fact(text, entry["importance"] == "vital", document, quote)
    if not kept:
        raise InvalidAnswer(f"no valid fact ({refused[0].why})" if refused else "no facts")
    return Facts(tuple(kept.values()), tuple(refused))


def _wrong(entry: Mapping[str, Any], text: str, documents: Sequence[str]) -> str:
    """Why an entry is no fact; "" if it is one."""
    if not _MARKS.sub("", text) or _CONTROL.search(text):
        return "no words, or control characters"
    if len(text.split()) > MOST_WORDS:
        return f"longer than {MOST_WORDS} words"
    if entry.get("importance") not in ("vital", "okay"):
        return "neither vital nor okay"
    if str(entry.get("document")) not in map(str, range(1, len(documents) + 1)):
        return "no document of that number"
    quote, document = entry.get("quote"), documents[int(entry["document"]) - 1]
    found = isinstance(quote, str) and bool(quote.strip()) and occurs(quote, document)
    return "" if found else "no quote that occurs in the document"
