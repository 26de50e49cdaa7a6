"""Guards around metrics of other packages: their slips become sentences, not wrong numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from karat.arrays import NDArray, np
from karat.errors import MetricError
from karat.registry import call

if TYPE_CHECKING:
    from karat.metrics.base import Metric
    from karat.metrics.pairs import Pairs


def guard(cls: type[Metric]) -> None:
    """Check what `rows` and `measure` of a class return, and name the metric where they fail."""
    if "rows" in vars(cls):
        cls.rows = _guarded(cls.rows, _rows_problem)  # type: ignore[method-assign]
    if "measure" in vars(cls):
        cls.measure = _guarded(cls.measure, _measure_problem)  # type: ignore[method-assign]


def _guarded(function: Callable[..., Any], problem: Callable[..., str]) -> Callable[..., Any]:
    @wraps(function)
    def called(self: Metric, given: Any) -> Any:
        what, wrong = f"{self}: its {function.__name__}()", partial(problem, self, given)
        return call(what, type(self), partial(function, self, given), wrong, MetricError)

    return called


def _rows_problem(metric: Metric, pairs: Pairs, found: Any) -> str:
    expected = (len(pairs.starts) - 1, len(metric.columns()))
    if not isinstance(found, np.ndarray) or found.shape != expected:
        shape = getattr(found, "shape", type(found).__name__)
        return f"{shape}, expected an array of {expected} (segments, columns)"
    return _number_problem(found)


def _number_problem(found: NDArray[Any]) -> str:
    if found.dtype.kind not in "biuf":
        return f"an array of {found.dtype}, expected numbers"
    return "" if np.isfinite(found).all() else "a number that is not finite"


def _measure_problem(metric: Metric, rows: Any, found: Any) -> str:
    if not isinstance(found, dict) or "value" not in found:
        return "no `value`: expected a dictionary of arrays"
    for name, values in found.items():
        if not isinstance(values, np.ndarray) or values.shape != rows.shape[:1]:
            return f"{name!r} of another length than there are rows, or no array"
        if problem := _number_problem(values):
            return f"for {name!r} {problem}"
    return ""
