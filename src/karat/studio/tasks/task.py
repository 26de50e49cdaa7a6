"""The interface of tasks, and the values that they work on.

An answer is a JSON object. Every task accepts a `comment` and `done`, which is true by default. An
answer that is not done is a draft: it is stored like any answer, and the assignment stays open.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from karat.errors import InputError, quoted
from karat.evalset.judgements import Dimension

Json = Mapping[str, Any]
"""A JSON object."""
JudgementRows = list[tuple[int, str, Any]]
"""Rows of output id, dimension or nugget, and value."""
Votes = list[tuple[int | None, str, Any]]
"""Rows of output (None for a pair), `about`, and value."""
Ratings = list[tuple[str, float]]
"""Rows of dimension and value."""


@dataclass(frozen=True)
class OutputView:
    """An output without its system; the order of ids does not depend on systems."""

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
    """The parts of an assignment that browsers may see: texts and questions, no systems."""

    assignment: int
    task: str
    settings: Json
    """The settings of the task: scales, categories, severities."""
    outputs: tuple[OutputView, ...]
    """In the order shown."""
    source: str | None = None
    context: str | None = None
    references: tuple[str, ...] = ()
    nuggets: tuple[NuggetView, ...] = ()
    value: Json | None = None
    """The newest answer of the assessor; None without one or after an undo."""
    newest: str | None = None
    """The uuid of the newest judgement, which a revision or an undo must name."""
    dropped: tuple[str, ...] = ()
    """Nuggets that were dropped from the key: their labels are stored but do not count."""
    edited: bool = False
    """Whether the key of the question was edited."""

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return asdict(self)


class CurrentAnswer(NamedTuple):
    """The newest complete answer to an assignment."""

    id: int
    uuid: str
    assessor: int
    task: str
    item: int
    outputs: tuple[int, ...]
    """In the order shown."""
    value: Any
    ms: int
    time: str
    reason: str
    probability: float | None


class CurrentDecision(NamedTuple):
    """An adjudication in force.

    It concerns an output and a dimension or nugget (`about`). For error spans `about` is `spans`
    and the value is an answer. For a pair `about` is `pair_name` of the two outputs, or `choice` if
    the item has a single pair, and the value is a choice in which `first` is the output with the
    smaller id. The value is bare (4, "support", "first") or an object as in an answer.
    """

    id: int
    uuid: str
    task: str
    item: int
    output: int | None
    about: str
    value: Any
    assessor: int
    time: str

    def field(self, name: str) -> Any:
        """Return a field of the value, or the value itself if it is bare."""
        return self.value.get(name) if isinstance(self.value, dict) else self.value

    def error(self, expected: str) -> InputError:
        """Return the error for an unexpected value."""
        return InputError(
            f"adjudication {self.id}: found {quoted(self.value)} for {quoted(self.about)}, "
            f"expected {expected}"
        )


class Task:
    """A kind of task. The defaults suit a task with one output per assignment."""

    name: str
    outputs_per_unit = "one output"
    needs_nuggets = False
    decides_outputs = True
    """Whether a decision concerns one output."""

    def settings(self, options: Json) -> dict[str, Any]:
        """Return the settings with their defaults; raise InputError if one is wrong."""
        raise NotImplementedError

    def choose_settings(
        self, dimensions: Sequence[str], scales: Sequence[str], scheme: str | None
    ) -> dict[str, Any]:
        """Return the settings for command-line options; raise InputError for other tasks' ones."""
        if dimensions or scales:
            problem = "--dimension and --scale are for ratings"
            raise InputError(f"{problem}: leave them out for {self.name}")
        if scheme:
            raise InputError(f"--scheme is for spans: leave it out for {self.name}")
        return self.settings({})

    def scales(self, settings: Json) -> list[Json]:
        """Return the scales on which assessors rate."""
        return []

    def dimensions(self, settings: Json) -> list[Dimension]:
        """Return the dimensions of the resulting values."""
        return []

    def targets(self, outputs: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the groups of outputs of an item that are judged together."""
        return [(output,) for output in outputs]

    def find_error(self, value: object, view: AssignmentView) -> str:
        """Return the first error of an answer as a sentence; "" if it is valid."""
        raise NotImplementedError

    def similarity(self, value: Any, answer: Any, view: AssignmentView) -> float:
        """Return the agreement of an answer with the known one, from 0 to 1."""
        raise NotImplementedError

    def to_judgements(self, value: Json, outputs: Sequence[int]) -> JudgementRows:
        """Return rows of output id, dimension or nugget, and value."""
        raise NotImplementedError

    def exported_rows(self, value: Json, outputs: Sequence[int]) -> JudgementRows:
        """Return the rows of the CSV export."""
        return self.to_judgements(value, outputs)

    def exported_decision(self, decision: CurrentDecision) -> Any:
        """Return the value of a decision in the CSV export."""
        return decision.value

    def to_ratings(self, value: Json, settings: Json) -> Ratings:
        """Return the ratings of the judged output; none if outputs are not rated singly."""
        return []

    def decision_to_ratings(self, decision: CurrentDecision, settings: Json) -> Ratings:
        """Return the ratings of a decision on an output."""
        return []

    def without_nuggets(self, value: Json, nuggets: Collection[str]) -> Json:
        """Return an answer without the labels of nuggets that were dropped from the key."""
        return value

    # Disputes

    def votes(self, answer: CurrentAnswer) -> Votes:
        """Return the values that can be disputed."""
        return [*self.to_judgements(answer.value, answer.outputs)]

    def subject(self, about: str) -> str:
        """Return the name of a disputed dimension, nugget, pair or output for people."""
        return about

    def summarize_votes(self, values: Sequence[Any]) -> str:
        """Return the values of votes for people; their number if values are long."""
        return f"{len(values)} assessors"

    def disagreement(self, settings: Json, about: str, values: Sequence[Any]) -> float:
        """Return the disagreement between two or more votes, from 0 to 1."""
        raise NotImplementedError

    def narrow(self, view: AssignmentView, about: str) -> AssignmentView:
        """Return the assignment with only the disputed dimension or nugget."""
        return view

    def vote_answer(self, value: Json, about: str, outputs: Sequence[int]) -> dict[str, Any]:
        """Return the disputed part of an assessor's answer, as an answer."""
        return {self.name: {about: value[self.name][about]}}

    def answer_to_decision(self, answer: Json, about: str) -> dict[str, Any]:
        """Return the stored value of an adjudicator's answer, without the comment."""
        raise NotImplementedError

    def decision_to_answer(self, value: Any, about: str) -> dict[str, Any]:
        """Return a stored decision as an answer."""
        raise NotImplementedError

    def check_decision(
        self, decision: CurrentDecision, view: AssignmentView, outputs: Sequence[int]
    ) -> None:
        """Raise InputError if a stored decision on one of an item's outputs is invalid."""
        raise NotImplementedError
