"""Comparison: systems against a baseline, with intervals and paired tests on the same draws.

All systems and metrics are resampled with the same draws, so that differences are paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from karat.arithmetic import ExactRows, rounded
from karat.arrays import Floats, np
from karat.errors import InputError, quoted, short
from karat.evalset.sets import EvalSet
from karat.metrics.base import Metric, Score, check_form
from karat.progress import Progress, silent
from karat.scoring import (
    Collected,
    Results,
    Wanted,
    as_metrics,
    as_systems,
    as_texts,
    collect,
    interval_fields,
    resample,
    segment_values,
    totals,
)
from karat.settings import nearest
from karat.stats.resampling import SEED, exchange_limbs, interval
from karat.stats.significance.baseline import ahead, approximate_randomization, paired_bootstrap
from karat.text.references import GivenReferences, References, as_references
from karat.text.segments import Segments, Texts
from karat.trials import check_trials

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
    p: float | None
    better: float | None  # share of resamples in which it beats the baseline
    wins: int | None  # segments on which it beats the baseline
    losses: int | None
    ties: int | None


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


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Results[CompareRow]):
    """The rows, best first within each metric, and how they were made."""

    baseline: str
    test: str
    trials: int
    examples: tuple[Example, ...] = ()
    """Segments on which each system differs most from the baseline by the first metric."""

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
        made = (
            f"Intervals: 95%, from {self.resamples:,} bootstrap resamples. p: {TESTS[self.test]} "
            f"against {self.baseline}, {self.trials:,} trials, all metrics and systems on the same "
            f"draws. Wins, losses and ties count segments{where}."
        )
        return (made, *super().notes)

    def differences(self, first: str, second: str, by: str | Metric, top: int) -> list[Difference]:
        """The segments on which two systems differ most, the largest difference first."""
        a, b = self.segment_scores(first, by), self.segment_scores(second, by)
        order = np.argsort(-np.abs(b - a), kind="stable")[:top]
        return [Difference(int(i), float(a[i]), float(b[i])) for i in order if a[i] != b[i]]


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
    threads: int | None = None,
    progress: Progress = silent,
    signature: str = "karat",
    examples: int = 0,
) -> Comparison:
    """Compare systems with a baseline (the first, unless named).

    `trials` are those of the test (default: 1000 for bootstrap, 10000 for randomization);
    `resamples` (default 1000) are for the intervals of `test="randomization"`: the bootstrap test's
    own trials serve for its intervals. An evaluation set brings its own references.
    `signature="sacrebleu"` signs BLEU, chrF and TER in sacreBLEU's form. `examples` is the number
    of segments to keep on which each system differs most from the baseline.
    """
    given, references = as_texts(systems, references)
    named = as_systems(given)
    base = _baseline(baseline, list(named))
    if test not in TESTS:
        raise InputError(f"test {quoted(test)}: expected one of {', '.join(TESTS)}")
    trials = DEFAULT_TRIALS[test] if trials is None else trials
    resamples = _resamples(test, trials, resamples)
    check_form(signature)
    check_trials("trials", trials, 1)
    check_trials("resamples", resamples, 1)
    chosen = as_metrics(metrics)
    first = next(iter(named.values()))
    refs = as_references(references, len(first), first.name)
    how = {"test": test, "trials": trials, **interval_fields(resamples, seed)}
    found = collect(chosen, named, refs, Wanted(rows=True, values=True), threads, progress, how)
    draws = resample(found, resamples, seed, progress)
    if test == "bootstrap":
        p_values = {
            key: paired_bootstrap(draws[key], draws[base, key[1]], _difference(found, key, base))
            for key in found
            if key[0] != base
        }
    else:
        p_values = _randomization_tests(found, base, trials, seed, progress)
    scores = totals(found, refs.number, how, signature)
    best_first = sorted(
        found, key=lambda k: (chosen.index(k[1]), -k[1].sign * k[1].score(found[k].total).value)
    )
    rows = [_row(key, scores[key], found, draws, p_values, base) for key in best_first]
    kept = tuple(rows), refs.number, resamples, seed, segment_values(found), base, test, trials
    comparison = Comparison(*kept, form=signature)
    return replace(comparison, examples=_examples(comparison, named, refs, examples))


def _examples(
    comparison: Comparison, systems: Mapping[str, Segments], references: References, top: int
) -> tuple[Example, ...]:
    base, first = comparison.baseline, comparison.rows[0].metric
    found = []
    for system in dict.fromkeys(row.system for row in comparison.rows if row.system != base):
        gaps = comparison.differences(base, system, first, top)
        places = [gap.segment for gap in gaps]
        shown: list[Any] = [references, systems[base], systems[system]]
        texts = zip(*(source.strings(places) for source in shown), strict=True)
        for gap, (refs, theirs, mine) in zip(gaps, texts, strict=True):
            which = f"reference 1 of {len(refs)}" if len(refs) > 1 else "reference"
            found.append(Example(system, *gap, refs[0], theirs, mine, which))
    return tuple(found)


def _resamples(test: str, trials: int, resamples: int | None) -> int:
    if resamples is None:
        return trials if test == "bootstrap" else DEFAULT_TRIALS["bootstrap"]
    if test == "bootstrap" and resamples != trials:
        told = f"the bootstrap test makes its intervals from its own {trials} trials"
        raise InputError(f"resamples={resamples}: {told}; set trials alone")
    return resamples


_Key = tuple[str, Metric]


def _baseline(name: str | None, names: Sequence[str]) -> str:
    if len(names) < 2:
        raise InputError("one system was given: a comparison needs at least two")
    if name is None:
        return names[0]
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
        return CompareRow(system, m, shown, low, high, None, None, None, None, None, None)
    mine, theirs = (m.sign * np.asarray(found[of].values) for of in (key, (base, m)))
    wins, losses = int(ahead(mine, theirs).sum()), int(ahead(theirs, mine).sum())
    better = float(ahead(m.sign * draws[key], m.sign * draws[base, m]).mean())
    delta = _difference(found, key, base)
    ties = len(mine) - wins - losses
    return CompareRow(system, m, shown, low, high, delta, p_values[key], better, wins, losses, ties)
