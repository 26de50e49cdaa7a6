"""Options that commands of `karat judge` share."""

from __future__ import annotations

import math
import re
from typing import Any

import click

from karat.cli.parameters import option

_ENDS = re.compile(r"(-?[0-9.]+)-(-?[0-9.]+)")


class ScaleEnds(click.ParamType):  # type: ignore[type-arg]  # no generic in click 8.1
    """A lower and a higher end, such as 1-5; a tuple."""

    name = "low-high"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float]:
        if isinstance(value, tuple):
            return value[0], value[1]
        found = _ENDS.fullmatch(str(value))
        try:
            low, high = (float(end) for end in found.groups()) if found else (math.nan, math.nan)
        except ValueError:
            low = high = math.nan
        if not low < high:
            self.fail(f"found {value!r}, expected a lower and a higher end such as 1-5", param, ctx)
        return _whole(low), _whole(high)


def _whole(number: float) -> float:
    """Return a whole number as one, so that a log has 1 and not 1.0."""
    return int(number) if number.is_integer() else number


guideline = option(
    "--guideline",
    "Question to answer. Default: that of SET.",
    default="",
    show_default=False,
    metavar="TEXT",
)
