"""An axis: round numbers along it (0, 0.2, 0.4 and never 0.1837), and where values lie on it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

_LARGEST = 1e300  # beyond it, differences overflow
_SLACK = 1e-9  # of a step: what floating point may have added to a bound that was round
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


class LogTicks(Ticks):
    """1, 2 and 5 times powers of ten, evenly spaced only in their logarithms."""

    __slots__ = ()

    def label(self, value: float, extra: int = 0) -> str:
        """The value with as many digits as it needs."""
        return f"{value:.{6 + extra}g}"


def log_ticks(low: float, high: float) -> Ticks:
    """Ticks of a logarithmic axis that cover low..high, both above zero.

    Beyond three powers of ten, only powers of ten are ticks, and beyond ten of them not all.
    """
    first, last = _power(low), _power(high)
    last += high > float(f"1e{last}")
    if last - first > 3:
        step = 1 + (last - first) // 10
        powers = reversed(range(last, first - step, -step))
        return LogTicks(tuple(float(f"1e{power}") for power in powers), first)
    steps = [float(f"{m}e{power}") for power in range(first - 1, last + 1) for m in (1, 2, 5)]
    steps.append(float(f"1e{last + 1}"))
    start = max(k for k, step in enumerate(steps) if step <= low)
    end = min(k for k, step in enumerate(steps) if step >= high)
    if start == end:  # one value: a step on either side
        start, end = start - 1, end + 1
    return LogTicks(tuple(steps[start : end + 1]), first)


def nice_ticks(low: float, high: float, about: int = 5, integers: bool = False) -> Ticks:
    """About so many ticks in steps of 1, 2 or 5 times a power of ten, covering low..high.

    `integers` forbids steps below one, for counts.
    """
    low, high = _apart(low, high)
    mantissa, exponent = _step((high - low) / about)
    if integers and exponent < 0:
        mantissa, exponent = 1, 0
    step = float(f"{mantissa}e{exponent}")
    first = math.floor(low / step + _SLACK)
    last = max(first + 1, math.ceil(high / step - _SLACK))
    # Dividing integers rounds once: 3 tenths are 0.3, and not 0.30000000000000004.
    above, below = mantissa * 10 ** max(exponent, 0), 10 ** max(-exponent, 0)
    return Ticks(tuple(i * above / below for i in range(first, last + 1)), exponent)


def _apart(low: float, high: float) -> tuple[float, float]:
    largest = max(abs(low), abs(high))
    if high - low > max(_NARROW * largest, _TINY):
        return low, high
    margin = 0.05 * largest
    if margin < _TINY:
        margin = 1.0
    return low - margin, high + margin


def _step(least: float) -> tuple[int, int]:
    """The smallest round step that is not below `least`."""
    exponent = _power(least)
    for mantissa in (1, 2, 5):
        if float(f"{mantissa}e{exponent}") >= least * (1 - _SLACK):
            return mantissa, exponent
    return 1, exponent + 1


def _power(x: float) -> int:
    """The power of ten at or below x > 0, from its digits: a logarithm may be rounded up."""
    return Decimal(repr(x)).adjusted()


@dataclass(frozen=True)
class Axis:
    """Ticks laid out from `start` to `end`, in the units of the drawing."""

    ticks: Ticks
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the position of a value; logarithmic if the ticks are."""
        low, high = self.ticks.values[0], self.ticks.values[-1]
        if isinstance(self.ticks, LogTicks):
            from karat.arithmetic import log10  # numpy is loaded where it is needed

            low, high, value = map(log10, (low, high, value))
        return self.start + (value - low) / (high - low) * (self.end - self.start)
