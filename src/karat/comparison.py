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
    Collected,
    Drawn,
    Results,
    Wanted,
    as_inputs,
    collect,
    resample,
    segment_values,
    totals,
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
class Comparison(Results[CompareRow]):
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
        how = {"baseline": self.baseline, "test": self.test, "trials": self.trials}
        return {**super().settings, **how}

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the methods behind intervals and p, and on single scores."""
        metrics = dict.fromkeys(row.metric for row in self.rows)
        others = [f"{m} is {m.of_segments()}" for m in metrics if m.of_segments() != m]
        where = f", where {' and '.join(others)}" if others else ""
        count = "" if self.segments is None else f"{self.segments:,} "
        of = f" of {self.buckets:,} buckets of {count}segments" if self.buckets else ""
        made = (
            f"Intervals: 95%, from {self.resamples:,} bootstrap resamples{of}; for differences, of "
            f"both systems together. p: "
            f"{TESTS[self.test]} against {self.baseline}, {self.trials:,} trials, all metrics and "
            f"systems on the same draws."
        )
        if self.values:
            made += f" Wins, losses and ties count segments{where}."
        return (made, *super().notes)

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
    given = as_inputs(systems, references, metrics, threads, progress)
    named, refs = given.systems, given.references
    planned = BaselineTest.of(baseline, list(named), test, trials, resamples)
    check_form(signature)
    check_count("examples", examples)
    drawn = Drawn.of(planned.resamples, seed, given.outputs, buckets)
    want = Wanted(rows=True, values=True, buckets=drawn.buckets)
    how = planned.fields | drawn.fields
    found = collect(given, want, threads, progress, how)
    comparison = compared(found, refs.number, planned, drawn, signature, progress)
    comparison = replace(comparison, segments=given.segments.count)
    return replace(comparison, examples=_examples(comparison, named, refs, examples))


def _paired(found: Mapping[_Key, Collected]) -> dict[_Key, Collected]:
    """Return the statistics of the segments that every system has a score of, metric by metric."""
    made = dict(found)
    for m in dict.fromkeys(m for _, m in found):
        keys = [key for key in found if key[1] == m]
        if m.reads_texts or not all(found[key].rows for key in keys):
            continue
        tables = shared_rows(m, [np.concatenate(found[key].rows) for key in keys])
        for key, rows in zip(keys, tables, strict=True):
            values = m.of_segments().measure(rows)["value"]
            made[key] = Collected(exact_sums(rows), (rows,), values)
    return made


def shared_rows(m: Metric, tables: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return rows of the same segments, without what one of them has no score of."""
    known = np.logical_and.reduce([m.has_score(rows) for rows in tables])
    return [m.without_scores(rows, ~known) for rows in tables]


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
        base = _baseline(baseline, systems)
        if test not in TESTS:
            raise InputError(f"test {quoted(test)}: expected one of {', '.join(TESTS)}")
        if trials is None:
            drawn = resamples if test == "bootstrap" else None
            trials = DEFAULT_TRIALS[test] if drawn is None else drawn
        resamples = _resamples(test, trials, resamples)
        check_trials("trials", trials, 1)
        check_trials("resamples", resamples, 1)
        return cls(base, test, trials, resamples)

    @property
    def fields(self) -> dict[str, object]:
        """The settings of the test, for signatures."""
        return {"test": self.name, "trials": self.trials}


def compared(
    found: Mapping[_Key, Collected],
    references: int | None,
    test: BaselineTest,
    drawn: Drawn,
    form: str = "karat",
    progress: Progress = silent,
) -> Comparison:
    """Return the comparison of all systems with the baseline, from collected statistics."""
    base = test.baseline
    found = found if drawn.buckets else _paired(found)
    draws = resample(found, drawn, progress)
    if test.name == "bootstrap":
        p_values = {
            key: paired_bootstrap(draws[key], draws[base, key[1]], _difference(found, key, base))
            for key in found
            if key[0] != base
        }
    else:
        p_values = _randomization_tests(found, base, test.trials, drawn.seed, progress)
    scores = totals(found, references, test.fields | drawn.fields, form)
    metrics = list(dict.fromkeys(m for _, m in found))
    best_first = sorted(
        found, key=lambda k: (metrics.index(k[1]), -k[1].sign * k[1].score(found[k].total).value)
    )
    rows = [_row(key, scores[key], found, draws, p_values, base) for key in best_first]
    kept = tuple(rows), references, drawn.resamples, drawn.seed, segment_values(found)
    how = base, test.name, test.trials
    return Comparison(*kept, *how, form=form, buckets=drawn.buckets)


def _examples(
    comparison: Comparison, systems: Mapping[str, Segments], references: References, top: int
) -> tuple[Example, ...]:
    base, found = comparison.baseline, []
    for row in comparison.rows:
        if row.system == base or not comparison.values:
            continue
        gaps = comparison.differences(base, row.system, row.metric, top)
        places = [gap.segment for gap in gaps]
        shown: list[Any] = [references, systems[base], systems[row.system]]
        texts = (source.strings(places) for source in shown)
        found += make_examples(row.system, row.metric, gaps, *texts)
    return tuple(found)


