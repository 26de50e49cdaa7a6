"""Settings of `score` and `compare`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from karat.headings import COMMON, OUTPUT, TESTS
from karat.settings import MAX_TRIALS, Settings, seed_setting, setting

DEFAULT_METRICS = ("bleu", "chrf", "rouge1", "rouge2", "rougeL", "aev")
"""Metrics of commands and of `meta_evaluate` if none are named."""
ANSWER_METRICS = ("f1", "rougeL", "chrf")
"""Metrics of answers to questions if none are named."""
MAX_BUCKETS = 1 << 16
LEVELS = ("system", "segment", "document")
"""Levels of scores."""
SEGMENT = "segment"  # the default unit of intervals and tests
GROUPINGS = ("document", "question")
"""Names of the groups of segments in sets and SGML files."""
TASK_KINDS = {
    "translation": "translations",
    "summary": "summaries",
    "answer": "answers to questions",
    "data-to-text": "texts from data",
}
"""Kinds of tasks that outputs come from, and their names in sentences."""
LENGTH = "length"  # the name of slices by the length of the first reference
JACKKNIFE = "jackknife"
SACREBLEU_TESTS = {
    "sacrebleu-bootstrap": "sacreBLEU's paired bootstrap resampling",
    "sacrebleu-ar": "sacreBLEU's paired approximate randomization",
}
"""Tests with sacreBLEU's definition of p, and their names in notes."""
PAIRED_TESTS = (JACKKNIFE, *SACREBLEU_TESTS)
CORRECTIONS = {
    "simultaneous": "simultaneous for all tests",
    "none": "not corrected for the number of tests",
}
"""Corrections for several tests, and their names in notes."""


def correction_setting() -> Any:
    """Return the setting `correction`."""
    return setting(
        "simultaneous",
        "Correction of intervals and p-values for the number of tests.",
        choices=CORRECTIONS,
        option="--correction",
        heading=TESTS,
    )


def units_setting() -> Any:
    """Return the setting `units`."""
    return setting(
        None,
        "Unit of intervals and tests, which is what was sampled: `segment`, `document`, "
        "`question`, or a column of a table. "
        "Default: the documents or questions that are known, else segments.",
        kind=str,
        option="--unit",
        metavar="UNIT",
        heading=TESTS,
    )


def kind_setting() -> Any:
    """Return the setting `kind`."""
    return setting(
        None,
        "Kind of task of the outputs, to show how often people agree with a difference of this "
        "size. Default: the set's own, if it has one.",
        kind=str,
        choices=TASK_KINDS,
        option="--kind",
    )


def _buckets_setting() -> Any:
    return setting(
        None,
        "Use N buckets of units instead of single units in intervals and tests; 0 for never. "
        "Default: 4096 above two million segments.",
        kind=int,
        low=0,
        high=MAX_BUCKETS,
        option="--buckets",
        heading=TESTS,
    )


@dataclass(frozen=True)
class ScoreSettings(Settings):
    """Settings of `karat.score` that `karat score` has as options."""

    intervals: bool = setting(False, "Add 95% intervals.", option="--intervals", heading=COMMON)
    units: str | None = units_setting()
    segments: bool = setting(False, "Show the score of every segment.", option="--segments")
    level: str = setting(
        "system",
        "Show the scores of each `document` of a set or of SGML files, or of each `segment`.",
        choices=LEVELS,
        option="--level",
        heading=OUTPUT,
    )
    buckets: int | None = _buckets_setting()


@dataclass(frozen=True)
class ComparisonSettings(Settings):
    """Settings of `karat.compare` that `karat compare` has as options."""

    baseline: str | None = setting(
        None,
        "System to compare the others with. Default: the first; for tables and sets the first by "
        "name.",
        kind=str,
        option="--baseline",
        metavar="NAME",
    )
    kind: str | None = kind_setting()
    units: str | None = units_setting()
    slices: str | None = setting(
        None,
        "Also compare within slices: `length` (short, medium and long references), `document` for "
        "sets of few documents, or a column of a table, such as a domain.",
        kind=str,
        option="--slice",
        metavar="NAME",
        heading=TESTS,
    )
    correction: str = correction_setting()
    test: str = setting(
        JACKKNIFE,
        "Paired test. The tests of sacreBLEU add a column with its p-values, of segments.",
        choices=PAIRED_TESTS,
        option="--test",
        heading=TESTS,
    )
    trials: int | None = setting(
        None,
        "Number of trials of a sacreBLEU test. Default: 1000 (bootstrap), 10000 (ar).",
        kind=int,
        low=1,
        high=MAX_TRIALS,
        option="--trials",
        heading=TESTS,
    )
    seed: int = seed_setting("Seed of a sacreBLEU test.")
    buckets: int | None = _buckets_setting()


@dataclass(frozen=True)
class PowerSettings(Settings):
    """Settings of `power`."""

    baseline: str | None = setting(
        None,
        "System to compare the others with. Default: the first; for sets the first by name.",
        kind=str,
        option="--baseline",
        metavar="NAME",
    )
    power: float = setting(
        0.8, "Probability of finding the difference.", low=0.05, high=0.999, option="--power"
    )
    tests: int | None = setting(
        None,
        "Number of tests to correct for (Bonferroni). Default: those of the pilot.",
        kind=int,
        low=1,
        high=1_000_000,
        option="--tests",
        heading=TESTS,
    )
    units: str | None = units_setting()
