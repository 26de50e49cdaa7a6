"""Requests to a language model and their answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from karat.errors import InputError, quoted

CHARACTERS_A_TOKEN = 4
"""Characters that are taken for one token where a server does not count them."""


class Message(NamedTuple):
    """A message of a chat."""

    role: str
    content: str


class Request(NamedTuple):
    """Messages that a language model is asked to answer."""

    id: str
    """The caller's name of the request, unique in a run."""
    messages: tuple[Message, ...]
    schema: str = ""
    """The form of valid answers, such as `name@hash`: another form is another request."""
    replicate: int = 0
    """The number of the answer that is wanted, where one request is asked several times."""


class Answer(NamedTuple):
    """The answer to a request, or why it is missing."""

    id: str
    text: str | None
    """None: the answer is missing."""
    why: str = ""
    """The reason why the answer is missing, one clause."""
    cached: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0


def as_requests(requests: Iterable[Request]) -> list[Request]:
    """Return the requests as a list; their ids must differ."""
    found = list(requests)
    seen: set[str] = set()
    for request in found:
        if not request.messages:
            raise InputError(f"request {quoted(request.id)}: expected at least one message")
        if request.id in seen:
            raise InputError(f"request {quoted(request.id)} is there twice: give each its own id")
        seen.add(request.id)
    return found


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text has: its characters / 4, rounded up."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def estimated_prompt(request: Request) -> int:
    """Return about how many tokens the messages of a request have."""
    return sum(estimated_tokens(message.content) for message in request.messages)
