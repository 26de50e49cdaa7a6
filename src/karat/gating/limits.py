"""Limits of a gate: one number for all metrics, or one for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TypeAlias

from karat.errors import InputError, MetricError, quoted
from karat.settings import nearest

Limit: TypeAlias = "float | Mapping[str, float] | None"
"""A number for all metrics, or numbers by the names of metrics; "" stands for all others."""
LOSSES = ("max_drop", "max_item_drop")
"""Limits that are tolerated losses."""
LEAST_RESAMPLES = 100
"""The ends of an interval are the 2.5% at either side: fewer resamples have no such ends."""


class LimitError(InputError):
    """A limit that cannot be; `what` is its name in Python, `told` the sentence after it."""

    def __init__(self, what: str, told: str) -> None:
        super().__init__(f"{what}{told}")
        self.what, self.told = what, told


def limits_of(what: str, given: Limit, names: Sequence[str]) -> dict[str, float]:
    """Return the limit of each metric that has one.

    Names that no metric has, and losses below 0, are refused.
    """
    if given is None:
        return {}
    every = dict(given) if isinstance(given, Mapping) else {"": given}
    found = {}
    for key, value in every.items():
        good = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        if not good:
            raise LimitError(what, f": found {quoted(value)}, expected a number")
        if what in LOSSES and value < 0:
            raise LimitError(what, f": found {value:g}, expected 0 or more")
        if key:
            name = _name(what, key, names)
            if name in found:
                told = f" {key}: there are two limits for {name}; leave one out"
                raise LimitError(what, told)
            found[name] = float(value)
    return {name: float(every[""]) for name in names if "" in every} | found


def _name(what: str, key: str, names: Sequence[str]) -> str:
    """Return the metric that is meant; it may be written in another form of its name.

    A name without settings means the only metric of that name, whatever its settings are.
    """
    if key in names:
        return key
    from karat.metrics.names import metric

    try:
        other = str(metric(key))
    except MetricError:
        other = key
    if other in names:
        return other
    same = [name for name in names if name.partition(":")[0] == key]
    if len(same) == 1:
        return same[0]
    if same:
        told = f"{len(same)} metrics of the gate have this name; write {' or '.join(same)}"
        raise LimitError(what, f" {key}: {told}")
    known = f"there is {', '.join(names)}{nearest(key, names)}"
    raise LimitError(what, f" {key}: the gate has no such metric; {known}")
