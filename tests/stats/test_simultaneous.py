"""Simultaneous tests: adjusted p-values and intervals of several differences agree."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st
from sizes import examples

import karat as kt
from karat.score_settings import CORRECTIONS
from karat.stats import simultaneous as module
from karat.stats.jackknife import UnitEstimate, jackknife
from karat.stats.significance import SIGNIFICANCE_LEVEL
from karat.stats.simultaneous import JointEstimates


def of_values(values: np.ndarray) -> UnitEstimate:
    """The mean of values."""
    rows = np.column_stack([values, np.ones(len(values))])
    return jackknife(lambda x: x[:, 0] / x[:, 1], rows, np.ones(len(values), bool))


def random_systems(seed: int, systems: int, units: int) -> list[UnitEstimate]:
    """Systems whose units have something in common; some are rounded, some are skewed."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=units)
    scores = common + rng.normal(size=(systems, units)) * rng.uniform(0.2, 2, (systems, 1))
    scores += rng.uniform(-1, 1, (systems, 1))
    if rng.random() < 0.5:
        scores = np.round(scores)
    if rng.random() < 0.3:
        scores = np.exp(scores)
    return [of_values(row) for row in scores]


def family(estimates: list[UnitEstimate], correction: str = "simultaneous") -> module.TestFamily:
    """All against the first."""
    pairs = [(at, 0) for at in range(1, len(estimates))]
    return JointEstimates(estimates).family(pairs, correction)


SEEDS = st.integers(0, 10**6)


@given(seed=SEEDS, units=st.integers(2, 40), correction=st.sampled_from(sorted(CORRECTIONS)))
def test_a_family_of_one_is_the_single_test(seed: int, units: int, correction: str) -> None:
    first, second = random_systems(seed, 2, units)
    tests, single = family([first, second], correction), second - first
    assert tests.p(0) == single.p()
    assert tests.interval(0) == single.interval()
    assert tests.p(0, 0.5) == single.p(0.5)


@examples(30, 300)
@given(seed=SEEDS, systems=st.integers(2, 7), units=st.integers(2, 40))
def test_the_correction_lies_between_none_and_bonferroni(
    seed: int, systems: int, units: int
) -> None:
    estimates = random_systems(seed, systems, units)
    corrected, raw = family(estimates), family(estimates, "none")
    for at, difference in enumerate(raw.differences):
        single = difference.p()
        assert raw.p(at) == single
        assert raw.interval(at) == difference.interval()
        assert single <= corrected.p(at) <= min(1, (systems - 1) * single)
        low, high = corrected.interval(at)
        assert low <= difference.interval()[0] <= difference.interval()[1] <= high


@examples(30, 300)
@given(
    seed=SEEDS,
    systems=st.integers(2, 7),
    units=st.integers(2, 40),
    correction=st.sampled_from(sorted(CORRECTIONS)),
    null=st.floats(-2, 2),
)
def test_intervals_and_p_values_agree(
    seed: int, systems: int, units: int, correction: str, null: float
) -> None:
    tests = family(random_systems(seed, systems, units), correction)
    for at, difference in enumerate(tests.differences):
        assume(difference.error > 0)
        low, high = tests.interval(at)
        assert low <= difference.value <= high
        for candidate in (null, 0.0):
            p = tests.p(at, candidate)
            if abs(p - SIGNIFICANCE_LEVEL) > 1e-9:
                assert (not low <= candidate <= high) == (p < SIGNIFICANCE_LEVEL)


def test_identical_metrics_are_not_corrected() -> None:
    first, second = random_systems(1, 2, 30)
    estimates = [first, second] * 6
    pairs = [(2 * at + 1, 2 * at) for at in range(6)]
    tests, single = JointEstimates(estimates).family(pairs), second - first
    half = (single.interval()[1] - single.interval()[0]) / 2
    for at in range(6):
        assert tests.p(at) == pytest.approx(single.p(), abs=0.01)
        assert tests.interval(at) == pytest.approx(single.interval(), abs=0.03 * half)


def test_independent_differences_are_corrected_as_by_sidak() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=(8, 400))
    values -= values.mean(axis=1, keepdims=True)
    estimates = [of_values(row) for row in values]
    zero = of_values(np.zeros(400))
    tests = JointEstimates([*estimates, zero]).family([(at, 8) for at in range(8)])
    for at, difference in enumerate(tests.differences):
        critical = (tests.interval(at)[1] - difference.value) / difference.error
        sidak = scipy.stats.t.isf((1 - 0.95 ** (1 / 8)) / 2, 399)
        assert critical == pytest.approx(sidak, abs=0.06)


