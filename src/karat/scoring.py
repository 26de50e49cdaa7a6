"""Scoring: any number of systems by any number of metrics in one pass over the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from karat.errors import InputError
from karat.metrics.base import Metric, Score
from karat.metrics.names import metric
from karat.metrics.run import run
from karat.progress import Progress, silent
from karat.stats.resampling import SEED, bootstrap_sums, interval
from karat.text.references import GivenReferences, References, as_references, check_aligned
from karat.text.segments import Segments, Texts, as_segments

if TYPE_CHECKING:
    from numpy.typing import NDArray

Systems: TypeAlias = "Mapping[str, Texts] | Texts"
"""Systems by name; or the candidates of one, which is then called `candidate`."""


class ScoreRow(NamedTuple):
    """One system, one metric."""

    system: str
    metric: Metric
    score: Score
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Scoring:
    """The scores of all systems by all metrics, and what is needed to read them."""

    rows: tuple[ScoreRow, ...]
    references: int | None
    resamples: int
    seed: int
    values: Mapping[tuple[str, Metric], NDArray[np.float64]]
    """Segment scores by system and metric, if they were asked for."""

    def __getitem__(self, key: tuple[str, str]) -> ScoreRow:
        system, name = key[0], metric(key[1])
        for row in self.rows:
            if (row.system, row.metric) == (system, name):
                return row
        raise KeyError(key)


def score(
    systems: Systems,
    references: GivenReferences,
    metrics: Sequence[str | Metric] | str | Metric = ("bleu",),
    *,
    bootstrap: int = 0,
    seed: int = SEED,
    segments: bool = False,
    threads: int | None = None,
    progress: Progress = silent,
) -> Scoring:
    """Score systems; with `bootstrap` resamples also a 95% interval for each score."""
    named = as_systems(systems)
    chosen = as_metrics(metrics)
    refs = as_references(references, len(next(iter(named.values()))))
    check_count("bootstrap", bootstrap, 0)
    want = Wanted(rows=bootstrap > 0, values=segments)
    found = collect(chosen, named, refs, want, threads, progress)
    rows = []
    for (system, m), part in found.items():
        low, high = None, None
        if bootstrap:
            low, high = interval(_resampled(m, part, bootstrap, seed, progress))
        rows.append(ScoreRow(system, m, m.score(part.total, refs.number), low, high))
    values = {key: part.values for key, part in found.items() if part.values is not None}
    return Scoring(tuple(rows), refs.number, bootstrap, seed, values)


def _resampled(
    m: Metric, part: Collected, bootstrap: int, seed: int, progress: Progress
) -> NDArray[np.float64]:
    rows = np.asarray(part.rows, dtype=np.float64)
    return m.measure(bootstrap_sums(rows, bootstrap, seed, progress))["value"]


# ----------------------------------------------------------------------- one pass over the text


class Wanted(NamedTuple):
    """What to keep besides the totals."""

    rows: bool = False
    values: bool = False


class Collected(NamedTuple):
    """The statistics of one system by one metric."""

    total: NDArray[Any]
    rows: NDArray[Any] | None
    values: NDArray[np.float64] | None


def collect(
    metrics: Sequence[Metric],
    systems: Mapping[str, Segments],
    references: References,
    want: Wanted,
    threads: int | None,
    progress: Progress,
) -> dict[tuple[str, Metric], Collected]:
    """The statistics of all systems by all metrics, by system and then by metric."""

    def reduce(m: Metric, rows: NDArray[Any]) -> Collected:
        values = m.measure(rows)["value"] if want.values else None
        return Collected(rows.sum(axis=0), rows if want.rows else None, values)

    parts = run(
        metrics, list(systems.values()), references, reduce, threads=threads, progress=progress
    )
    return {
        (name, m): _join([part[i][j] for part in parts])
        for i, name in enumerate(systems)
        for j, m in enumerate(metrics)
    }


def _join(parts: Sequence[Collected]) -> Collected:
    total = np.sum([part.total for part in parts], axis=0)
    rows = [part.rows for part in parts if part.rows is not None]
    values = [part.values for part in parts if part.values is not None]
    return Collected(
        total,
        np.concatenate(rows) if rows else None,
        np.concatenate(values) if values else None,
    )


# ------------------------------------------------------------------------------ what was given


def as_systems(systems: Systems) -> dict[str, Segments]:
    """Systems by name, checked to be aligned."""
    given = systems if isinstance(systems, Mapping) else {"candidate": systems}
    if not given:
        raise InputError("no system was given: at least one is needed")
    named = {name: as_segments(texts, f"system {name}") for name, texts in given.items()}
    check_aligned(list(named.values()))
    return named


def as_metrics(metrics: Sequence[str | Metric] | str | Metric) -> list[Metric]:
    """Metrics by name, each once."""
    given = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    if not given:
        raise InputError("no metric was given: at least one is needed")
    return list(dict.fromkeys(metric(m) for m in given))


def check_count(name: str, value: int, least: int) -> None:
    """Refuse a number of resamples that is too small."""
    if value < least:
        raise InputError(f"{name}={value}: expected at least {least}")
