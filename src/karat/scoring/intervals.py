"""Scores and intervals from statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from karat.arithmetic import ExactRows
from karat.arrays import Floats, np
from karat.errors import InputError, quoted
from karat.metrics.base import Metric, Score
from karat.progress import Progress, silent
from karat.scoring.one_pass import Collected
from karat.scoring.score_rows import ScoreRow, Scoring, interval_fields
from karat.settings import check_seed
from karat.stats.buckets import as_buckets
from karat.stats.resampling import bootstrap_tables, interval

_Key = tuple[str, Metric]


class Drawn(NamedTuple):
    """Resamples of intervals: how many, from which seed, of segments or of how many buckets."""

    resamples: int
    seed: int
    buckets: int | None = None

    @classmethod
    def of(cls, resamples: int, seed: int, rows: int, buckets: int | None) -> Drawn:
        """Return what is drawn from so many rows; nothing is where no resamples are wanted."""
        check_seed(seed)
        return cls(resamples, seed, as_buckets(rows, buckets) if resamples else None)

    @property
    def fields(self) -> dict[str, object]:
        """The settings of intervals, for signatures."""
        return interval_fields(*self)


def scored(
    found: Mapping[_Key, Collected],
    references: int | None,
    drawn: Drawn,
    form: str = "karat",
    progress: Progress = silent,
) -> Scoring:
    """Return the scores, and intervals if they are wanted, from collected statistics."""
    draws = resample(found, drawn, progress) if drawn.resamples else {}
    rows = []
    for (system, m), total in totals(found, references, drawn.fields, form).items():
        low, high = interval(draws[system, m]) if drawn.resamples else (None, None)
        rows.append(ScoreRow(system, m, total, low, high))
    kept = tuple(rows), references, drawn.resamples, drawn.seed, segment_values(found)
    return Scoring(*kept, form=form, buckets=drawn.buckets)


def segment_values(found: Mapping[_Key, Collected]) -> dict[_Key, Floats]:
    """The segment scores that were kept, by system and the metric that scores segments."""
    return {
        (system, m.of_segments()): part.values
        for (system, m), part in found.items()
        if part.values is not None
    }


def totals(
    found: Mapping[_Key, Collected],
    references: int | None,
    how: Mapping[str, object],
    form: str = "karat",
) -> dict[_Key, Score]:
    """The score of every system by every metric, signed with how intervals and tests were made."""
    scores: dict[_Key, Score] = {}
    for m in dict.fromkeys(m for _, m in found):
        keys = [key for key in found if key[1] == m]
        rows = np.array([found[key].total for key in keys])
        scores |= zip(keys, m.scores(rows, references), strict=True)
    signatures = {m: m.signature(references, form, how) for _, m in found}
    return {key: replace(scores[key], signature=signatures[key[1]]) for key in found}


def resample(
    found: Mapping[_Key, Collected], drawn: Drawn, progress: Progress
) -> dict[_Key, Floats]:
    """The score of every system and metric on every resample, from one set of draws.

    Systems that differ in their number of segments have draws of their own, from the same seed.
    """
    for (system, m), part in found.items():
        m.check_resampled(system, part.total)
    tables = {key: ExactRows(part.rows) for key, part in found.items()}
    draws: dict[_Key, Floats] = {}
    for size in dict.fromkeys(map(len, tables.values())):
        same = {key: table for key, table in tables.items() if len(table) == size}
        sums = bootstrap_tables([*same.values()], drawn.resamples, drawn.seed, progress)
        values = (key[1].measure(own)["value"] for key, own in zip(same, sums, strict=True))
        draws |= zip(same, values, strict=True)
    for (system, m), own in draws.items():
        if np.isnan(own).any():
            none = "in some resamples no segment has a score: intervals need more scores"
            raise InputError(f"{m}, system {quoted(system)}: {none}")
    return draws
