"""Answer keys: the questions and the nuggets that a good answer carries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from karat.arrays import Flags, np
from karat.errors import InputError, short
from karat.storage.digests import data_digest


@dataclass(frozen=True)
class Nugget:
    """A fact that an answer should (vital) or may (okay) carry.

    `votes` are the assessors who called it vital, where several were asked (pyramids).
    """

    id: str
    descriptions: tuple[str, ...]
    """In words; the first is the key's own, the others say the same differently."""
    vital: bool = True
    votes: int | None = None

    @property
    def importance(self) -> str:
        """`vital` or `okay`, as files call it."""
        return "vital" if self.vital else "okay"

    def __post_init__(self) -> None:
        if not self.descriptions:
            raise InputError(f"nugget {short(self.id)} has no description")
        if self.votes is not None and self.votes < 0:
            raise InputError(f"nugget {short(self.id)}: {self.votes} votes, expected 0 or more")


@dataclass(frozen=True)
class Question:
    """A question and its nuggets, in the order of the key."""

    id: str
    nuggets: tuple[Nugget, ...]
    text: str = ""

    def __post_init__(self) -> None:
        seen = set[str]()
        for id in (nugget.id for nugget in self.nuggets):
            if id in seen:
                raise InputError(f"question {short(self.id)} has two nuggets called {short(id)}")
            seen.add(id)

    @property
    def vital(self) -> tuple[Nugget, ...]:
        """The nuggets that count for recall."""
        return tuple(nugget for nugget in self.nuggets if nugget.vital)

    @cached_property
    def is_vital(self) -> Flags:
        """A flag for each nugget; every run asks."""
        found = np.array([nugget.vital for nugget in self.nuggets], dtype=np.bool_)
        found.flags.writeable = False
        return found


@dataclass(frozen=True)
class Key:
    """All questions by their ids."""

    questions: Mapping[str, Question]

    def __len__(self) -> int:
        return len(self.questions)

    @cached_property
    def digest(self) -> str:
        """Eight characters that change when a question or a nugget does."""
        questions = self.questions.values()
        nuggets = ((n.id, n.descriptions, n.vital, n.votes) for q in questions for n in q.nuggets)
        return data_digest([(q.id, q.text, len(q.nuggets)) for q in questions], *nuggets)


def make_key(questions: Iterable[Question]) -> Key:
    """Return a key of questions, each id once."""
    found: dict[str, Question] = {}
    for question in questions:
        if question.id in found:
            raise InputError(f"two questions are called {short(question.id)}")
        found[question.id] = question
    return Key(MappingProxyType(found))
