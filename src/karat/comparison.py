"""Comparison: systems against a baseline, with intervals and paired tests on the same draws.

All systems and metrics are resampled with the same draws, so that differences are paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from karat.arithmetic import ExactRows, exact_sums, rounded
from karat.arrays import Floats, NDArray, np
from karat.errors import InputError, quoted, short
from karat.evalset.sets import EvalSet
from karat.metrics.base import Metric, Score, check_form
from karat.progress import Progress, silent
from karat.scoring import (
    Keep,
    Resampling,
    ScoreResults,
    SystemStats,
    compute_statistics,
    make_inputs,
    resample_scores,
    score_totals,
    segment_values,
)
from karat.settings import check_count, check_trials, nearest
from karat.stats.resampling import SEED, exchange_limbs, interval
from karat.stats.significance import ahead, approximate_randomization, paired_bootstrap, verdict
from karat.text.references import GivenReferences, References
from karat.text.segments import Segments, Texts

TESTS = {
    "bootstrap": "paired bootstrap resampling",
    "randomization": "paired approximate randomization",
}
DEFAULT_TRIALS = {"bootstrap": 1000, "randomization": 10000}


class CompareRow(NamedTuple):
    """One system by one metric, against the baseline."""

    system: str
    metric: Metric
    score: Score
    low: float
    high: float
    delta: float | None  # score minus the baseline's; None for the baseline itself
    delta_low: float | None  # the 95% interval of the difference
    delta_high: float | None
    p: float | None
    better: float | None  # share of resamples in which it beats the baseline
    wins: int | None  # segments on which it beats the baseline
    losses: int | None
    ties: int | None
    verdict: str | None  # better, worse or undecided
    units: int | None = None  # segments, or buckets of segments, that the verdict rests on


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
    which: str = "reference"  # of several, the one that is shown
    id: str | None = None  # of the segment, where it has one
    metric: str = ""  # that they differ by
    references: tuple[str, ...] = ()  # all that the segment is scored against


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ScoreResults[CompareRow]):
    """Comparison of systems with a baseline: a row for each system and metric, the best first."""

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
            f"Intervals: 95%, from {self.resamples:,} bootstrap resamples{of_buckets}; "
            "for differences, of "
            f"both systems together. p: "
            f"{TESTS[self.test]} against {self.baseline}, {self.trials:,} trials, all metrics and "
            f"systems on the same draws."
        )
        if self.values:
            methods += f" Wins, losses and ties count segments{variant_note}."
        return (methods, *super().notes)

    def differences(self, first: str, second: str, by: str | Metric, top: int) -> list[Difference]:
        """The segments on which two systems differ most, the largest difference first."""
        a, b = self.segment_scores(first, by), self.segment_scores(second, by)
        gaps = np.nan_to_num(np.abs(b - a))  # a segment that one has no score for is no difference
        order = np.argsort(-gaps, kind="stable")[:top]
        return [Difference(int(i), float(a[i]), float(b[i])) for i in order if gaps[i]]


def compare(
    systems: Mapping[str, Texts] | EvalSet | str,
    references: GivenReferences | None = None,
    metrics: Sequence[str | Metric] | str | Metric = ("bleu",),
    *,
    baseline: str | None = None,
    test: str = "bootstrap",
    trials: int | None = None,
    resamples: int | None = None,
    seed: int = SEED,
    buckets: int | None = None,
    threads: int | None = None,
    progress: Progress = silent,
    signature: str = "karat",
    examples: int = 0,
) -> Comparison:
    """Compare systems with a baseline (the first, unless named).

    `resamples` (default 1000) is the number of bootstrap resamples, for the intervals and for the
    bootstrap test; `trials` (default 10000) are those of `test="randomization"`. `buckets` groups
    segments for resampling (default: 4,096 above two million segments of all systems, else none).
    An evaluation set brings its own references.
    `signature="sacrebleu"` signs BLEU, chrF and TER in sacreBLEU's form. `examples` is the number
    of segments to keep on which each system differs most from the baseline.
    """
    inputs = make_inputs(systems, references, metrics, threads, progress)
    systems_by_name, refs = inputs.systems, inputs.references
    baseline_test = BaselineTest.of(baseline, list(systems_by_name), test, trials, resamples)
    check_form(signature)
    check_count("examples", examples)
    resampling = Resampling.of(baseline_test.resamples, seed, inputs.outputs, buckets)
    keep = Keep(rows=True, segment_scores=True, buckets=resampling.buckets)
    settings = baseline_test.fields | resampling.fields
    stats = compute_statistics(inputs, keep, threads, progress, settings)
    comparison = compare_statistics(
        stats, refs.number, baseline_test, resampling, signature, progress
    )
    comparison = replace(comparison, segments=inputs.segments.count)
    return replace(
        comparison, examples=_collect_examples(comparison, systems_by_name, refs, examples)
    )


def _keep_paired_segments(stats: Mapping[_Key, SystemStats]) -> dict[_Key, SystemStats]:
    """Return the statistics of the segments that every system has a score of, metric by metric."""
    paired = dict(stats)
    for m in dict.fromkeys(m for _, m in stats):
        keys = [key for key in stats if key[1] == m]
        if m.reads_texts or not all(stats[key].row_blocks for key in keys):
            continue
        tables = shared_rows(m, [np.concatenate(stats[key].row_blocks) for key in keys])
        for key, rows in zip(keys, tables, strict=True):
            values = m.of_segments().measure(rows)["value"]
            paired[key] = SystemStats(exact_sums(rows), (rows,), values)
    return paired


def shared_rows(m: Metric, tables: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return rows of the same segments, without what one of them has no score of."""
    has_scores = np.logical_and.reduce([m.has_score(rows) for rows in tables])
    return [m.without_scores(rows, ~has_scores) for rows in tables]


