"""Settings of `score` and `compare`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from karat.headings import COMMON, OUTPUT, TESTS
from karat.settings import MAX_TRIALS, Settings, resamples_setting, seed_setting, setting

MAX_BUCKETS = 1 << 16
LEVELS = ("system", "segment", "document")
"""Levels of scores."""
PAIRED_TESTS = {
    "bootstrap": "paired bootstrap resampling",
    "randomization": "paired approximate randomization",
}
"""Paired tests, and their names in notes."""


def _buckets_setting() -> Any:
    return setting(
        None,
        "Resample N buckets of segments instead of single segments; 0 for never. Default: 4096 "
        "above two million segments.",
        kind=int,
        low=0,
        high=MAX_BUCKETS,
        option="--buckets",
        heading=TESTS,
    )


@dataclass(frozen=True)
class ScoreSettings(Settings):
    """Settings of `karat.score` that `karat score` has as options."""

    resamples: int = resamples_setting(
        0, "Add 95% intervals from N bootstrap resamples.", heading=COMMON
    )
    segments: bool = setting(False, "Show the score of every segment.", option="--segments")
    level: str = setting(
        "system",
        "Show the scores of each `document` of a set or of SGML files, or of each `segment`.",
        choices=LEVELS,
        option="--level",
        heading=OUTPUT,
    )
    seed: int = seed_setting()
    buckets: int | None = _buckets_setting()


@dataclass(frozen=True)
class ComparisonSettings(Settings):
    """Settings of `karat.compare` that `karat compare` has as options."""

    baseline: str | None = setting(
        None,
        "System to compare the others with. Default: the first.",
        kind=str,
        option="--baseline",
        metavar="NAME",
    )
    test: str = setting("bootstrap", "Paired test.", choices=PAIRED_TESTS, option="--test")
    resamples: int | None = resamples_setting(
        None,
        "Number of bootstrap resamples, for intervals and the bootstrap test. Default: 1000.",
        low=1,
    )
    trials: int | None = setting(
        None,
        "Number of trials of the randomization test. Default: 10000.",
        kind=int,
        low=1,
        high=MAX_TRIALS,
        option="--trials",
        heading=TESTS,
    )
    seed: int = seed_setting()
    buckets: int | None = _buckets_setting()
