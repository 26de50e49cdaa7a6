"""The parts that all tasks share: the interface, and checks of the parts of an answer.

An answer is a JSON object. Every task takes a `comment` and `done`, which is true unless it says
otherwise: what is not done is a draft, kept like any answer, and the assignment stays open.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, Protocol

from karat.errors import InputError, quoted, short


@dataclass(frozen=True)
class OutputView:
    """An output without its system; ids are in no order of systems."""

    id: int
    text: str


@dataclass(frozen=True)
class NuggetView:
    """A nugget of the question that an output answers."""

    id: str
    importance: str
    descriptions: tuple[str, ...]


@dataclass(frozen=True)
class AssignmentView:
    """All that a browser may know of an assignment."""

    assignment: int
    task: str
    settings: Mapping[str, Any]
    """The settings of the task: scales, categories, severities."""
    outputs: tuple[OutputView, ...]
    """In the order to be shown."""
    source: str | None = None
    context: str | None = None
    references: tuple[str, ...] = ()
    nuggets: tuple[NuggetView, ...] = ()
    value: Mapping[str, Any] | None = None
    """The newest answer of the assessor; None if there is none, or it was undone."""
    newest: str | None = None
    """The uuid of the newest judgement, which a revision or an undo must name."""
    dropped: tuple[str, ...] = ()
    """Nuggets that have left the key: their labels are kept, and do not count."""
    edited: bool = False
    """Whether the key of the question was edited."""

    def to_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return asdict(self)


LONGEST_COMMENT = 2000
SHARED = ("comment", "done")


class Task(Protocol):
    """A kind of task."""

    name: str

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings with their defaults; what is wrong is refused in one sentence."""

    def targets(self, outputs: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the outputs that are judged together, of those of one item."""

    def check(self, value: object, shown: AssignmentView) -> str:
        """Return what is wrong with an answer, in one sentence; "" if nothing is."""

    def likeness(self, value: Any, answer: Any, shown: AssignmentView) -> float:
        """Return how far an answer agrees with a known one, from 0 to 1."""

    def to_judgements(
        self, value: Mapping[str, Any], outputs: Sequence[int]
    ) -> list[tuple[int, str, Any]]:
        """Return rows of output id, what is judged of it (a dimension or a nugget) and value."""


def is_done(value: Mapping[str, Any] | None) -> bool:
    """Return whether an answer is complete: neither undone nor a draft."""
    return value is not None and value.get("done", True) is True


def wrong_parts(value: object, known: Sequence[str]) -> str:
    """Return what is wrong with the shape of an answer and the parts that all tasks share."""
    every = (*known, *SHARED)
    if not isinstance(value, dict):
        return f"found {quoted(value)}, expected an object with {', '.join(every)}"
    if unknown := [key for key in value if key not in every]:
        return f"found the key {quoted(unknown[0])}, expected {', '.join(every)}"
    if not isinstance(value.get("done", True), bool):
        return f"found done={quoted(value['done'])}, expected true or false"
    return wrong_text("comment", value.get("comment", ""), LONGEST_COMMENT)


def wrong_text(name: str, text: object, longest: int) -> str:
    """Return what is wrong with a text."""
    if not isinstance(text, str):
        return f"found {short(name)}={quoted(text)}, expected a text"
    if len(text) > longest:
        return f"the {short(name)} has {len(text):,} characters, expected at most {longest:,}"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return f"the {short(name)} holds half a character (a lone surrogate), expected valid text"
    return ""


def wrong_choice(name: str, found: object, known: Collection[str]) -> str:
    """Return what is wrong with a choice from a list."""
    if isinstance(found, str) and found in known:
        return ""
    return f"found {short(name)}={quoted(found)}, expected one of {', '.join(known)}"


def is_number(value: object) -> bool:
    """Return whether a value is a finite number, and no truth value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def is_whole(value: object) -> bool:
    """Return whether a value is a whole number, and no truth value."""
    return isinstance(value, int) and not isinstance(value, bool)


def first_wrong(sentences: Sequence[str]) -> str:
    """Return the first sentence that is not empty."""
    return next(filter(None, sentences), "")


def wrong_spans(name: str, spans: object, text: str, most: int) -> str:
    """Return what is wrong with the places of spans, which count Unicode code points."""
    if not isinstance(spans, list):
        return f"found {short(name)}={quoted(spans)}, expected a list"
    if len(spans) > most:
        return f"found {len(spans):,} {short(name)}, expected at most {most:,}"
    return first_wrong([_wrong_place(name, span, len(text)) for span in spans])


def _wrong_place(name: str, span: object, length: int) -> str:
    if not isinstance(span, dict):
        return f"found {quoted(span)} among {short(name)}, expected objects with start and end"
    start, end = span.get("start"), span.get("end")
    if is_whole(start) and is_whole(end) and 0 <= start < end <= length:  # type: ignore[operator]
        return ""
    found = f"found a span from {quoted(start)} to {quoted(end)}"
    return f"{found}, expected whole numbers with 0 <= start < end <= {length}"


def marked_characters(spans: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return the places of all characters that spans mark."""
    return set(chain.from_iterable(range(span["start"], span["end"]) for span in spans))


def overlap_f1(first: Set[Any], second: Set[Any]) -> float:
    """Return the F1 of marked characters; 1 where neither marks any."""
    total = len(first) + len(second)
    return 2 * len(first & second) / total if total else 1.0


def only_known(task: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuse settings that a task does not have."""
    if unknown := [key for key in given if key not in known]:
        some = f"expected {', '.join(known)}" if known else "expected none"
        raise InputError(f"task {task}: found the setting {quoted(unknown[0])}, {some}")
