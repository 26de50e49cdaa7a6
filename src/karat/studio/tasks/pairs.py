"""Pairs: which of two outputs is better, sides swapped at random.

    {"choice": "first", "comment": ""}

`first` is the one shown first or on the left; which output that was stands in the assignment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from karat.errors import InputError, quoted
from karat.studio.tasks.task import (
    AssignmentView,
    is_done,
    only_known,
    wrong_choice,
    wrong_parts,
    wrong_text,
)

CHOICES = ("first", "second", "tie")
FIRST_SHARES = {"first": 1.0, "second": 0.0, "tie": 0.5}
"""The share of a win that the first output has, by choice."""
_QUESTION = "Which of the two is better?"


class PairTask:
    """Two outputs of one item."""

    name = "pairs"

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return whether ties are allowed, and the question."""
        only_known(self.name, given, ("ties", "question"))
        ties, question = given.get("ties", True), given.get("question", _QUESTION)
        if not isinstance(ties, bool):
            raise InputError(f"task pairs: found ties={quoted(ties)}, expected true or false")
        if told := wrong_text("question", question, 2000):
            raise InputError(f"task pairs: {told}")
        return {"ties": ties, "question": question}

    def targets(self, outputs: Sequence[int]) -> list[tuple[int, ...]]:
        """Return all pairs of outputs."""
        return list(combinations(outputs, 2))

    def check(self, value: object, shown: AssignmentView) -> str:
        """Return what is wrong with an answer."""
        if told := wrong_parts(value, ("choice",)):
            return told
        given: Any = value
        if "choice" not in given and not is_done(given):
            return ""
        allowed = CHOICES if shown.settings["ties"] else CHOICES[:2]
        return wrong_choice("choice", given.get("choice"), allowed)

    def likeness(self, value: Any, answer: Any, shown: AssignmentView) -> float:
        """Return 1 for the known choice; the known answer names outputs as the item has them."""
        better = answer["choice"]
        if better != "tie" and shown.outputs[0].id > shown.outputs[1].id:  # shown swapped
            better = CHOICES[1 - CHOICES.index(better)]
        return float(value["choice"] == better)

    def to_judgements(
        self, value: Mapping[str, Any], outputs: Sequence[int]
    ) -> list[tuple[int, str, Any]]:
        """Return the share of a win of each output: 1, 0 or a half."""
        first = FIRST_SHARES[value["choice"]]
        return [(outputs[0], "win", first), (outputs[1], "win", 1 - first)]