class BaselineTest(NamedTuple):
    """A paired test against a baseline: its name, its trials and the resamples of intervals."""

    baseline: str
    name: str
    trials: int
    resamples: int

    @classmethod
    def of(
        cls,
        baseline: str | None,
        systems: Sequence[str],
        test: str,
        trials: int | None,
        resamples: int | None,
    ) -> BaselineTest:
        """Return the test that is asked for, checked."""
        base = _resolve_baseline(baseline, systems)
        if test not in TESTS:
            raise InputError(f"test {quoted(test)}: expected one of {', '.join(TESTS)}")
        if trials is None:
            default = resamples if test == "bootstrap" else None
            trials = DEFAULT_TRIALS[test] if default is None else default
        resamples = _resolve_resamples(test, trials, resamples)
        check_trials("trials", trials, 1)
        check_trials("resamples", resamples, 1)
        return cls(base, test, trials, resamples)

    @property
    def fields(self) -> dict[str, object]:
        """The settings of the test, for signatures."""
        return {"test": self.name, "trials": self.trials}


def compare_statistics(
    stats: Mapping[_Key, SystemStats],
    references: int | None,
    test: BaselineTest,
    resampling: Resampling,
    form: str = "karat",
    progress: Progress = silent,
) -> Comparison:
    """Return the comparison of all systems with the baseline, from collected statistics."""
    base = test.baseline
    stats = stats if resampling.buckets else _keep_paired_segments(stats)
    resampled = resample_scores(stats, resampling, progress)
    if test.name == "bootstrap":
        p_values = {
            key: paired_bootstrap(
                resampled[key], resampled[base, key[1]], _difference(stats, key, base)
            )
            for key in stats
            if key[0] != base
        }
    else:
        p_values = _randomization_tests(stats, base, test.trials, resampling.seed, progress)
    scores = score_totals(stats, references, test.fields | resampling.fields, form)
    metrics = list(dict.fromkeys(m for _, m in stats))
    best_first = sorted(
        stats, key=lambda k: (metrics.index(k[1]), -k[1].sign * k[1].score(stats[k].total).value)
    )
    rows = [_row(key, scores[key], stats, resampled, p_values, base) for key in best_first]
    results = tuple(rows), references, resampling.resamples, resampling.seed, segment_values(stats)
    test_settings = base, test.name, test.trials
    return Comparison(*results, *test_settings, form=form, buckets=resampling.buckets)


def _collect_examples(
    comparison: Comparison, systems: Mapping[str, Segments], references: References, top: int
) -> tuple[Example, ...]:
    base, examples = comparison.baseline, []
    for row in comparison.rows:
        if row.system == base or not comparison.values:
            continue
        gaps = comparison.differences(base, row.system, row.metric, top)
        indices = [gap.segment for gap in gaps]
        sources: list[Any] = [references, systems[base], systems[row.system]]
        texts = (source.strings(indices) for source in sources)
        examples += make_examples(row.system, row.metric, gaps, *texts)
    return tuple(examples)


def make_examples(
    system: str,
    metric: Metric,
    gaps: Sequence[Difference],
    references: Sequence[Sequence[str]],
    baseline: Sequence[str],
    texts: Sequence[str],
) -> list[Example]:
    """Return segments with their texts: references, the baseline's and the system's."""
    examples = []
    for gap, refs, baseline_text, system_text in zip(
        gaps, references, baseline, texts, strict=True
    ):
        reference_label = f"reference 1 of {len(refs)}" if len(refs) > 1 else "reference"
        texts_shown = refs[0] if refs else "", baseline_text, system_text, reference_label
        name = str(metric.of_segments())
        examples.append(Example(system, *gap, *texts_shown, metric=name, references=tuple(refs)))
    return examples


