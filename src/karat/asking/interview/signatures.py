"""Signatures of what a model was asked: task, digests of prompt and cases, model, settings."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from karat import __version__
from karat.asking.interview.tasks import Setup, Task

_SAFE = " /:()@+-._~"


def signature(name: str, settings: Mapping[str, object], task: Task, setup: Setup) -> str:
    """Return all that changes the answers; texts and guidelines by a digest. No key is in it.

    Args:
        name: name of the task.
        settings: settings of the task.
        task: prompt and cases.
        setup: model, and how it is asked.
    """
    written = ",".join(f"{key}={_plain(value)}" for key, value in settings.items())
    parts = {"prompt": task.prompt.label, "cases": task.digest, **setup.settings}
    fields = "|".join(f"{key}={_plain(value)}" for key, value in parts.items())
    return f"{name}:{written}|{fields}|karat={__version__}"


def _plain(value: object) -> str:
    """Return a value without the characters that separate values."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return quote(text, safe=_SAFE)