@examples(4, 40)
@given(seed=SEEDS, systems=st.integers(3, 6), units=st.integers(4, 60))
def test_p_values_are_those_of_a_multivariate_t_within_chance(
    seed: int, systems: int, units: int
) -> None:
    """A slow simulation: means and standard errors of normal units with the same correlations."""
    estimates = random_systems(seed, systems, units)
    tests = family(estimates)
    psi = np.array([difference.influence for difference in tests.differences])
    assume(all(difference.error > 0 for difference in tests.differences))
    rng, trials = np.random.default_rng(seed), 20_000
    correlations = np.atleast_2d(np.corrcoef(psi))
    largest = np.zeros(trials)
    for start in range(0, trials, 1000):
        drawn = rng.multivariate_normal(np.zeros(len(psi)), correlations, (1000, units))
        t = drawn.mean(axis=1) / drawn.std(axis=1, ddof=1) * np.sqrt(units)
        largest[start : start + 1000] = np.abs(t).max(axis=1)
    for at, difference in enumerate(tests.differences):
        expected = float((largest >= abs(difference.statistic())).mean())
        error = np.sqrt(2 * max(expected * (1 - expected), 1e-4) / trials)
        single = difference.p()
        expected = max(single, min(expected, (systems - 1) * single))
        # chi by Wilson and Hilferty (1931) is near: within 0.005 from three degrees of freedom on
        assert tests.p(at) == pytest.approx(expected, abs=5 * error + 0.005)


def test_many_estimates_fall_back_to_bonferroni(monkeypatch: pytest.MonkeyPatch) -> None:
    estimates = random_systems(3, 5, 30)
    simultaneous = family(estimates)
    monkeypatch.setattr(module, "_MAX_DRAWN", 4)
    tests = family(estimates)
    for at, difference in enumerate(tests.differences):
        assert tests.p(at) == min(1, 4 * difference.p())
        assert tests.interval(at) == difference.interval(difference.critical(0.05 / 4))
        assert simultaneous.p(at) <= tests.p(at)
    assert any(simultaneous.p(at) < tests.p(at) for at in range(4))


def test_differences_without_an_error_do_not_correct_others() -> None:
    """Equal systems have nothing to test; a constant difference has the p of a sign test."""
    first, second = random_systems(4, 2, 20)
    constant = UnitEstimate(first.value + 1, first.influence, first.units)
    tests = family([first, second, first, constant])
    single = second - first
    assert tests.p(1) == 1
    assert tests.interval(1) == (0, 0)
    assert tests.p(2) == 3 * 2.0**-19
    assert tests.interval(2) == pytest.approx((1, 1))
    assert single.p() <= tests.p(0) <= min(1, 3 * single.p())


@pytest.mark.parametrize(("units", "decided"), [(7, False), (8, True)])
def test_constant_differences_decide_from_the_fewest_units_on(units: int, decided: bool) -> None:
    """With 4 tests, at least 1 + log2(4 / .05) = 7.3 units are needed."""
    base = of_values(np.arange(units, dtype=float))
    shifted = [UnitEstimate(base.value + k, base.influence, units) for k in (1, 2, -1, -2)]
    tests = family([base, *shifted])
    for at in range(4):
        low, high = tests.interval(at)
        assert (tests.p(at) < 0.05) == decided == (not low <= 0 <= high)


def test_results_are_the_same_in_every_run() -> None:
    estimates = random_systems(6, 4, 25)
    assert [family(estimates).p(at) for at in range(3)] == [
        family(estimates).p(at) for at in range(3)
    ]


def test_compare_corrects_for_systems_and_metrics() -> None:
    rng = np.random.default_rng(0)
    words = np.array(["the", "a", "cat", "dog", "sat", "ran", "on", "in", "mat", "house"])
    references = [" ".join(rng.choice(words, 8)) for _ in range(60)]
    systems = {}
    for name, share in zip("ABCDEF", (0.3, 0.3, 0.3, 0.3, 0.3, 0.1), strict=True):
        keep = [rng.random(8) >= share for _ in references]
        systems[name] = [
            " ".join(np.where(kept, text.split(), rng.choice(words, 8)))
            for kept, text in zip(keep, references, strict=True)
        ]
    corrected = kt.compare(systems, references, ["chrf", "rouge1"])
    raw = kt.compare(systems, references, ["chrf", "rouge1"], correction="none")
    assert (corrected.n_tests, corrected.min_units) == (10, 9)
    assert (raw.n_tests, raw.min_units) == (10, 6)
    assert "Simultaneous for all tests (10)" in corrected.notes[0]
    assert "Not corrected for the number of tests (10)" in raw.notes[0]
    for row in corrected.rows:
        other = raw[row.system, str(row.metric)]
        if row.p is None:
            continue
        assert other.p <= row.p <= 10 * other.p
        assert row.delta_low <= other.delta_low
        assert (row.verdict != "undecided") == (row.p < 0.05)
    assert corrected["F", "chrf"].verdict == "better"
