"""Comparison: systems against a baseline, with intervals and paired tests of the same units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import inf, isnan
from typing import NamedTuple

from karat.arithmetic import ExactRows, exact_sums, rounded
from karat.arrays import Floats, np
from karat.errors import InputError, quoted, short
from karat.gains import GainRow, gain_rows
from karat.metrics.base import Metric, Score
from karat.metrics.limits import Limit, resolve_limits
from karat.progress import Progress, silent
from karat.results import Column, number, people_column, program_columns
from karat.score_settings import CORRECTIONS, JACKKNIFE, PAIRED_TESTS, SACREBLEU_TESTS
from karat.scoring import (
    Inference,
    ScoreResults,
    StatsKey,
    SystemStats,
    TextLookup,
    difference_interval,
    row_digits,
    score_interval,
    score_totals,
    segment_values,
    unit_variances,
)
from karat.settings import check_count, check_trials, nearest
from karat.slices import SliceRow, Slices, compare_slices, slice_note
from karat.stats.resampling import bootstrap_tables, exchange_limbs
from karat.stats.significance import (
    UNDECIDED,
    ahead,
    approximate_randomization,
    min_deciding_units,
    paired_bootstrap,
    verdict,
)
from karat.stats.simultaneous import JointEstimates

DEFAULT_TRIALS = {"sacrebleu-bootstrap": 1000, "sacrebleu-ar": 10000}


class CompareRow(NamedTuple):
    """One system by one metric, against the baseline."""

    system: str
    metric: Metric
    score: Score
    low: float | None  # None with a single unit
    high: float | None
    delta: float | None = None  # None for the baseline itself
    delta_low: float | None = None
    delta_high: float | None = None
    p: float | None = None
    wins: int | None = None
    losses: int | None = None
    ties: int | None = None
    verdict: str | None = None  # better, worse or undecided
    units: int | None = None  # number of units (or buckets) behind the verdict
    sacrebleu_p: float | None = None  # p by a test of sacreBLEU, if requested
    is_leading: bool | None = None  # does not differ significantly from the best system
    margin: float | None = None  # the largest difference that does not matter, if it was given
    margin_verdict: str | None = None  # equivalent, no loss, loss or undecided
    detectable: float | None = None  # smallest difference that the units find with 80% power
    unit: str | None = None  # kind of unit: segment, document, ...


class PairRow(NamedTuple):
    """The difference of a system from another by one metric; all pairs are tested together."""

    system: str
    other: str
    metric: Metric
    delta: float  # score of `system` minus score of `other`
    low: float
    high: float
    p: float
    verdict: str  # whether `system` is better or worse than `other`, or undecided
    wins: int | None = None  # segments on which `system` beats `other`
    losses: int | None = None
    margin_verdict: str | None = None


MAX_PAIRED_SYSTEMS = 20
"""Number of systems beyond which a comparison does not keep the differences of all pairs."""
DIFFERENCE_BINS = 41
"""Number of bins of differences by segment: odd, so that equal scores have a bin."""
DELTA = number("delta", "Delta", row_digits, "Score minus the baseline's.", signed=True)
TEST_COLUMNS = (
    *program_columns("delta_low", "delta_high"),
    number("p", "p", 4, "p of the difference, by the paired test below.", positive=True),
    number("wins", "Wins", help="Segments on which it beats the baseline.", detail=True),
    number("losses", "Losses", help="Segments on which the baseline beats it.", detail=True),
    number("ties", "Ties", help="Segments on which both score the same.", detail=True),
    *program_columns("verdict", "units"),
)
_LEADS = (
    "does not differ significantly from the best one, with all pairs of systems tested together."
)
LEAD_NOTE = f"Lead: ● marks a system that {_LEADS}"
LEADING = (
    people_column(
        "leading",
        "Lead",
        lambda row: "●" if row.is_leading else "",
        help=f"● The system {_LEADS}",
    ),
    *program_columns("is_leading"),
)
MARGIN_COLUMNS = (
    *program_columns("margin"),
    Column(
        "margin_verdict",
        "Margin",
        help="equivalent: the interval of the difference lies within the margin. no loss: any loss "
        "is within it. loss: the loss is larger. Otherwise undecided.",
    ),
)
EQUIVALENT, NO_LOSS, LOSS = "equivalent", "no loss", "loss"
UNIT_COLUMNS = program_columns("unit", "detectable")
SACREBLEU_P = number(
    "sacrebleu_p",
    "p (sacreBLEU)",
    4,
    "p by sacreBLEU's definition, from segments.",
    positive=True,
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


class ComponentRow(NamedTuple):
    """Segments of one system with one kind of error, against the baseline."""

    metric: Metric
    component: str  # kind of error: a part of the metric
    system: str
    segments: int  # number of segments with it
    share: float
    delta: float | None = None  # share minus the baseline's; None for the baseline itself
    delta_low: float | None = None
    delta_high: float | None = None


COMPONENT_COLUMNS = (
    Column("metric", "Metric", readers="programs", value=lambda row: str(row.metric)),
    Column("component", "Kind", help="The kind of error."),
    Column("system", "System", help="The name of the system."),
    number("segments", "Segments", help="Segments with the error."),
    number("share", "Share", 4, "Their share of all segments."),
    number("delta", "Delta", 4, "Share minus the baseline's.", signed=True),
    number("delta_low", "Low", 4, "Lower end of the 95% interval of the difference.", signed=True),
    number("delta_high", "High", 4, "Upper end of the interval.", signed=True),
)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ScoreResults[CompareRow]):
    """Comparison of systems with a baseline: one row per system and metric, best first."""

    baseline: str
    test: str
    trials: int | None
    """Number of trials of a sacreBLEU test."""
    seed: int
    correction: str
    examples: tuple[Example, ...] = ()
    """Segments on which each system differs most from the baseline, by each metric."""
    pairs: tuple[PairRow, ...] = field(default=(), kw_only=True)
    """Differences of three to twenty systems from each other, by each metric."""
    segments: int | None = field(default=None, kw_only=True)
    """Number of segments of each system."""
    components: tuple[ComponentRow, ...] = field(default=(), kw_only=True)
    """Segments with errors of each kind, of metrics that count several kinds."""
    slices: tuple[SliceRow, ...] = field(default=(), kw_only=True)
    """Comparisons within slices of the segments; slices where a system is worse come first."""
    slicing: str | None = field(default=None, kw_only=True)
    """The kind of slices: `length`, `document`, a column; None without slices."""
    kind: str | None = field(default=None, kw_only=True)
    """Kind of task of the outputs, if it is known."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, best first by the first metric."""
        return tuple(dict.fromkeys(row.system for row in self.rows))

    def against(self, baseline: str, by: Metric) -> dict[str, PairRow]:
        """Return the differences of the other systems from one; all pairs are tested together.

        The result is empty if the comparison does not keep the differences of pairs.
        """
        rows = (row for row in self.pairs if row.other == baseline and row.metric == by)
        return {row.system: row for row in rows}

    def largest_gap(self, by: Metric) -> float:
        """Return the largest difference of two systems on one segment; 1 if there is none."""
        table = np.array([self.segment_scores(system, by) for system in self.systems])
        gaps = np.nan_to_num(table.max(axis=0) - table.min(axis=0))
        return float(gaps.max(initial=0.0)) or 1.0

    def binned_differences(self, system: str, baseline: str, by: Metric) -> list[int]:
        """Return the numbers of segments by their difference, in bins of equal width.

        The bins reach from the largest loss of any two systems to the largest gain. Bins on both
        sides of 0 have the same edges, and missing scores are not counted.
        """
        gaps = by.sign * (self.segment_scores(system, by) - self.segment_scores(baseline, by))
        half = DIFFERENCE_BINS // 2
        places = gaps[~np.isnan(gaps)] / self.largest_gap(by) * (DIFFERENCE_BINS / 2)
        places = np.minimum(np.floor(np.abs(places) + 0.5), half) * np.sign(places)
        return [int(n) for n in np.bincount(places.astype(int) + half, minlength=DIFFERENCE_BINS)]

    @property
    def gains(self) -> tuple[GainRow, ...]:
        """Agreement of people with differences of these sizes, if the kind of task is known."""
        return gain_rows(((row.system, row.metric, row.delta) for row in self.rows), self.kind)

    @property
    def n_tests(self) -> int:
        """Number of tests."""
        return sum(row.verdict is not None for row in self.rows)

    @property
    def min_units(self) -> int:
        """The fewest units that can decide."""
        return _min_units(self.correction, self.n_tests)

    @property
    def settings(self) -> dict[str, object]:
        """Metrics, references, baseline, test and intervals."""
        tests = _test_fields(self.test, self.trials, self.seed, self.correction)
        options = {"slices": self.slicing, "kind": self.kind}
        options = {name: value for name, value in options.items() if value is not None}
        return {**super().settings, "baseline": self.baseline, **tests, **options}

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the methods behind intervals and p, and on single scores."""
        metrics = dict.fromkeys(row.metric for row in self.rows)
        segment_variants = [f"{m} is {m.of_segments()}" for m in metrics if m.of_segments() != m]
        variant_note = f", where {' and '.join(segment_variants)}" if segment_variants else ""
        methods = (
            f"The interval of a difference (95%) and its p come from one distribution: Student's t "
            f"of the paired difference from {self.baseline}, with its jackknife error by "
            f"{self.unit_text} and a correction of skewness."
        )
        if any(m.is_share for m in metrics):
            methods += (
                " Intervals of shares are Jeffreys', with the number of answers that has the same "
                "error."
            )
        if self.n_tests > 1:
            methods += f" {CORRECTIONS[self.correction].capitalize()} ({self.n_tests})."
        if self.test in SACREBLEU_TESTS:
            methods += (
                f" p (sacreBLEU): {SACREBLEU_TESTS[self.test]}, {self.trials:,} trials, by segment;"
                " verdicts do not use it."
            )
        if self.values:
            methods += f" Wins, losses and ties count segments{variant_note}."
        if self.slicing is None:
            return (methods, *super().notes)
        slices = slice_note(self.slices, self.slicing, self.correction)
        return (methods, slices, *super().notes)

    @property
    def unit_text(self) -> str:
        """The unit of tests: `segment`, `document`, `bucket of segments`, ..."""
        return _unit_text(self.inference or Inference())

    def differences(self, first: str, second: str, by: str | Metric, top: int) -> list[Difference]:
        """Return the segments on which two systems differ most, largest difference first."""
        a, b = self.segment_scores(first, by), self.segment_scores(second, by)
        gaps = np.nan_to_num(np.abs(b - a))  # missing scores are no difference
        order = np.argsort(-gaps, kind="stable")[:top]
        return [Difference(int(i), float(a[i]), float(b[i])) for i in order if gaps[i]]


class BaselineTest(NamedTuple):
    """The test of all systems against a baseline."""

    baseline: str
    name: str
    trials: int | None
    seed: int
    correction: str
    margin: Limit = None
    """The largest difference that does not matter, by metric."""

    @classmethod
    def plan(
        cls,
        baseline: str | None,
        systems: Sequence[str],
        test: str,
        trials: int | None,
        seed: int,
        correction: str,
        margin: Limit = None,
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
        if correction not in CORRECTIONS:
            expected = ", ".join(CORRECTIONS)
            raise InputError(f"correction {quoted(correction)}: expected one of {expected}")
        check_count("seed", seed)
        if test == JACKKNIFE and trials is not None:
            advice = f"they are for the tests of sacreBLEU: {', '.join(SACREBLEU_TESTS)}"
            raise InputError(f"trials={trials}: test {JACKKNIFE} has no trials; {advice}")
        trials = DEFAULT_TRIALS.get(test) if trials is None else trials
        if trials is not None:
            check_trials("trials", trials, 1)
        return cls(baseline, test, trials, seed, correction, margin)

    def fields(self, inference: Inference) -> dict[str, object]:
        """Return the settings of the test and the intervals, for signatures."""
        tests = _test_fields(self.name, self.trials, self.seed, self.correction)
        return {**tests, **inference.fields()}


def _test_fields(name: str, trials: int | None, seed: int, correction: str) -> dict[str, object]:
    random_draws = {} if trials is None else {"trials": trials, "seed": seed}
    return {"test": name, **random_draws, "correction": correction}


def _unit_text(inference: Inference) -> str:
    return f"bucket of {inference.unit}s" if inference.buckets else inference.unit


def _min_units(correction: str, n_tests: int) -> int:
    return min_deciding_units(1 if correction == "none" else max(n_tests, 1))


def compare_statistics(
    stats: Mapping[StatsKey, SystemStats],
    references: int | None,
    test: BaselineTest,
    inference: Inference,
    form: str = "karat",
    progress: Progress = silent,
    slices: Slices | None = None,
) -> Comparison:
    """Return the comparison of all systems with the baseline, from collected statistics.

    With `slices`, the comparison is repeated within each of them; statistics must hold rows.
    """
    stats = stats if inference.buckets else keep_paired_segments(stats)
    for (system, m), system_stats in stats.items():
        inference.check(m)
        m.check_resampled(system, system_stats.total)
        if m.by_unit and test.name in SACREBLEU_TESTS:
            problem = f"test {test.name} draws segments, and {m} is a mean over questions"
            raise InputError(f"{problem}: use test {JACKKNIFE}, or leave this metric out")
    units = inference.units
    scores = score_totals(stats, references, test.fields(inference), form, units)
    estimates = {key: part.estimate(key[1], inference.units) for key, part in stats.items()}
    index = {key: at for at, key in enumerate(estimates)}
    joint = JointEstimates([*estimates.values()])
    tested = [key for key in stats if key[0] != test.baseline]
    against_baseline = [(index[key], index[test.baseline, key[1]]) for key in tested]
    family = joint.family(against_baseline, test.correction)
    margin_of = resolve_limits("margin", test.margin, [str(m) for _, m in stats])
    pairs = _pair_rows(stats, joint, index, test.correction, margin_of)
    leading = _leading_systems(scores, pairs)
    min_units = _min_units(test.correction, len(tested))
    sacrebleu_p = _sacrebleu_p_values(stats, scores, test, progress)
    rows = {}
    for key in stats:
        ends = score_interval(key[1], estimates[key])
        rows[key] = CompareRow(*key, scores[key], *ends, is_leading=key in leading)
        rows[key] = rows[key]._replace(unit=_unit_text(inference))
    for at, (key, difference) in enumerate(zip(tested, family.differences, strict=True)):
        m, p = key[1], family.p(at)
        low, high = difference_interval(m, family.interval(at))
        baseline_values = stats[test.baseline, m].segment_scores
        wins, losses, ties = _count_wins(m, stats[key].segment_scores, baseline_values)
        rows[key] = rows[key]._replace(
            wins=wins,
            losses=losses,
            ties=ties,
            delta=difference.value,
            delta_low=low,
            delta_high=high,
            p=p,
            verdict=verdict(p, (low, high), difference.units, m.sign, min_units),
            units=difference.units,
            sacrebleu_p=sacrebleu_p.get(key),
            detectable=family.detectable(at) if difference.units >= min_units else None,
        )
        if (margin := margin_of.get(str(m))) is not None:
            within = _margin_verdict((low, high), margin, m.sign, difference.units >= min_units)
            rows[key] = rows[key]._replace(margin=margin, margin_verdict=within)
    slice_rows: tuple[SliceRow, ...] = ()
    if slices is not None:
        slice_rows = compare_slices(stats, slices, test.baseline, inference.units, test.correction)
    metrics = list(dict.fromkeys(m for _, m in stats))
    best_first = sorted(
        stats, key=lambda key: (metrics.index(key[1]), -key[1].sign * scores[key].value)
    )
    return Comparison(
        tuple(rows[key] for key in best_first),
        references,
        segment_values(stats),
        inference,
        variances=unit_variances(stats, estimates, inference),
        baseline=test.baseline,
        test=test.name,
        trials=test.trials,
        seed=test.seed,
        correction=test.correction,
        form=form,
        pairs=tuple(pairs) if 2 < len(stats) // len(metrics) <= MAX_PAIRED_SYSTEMS else (),
        components=tuple(_component_rows(stats, test, inference)),
        slices=slice_rows,
        slicing=None if slices is None else slices.name,
    )


def _component_rows(
    stats: Mapping[StatsKey, SystemStats], test: BaselineTest, inference: Inference
) -> Iterator[ComponentRow]:
    """Yield the segments with each kind of error by system, the baseline first."""
    for m in dict.fromkeys(m for _, m in stats):
        systems = [system for system, by in stats if by == m]
        systems.sort(key=lambda system: system != test.baseline)
        for name, component in m.components().items():
            joint = JointEstimates(
                [stats[s, m].estimate(component, inference.units) for s in systems]
            )
            family = joint.family([(at, 0) for at in range(1, len(systems))], test.correction)
            for at, system in enumerate(systems):
                parts = component.measure(np.array([stats[system, m].total]))
                count, share = int(parts[name][0]), 1 - float(parts["value"][0])
                row = ComponentRow(m, name, system, count, share)
                if at:
                    low, high = difference_interval(component, family.interval(at - 1))
                    delta = 0.0 - family.differences[at - 1].value
                    row = row._replace(delta=delta, delta_low=0.0 - high, delta_high=0.0 - low)
                yield row


def _pair_rows(
    stats: Mapping[StatsKey, SystemStats],
    joint: JointEstimates,
    index: Mapping[StatsKey, int],
    correction: str,
    margin_of: Mapping[str, float],
) -> list[PairRow]:
    """Return the differences of all systems from all others, with all pairs tested together."""
    keys = [
        ((a, m), (b, m))
        for m in dict.fromkeys(m for _, m in stats)
        for a, b in combinations([system for system, by in stats if by == m], 2)
    ]
    family = joint.family([(index[a], index[b]) for a, b in keys], correction)
    min_units = _min_units(correction, len(keys))
    rows = []
    for at, (key, other_key) in enumerate(keys):
        difference, p = family.differences[at], family.p(at)
        m, margin = key[1], margin_of.get(str(key[1]))
        low, high = difference_interval(m, family.interval(at))
        wins, losses, _ = _count_wins(m, stats[key].segment_scores, stats[other_key].segment_scores)
        for first, second, delta, ends, counts in (
            (key[0], other_key[0], difference.value, (low, high), (wins, losses)),
            (other_key[0], key[0], 0.0 - difference.value, (0.0 - high, 0.0 - low), (losses, wins)),
        ):
            conclusion = verdict(p, ends, difference.units, m.sign, min_units)
            row = PairRow(first, second, m, delta, *ends, p, conclusion, *counts)
            if margin is not None:
                within = _margin_verdict(ends, margin, m.sign, difference.units >= min_units)
                row = row._replace(margin_verdict=within)
            rows.append(row)
    return rows


def _leading_systems(scores: Mapping[StatsKey, Score], pairs: Sequence[PairRow]) -> set[StatsKey]:
    """Return the best system by each metric, and those that do not differ from it significantly.

    The best system is selected by its score, so all pairs of systems are tested together.
    """
    leading: set[StatsKey] = set()
    for m in dict.fromkeys(m for _, m in scores):
        values = {a: m.sign * scores[a, by].value for a, by in scores if by == m}
        best = max(values, key=lambda a: -inf if isnan(values[a]) else values[a])
        tied = (r for r in pairs if r.metric == m and r.other == best and r.verdict == UNDECIDED)
        leading |= {(best, m), *((row.system, m) for row in tied)}
    return leading


def _margin_verdict(ends: tuple[float, float], margin: float, sign: int, enough_units: bool) -> str:
    """Return whether a difference is within a margin, by its interval."""
    low, high = sorted(sign * end for end in ends)
    if not enough_units:
        return UNDECIDED
    if high < -margin:
        return LOSS
    if low <= -margin:
        return UNDECIDED
    return EQUIVALENT if high < margin else NO_LOSS


def keep_paired_segments(stats: Mapping[StatsKey, SystemStats]) -> dict[StatsKey, SystemStats]:
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
            scores = stats[key].segment_scores
            if scores is not None:
                scores = m.of_segments().measure(rows)["value"]
            paired[key] = SystemStats(exact_sums(rows), (rows,), scores)
    return paired


def _count_wins(
    m: Metric, system_values: Floats | None, baseline_values: Floats | None
) -> tuple[int, int, int] | tuple[None, None, None]:
    """Return the numbers of segments won, lost and tied; None if scores were not kept."""
    if system_values is None or baseline_values is None:
        return None, None, None
    system_scores, baseline_scores = m.sign * system_values, m.sign * baseline_values
    wins = int(ahead(system_scores, baseline_scores).sum())
    losses = int(ahead(baseline_scores, system_scores).sum())
    ties = int((~np.isnan(system_scores - baseline_scores)).sum()) - wins - losses
    return wins, losses, ties


def _sacrebleu_p_values(
    stats: Mapping[StatsKey, SystemStats],
    scores: Mapping[StatsKey, Score],
    test: BaselineTest,
    progress: Progress,
) -> dict[StatsKey, float]:
    """Return p of every difference as sacreBLEU defines it; nothing without such a test.

    All systems and metrics are drawn together. For approximate randomization, with exact sums:
    a' = sum(b) + chosen @ (a - b), b' = sum(a) - chosen @ (a - b).
    """
    if test.trials is None:
        return {}
    tables = {key: ExactRows(part.row_blocks) for key, part in stats.items()}
    base, n_trials, p_values = test.baseline, test.trials, {}
    if test.name == "sacrebleu-bootstrap":
        sums = bootstrap_tables([*tables.values()], n_trials, test.seed, progress)
        draws = {key: key[1].measure(rows)["value"] for key, rows in zip(tables, sums, strict=True)}
        for key in stats:
            if key[0] != base:
                delta = scores[key].value - scores[base, key[1]].value
                p_values[key] = paired_bootstrap(draws[key], draws[base, key[1]], delta)
        return p_values
    limbs = exchange_limbs([*tables.values()], n_trials, test.seed, progress)
    chosen_sums = dict(zip(tables, limbs, strict=True))
    full_sums = {key: table.limbs(np.ones((1, len(table)))) for key, table in tables.items()}
    for key in stats:
        if key[0] == base:
            continue
        baseline_key, m = (base, key[1]), key[1]
        exchanged = chosen_sums[baseline_key] - chosen_sums[key]
        first = m.measure(rounded(full_sums[key] + exchanged))["value"]
        second = m.measure(rounded(full_sums[baseline_key] - exchanged))["value"]
        delta = scores[key].value - scores[baseline_key].value
        p_values[key] = approximate_randomization(first, second, delta)
    return p_values


def find_examples(
    comparison: Comparison, lookup_texts: TextLookup, n_examples: int, *, with_ids: bool = False
) -> tuple[Example, ...]:
    """Return the segments on which each system differs most from the baseline, with their texts.

    There are at most `n_examples` for each system and score of segments, and none if segments were
    put into buckets or a stream cannot be read again.
    """
    baseline = comparison.baseline
    # Metrics with the same scores of segments have the same examples.
    first_rows: dict[tuple[str, Metric], CompareRow] = {}
    for row in comparison.rows:
        first_rows.setdefault((row.system, row.metric.of_segments()), row)
    gaps = [
        (row, gap)
        for row in first_rows.values()
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
