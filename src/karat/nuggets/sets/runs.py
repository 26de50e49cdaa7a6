"""Runs: what one system answered, response after response."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType


@dataclass(frozen=True)
class Response:
    """One response to a question; a system's responses stand in the order it gave them."""

    text: str
    document: str = ""
    """The source that the system named, if any."""

    @property
    def normal(self) -> str:
        """The text as judgements are looked up by: white space and case do not matter."""
        return normal(self.text)


@lru_cache(maxsize=4096)  # of one answer there are as many judgements as nuggets
def normal(text: str) -> str:
    """Return a response as judgements are looked up by: white space and case do not matter."""
    return _spaced(text).casefold()


@lru_cache(maxsize=4096)  # A, F and intervals all ask
def characters(text: str) -> int:
    """Return the length of a response, white space not counted."""
    found = _spaced(text)
    return len(found) - found.count(" ")


@lru_cache(maxsize=4096)
def _spaced(text: str) -> str:
    """Return the text with one blank for white space, and none at its ends.

    Most texts are so already: of all white space only the blank is printable.
    """
    if text.isprintable() and "  " not in text and text == text.strip():
        return text
    return " ".join(text.split())


def forget_responses() -> None:
    """Forget responses that were looked at, as whoever measures time must."""
    for cached in (normal, characters, _spaced):
        cached.cache_clear()


@dataclass(frozen=True)
class Run:
    """The responses of one system by question; a question without any is absent or empty."""

    tag: str
    answers: Mapping[str, tuple[Response, ...]]
    institution: str = ""
    """Whose system it is, if that is known: systems of one house are alike."""

    def responses(self, question: str) -> tuple[Response, ...]:
        """Return the responses to a question."""
        return self.answers.get(question, ())


def make_run(tag: str, responses: Iterable[tuple[str, Response]], institution: str = "") -> Run:
    """Return a run from pairs of question id and response, in the order of the ranks."""
    found: dict[str, list[Response]] = {}
    for question, response in responses:
        found.setdefault(question, []).append(response)
    answers = {question: tuple(some) for question, some in found.items()}
    return Run(tag, MappingProxyType(answers), institution)
