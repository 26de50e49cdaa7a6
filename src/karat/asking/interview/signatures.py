"""Signatures of what a model was asked: task, prompt with its hash, model, and how it was asked."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from karat import __version__
from karat.asking.interview.tasks import Setup
from karat.asking.interview.templates import Prompt

_SAFE = " /:()@+-._~"


def signature(task: str, settings: Mapping[str, object], prompt: Prompt, setup: Setup) -> str:
    """Return all that changes the answers, but the texts themselves; no key is in it."""
    told = ",".join(f"{key}={_plain(value)}" for key, value in settings.items())
    parts = {"prompt": prompt.label, **setup.settings}
    asked = "|".join(f"{key}={_plain(value)}" for key, value in parts.items())
    return f"{task}:{told}|{asked}|karat={__version__}"


def _plain(value: object) -> str:
    """Return a value without the characters that separate values."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return quote(text, safe=_SAFE)
