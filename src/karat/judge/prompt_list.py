"""The prompts that come with Karat, as a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from karat.judge.bundled_prompts import bundled_prompts
from karat.results import Result


class PromptRow(NamedTuple):
    """A prompt: the task, its name and hash, its placeholders, and the command that uses it."""

    task: str
    prompt: str
    needed: str
    optional: str
    command: str


@dataclass(frozen=True, repr=False)
class PromptList(Result):
    """The prompts by task."""

    rows: tuple[PromptRow, ...]
    notes: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    signature: str = ""


def list_prompts() -> PromptList:
    """Return the prompts that come with Karat."""
    rows = []
    for task, (prompt, slots, command) in bundled_prompts().items():
        needed, optional = (
            " ".join(f"{{{word}}}" for word in words) for words in (slots.needed, slots.optional)
        )
        rows.append(PromptRow(task, prompt.label, needed, optional, command))
    return PromptList(tuple(rows))
