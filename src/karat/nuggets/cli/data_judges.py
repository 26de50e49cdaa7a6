"""`karat data judges` of a nugget set: its options, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from karat.errors import InputError
from karat.nuggets.cli import options
from karat.progress import Progress

if TYPE_CHECKING:
    from karat.nuggets.sets.nugget_set import NuggetSet


def judge_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--judgements`, `--model-judge` and `--ties`."""
    return options.judgements(options.judges(function))


def read_judged(
    name: str, dimensions: Sequence[str], progress: Progress, judgements: Sequence[str], judges: Any
) -> NuggetSet | None:
    """Return a nugget set with its judgements; None if the place has a set of ratings."""
    from karat.nuggets.formats.loading import is_nuggets, load_nuggets

    if not judgements and not is_nuggets(name):
        if judges["model_judges"]:
            raise InputError(f"--model-judge is for nugget sets, and {name} has ratings")
        return None
    if dimensions:
        raise InputError(f"{name} is a nugget set, which has no dimensions: leave them out")
    return load_nuggets(name, (), judgements, **judges, progress=progress)
