"""An assignment as an assessor sees it: texts and questions, and nothing of systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class ShownOutput:
    """An output without its system; ids are in no order of systems."""

    id: int
    text: str


@dataclass(frozen=True)
class ShownNugget:
    """A nugget of the question that an output answers."""

    id: str
    importance: str
    descriptions: tuple[str, ...]


@dataclass(frozen=True)
class Shown:
    """All that a browser may know of an assignment."""

    assignment: int
    task: str
    settings: Mapping[str, Any]
    """The settings of the task: scales, categories, severities."""
    outputs: tuple[ShownOutput, ...]
    """In the order to be shown."""
    source: str | None = None
    context: str | None = None
    references: tuple[str, ...] = ()
    nuggets: tuple[ShownNugget, ...] = ()
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
