"""Options of a studio: each is declared once, for the command line, Python and the project."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from karat.errors import InputError, quoted

PORT = 8642
"""The default port of a studio."""
TOKEN_VARIABLE = "KARAT_STUDIO_TOKEN"
"""The environment variable that may hold the token of the owner's link."""
MAX_WHOLE = 2**53 - 1


class Declaration(NamedTuple):
    """An option: its names, its help and its limits."""

    spelling: str
    """Names on the command line."""
    help: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    """Minimum of a whole number; 0.0 for a share from 0 to 1."""
    high: int | None = None
    metavar: str | None = None
    is_path: bool = False
    is_advanced: bool = True
    value: Any = None
    """Setting of a new project without the option."""

    @property
    def name(self) -> str:
        """The long name, such as --dimension."""
        return self.spelling.split()[-1]


def _option(spelling: str, help: str, unset: Any = None, **more: Any) -> Any:
    return field(default=unset, metadata={"option": Declaration(spelling, help, **more)})


def _common(spelling: str, help: str, unset: Any = None, **more: Any) -> Any:
    return _option(spelling, help, unset, is_advanced=False, **more)


@dataclass(frozen=True, kw_only=True)
class StudioOptions:
    """Settings of a project as a user writes them; None and () by default."""

    task: str | None = _common(
        "--task",
        "Task of assessors. Default: nuggets for a nugget set, else ratings.",
        choices=("ratings", "pairs", "spans", "nuggets"),
    )
    dimensions: Sequence[str] = _common(
        "-d --dimension", "Dimension to rate. Repeat for several.", (), metavar="NAME"
    )
    scales: Sequence[str] = _common(
        "--scale",
        "Scale: a size for all dimensions (5, 7 or 100), or a name such as quality-7. Repeat for "
        "several. Default: quality-7.",
        (),
        metavar="SCALE",
    )
    scheme: str | None = _common(
        "--scheme", "Scheme of error spans. Default: mqm.", choices=("mqm", "esa")
    )
    runs: Sequence[str | os.PathLike[str]] = _common(
        "--run", "Run file of a nugget set. Repeat for several.", (), is_path=True
    )
    overlap: int | None = _common(
        "--overlap", "Number of assessors who judge each unit. Default: 1.", low=1, value=1
    )
    show: Sequence[str] = _common(
        "--show",
        "Text to show beside outputs. Repeat for several. Default: source and context, and the "
        "reference where a dimension compares with it.",
        (),
        choices=("source", "context", "reference"),
    )
    quota: int | None = _option(
        "--quota", "Most units that one assessor judges. Default: no limit.", low=1
    )
    calibration: str | os.PathLike[str] | None = _option(  # noqa: RUF009 - a field
        "--calibration",
        "Items with known answers (JSON lines), mixed in to check assessors.",
        is_path=True,
    )
    predictor: str | None = _option(
        "--predictor",
        "Metric by which the most useful items are judged first. Default: random order.",
        metavar="METRIC",
    )
    random_share: float | None = _option(
        "--random-share",
        "Share of rounds that are random if there is a predictor. Default: 0.2.",
        low=0.0,
        value=0.2,
    )
    seed: int | None = _option(
        "--seed",
        "Seed of the orders in which units are shown. Default: 1.",
        low=0,
        high=MAX_WHOLE,
        value=1,
    )
    earlier: bool = _option(
        "--earlier",
        "Take over the judgements of people that the set has, so that judging goes on.",
        False,
    )
    lease_seconds: int | None = _option(
        "--lease",
        "Seconds for which a unit is kept for an assessor. Default: 1800.",
        low=1,
        metavar="SECONDS",
        value=1800,
    )

    def __post_init__(self) -> None:
        for name in ("dimensions", "show", "runs", "scales"):
            check_listed(name, getattr(self, name))
        object.__setattr__(self, "scales", tuple(map(str, self.scales)))  # accept 5 for "5"
        if not isinstance(self.task, str | None):
            raise InputError(f"task={quoted(self.task)}: expected a name, such as ratings")


OPTIONS: dict[str, Declaration] = {
    option.name: option.metadata["option"] for option in fields(StudioOptions)
}
"""Name of a field -> its option."""


def check_listed(name: str, value: object) -> None:
    """Raise InputError unless the value is a list; a text would be split into letters."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise InputError(f"{name}={quoted(value)}: expected a list, such as {name}=[…]")