def _resolve_resamples(test: str, trials: int, resamples: int | None) -> int:
    if resamples is None:
        return trials if test == "bootstrap" else DEFAULT_TRIALS["bootstrap"]
    if test == "bootstrap" and resamples != trials:
        reason = "the bootstrap test uses one set of resamples for its p-values and its intervals"
        raise InputError(
            f"trials={trials} and resamples={resamples}: {reason}; set resamples alone"
        )
    return resamples


_Key = tuple[str, Metric]


def _resolve_baseline(name: str | None, names: Sequence[str]) -> str:
    if len(names) < 2:
        raise InputError("one system was given: a comparison needs at least two")
    if name is None:
        return names[0]
    if not isinstance(name, str):
        raise InputError(f"baseline {name!r}: expected the name of a system, as text")
    if name not in names:
        listed = f"{short(', '.join(names))}{nearest(name, names)}"
        raise InputError(f"baseline {quoted(name)} is none of the systems: {listed}")
    return name


def _difference(stats: Mapping[_Key, SystemStats], key: _Key, base: str) -> float:
    m = key[1]
    return m.score(stats[key].total).value - m.score(stats[base, m].total).value


def _randomization_tests(
    stats: Mapping[_Key, SystemStats], base: str, trials: int, seed: int, progress: Progress
) -> dict[_Key, float]:
    """Exchanged sums, exactly: a' = sum(b) + chosen @ (a - b), b' = sum(a) - chosen @ (a - b)."""
    tables = [ExactRows(part.row_blocks) for part in stats.values()]
    chosen_sums = dict(zip(stats, exchange_limbs(tables, trials, seed, progress), strict=True))
    full_sums = {
        key: table.limbs(np.ones((1, len(table)))) for key, table in zip(stats, tables, strict=True)
    }
    p_values = {}
    for key in stats:
        if key[0] == base:
            continue
        baseline_key, m = (base, key[1]), key[1]
        exchanged = chosen_sums[baseline_key] - chosen_sums[key]
        first = m.measure(rounded(full_sums[key] + exchanged))["value"]
        second = m.measure(rounded(full_sums[baseline_key] - exchanged))["value"]
        p_values[key] = approximate_randomization(first, second, _difference(stats, key, base))
    return p_values


def _row(
    key: _Key,
    score: Score,
    stats: Mapping[_Key, SystemStats],
    draws: Mapping[_Key, Floats],
    p_values: Mapping[_Key, float],
    base: str,
) -> CompareRow:
    system, m = key
    low, high = interval(draws[key])
    if system == base:
        empty = None, None, None, None, None, None, None, None, None
        return CompareRow(system, m, score, low, high, *empty)
    better = float(ahead(m.sign * draws[key], m.sign * draws[base, m]).mean())
    delta = _difference(stats, key, base)
    counts = _win_counts(m, stats[key].segment_scores, stats[base, m].segment_scores)
    ends = interval(draws[key] - draws[base, m])
    units = min(_scored_units(m, stats[key]), _scored_units(m, stats[base, m]))
    decision = verdict(p_values[key], ends, units, m.sign)
    differs = delta, ends[0], ends[1], p_values[key], better
    wins, losses, ties = counts
    return CompareRow(system, m, score, low, high, *differs, wins, losses, ties, decision, units)


def _scored_units(m: Metric, stats: SystemStats) -> int:
    """Return the number of resampled units (segments or buckets) that have a score."""
    tables = (rows if rows.ndim == 2 else rows[:, 0] for rows in stats.row_blocks)  # or whole parts
    return sum(int(np.count_nonzero(m.has_score(rows))) for rows in tables)


def _win_counts(
    m: Metric, system_values: Floats | None, baseline_values: Floats | None
) -> tuple[int, int, int] | tuple[None, None, None]:
    """Return wins, losses and ties of segments, if their scores were kept."""
    if system_values is None or baseline_values is None:
        return None, None, None
    system_scores, baseline_scores = m.sign * system_values, m.sign * baseline_values
    wins, losses = (
        int(ahead(system_scores, baseline_scores).sum()),
        int(ahead(baseline_scores, system_scores).sum()),
    )
    n_scored = int((~np.isnan(system_scores - baseline_scores)).sum())
    return wins, losses, n_scored - wins - losses
