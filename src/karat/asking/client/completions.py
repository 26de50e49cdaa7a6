"""Completions: the text of an answer and the tokens that it took."""

from __future__ import annotations

from typing import Any

from karat.asking.client.bodies import as_json, as_text, error_said
from karat.asking.client.failures import EMPTY, GARBAGE, Completion, Failure
from karat.asking.client.keys import Key
from karat.asking.requests import Request, estimated_prompt, estimated_tokens


def as_completion(body: bytes, key: Key, request: Request) -> Completion | Failure:
    """Return the completion that a body holds; an empty one is a failure."""
    found = as_json(body)
    choice = _first_choice(found)
    content = _get(_get(choice, "message"), "content", "")
    if choice is None or not isinstance(content, str | None):
        return Failure(GARBAGE, error_said(found, key))  # some send errors with status 200
    text = as_text(content or "", key)
    prompt = _count(found, "prompt_tokens")
    answer = _count(found, "completion_tokens")
    done = Completion(
        text,
        estimated_prompt(request) if prompt is None else prompt,
        estimated_tokens(text) if answer is None else answer,
        estimated=prompt is None or answer is None,
        cut=_get(choice, "finish_reason") == "length",
    )
    return done if text.strip() else _empty(done, _get(choice, "finish_reason"))


def _empty(done: Completion, end: object) -> Failure:
    why = {"length": "max_tokens was reached", "content_filter": "the server filtered it"}
    tokens = (done.prompt_tokens, done.completion_tokens, done.estimated)
    return Failure(EMPTY, why.get(str(end), ""), True, "", None, None, *tokens)


def _get(found: Any, name: str, default: Any = None) -> Any:
    return found.get(name, default) if isinstance(found, dict) else default


def _first_choice(found: Any) -> dict[str, Any] | None:
    """Return the first choice if it has a message."""
    choices = _get(found, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(_get(choice, "message"), dict) else None


def _count(found: Any, name: str) -> int | None:
    """Return a number of tokens that the server counted, or None."""
    count = _get(_get(found, "usage"), name)
    return count if type(count) is int and 0 <= count < 1 << 40 else None
