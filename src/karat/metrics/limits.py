"""Limits by metric: one number for all metrics, or numbers by their names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TypeAlias

from karat.errors import InputError, MetricError, quoted
from karat.settings import nearest

Limit: TypeAlias = "float | Mapping[str, float] | None"
"""A number for all metrics, or numbers by metric name; "" means all other metrics."""
_LOSSES = ("max_drop", "max_item_drop", "margin", "difference")  # must not be negative


class LimitError(InputError):
    """An invalid limit: its name in Python and the problem."""

    def __init__(self, limit_name: str, problem: str) -> None:
        super().__init__(f"{limit_name}{problem}")
        self.limit_name, self.problem = limit_name, problem


def resolve_limits(limit_name: str, limit: Limit, names: Sequence[str]) -> dict[str, float]:
    """Return the limit of each metric that has one; reject unknown names and negative losses."""
    if limit is None:
        return {}
    limits = dict(limit) if isinstance(limit, Mapping) else {"": limit}
    by_metric = {}
    for key, value in limits.items():
        good = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        if not good:
            raise LimitError(limit_name, f": found {quoted(value)}, expected a number")
        if limit_name in _LOSSES and value < 0:
            raise LimitError(limit_name, f": found {value:g}, expected 0 or more")
        if key:
            name = _limited_metric(limit_name, key, names)
            if name in by_metric:
                problem = f" {key}: there are two limits for {name}; leave one out"
                raise LimitError(limit_name, problem)
            by_metric[name] = float(value)
    return {name: float(limits[""]) for name in names if "" in limits} | by_metric


def _limited_metric(limit_name: str, key: str, names: Sequence[str]) -> str:
    """Resolve a metric's name, which may be written in another form.

    A name without settings matches the only metric with that name, whatever its settings.
    """
    if key in names:
        return key
    from karat.metrics.names import metric

    try:
        canonical_name = str(metric(key))
    except MetricError:
        canonical_name = key
    if canonical_name in names:
        return canonical_name
    matches = [name for name in names if name.partition(":")[0] == key]
    if len(matches) == 1:
        return matches[0]
    if matches:
        problem = f"{len(matches)} metrics have this name; write {' or '.join(matches)}"
        raise LimitError(limit_name, f" {key}: {problem}")
    available = f"there is {', '.join(names)}{nearest(key, names)}"
    raise LimitError(limit_name, f" {key}: no such metric; {available}")