def make_examples(
    system: str,
    metric: Metric,
    gaps: Sequence[Difference],
    references: Sequence[Sequence[str]],
    baseline: Sequence[str],
    texts: Sequence[str],
) -> list[Example]:
    """Return segments with their texts: references, the baseline's and the system's."""
    found = []
    for gap, refs, theirs, mine in zip(gaps, references, baseline, texts, strict=True):
        which = f"reference 1 of {len(refs)}" if len(refs) > 1 else "reference"
        shown = refs[0] if refs else "", theirs, mine, which
        name = str(metric.of_segments())
        found.append(Example(system, *gap, *shown, metric=name, references=tuple(refs)))
    return found


def _resamples(test: str, trials: int, resamples: int | None) -> int:
    if resamples is None:
        return trials if test == "bootstrap" else DEFAULT_TRIALS["bootstrap"]
    if test == "bootstrap" and resamples != trials:
        told = "the bootstrap test uses one set of resamples for its p-values and its intervals"
        raise InputError(f"trials={trials} and resamples={resamples}: {told}; set resamples alone")
    return resamples


_Key = tuple[str, Metric]


def _baseline(name: str | None, names: Sequence[str]) -> str:
    if len(names) < 2:
        raise InputError("one system was given: a comparison needs at least two")
    if name is None:
        return names[0]
    if not isinstance(name, str):
        raise InputError(f"baseline {name!r}: expected the name of a system, as text")
    if name not in names:
        known = f"{short(', '.join(names))}{nearest(name, names)}"
        raise InputError(f"baseline {quoted(name)} is none of the systems: {known}")
    return name


def _difference(found: Mapping[_Key, Collected], key: _Key, base: str) -> float:
    m = key[1]
    return m.score(found[key].total).value - m.score(found[base, m].total).value


def _randomization_tests(
    found: Mapping[_Key, Collected], base: str, trials: int, seed: int, progress: Progress
) -> dict[_Key, float]:
    """Exchanged sums, exactly: a' = sum(b) + chosen @ (a - b), b' = sum(a) - chosen @ (a - b)."""
    tables = [ExactRows(part.rows) for part in found.values()]
    moved = dict(zip(found, exchange_limbs(tables, trials, seed, progress), strict=True))
    whole = {
        key: table.limbs(np.ones((1, len(table)))) for key, table in zip(found, tables, strict=True)
    }
    p_values = {}
    for key in found:
        if key[0] == base:
            continue
        other, m = (base, key[1]), key[1]
        exchanged = moved[other] - moved[key]
        first = m.measure(rounded(whole[key] + exchanged))["value"]
        second = m.measure(rounded(whole[other] - exchanged))["value"]
        p_values[key] = approximate_randomization(first, second, _difference(found, key, base))
    return p_values


def _row(
    key: _Key,
    shown: Score,
    found: Mapping[_Key, Collected],
    draws: Mapping[_Key, Floats],
    p_values: Mapping[_Key, float],
    base: str,
) -> CompareRow:
    system, m = key
    low, high = interval(draws[key])
    if system == base:
        nothing = None, None, None, None, None, None, None, None, None
        return CompareRow(system, m, shown, low, high, *nothing)
    better = float(ahead(m.sign * draws[key], m.sign * draws[base, m]).mean())
    delta = _difference(found, key, base)
    counts = _win_counts(m, found[key].values, found[base, m].values)
    ends = interval(draws[key] - draws[base, m])
    units = min(_scored_units(m, found[key]), _scored_units(m, found[base, m]))
    decision = verdict(p_values[key], ends, units, m.sign)
    differs = delta, ends[0], ends[1], p_values[key], better
    wins, losses, ties = counts
    return CompareRow(system, m, shown, low, high, *differs, wins, losses, ties, decision, units)


def _scored_units(m: Metric, collected: Collected) -> int:
    """Return the number of resampled units (segments or buckets) that have a score."""
    tables = (rows if rows.ndim == 2 else rows[:, 0] for rows in collected.rows)  # or whole parts
    return sum(int(np.count_nonzero(m.has_score(rows))) for rows in tables)


def _win_counts(
    m: Metric, values: Floats | None, others: Floats | None
) -> tuple[int, int, int] | tuple[None, None, None]:
    """Return wins, losses and ties of segments, if their scores were kept."""
    if values is None or others is None:
        return None, None, None
    mine, theirs = m.sign * values, m.sign * others
    wins, losses = int(ahead(mine, theirs).sum()), int(ahead(theirs, mine).sum())
    known = int((~np.isnan(mine - theirs)).sum())
    return wins, losses, known - wins - losses
