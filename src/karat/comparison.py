"""Comparison: systems against a baseline, with intervals and paired tests on the same draws.

All systems and metrics are resampled with the same draws, so that differences are paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from karat.arithmetic import ExactRows, exact_sums, rounded
from karat.arrays import Floats, np
from karat.errors import InputError, quoted, short
from karat.metrics.base import Metric, Score
from karat.progress import Progress, silent
from karat.results import number, program_columns
from karat.score_settings import PAIRED_TESTS
from karat.scoring import (
    Resampling,
    ScoreResults,
    StatsKey,
    SystemStats,
    TextLookup,
    interval_fields,
    resample_scores,
    row_digits,
    score_totals,
    segment_values,
)
from karat.settings import check_trials, nearest
from karat.stats.resampling import exchange_limbs, interval
from karat.stats.significance import ahead, approximate_randomization, paired_bootstrap, verdict

DEFAULT_TRIALS = {"bootstrap": 1000, "randomization": 10000}


class CompareRow(NamedTuple):
    """One system by one metric, against the baseline."""

    system: str
    metric: Metric
    score: Score
    low: float
    high: float
    delta: float | None = None  # None for the baseline itself
    delta_low: float | None = None
    delta_high: float | None = None
    p: float | None = None
    better: float | None = None
    wins: int | None = None
    losses: int | None = None
    ties: int | None = None
    verdict: str | None = None  # better, worse or undecided
    units: int | None = None  # number of segments or buckets behind the verdict


_RESAMPLES_WON = "Share of bootstrap resamples in which the system beats the baseline."
DELTA = number("delta", "Delta", row_digits, "Score minus the baseline's.", signed=True)
TEST_COLUMNS = (
    *program_columns("delta_low", "delta_high"),
    number("p", "p", 4, "p of the difference, by the paired test below."),
    number("better", "P(better)", 3, _RESAMPLES_WON),
    number("wins", "Wins", help="Segments on which it beats the baseline.", detail=True),
    number("losses", "Losses", help="Segments on which the baseline beats it.", detail=True),
    number("ties", "Ties", help="Segments on which both score the same.", detail=True),
    *program_columns("verdict", "units"),
)


class Difference(NamedTuple):
    """A segment on which two systems differ."""

    segment: int  # 0-based
    first: float
    second: float

    @property
    def delta(self) -> float:
        """Second minus first."""
        return self.second - self.first


class Example(NamedTuple):
    """A segment on which a system and the baseline differ, with its texts."""

    system: str
    segment: int  # 0-based
    baseline_score: float
    system_score: float
    reference: str
    baseline_text: str
    system_text: str
    shown_reference: str = "reference"  # label of the reference that is shown
    id: str | None = None  # id of the segment, if it has one
    metric: str = ""  # the metric by which they differ
    references: tuple[str, ...] = ()  # all references of the segment


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ScoreResults[CompareRow]):
    """Comparison of systems with a baseline: one row per system and metric, best first."""

    baseline: str
    test: str
    trials: int
    examples: tuple[Example, ...] = ()
    """Segments on which each system differs most from the baseline, by each metric."""
    segments: int | None = field(default=None, kw_only=True)
    """Number of segments of each system."""

    @property
    def settings(self) -> dict[str, object]:
        """Metrics, references, baseline, test and intervals."""
        test_settings = {"baseline": self.baseline, "test": self.test, "trials": self.trials}
        return {**super().settings, **test_settings}

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the methods behind intervals and p, and on single scores."""
        metrics = dict.fromkeys(row.metric for row in self.rows)
        segment_variants = [f"{m} is {m.of_segments()}" for m in metrics if m.of_segments() != m]
        variant_note = f", where {' and '.join(segment_variants)}" if segment_variants else ""
        count = "" if self.segments is None else f"{self.segments:,} "
        of_buckets = f" of {self.buckets:,} buckets of {count}segments" if self.buckets else ""
        methods = (
            f"Intervals: 95%, from {self.resamples:,} bootstrap resamples{of_buckets}; for "
            f"differences, of both systems together. p: {PAIRED_TESTS[self.test]} against "
            f"{self.baseline}, {self.trials:,} trials, all metrics and systems on the same draws."
        )
        if self.values:
            methods += f" Wins, losses and ties count segments{variant_note}."
        return (methods, *super().notes)

    def differences(self, first: str, second: str, by: str | Metric, top: int) -> list[Difference]:
        """Return the segments on which two systems differ most, largest difference first."""
        a, b = self.segment_scores(first, by), self.segment_scores(second, by)
        gaps = np.nan_to_num(np.abs(b - a))  # missing scores are no difference
        order = np.argsort(-gaps, kind="stable")[:top]
        return [Difference(int(i), float(a[i]), float(b[i])) for i in order if gaps[i]]


