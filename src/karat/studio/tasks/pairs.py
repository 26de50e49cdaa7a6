"""Pairs: which of two outputs is better, sides swapped at random.

    {"choice": "first", "comment": ""}

`first` is the output shown first or on the left; the assignment holds the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from karat.errors import InputError, quoted
from karat.evalset.judgements import Dimension
from karat.studio.tasks import checks
from karat.studio.tasks.task import (
    AssignmentView,
    CurrentAnswer,
    CurrentDecision,
    Json,
    JudgementRows,
    Task,
    Votes,
)

CHOICES = ("first", "second", "tie")
FIRST_SHARES = {"first": 1.0, "second": 0.0, "tie": 0.5}
"""Choice -> win share of the first output."""
WIN = Dimension("win", "higher", 0.0, 1.0, "Share of the comparisons that the output won.")
CHOICE = "choice"
_QUESTION = "Which of the two is better?"


def pair_name(outputs: Sequence[int]) -> str:
    """Return the subject of a decision on a pair, such as `3-17`."""
    return "-".join(map(str, sorted(outputs)))


class PairTask(Task):
    """Compare two outputs of one item."""

    name = "pairs"
    outputs_per_unit = "two outputs"
    decides_outputs = False

    def settings(self, options: Json) -> dict[str, Any]:
        """Return whether ties are allowed, and the question."""
        checks.check_setting_names(self.name, options, ("ties", "question"))
        ties, question = options.get("ties", True), options.get("question", _QUESTION)
        if not isinstance(ties, bool):
            raise InputError(f"task pairs: found ties={quoted(ties)}, expected true or false")
        if error := checks.text_error("question", question, 2000):
            raise InputError(f"task pairs: {error}")
        return {"ties": ties, "question": question}

    def dimensions(self, settings: Json) -> list[Dimension]:
        return [WIN]

    def targets(self, outputs: Sequence[int]) -> list[tuple[int, ...]]:
        """Return all pairs of outputs."""
        return list(combinations(outputs, 2))

    def find_error(self, value: object, view: AssignmentView) -> str:
        if error := checks.answer_error(value, (CHOICE,)):
            return error
        answer: Any = value
        if CHOICE not in answer and not checks.is_done(answer):
            return ""
        choices = CHOICES if view.settings["ties"] else CHOICES[:2]
        return checks.choice_error(CHOICE, answer.get(CHOICE), choices)

    def similarity(self, value: Any, answer: Any, view: AssignmentView) -> float:
        """Return 1 for the known choice, in which `first` is the output with the smaller id."""
        shown_ids = [output.id for output in view.outputs]
        return float(value[CHOICE] == _choice_by_id(answer[CHOICE], shown_ids))

    def to_judgements(self, value: Json, outputs: Sequence[int]) -> JudgementRows:
        """Return the win share of each output: 1, 0 or 0.5."""
        share = FIRST_SHARES[value[CHOICE]]
        return [(outputs[0], WIN.name, share), (outputs[1], WIN.name, 1 - share)]

    def exported_rows(self, value: Json, outputs: Sequence[int]) -> JudgementRows:
        """Return the win share of the first output, which implies that of the second."""
        return self.to_judgements(value, outputs)[:1]

    def votes(self, answer: CurrentAnswer) -> Votes:
        """Return the better output; None for a tie."""
        better = dict(zip(CHOICES, answer.outputs, strict=False)).get(answer.value[CHOICE])
        return [(None, pair_name(answer.outputs), better)]

    def subject(self, about: str) -> str:
        return "pair"

    def disagreement(self, settings: Json, about: str, values: Sequence[Any]) -> float:
        if len({*values}) == 1:
            return 0.0
        first = min(filter(None, values))
        shares = {0.5 if better is None else float(better == first) for better in values}
        return max(shares) - min(shares)

    def vote_answer(self, value: Json, about: str, outputs: Sequence[int]) -> dict[str, Any]:
        """Return the choice as if the output with the smaller id had been shown first."""
        return {CHOICE: _choice_by_id(value[CHOICE], outputs)}

    def answer_to_decision(self, answer: Json, about: str) -> dict[str, Any]:
        return {CHOICE: answer[CHOICE]}

    def decision_to_answer(self, value: Any, about: str) -> dict[str, Any]:
        return {CHOICE: value.get(CHOICE, value) if isinstance(value, dict) else value}

    def decided_pair(
        self, decision: CurrentDecision, outputs: Sequence[int]
    ) -> tuple[tuple[int, int], float]:
        """Return the two outputs, smaller id first, and the win share of the first."""
        pairs = {pair_name(pair): (min(pair), max(pair)) for pair in self.targets(outputs)}
        pair = pairs.get(decision.about)
        if decision.about == CHOICE and len(pairs) == 1:
            (pair,) = pairs.values()
        if pair is None:
            raise InputError(
                f"adjudication {decision.id}: found a decision about {quoted(decision.about)}, "
                f"expected two outputs of the item, such as {next(iter(pairs), '1-2')}"
            )
        choice = decision.field(CHOICE)
        if choice not in CHOICES:
            raise decision.error(", ".join(CHOICES))
        return pair, FIRST_SHARES[choice]

    def check_decision(
        self, decision: CurrentDecision, view: AssignmentView, outputs: Sequence[int]
    ) -> None:
        self.decided_pair(decision, outputs)


def _choice_by_id(choice: str, outputs: Sequence[int]) -> str:
    """Translate a choice between shown outputs to one between outputs in the order of ids."""
    swapped = {"first": "second", "second": "first"}
    return swapped.get(choice, choice) if outputs[0] > outputs[1] else choice
