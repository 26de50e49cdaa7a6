"""The prompt that drafts a key."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from karat.llm.interview import Prompt, Slots, bundled_prompt, read_prompt

FOLDER = Path(__file__).parent / "prompts"
DRAFT = Slots("draft", ("documents",), ("question", "most"))


def draft_prompt(path: str | PathLike[str] | None = None) -> Prompt:
    """Return the prompt in a file, or the one that comes with Karat."""
    return bundled_prompt(FOLDER, "draft.v1") if path is None else read_prompt(path, DRAFT)
