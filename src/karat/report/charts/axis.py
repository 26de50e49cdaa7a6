"""An axis: round numbers along it (0, 0.2, 0.4 and never 0.1837), and where values lie on it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

_LARGEST = 1e300  # beyond it, differences overflow
_SLACK = 1e-9  # in steps: tolerated rounding errors of round bounds
_NARROW = 1e-9  # relative span below which two bounds count as one
_TINY = 1e-290  # spans below this would underflow


def drawable(values: Iterable[float | None]) -> bool:
    """Return whether all values can be drawn: not None, NaN, infinite or huge."""
    return all(v is not None and math.isfinite(v) and abs(v) < _LARGEST for v in values)


class Ticks(NamedTuple):
    """Evenly spaced round values, `step = mantissa * 10**exponent` apart."""

    values: tuple[float, ...]
    exponent: int

    def label(self, value: float, extra: int = 0) -> str:
        """Format a value with the decimals that distinguish two ticks, and `extra` more."""
        decimals = max(0, extra - self.exponent)
        largest = max(map(abs, self.values))
        if largest < 1e6 and decimals <= 6:
            text = f"{value:.{decimals}f}"
        else:
            significant = max(1, _power(largest) - self.exponent + 1 + extra)
            text = f"{value:.{significant}g}"
        return text.lstrip("-") if not text.strip("-0.") else text


def nice_ticks(low: float, high: float, about: int = 5, integers: bool = False) -> Ticks:
    """Return about so many ticks that cover low..high, in steps of 1, 2 or 5 times 10^k.

    `integers` forbids steps below one, for counts.
    """
    largest = max(abs(low), abs(high))
    if high - low <= max(_NARROW * largest, _TINY):  # one value: an axis around it
        margin = 0.05 * largest if 0.05 * largest >= _TINY else 1.0
        low, high = low - margin, high + margin
    least = (high - low) / about
    mantissa, exponent = 1, _power(least) + 1
    for round_mantissa in (5, 2, 1):
        if float(f"{round_mantissa}e{_power(least)}") >= least * (1 - _SLACK):
            mantissa, exponent = round_mantissa, _power(least)
    if integers and exponent < 0:
        mantissa, exponent = 1, 0
    step = float(f"{mantissa}e{exponent}")
    first = math.floor(low / step + _SLACK)
    last = max(first + 1, math.ceil(high / step - _SLACK))
    # Dividing integers rounds once: 3 tenths are 0.3, and not 0.30000000000000004.
    above, below = mantissa * 10 ** max(exponent, 0), 10 ** max(-exponent, 0)
    return Ticks(tuple(i * above / below for i in range(first, last + 1)), exponent)


def _power(x: float) -> int:
    """Return the power of ten at or below x > 0, from its digits: a logarithm may round up."""
    return Decimal(repr(x)).adjusted()


@dataclass(frozen=True)
class Axis:
    """Ticks laid out from `start` to `end`, in the units of the drawing."""

    ticks: Ticks
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the position of a value."""
        low, high = self.ticks.values[0], self.ticks.values[-1]
        return self.start + (value - low) / (high - low) * (self.end - self.start)
