"""Merged statistics of a whole data set: its scores, intervals and comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from karat.arrow.statistics import NO_IDS, SegmentRows, Statistics, SystemSums
from karat.arrow.tables import Table, sums_table
from karat.comparison import BaselineTest, Comparison, compared
from karat.errors import InputError, short
from karat.metrics.base import check_form
from karat.progress import Progress, silent
from karat.scoring import Drawn, Scoring, scored
from karat.settings import check_trials, renamed
from karat.stats.buckets import BUCKETS, MOST_ROWS
from karat.stats.resampling import SEED


def skipping_notes(scored: Statistics, measured: Statistics | None = None) -> tuple[str, ...]:
    """Return notes on rows that were left out because a text is missing.

    Args:
        scored: the statistics that were scored.
        measured: all statistics, where segments that a system lacks were left out for all.
    """
    if scored.skipped is None:
        return ()
    total = sum(scored.skipped.values())
    if not total:
        return ("No row was skipped: every row has its texts.",)
    counts = [f"{name} {count:,}" for name, count in scored.skipped.items() if count]
    listed = short(", ".join(counts))
    rows = "1 row was" if total == 1 else f"{total:,} rows were"
    notes = [f"{rows} skipped because a candidate or a reference is missing ({listed})."]
    if measured is not None and scored is not measured:
        segments = scored.rows // len(scored.systems)
        number = "1 segment" if segments == 1 else f"{segments:,} segments"
        notes.append(f"Systems are compared on {number}: those with a text from every system.")
    return tuple(notes)


class Merged:
    """The statistics of all systems of a data set by all metrics."""

    def __init__(self, statistics: Statistics, remarks: tuple[str, ...] = ()) -> None:
        self.statistics, self.remarks = statistics, remarks

    @classmethod
    def of(cls, parts: Sequence[Statistics]) -> Merged:
        """Return the statistics of several metrics over the same rows as one."""
        if not parts:
            raise InputError("no table was given: there is nothing to merge")
        first = parts[0]
        joined = Statistics([m for part in parts for m in part.metrics], first.buckets)
        joined.rows, joined.reference_range = first.rows, first.reference_range
        for part in parts[1:]:
            _check_same(first, part)
        for system, own in first.systems.items():
            sums = [sums for part in parts for sums in part.systems[system].sums]
            rows = [part.sorted_rows(system) for part in parts] if own.kept else []
            joined.systems[system] = SystemSums(own.counted, sums, _side_by_side(rows))
        if joined.rows > MOST_ROWS and joined.keeps and first.has_ids:
            joined = joined.in_buckets(BUCKETS)
        return cls(joined)

    @property
    def systems(self) -> dict[str, int]:
        """The systems, and the number of segments of each."""
        found = self.statistics.systems
        return {name: int(own.counted[:, 0].sum()) for name, own in found.items()}

    def __repr__(self) -> str:
        metrics = ", ".join(map(str, self.statistics.metrics))
        return f"<Merged: {self.statistics.rows:,} rows by {metrics}; .score(), .compare()>"

    @renamed(bootstrap="resamples")
    def score(
        self,
        resamples: int = 0,
        *,
        seed: int = SEED,
        progress: Progress = silent,
        signature: str = "karat",
        segments: bool = False,
    ) -> Scoring:
        """Return the scores of all systems; with `resamples` above 0 also bootstrap intervals.

        With `segments` the score of each segment is kept, in the order of ids.
        """
        check_trials("resamples", resamples, 0)
        check_form(signature)
        found = self.statistics
        drawn = Drawn(resamples, seed, found.buckets if resamples else None)
        self._check(drawn)
        collected = found.collected(drawn=resamples > 0 or segments, values=segments)
        made = scored(collected, found.references, drawn, signature, progress)
        remarks = (*self.remarks, *skipping_notes(found))
        return replace(made, remarks=remarks, skipped=found.skipped)

    def compare(
        self,
        baseline: str | None = None,
        *,
        test: str = "bootstrap",
        trials: int | None = None,
        resamples: int | None = None,
        seed: int = SEED,
        progress: Progress = silent,
        signature: str = "karat",
    ) -> Comparison:
        """Return the comparison of all systems with a baseline (by default the first by name)."""
        check_form(signature)
        found = self.statistics.without_unpaired()
        planned = BaselineTest.of(baseline, found.names(), test, trials, resamples)
        drawn = Drawn(planned.resamples, seed, found.buckets)
        self._check(drawn, **planned.fields)
        found.check_paired()
        collected = found.collected(drawn=True, values=True)
        made = compared(collected, found.references, planned, drawn, signature, progress)
        remarks = (*self.remarks, *skipping_notes(found, self.statistics))
        segments = int(found.systems[planned.baseline].counted[:, 0].sum())
        return replace(made, remarks=remarks, skipped=found.skipped, segments=segments)

    def _check(self, drawn: Drawn, **more: object) -> None:
        """Refuse what cannot be resampled, and claims of signatures that do not hold."""
        for m in self.statistics.metrics:
            m.check_claims(self.statistics.references, {**more, **drawn.fields})
        kept = all(own.kept for own in self.statistics.systems.values())
        if drawn.resamples and not (drawn.buckets or kept):
            raise InputError(NO_IDS)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table().__arrow_c_stream__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._table().__arrow_c_array__()

    def _table(self) -> Table:
        return sums_table(self.statistics)


def _side_by_side(parts: Sequence[SegmentRows]) -> list[SegmentRows]:
    """Return rows of several metrics, each in the order of ids, as rows of all of them."""
    if not parts:
        return []
    tables = [table for part in parts for table in part.tables]
    return [parts[0]._replace(tables=tables)]


def _check_same(first: Statistics, other: Statistics) -> None:
    """Refuse metrics that were not measured on the same rows."""
    same = first.systems.keys() == other.systems.keys() and first.buckets == other.buckets
    same = same and first.keeps == other.keeps
    for system in first.systems if same else ():
        mine, theirs = first.systems[system], other.systems[system]
        same = same and bool((mine.counted == theirs.counted).all())
        if same and mine.kept and first.has_ids:
            same = first.sorted_ids(system) == other.sorted_ids(system)
    if not same:
        both = f"{first.metrics[0]} and {other.metrics[0]}"
        raise InputError(
            f"{both} were not measured on the same rows: merge all parts of a data set, each once, "
            "by the same metrics"
        )
