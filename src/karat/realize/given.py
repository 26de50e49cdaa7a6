"""Arguments of the functions of the room, checked: one sentence for what does not fit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from karat.errors import InputError, quoted
from karat.settings import check_count

MOST_BEST = 1000
"""The largest number of sentences, assignments or orders of a tree."""

REALIZERS = ("fergus", "ordering")
"""Realizers that can write a sentence: the paper's, and the ordering model."""

_EXPECTED = {
    "model": "a model, as open_realizer returns it",
    "trees": "trees, as read_trees returns them",
    "treebank": "a treebank, as read_treebank returns it",
}


def check_given(name: str, value: object, kind: type) -> None:
    """Refuse a model, trees or a treebank that is something else, such as a path."""
    if not isinstance(value, kind):
        raise InputError(f"{name}={quoted(value)}: expected {_EXPECTED[name]}")


def check_best(name: str, value: int) -> None:
    """Refuse a number of sentences that is too small or too large."""
    check_count(name, value, 1)
    if value > MOST_BEST:
        raise InputError(f"{name}={quoted(value)}: expected at most {MOST_BEST:,}")


def as_names(name: str, given: Any) -> tuple[str, ...]:
    """Return names, which are given as strings or as one string with commas."""
    if isinstance(given, str):
        return tuple(one.strip() for one in given.split(",")) if given else ()
    if not isinstance(given, Iterable) or isinstance(given, bytes):
        raise InputError(f"{name}={quoted(given)}: expected a list of names")
    found = tuple(given)
    if not all(isinstance(one, str) for one in found):
        raise InputError(f"{name}={quoted(given)}: expected a list of names")
    return found


def check_realizer(realizer: str | None) -> None:
    """Require the name of a realizer; None leaves the choice to the model."""
    if realizer is not None and realizer not in REALIZERS:
        raise InputError(f"realizer={quoted(realizer)}: expected {' or '.join(REALIZERS)}")


def check_listed(name: str, given: object) -> None:
    """Refuse names that are not one string with commas."""
    if not isinstance(given, str):
        raise InputError(f"{name}={quoted(given)}: expected a string, with commas between names")
