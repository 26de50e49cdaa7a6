"""Sets of any kind, for commands that take evaluation sets and those of apps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from karat.cli.inputs import load_set
from karat.cli.parameters import F
from karat.errors import InputError
from karat.evalset.kinds import SET_KINDS
from karat.progress import Progress
from karat.registry import load


def options_of_kinds(function: F) -> F:
    """Add the options that other kinds of sets have."""
    for kind in SET_KINDS.known():
        function = load(SET_KINDS[kind].options)(function)
    return function


def read_set(
    name: str,
    dimensions: Sequence[str],
    reader: tuple[str | None, Sequence[str]],
    given: Mapping[str, Any],
    progress: Progress,
    draws: str | None = None,
) -> Any:
    """Return a set of any kind; `given` has the options of judgements and those of kinds."""
    for kind in SET_KINDS.known():
        found = load(SET_KINDS[kind].read)(name, dimensions, progress, **given)
        if found is not None:
            if draws is not None:
                raise InputError(f"{name}: --draws is for evaluation sets: leave it out")
            return found
    added = given["judgements"], given["model_judges"]
    return load_set(name, *reader, progress, *added, draws)
