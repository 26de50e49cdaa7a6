"""The signature of a model: its settings and the digest of its content in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from karat import __version__
from karat.lm.tables import RECIPE


def signature(about: Mapping[str, Any], digest: str) -> str:
    """Return the settings of a model, and the digest of its file if there is one."""
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
    model = f"|model={digest}" if digest else ""
    return f"lm:{shown}{model}|log=10|karat={__version__}"
