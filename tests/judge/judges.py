"""Judges for tests: functions that answer prompts as a model would, behind a real server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from asking.server import ChatServer, serving

import karat as kt

PromptValues = dict[str, Any]


def prompt_values(body: dict[str, Any]) -> PromptValues:
    """The values that a prompt shows, read from its lines `name: JSON`."""
    result: PromptValues = {}
    for line in str(body["messages"][-1]["content"]).split("\n"):
        name, colon, value = line.partition(": ")
        if colon and name.isidentifier() and value[:1] in '"[{n0123456789':
            try:
                result[name] = json.loads(value)
            except ValueError:
                continue
    return result


def entries(**values: Any) -> dict[str, Any]:
    """An answer with entries by id: `entries(_1=("words", 4))` has evidence and value of 1."""
    listed = [
        {"id": id.lstrip("_"), "evidence": evidence, "value": value}
        for id, (evidence, value) in values.items()
    ]
    return {"answers": listed}


@contextmanager
def judge(
    answer: Callable[[PromptValues], Any], script: tuple[str, ...] = ()
) -> Iterator[ChatServer]:
    """A server whose model answers with what a function makes of the values of a prompt."""

    def reply_text(body: dict[str, Any]) -> str:
        answer_text = answer(prompt_values(body))
        return answer_text if isinstance(answer_text, str) else json.dumps(answer_text)

    with serving(script, answer=reply_text) as server:
        yield server


QUICK = kt.Limits(concurrency=1, attempts=2, backoff=0.0)


def server_arguments(server: ChatServer, folder: Path, **more: Any) -> dict[str, Any]:
    """Arguments of `judge_ratings` and the others that ask this server."""
    endpoint = kt.Endpoint(server.url, "gpt-test")
    return {"endpoint": endpoint, "cache": folder / "cache.sqlite", "limits": QUICK, **more}


def a_set(**more: Any) -> kt.EvalSet:
    """Two systems, two segments; both wrote the same about the second."""
    systems = {"alpha": ("A cat sat.", "Rain fell."), "beta": ("Dogs ran off.", "Rain fell.")}
    message = {
        "references": ["The cat sat down.", "It rained."],
        "dimensions": [kt.Dimension("fluency", low=1, high=5, guideline="Does it read well?")],
    }
    return kt.make_evalset("small", systems, **{**message, **more})
