"""Settings: the fields of a metric, with their meaning and limits, and their one-string form."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, field, fields
from numbers import Integral, Real
from typing import Any

from karat.errors import MetricError

Choices = Mapping[str, str] | Callable[[], Iterable[str]]


def setting(
    default: Any,
    help: str,
    *,
    kind: type | None = None,
    choices: Choices | None = None,
    low: float = -math.inf,
    high: float = math.inf,
    above: float = -math.inf,
    unset: str = "none",
) -> Any:
    """A field of a metric: what it means, and what it may be (low <= value <= high, > above).

    `unset` is the text of None, where that is the default.
    """
    metadata = {
        "help": help,
        "kind": kind or type(default),
        "choices": choices,
        "low": low,
        "high": high,
        "above": above,
        "unset": unset,
    }
    return field(default=default, metadata=metadata)


def validate(metric: Any) -> None:
    """Check every setting of a metric; numbers become plain ints and floats."""
    for f in fields(metric):
        value = _plain_number(getattr(metric, f.name), f.metadata["kind"])
        object.__setattr__(metric, f.name, value)
        problem = _problem(f, value)
        if problem:
            raise MetricError(f"{metric._head()}: {f.name}={to_text(value)} {problem}")


def _plain_number(value: Any, kind: type) -> Any:
    """A whole number given for a float, or one of numpy's, as Python's own."""
    if isinstance(value, list | tuple) and kind is tuple:
        return tuple(_plain_number(item, float) for item in value)
    if isinstance(value, bool):
        return value
    if kind is float and isinstance(value, Real):
        return float(value)
    return int(value) if kind is int and isinstance(value, Integral) else value


def _problem(f: Field[Any], value: Any) -> str:
    kind, choices = f.metadata["kind"], f.metadata["choices"]
    if value is None:
        return "" if f.default is None else "is missing"
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        return f"is {type(value).__name__}, expected {kind.__name__}"
    if choices is not None:
        return _not_among(value, choices() if callable(choices) else choices)
    if kind in (int, float):
        return _out_of_range(f, value)
    if kind is str and not _plain(value):
        return "holds a comma, a bar or white space, which a metric's name cannot carry"
    return ""


def _plain(value: str) -> bool:
    return bool(value) and not any(c in ",|\0" or c.isspace() for c in value)


def _not_among(value: str, choices: Iterable[str]) -> str:
    names = list(choices)
    if value in names:
        return ""
    return f"is not one of {', '.join(names)}{nearest(value, names)}"


def _out_of_range(f: Field[Any], value: float) -> str:
    low, high, above = (f.metadata[key] for key in ("low", "high", "above"))
    if low <= value <= high and value > above:
        return ""
    lower = f"above {to_text(above)}" if above > low else f"at least {to_text(low)}"
    limits = [lower] if max(low, above) > -math.inf else []
    limits += [f"at most {to_text(high)}"] if high < math.inf else []
    return f"is out of range: expected {' and '.join(limits) or 'a number'}"


def nearest(word: str, names: Iterable[str]) -> str:
    """A suggestion, if some name is close to the word."""
    folded = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word.lower(), folded, n=1, cutoff=0.5)
    return f"; did you mean {folded[close[0]]}?" if close else ""


def to_text(value: Any) -> str:
    """A setting's value in the one-string form."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "/".join(to_text(item) for item in value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return "none" if value is None else str(value)


def from_text(text: str, f: Field[Any]) -> Any:
    """The value that `to_text` wrote; raises ValueError if it is none."""
    kind = f.metadata["kind"]
    if f.default is None and text.lower() == f.metadata["unset"]:
        return None
    if kind is bool:
        return {"yes": True, "no": False, "true": True, "false": False}[text.lower()]
    if kind is tuple:
        return tuple(_number(part) for part in text.split("/"))
    if kind is float:
        return _number(text)
    return kind(text)


def _number(text: str) -> float:
    value = float(text)
    if math.isnan(value):
        raise ValueError("not a number")
    return value
