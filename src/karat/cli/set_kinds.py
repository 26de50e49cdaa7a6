"""Sets of any kind, for commands that take evaluation sets and those of apps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from karat.cli.inputs import load_set
from karat.cli.parameters import F
from karat.evalset.catalogue import SET_KINDS
from karat.progress import Progress
from karat.registry import load

if TYPE_CHECKING:
    from karat.evalset.draws import Draw


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
    """Return a set of any kind; `given` has the options of judgements and those of kinds.

    An evaluation set has its draws with it; those of other kinds are read by `read_draws_of`.
    """
    for kind in SET_KINDS.known():
        found = load(SET_KINDS[kind].read)(name, dimensions, progress, **given)
        if found is not None:
            return found
    added = given["judgements"], given["model_judges"]
    return load_set(name, *reader, progress, *added, draws)


def read_draws_of(found: Any, draws: str | None) -> Sequence[Draw] | None:
    """Return the draws in a file for a set of another kind; None if the set has its own."""
    kind = type(found).__name__
    if draws is None or kind not in SET_KINDS:
        return None
    read: Sequence[Draw] = load(SET_KINDS[kind].draws)(found, draws)
    return read
