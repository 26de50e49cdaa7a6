"""Decisions of adjudicators in the form of answers.

A decision stands for an output and a dimension or nugget (`about`). For error spans `about` is
`spans` and the value an answer; for a pair it is `pair_name` of the two outputs, and the value a
choice, of which `first` is the output with the smaller id. Where an item has one pair only,
`choice` will do. A value may stand alone (4, "support", "first") or in an object as in an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karat.errors import InputError, quoted
from karat.studio.export.contents import Decision
from karat.studio.tasks.nuggets import LABELS
from karat.studio.tasks.pairs import CHOICES, WON
from karat.studio.tasks.task import is_number

SPANS, CHOICE = "spans", "choice"


def pair_name(outputs: Sequence[int]) -> str:
    """Return what a decision on a pair is about, such as `3-17`."""
    return "-".join(map(str, sorted(outputs)))


def decided_rating(one: Decision) -> float:
    """Return the value of a decision on a dimension."""
    value: Any = one.value.get("value") if isinstance(one.value, dict) else one.value
    if not is_number(value):
        raise _wrong(one, "a number")
    return float(value)


def decided_label(one: Decision) -> float:
    """Return 1, 0.5 or 0 for a decision on a nugget."""
    value: Any = one.value.get("label") if isinstance(one.value, dict) else one.value
    if isinstance(value, str) and value in LABELS:
        return LABELS[value]
    if is_number(value) and value in LABELS.values():
        return float(value)
    raise _wrong(one, ", ".join(LABELS))


def decided_spans(one: Decision) -> dict[str, Any]:
    """Return a decision on error spans as an answer."""
    found = {SPANS: one.value} if isinstance(one.value, list) else one.value
    if not isinstance(found, dict) or not isinstance(found.get(SPANS), list):
        raise _wrong(one, "spans")
    return found


def decided_pair(one: Decision, known: Sequence[Sequence[int]]) -> tuple[tuple[int, int], float]:
    """Return the two outputs, the smaller id first, and the share of the win of the first."""
    pairs = {pair_name(pair): (min(pair), max(pair)) for pair in known}
    pair = pairs.get(one.about)
    if one.about == CHOICE and len(pairs) == 1:
        (pair,) = pairs.values()
    if pair is None:
        raise InputError(
            f"adjudication {one.id}: found a decision about {quoted(one.about)}, expected two "
            f"outputs of the item, such as {next(iter(pairs), '1-2')}"
        )
    choice = one.value.get(CHOICE) if isinstance(one.value, dict) else one.value
    if choice not in CHOICES:
        raise _wrong(one, ", ".join(CHOICES))
    return pair, WON[choice]


def _wrong(one: Decision, expected: str) -> InputError:
    return InputError(
        f"adjudication {one.id}: found {quoted(one.value)} for {quoted(one.about)}, "
        f"expected {expected}"
    )
