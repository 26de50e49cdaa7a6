"""The wishes of a user about a studio, from the command line or from Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

PORT = 8642
"""The port of a studio if none is named."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Settings of a project as a user names them; None and () where nothing was said."""

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