class BaselineTest(NamedTuple):
    """A paired test against a baseline, and the number of resamples for intervals."""

    baseline: str
    name: str
    trials: int
    resamples: int

    @classmethod
    def plan(
        cls,
        baseline: str | None,
        systems: Sequence[str],
        test: str,
        trials: int | None,
        resamples: int | None,
    ) -> BaselineTest:
        """Return the test with its defaults, checked."""
        if len(systems) < 2:
            raise InputError("one system was given: a comparison needs at least two")
        if baseline is None:
            baseline = systems[0]
        if not isinstance(baseline, str):
            raise InputError(f"baseline {baseline!r}: expected the name of a system, as text")
        if baseline not in systems:
            listed = f"{short(', '.join(systems))}{nearest(baseline, systems)}"
            raise InputError(f"baseline {quoted(baseline)} is not one of the systems: {listed}")
        if test not in PAIRED_TESTS:
            raise InputError(f"test {quoted(test)}: expected one of {', '.join(PAIRED_TESTS)}")
        is_bootstrap = test == "bootstrap"
        if trials is None:
            default = DEFAULT_TRIALS[test]
            trials = resamples if is_bootstrap and resamples is not None else default
        if resamples is None:
            resamples = trials if is_bootstrap else DEFAULT_TRIALS["bootstrap"]
        if is_bootstrap and resamples != trials:
            reason = (
                "the bootstrap test uses one set of resamples for its p-values and its intervals"
            )
            raise InputError(
                f"trials={trials} and resamples={resamples}: {reason}; set resamples alone"
            )
        check_trials("trials", trials, 1)
        check_trials("resamples", resamples, 1)
        return cls(baseline, test, trials, resamples)

    def fields(self, resampling: Resampling) -> dict[str, object]:
        """Return the settings of the test and the intervals, for signatures."""
        return {"test": self.name, "trials": self.trials, **interval_fields(*resampling)}


def compare_statistics(
    stats: Mapping[StatsKey, SystemStats],
    references: int | None,
    test: BaselineTest,
    resampling: Resampling,
    form: str = "karat",
    progress: Progress = silent,
) -> Comparison:
    """Return the comparison of all systems with the baseline, from collected statistics."""
    stats = stats if resampling.buckets else _keep_paired_segments(stats)
    draws = resample_scores(stats, resampling, progress)
    scores = score_totals(stats, references, test.fields(resampling), form)
    deltas = {
        (system, m): scores[system, m].value - scores[test.baseline, m].value
        for system, m in stats
        if system != test.baseline
    }
    differences = _test_differences(stats, deltas, draws, test, resampling.seed, progress)
    metrics = list(dict.fromkeys(m for _, m in stats))
    best_first = sorted(
        stats, key=lambda key: (metrics.index(key[1]), -key[1].sign * scores[key].value)
    )
    rows = []
    for key in best_first:
        row = CompareRow(*key, scores[key], *interval(draws[key]))
        if key in differences:
            row = _with_difference(row, stats, draws, test.baseline, differences[key])
        rows.append(row)
    results = tuple(rows), references, resampling.resamples, resampling.seed, segment_values(stats)
    test_settings = test.baseline, test.name, test.trials
    return Comparison(*results, *test_settings, form=form, buckets=resampling.buckets)


def _keep_paired_segments(stats: Mapping[StatsKey, SystemStats]) -> dict[StatsKey, SystemStats]:
    """Keep only the segments scored for every system, metric by metric."""
    paired = dict(stats)
    for m in dict.fromkeys(m for _, m in stats):
        keys = [key for key in stats if key[1] == m]
        if m.reads_texts or not all(stats[key].row_blocks for key in keys):
            continue
        tables = {key: np.concatenate(stats[key].row_blocks) for key in keys}
        has_scores = np.logical_and.reduce([m.has_score(rows) for rows in tables.values()])
        for key, table in tables.items():
            rows = m.without_scores(table, ~has_scores)
            values = m.of_segments().measure(rows)["value"]
            paired[key] = SystemStats(exact_sums(rows), (rows,), values)
    return paired


class DifferenceTest(NamedTuple):
    """The difference of a system from the baseline, its 95% interval and its p-value."""

    delta: float
    low: float
    high: float
    p: float


