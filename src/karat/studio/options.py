"""Options of a studio, from the command line or from Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from karat.errors import InputError, quoted

PORT = 8642
"""The port of a studio if none is named."""
TOKEN_VARIABLE = "KARAT_STUDIO_TOKEN"
"""The environment variable that may hold the token of the owner's link."""


@dataclass(frozen=True, kw_only=True)
class StudioOptions:
    """Settings of a project as a user writes them; None and () by default."""

    task: str | None = None
    dimensions: Sequence[str] = ()
    scales: Sequence[str] = ()
    scheme: str | None = None
    overlap: int | None = None
    quota: int | None = None
    show: Sequence[str] = ()
    seed: int | None = None
    calibration: str | os.PathLike[str] | None = None
    predictor: str | None = None
    random_share: float | None = None
    lease_seconds: int | None = None
    runs: Sequence[str | os.PathLike[str]] = ()
    earlier: bool = False
    """Take over the judgements that the set has."""

    def __post_init__(self) -> None:
        for name in ("dimensions", "show", "runs"):
            check_listed(name, getattr(self, name))
        check_listed("scales", self.scales)
        object.__setattr__(self, "scales", tuple(map(str, self.scales)))  # 5 is as good as "5"
        if not isinstance(self.task, str | None):
            raise InputError(f"task={quoted(self.task)}: expected a name, such as ratings")


def check_listed(name: str, value: object) -> None:
    """Require a list; a single text would be split into letters."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise InputError(f"{name}={quoted(value)}: expected a list, such as {name}=[…]")
