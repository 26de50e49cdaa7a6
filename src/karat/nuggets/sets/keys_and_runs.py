"""Answer keys and runs: questions with their nuggets, and what systems answered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
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
    """Descriptions in words: the key's own, then paraphrases."""
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
        ids_so_far = set[str]()
        for id in (nugget.id for nugget in self.nuggets):
            if id in ids_so_far:
                raise InputError(f"question {short(self.id)} has two nuggets called {short(id)}")
            ids_so_far.add(id)

    @property
    def vital(self) -> tuple[Nugget, ...]:
        """The nuggets that count for recall."""
        return tuple(nugget for nugget in self.nuggets if nugget.vital)

    @cached_property
    def is_vital(self) -> Flags:
        """A flag for each nugget. Cached: every run needs it."""
        flags = np.array([nugget.vital for nugget in self.nuggets], dtype=np.bool_)
        flags.flags.writeable = False
        return flags


@dataclass(frozen=True)
class NuggetKey:
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


def make_key(questions: Iterable[Question]) -> NuggetKey:
    """Return a key of questions, each id once."""
    questions_by_id: dict[str, Question] = {}
    for question in questions:
        if question.id in questions_by_id:
            raise InputError(f"two questions are called {short(question.id)}")
        questions_by_id[question.id] = question
    return NuggetKey(MappingProxyType(questions_by_id))


@dataclass(frozen=True)
class Response:
    """One response to a question; a run keeps its responses in rank order."""

    text: str
    document: str = ""  # the source that the system named, if any

    @property
    def normal(self) -> str:
        """The text as judgements are looked up by: white space and case do not matter."""
        return normal(self.text)


@lru_cache(maxsize=4096)  # every nugget has a judgement of the same answer
def normal(text: str) -> str:
    """Return a response as judgements are looked up by: white space and case do not matter."""
    return _spaced(text).casefold()


@lru_cache(maxsize=4096)  # A, F and intervals all need it
def characters(text: str) -> int:
    """Return the length of a response, white space not counted."""
    spaced = _spaced(text)
    return len(spaced) - spaced.count(" ")


@lru_cache(maxsize=4096)
def _spaced(text: str) -> str:
    """Return the text with runs of white space replaced by one blank, and stripped.

    Most texts are returned as they are: the blank is the only printable white space.
    """
    if text.isprintable() and "  " not in text and text == text.strip():
        return text
    return " ".join(text.split())


def forget_responses() -> None:
    """Clear the caches of this module, for measurements of time."""
    for cached in (normal, characters, _spaced):
        cached.cache_clear()


@dataclass(frozen=True)
class Run:
    """The responses of one system by question; a question without any is absent or empty."""

    tag: str
    answers: Mapping[str, tuple[Response, ...]]
    institution: str = ""  # owner of the system, if known: systems of one institution are alike

    def responses(self, question: str) -> tuple[Response, ...]:
        """Return the responses to a question."""
        return self.answers.get(question, ())


def make_run(tag: str, responses: Iterable[tuple[str, Response]], institution: str = "") -> Run:
    """Return a run from pairs of question id and response, in the order of the ranks."""
    answers_by_question: dict[str, list[Response]] = {}
    for question, response in responses:
        answers_by_question.setdefault(question, []).append(response)
    answers = {question: tuple(answer) for question, answer in answers_by_question.items()}
    return Run(tag, MappingProxyType(answers), institution)
