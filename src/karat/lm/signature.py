"""The signature of a model: its settings in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karat import __version__
from karat.lm.tables import RECIPE


def signature(about: Mapping[str, Any]) -> str:
    """Return all that changes the numbers of a model, but the text it was trained on."""
    kept = about.get("min_counts")
    settings = {
        "order": about["order"],
        "smoothing": about.get("smoothing"),
        **{part: about["recipe"][part] for part in RECIPE},
        "vocabulary": about.get("vocabulary") or "all",
        "min_count": about.get("min_count", 1),
        "min_counts": "/".join(map(str, kept)) if kept else "all",
    }
    shown = ",".join(f"{name}={value}" for name, value in settings.items())
    return f"lm:{shown}|log=10|karat={__version__}"
