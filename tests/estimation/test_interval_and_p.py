"""Differences of `kt.estimate`: interval, p and verdict agree, whatever was labelled and how."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat as kt
from karat.estimation.estimate_results import Estimate
from karat.estimation.evalset_samples import make_sample
from karat.estimation.samples import LabelScale, Sample, judge_values
from karat.estimation.system_estimates import (
    difference_prediction,
    estimate_difference,
    estimate_system,
    predict,
)
from karat.evalset.judgements import JudgedPair
from karat.progress import silent
from karat.stats.population import Design

SYSTEMS, SEGMENTS = 5, 60


def ratings(
    rng: np.random.Generator, top: float, groups: bool = False, resampled: bool = False
) -> kt.EvalSet:
    """Ratings from 1 to 5, of which about a share `top` is 5, and a judge with noise."""
    names = [f"s{k}" for k in range(SYSTEMS)]
    quality = np.linspace(0, 0.6, SYSTEMS)[:, None]
    single = rng.random((SYSTEMS, SEGMENTS)) ** (1 + quality)
    value = np.where(single < top, 5.0, np.ceil(4 * rng.random(single.shape)))
    probability = rng.uniform(0.3, 0.7, SEGMENTS)
    labelled = np.flatnonzero(rng.random(SEGMENTS) < probability)
    if groups:
        labelled = np.flatnonzero(np.repeat(rng.permutation(SEGMENTS // 3) < 12, 3))
    rows = [
        (name, str(i + 1), "ann", "quality", float(value[k, i]))
        for k, name in enumerate(names)
        for i in labelled
    ]
    evalset = kt.make_evalset(
        "ratings",
        {name: [f"{name} {i}" for i in range(SEGMENTS)] for name in names},
        judgements=rows,
        dimensions=[kt.Dimension("quality", low=1, high=5)],
        groups=[f"d{i // 3}" for i in range(SEGMENTS)] if groups else None,
        draws=[kt.Draw(str(i + 1), probability[i]) for i in labelled] if resampled else None,
    )
    scores = value + rng.normal(size=value.shape)
    return evalset.with_scores("judge", {n: list(scores[k]) for k, n in enumerate(names)})


def compared(rng: np.random.Generator) -> kt.EvalSet:
    """Comparisons of three systems on some segments, some pairs of these."""
    utility = rng.normal(size=(3, SEGMENTS)) + np.array([[0.0], [0.4], [0.8]])
    names = ("A", "B", "C")
    texts = {name: [f"{name} {i}" for i in range(SEGMENTS)] for name in names}
    plain = kt.make_evalset("pairs", texts, dimensions=[kt.Dimension("win", low=0, high=1)])
    pairs = tuple(
        JudgedPair(names[a], str(i + 1), "ann", "win", float(utility[a, i] > utility[b, i]), b_name)
        for i in range(0, SEGMENTS, 2)
        for a, b in combinations(range(3), 2)
        if rng.random() < 0.8
        for b_name in [names[b]]
    )
    scores = utility + rng.normal(size=utility.shape)
    judged = replace(plain, pairs=pairs)
    return judged.with_scores("judge", {n: list(scores[k]) for k, n in enumerate(names)})


def disagreements(estimates: Estimate) -> list[str]:
    """Differences whose interval, p and verdict do not agree."""
    return [
        f"{difference}"
        for difference in estimates.differences
        if not (difference.low > 0 or difference.high < 0)
        == (difference.p < 0.05)
        == (difference.verdict in ("better", "worse"))
    ]


@pytest.mark.parametrize("correction", ["none", "simultaneous"])
@pytest.mark.parametrize("population", ["set", "new"])
def test_interval_p_and_verdict_of_ratings_agree(population: str, correction: str) -> None:
    rng = np.random.default_rng(5)
    forms: set[str] = set()
    verdicts: set[str] = set()
    for top, groups, resampled in [
        (0.1, False, False),
        (0.5, False, True),
        (0.75, False, False),
        (0.75, True, False),
        (0.9, False, True),
    ]:
        for baseline in (None, "s0"):
            evalset = ratings(rng, top, groups, resampled)
            options = {"population": population, "correction": correction, "baseline": baseline}
            estimates = kt.estimate(evalset, judges="judge", **options)
            assert not disagreements(estimates)
            forms |= {difference.form for difference in estimates.differences}
            verdicts |= {difference.verdict for difference in estimates.differences}
    assert forms == {"student", "bounded"}
    assert len(verdicts) > 1


@pytest.mark.parametrize("seed", range(4))
def test_interval_p_and_verdict_of_comparisons_agree(seed: int) -> None:
    evalset = compared(np.random.default_rng(seed))
    for population in ("set", "new"):
        estimates = kt.estimate(evalset, judges="judge", population=population)
        assert estimates.differences
        assert not disagreements(estimates)


def test_interval_and_p_agree_on_summeval(karat_data: Path) -> None:
    """20 of 100 documents: 120 differences, at two levels each."""
    evalset = kt.load_evalset("summeval")
    values = judge_values(evalset, ["chrf"], "consistency", None, silent)
    full = make_sample(evalset, "consistency", values, unit="segment")
    has_score = np.isin(np.arange(100), np.random.default_rng(1).permutation(100)[:20])
    sample = replace(full, y=np.where(has_score, full.y, np.nan))
    prediction = difference_prediction(sample, predict(sample))
    for pair in combinations(range(16), 2):
        difference = estimate_difference(sample, pair, prediction, True)
        assert difference is not None
        p = difference.intervals.p_value()
        for alpha in (0.05, 0.05 / 120):
            interval = difference.intervals.interval(alpha)
            assert (interval.low > 0 or interval.high < 0) == (p < alpha)


def test_a_correction_widens_intervals_and_says_so() -> None:
    evalset = ratings(np.random.default_rng(1), 0.5)
    plain, joint = (kt.estimate(evalset, correction=name) for name in ("none", "simultaneous"))
    levels = {difference.confidence for difference in joint.differences}
    assert len(levels) == 1
    assert 0.95 < levels.pop() < 1 - 0.05 / 10  # the best system is the best of ten pairs
    for difference, other in zip(plain.differences, joint.differences, strict=True):
        assert (difference.delta, difference.form) == (other.delta, other.form)
        assert other.low < difference.low < difference.high < other.high
        assert difference.confidence == pytest.approx(0.95)
        assert other.p > difference.p
    assert "decided if p < 0.05, that is, if its 95% interval" in plain.document().basis
    assert "p < 0.05, corrected for all differences together, that is" in joint.document().basis
    assert f"{100 * joint.differences[0].confidence:.2f}% interval" in joint.document().basis
    named = kt.estimate(evalset, baseline=joint.differences[0].baseline)
    assert named.differences[0].confidence < joint.differences[0].confidence


def test_systems_with_the_same_ratings_are_hardly_corrected() -> None:
    """Differences of equal systems from a baseline are one test."""
    rng = np.random.default_rng(2)
    first, other = rng.normal(size=(2, 30))
    rows = [
        (name, str(i + 1), "ann", "quality", float(values[i]))
        for name, values in (("base", first), ("a", other), ("b", other), ("c", other))
        for i in range(20)
    ]
    texts = {name: [f"{name} {i}" for i in range(30)] for name in ("base", "a", "b", "c")}
    evalset = kt.make_evalset("equal", texts, judgements=rows, dimensions=["quality"])
    estimates = kt.estimate(evalset, baseline="base")
    assert estimates.differences[0].confidence == pytest.approx(0.95, abs=0.005)
    raters = [(*row[:2], f"r{i % 3}", *row[3:]) for i, row in enumerate(rows)]
    several = kt.make_evalset("equal", texts, judgements=raters, dimensions=["quality"])
    general = kt.estimate(several, baseline="base", raters="any")
    assert general.differences[0].confidence == pytest.approx(1 - 0.05 / 3)
    note = "The 3 tests of differences have Bonferroni's correction"
    assert any(sentence.startswith(note) for sentence in general.notes)
    assert not any("Bonferroni" in sentence for sentence in estimates.notes)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    systems=st.integers(2, 4),
    labelled=st.integers(10, 24),
    levels=st.integers(1, 6),
    raters=st.sampled_from(["these", "any"]),
    population=st.sampled_from(["set", "new"]),
    correction=st.sampled_from(["simultaneous", "none"]),
    baseline=st.sampled_from([None, "s0"]),
    judged=st.booleans(),
)
def test_no_small_set_has_a_contradiction(
    seed: int, systems: int, labelled: int, levels: int, judged: bool, **options: Any
) -> None:
    """Ratings on a scale of few levels are often equal; some segments have one rater of three."""
    rng = np.random.default_rng(seed)
    names = [f"s{k}" for k in range(systems)]
    apart = rng.choice([0.0, 0.5, 1.5], systems)
    raw = rng.normal(size=(systems, 24)) + rng.normal(size=24) + apart[:, None]
    severity = rng.normal(size=3)
    rows = [
        (name, str(i + 1), f"r{r}", "quality", float(np.clip(round(value), 0, levels)))
        for k, name in enumerate(names)
        for i in range(labelled)
        for r in rng.permutation(3)[: rng.integers(1, 4)].tolist()
        for value in [levels / 2 + raw[k, i] + severity[r] + 0.3 * rng.normal()]
    ]
    evalset = kt.make_evalset(
        "small",
        {name: [f"{name} {i}" for i in range(24)] for name in names},
        judgements=rows,
        dimensions=[kt.Dimension("quality", low=0, high=levels)],
    )
    values = raw + rng.normal(size=raw.shape)
    evalset = evalset.with_scores("judge", {n: list(values[k]) for k, n in enumerate(names)})
    estimates = kt.estimate(evalset, judges=["judge"] if judged else [], **options)
    for difference in estimates.differences:
        if difference.verdict == "not tested" or np.isnan(difference.p):
            assert difference.verdict in ("not tested", "undecided")
            continue
        decided = difference.low > 0 or difference.high < 0
        assert decided == (difference.p < 0.05) == (difference.verdict in ("better", "worse"))


# ------------------------------------------------------------------- judges that are wrong


def ceiling(wrong: float, units: int = 100, seed: int = 1) -> Sample:
    """Eight systems with nine of ten labels at 5; the judge rates some 5s of the first 1 or 2."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random((8, units)) < 0.9, 5.0, rng.integers(1, 5, (8, units)))
    values = np.clip(y + 0.5 * rng.normal(size=y.shape), 1, 5)
    cluster = rng.permutation(np.flatnonzero(y[0] == 5))[: round(wrong * units)]
    values[0, cluster] = rng.integers(1, 3, len(cluster))
    names = tuple(f"s{k}" for k in range(8))
    about = "ceiling", "quality", names, tuple(map(str, range(units))), "segment"
    all_values, is_present = values[:, :, None], np.ones(y.shape, bool)
    design = Design.simple(np.ones(units))
    return Sample(
        *about, y, all_values, all_values, is_present, ("judge",), design, LabelScale(1.0, 5.0)
    )


@pytest.mark.parametrize("wrong", [0.03, 0.06])
def test_good_outputs_that_the_judge_rates_low_are_allowed_for(wrong: float) -> None:
    """20 of 100 labels; with average predictions, 83% and 81% of intervals hold the mean."""
    full = ceiling(wrong)
    rng, held = np.random.default_rng(3), 0
    for _ in range(100):
        has_score = np.isin(np.arange(100), rng.permutation(100)[:20])
        sample = replace(full, y=np.where(has_score, full.y, np.nan))
        interval = estimate_system(sample, 0, predict(sample), True).interval
        held += interval.low <= float(full.y[0].mean()) <= interval.high
    assert held >= 95


def test_predictions_do_not_matter_without_a_judge() -> None:
    """People alone have one bounded interval, whatever judges would say."""
    full = ceiling(0.06)
    sample = replace(full, y=np.where(np.arange(100) < 20, full.y, np.nan))
    other = replace(sample, all_values=-sample.all_values, x=-sample.x)
    first, second = (estimate_system(item, 0, None, True).interval for item in (sample, other))
    assert first == second