def _test_differences(
    stats: Mapping[StatsKey, SystemStats],
    deltas: Mapping[StatsKey, float],
    draws: Mapping[StatsKey, Floats],
    test: BaselineTest,
    seed: int,
    progress: Progress,
) -> dict[StatsKey, DifferenceTest]:
    """Test the difference of every system from the baseline, by every metric.

    Intervals come from the resamples in `draws`; so does p, unless the test is a randomization.
    """
    base = test.baseline
    if test.name == "bootstrap":
        p_values = {
            key: paired_bootstrap(draws[key], draws[base, key[1]], delta)
            for key, delta in deltas.items()
        }
    else:
        p_values = _randomization_tests(stats, deltas, test, seed, progress)
    return {
        key: DifferenceTest(delta, *interval(draws[key] - draws[base, key[1]]), p_values[key])
        for key, delta in deltas.items()
    }


def _randomization_tests(
    stats: Mapping[StatsKey, SystemStats],
    deltas: Mapping[StatsKey, float],
    test: BaselineTest,
    seed: int,
    progress: Progress,
) -> dict[StatsKey, float]:
    """Return p by approximate randomization, from exact sums after each exchange.

    a' = sum(b) + chosen @ (a - b), b' = sum(a) - chosen @ (a - b).
    """
    tables = {key: ExactRows(part.row_blocks) for key, part in stats.items()}
    limbs = exchange_limbs([*tables.values()], test.trials, seed, progress)
    chosen_sums = dict(zip(tables, limbs, strict=True))
    full_sums = {key: table.limbs(np.ones((1, len(table)))) for key, table in tables.items()}
    p_values = {}
    for key, delta in deltas.items():
        baseline_key, m = (test.baseline, key[1]), key[1]
        exchanged = chosen_sums[baseline_key] - chosen_sums[key]
        first = m.measure(rounded(full_sums[key] + exchanged))["value"]
        second = m.measure(rounded(full_sums[baseline_key] - exchanged))["value"]
        p_values[key] = approximate_randomization(first, second, delta)
    return p_values


def _with_difference(
    row: CompareRow,
    stats: Mapping[StatsKey, SystemStats],
    draws: Mapping[StatsKey, Floats],
    base: str,
    difference: DifferenceTest,
) -> CompareRow:
    """Return the row of a system with its difference from the baseline."""
    m, key = row.metric, (row.system, row.metric)
    # Units are segments or buckets; of sums in three limbs, the first shows if there is a score.
    units = min(
        sum(
            int(np.count_nonzero(m.has_score(rows if rows.ndim == 2 else rows[:, 0])))
            for rows in part.row_blocks
        )
        for part in (stats[key], stats[base, m])
    )
    system_values, baseline_values = stats[key].segment_scores, stats[base, m].segment_scores
    wins = losses = ties = None
    if system_values is not None and baseline_values is not None:
        system_scores, baseline_scores = m.sign * system_values, m.sign * baseline_values
        wins = int(ahead(system_scores, baseline_scores).sum())
        losses = int(ahead(baseline_scores, system_scores).sum())
        ties = int((~np.isnan(system_scores - baseline_scores)).sum()) - wins - losses
    return row._replace(
        delta=difference.delta,
        delta_low=difference.low,
        delta_high=difference.high,
        p=difference.p,
        better=float(ahead(m.sign * draws[key], m.sign * draws[base, m]).mean()),
        wins=wins,
        losses=losses,
        ties=ties,
        verdict=verdict(difference.p, (difference.low, difference.high), units, m.sign),
        units=units,
    )


def find_examples(
    comparison: Comparison, lookup_texts: TextLookup, n_examples: int, *, with_ids: bool = False
) -> tuple[Example, ...]:
    """Return the segments on which each system differs most from the baseline, with their texts.

    There are at most `n_examples` for each system and metric, and none if segments were put into
    buckets or a stream cannot be read again.
    """
    baseline = comparison.baseline
    gaps = [
        (row, gap)
        for row in comparison.rows
        if row.system != baseline and comparison.values
        for gap in comparison.differences(baseline, row.system, row.metric, n_examples)
    ]
    if not gaps:
        return ()
    segments_by_system: dict[str, set[int]] = {baseline: {gap.segment for _, gap in gaps}}
    for row, gap in gaps:
        segments_by_system.setdefault(row.system, set()).add(gap.segment)
    segment_texts = lookup_texts(
        {system: sorted(indices) for system, indices in segments_by_system.items()}
    )
    examples = []
    for row, gap in gaps:
        baseline_segment = segment_texts.get((baseline, gap.segment))
        system_segment = segment_texts.get((row.system, gap.segment))
        if baseline_segment is None or system_segment is None:
            continue
        references = baseline_segment.references
        example = Example(
            row.system,
            *gap,
            references[0] if references else "",
            baseline_segment.candidate,
            system_segment.candidate,
            f"reference 1 of {len(references)}" if len(references) > 1 else "reference",
            system_segment.id if with_ids else None,
            str(row.metric.of_segments()),
            references,
        )
        examples.append(example)
    return tuple(examples)
