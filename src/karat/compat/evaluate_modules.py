"""Paths of the modules for HF `evaluate`: `evaluate.load(evaluate_path("bleu"))`."""

from __future__ import annotations

from pathlib import Path

from karat.errors import InputError, quoted

_FOLDER = Path(__file__).parent / "evaluate"


def evaluate_path(name: str) -> str:
    """Return the folder of a module for `evaluate.load`: bleu, chrf, ter, rouge, gtm or aev."""
    names = sorted(path.name for path in _FOLDER.iterdir() if (path / f"{path.name}.py").exists())
    if name not in names:
        raise InputError(f"evaluate module {quoted(name)}: expected one of {', '.join(names)}")
    return str(_FOLDER / name)
