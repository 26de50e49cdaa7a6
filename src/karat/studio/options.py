"""Options of a studio: each is declared once, for the command line, Python and the project."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import partial
from typing import Any

from karat.errors import InputError, quoted
from karat.evalset.sets import check_known
from karat.headings import ADVANCED
from karat.settings import setting
from karat.tables.options import ReadingOptions

PORT = 8642
"""The default port of a studio."""
TOKEN_VARIABLE = "KARAT_STUDIO_TOKEN"
"""The environment variable that may hold the token of the owner's link."""
MAX_WHOLE = 2**53 - 1
_advanced = partial(setting, None, heading=ADVANCED)


@dataclass(frozen=True, kw_only=True)
class StudioOptions:
    """Settings of a project as a user writes them; None and () by default."""

    task: str | None = setting(
        None,
        "Task of assessors. Default: nuggets for a nugget set, else ratings.",
        choices=("ratings", "pairs", "spans", "nuggets"),
        option="--task",
    )
    dimensions: Sequence[str] = setting(
        (),
        "Dimension to rate. Repeat for several.",
        option="-d --dimension",
        metavar="NAME",
    )
    scales: Sequence[str] = setting(
        (),
        "Scale: a size for all dimensions (5, 7 or 100), or a name such as quality-7. Repeat for "
        "several. Default: quality-7.",
        option="--scale",
        metavar="SCALE",
    )
    scheme: str | None = setting(
        None, "Scheme of error spans. Default: mqm.", choices=("mqm", "esa"), option="--scheme"
    )
    runs: Sequence[str | os.PathLike[str]] = setting(
        (), "Run file of a nugget set. Repeat for several.", place=True, option="--run"
    )
    overlap: int | None = setting(
        None,
        "Number of assessors who judge each unit. Default: 1.",
        kind=int,
        low=1,
        option="--overlap",
    )
    show: Sequence[str] = setting(
        (),
        "Text to show beside outputs. Repeat for several. Default: source and context, and the "
        "reference where a dimension compares with it.",
        choices=("source", "context", "reference"),
        option="--show",
    )
    quota: int | None = _advanced(
        "Most units that one assessor judges. Default: no limit.", kind=int, low=1, option="--quota"
    )
    calibration: str | os.PathLike[str] | None = _advanced(  # noqa: RUF009 - a field
        "Items with known answers (JSON lines), mixed in to check assessors.",
        place=True,
        option="--calibration",
    )
    predictor: str | None = _advanced(
        "Metric by which the most useful items are judged first. Default: random order.",
        option="--predictor",
        metavar="METRIC",
    )
    random_share: float | None = _advanced(
        "Share of rounds that are random if there is a predictor. Default: 0.2.",
        kind=float,
        low=0.0,
        high=1.0,
        option="--random-share",
    )
    seed: int | None = _advanced(
        "Seed of the orders in which units are shown. Default: 1.",
        kind=int,
        low=0,
        high=MAX_WHOLE,
        option="--seed",
    )
    earlier: bool = setting(
        False,
        "Take over the judgements of people that the set has, so that judging goes on.",
        option="--earlier",
        heading=ADVANCED,
    )
    lease_seconds: int | None = _advanced(
        "Seconds for which a unit is kept for an assessor. Default: 1800.",
        kind=int,
        low=1,
        option="--lease",
        metavar="SECONDS",
    )

    reading: ReadingOptions = field(default_factory=ReadingOptions)
    """Options for reading a table, the same as in all commands."""

    def __post_init__(self) -> None:
        for name in ("dimensions", "show", "runs", "scales"):
            check_listed(name, getattr(self, name))
        object.__setattr__(self, "scales", tuple(map(str, self.scales)))  # accept 5 for "5"
        if not isinstance(self.task, str | None):
            raise InputError(f"task={quoted(self.task)}: expected a name, such as ratings")


OPTIONS: dict[str, Field[Any]] = {
    option.name: option for option in fields(StudioOptions) if option.name != "reading"
}
"""Name of an option in Python -> its declaration."""


def make_options(settings: Mapping[str, Any]) -> StudioOptions:
    """Return options from settings by name; those of tables are `reading`."""
    names = [f.name for f in fields(ReadingOptions)]
    check_known("setting", settings, [*OPTIONS, *names], "a studio")
    reading = {name: value for name, value in settings.items() if name in names}
    studio = {name: value for name, value in settings.items() if name not in names}
    return StudioOptions(**studio, reading=ReadingOptions.parse(**reading))


def check_listed(name: str, value: object) -> None:
    """Raise InputError unless the value is a list; a text would be split into letters."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise InputError(f"{name}={quoted(value)}: expected a list, such as {name}=[…]")
