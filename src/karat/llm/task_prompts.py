"""The bundled prompts, by task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from karat.llm.interview import Prompt, Slots, bundled_prompt, read_prompt
from karat.results import Result

FOLDER = Path(__file__).parent / "prompts"
_INPUT = ("dimension", "guideline", "source", "references")
RATINGS = Slots("ratings", ("outputs", "scale"), _INPUT)
PAIRS = Slots("pairs", ("outputs",), _INPUT)
NUGGETS = Slots("nuggets", ("response", "nuggets"), ("question",))


class BundledPrompt(NamedTuple):
    """A prompt, the placeholders of its task, and the command that uses it."""

    prompt: Prompt
    slots: Slots
    command: str


def bundled_prompts() -> dict[str, BundledPrompt]:
    """Return the prompts by task."""
    from karat.nuggets.drafting import DRAFT, draft_prompt

    prompts = {
        slots.task: BundledPrompt(task_prompt(slots), slots, f"karat judge {slots.task}")
        for slots in (RATINGS, PAIRS, NUGGETS)
    }
    return {**prompts, DRAFT.task: BundledPrompt(draft_prompt(), DRAFT, "karat nuggets draft")}


def task_prompt(slots: Slots, path: str | PathLike[str] | None = None) -> Prompt:
    """Return the prompt in a file, by default the bundled one."""
    if path is not None:
        return read_prompt(path, slots)
    return bundled_prompt(FOLDER, f"{slots.task}.v1")


@dataclass(frozen=True, repr=False)
class PromptList(Result):
    """The bundled prompts."""

    rows: tuple[BundledPrompt, ...]
    notes: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    signature: str = ""
