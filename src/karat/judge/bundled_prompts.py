"""The prompts that come with Karat, by task."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import NamedTuple

from karat.asking.interview.templates import Prompt, Slots, bundled_prompt, read_prompt
from karat.nuggets.drafting.prompt import DRAFT, draft_prompt

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
    found = {
        slots.task: BundledPrompt(task_prompt(slots), slots, f"karat judge {slots.task}")
        for slots in (RATINGS, PAIRS, NUGGETS)
    }
    return {**found, DRAFT.task: BundledPrompt(draft_prompt(), DRAFT, "karat nuggets draft")}


def task_prompt(slots: Slots, path: str | PathLike[str] | None = None) -> Prompt:
    """Return the prompt in a file, or the one that comes with Karat."""
    if path is not None:
        return read_prompt(path, slots)
    return bundled_prompt(FOLDER, f"{slots.task}.v1")
