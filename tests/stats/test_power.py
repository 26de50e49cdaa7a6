"""Power: against the noncentral t distribution, and against simulated tests."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat as kt
from karat.stats.distributions import student_quantile
from karat.stats.jackknife import UnitEstimate
from karat.stats.power import MAX_UNITS, detectable_difference, power_of, units_needed
from karat.stats.significance import min_deciding_units
from karat.stats.simultaneous import JointEstimates

scipy_stats = pytest.importorskip("scipy.stats", reason="needs scipy")
TRIALS = 2_000
STANDARD_ERROR = sqrt(0.8 * 0.2 / TRIALS)


def exact_power(deviation: float, units: int, difference: float, n_tests: float) -> float:
    """The probability that |T| exceeds the critical value of the test of symmetric units."""
    critical = student_quantile(0.05 / n_tests / 2, units - 1)
    critical += 0.4 * (critical**2 + 0.5) / units  # the cost of correcting skewness
    t = scipy_stats.nct(units - 1, difference * sqrt(units) / deviation)
    return float(t.sf(critical))


@pytest.mark.parametrize("n_tests", [1, 3, 14.5, 105])
@pytest.mark.parametrize("units", [15, 20, 40, 100, 1000])
def test_power_is_that_of_the_noncentral_t_distribution(units: int, n_tests: float) -> None:
    for effect in (0.5, 1.0, 2.0, 3.0, 4.0, 5.0):
        difference = 7 * effect / sqrt(units)
        exact = exact_power(7.0, units, difference, n_tests)
        assert power_of(7.0, units, difference, n_tests) == pytest.approx(exact, abs=0.01)


@given(
    st.floats(0.01, 100),
    st.integers(12, 5000),
    st.floats(0.3, 0.99),
    st.integers(1, 40),
)
def test_the_detectable_difference_has_the_power(
    deviation: float, units: int, power: float, n_tests: int
) -> None:
    difference = detectable_difference(deviation, units, power, n_tests)
    assert power_of(deviation, units, difference, n_tests) == pytest.approx(power, abs=1e-6)


@given(
    st.floats(0.01, 100),
    st.floats(0.001, 100),
    st.sampled_from([0.5, 0.8, 0.95]),
    st.integers(1, 40),
)
def test_the_units_needed_are_the_fewest(
    deviation: float, difference: float, power: float, n_tests: int
) -> None:
    needed = units_needed(deviation, difference, power, n_tests)
    if needed is None:
        assert power_of(deviation, MAX_UNITS, difference, n_tests) < power
        return
    assert power_of(deviation, needed, difference, n_tests) >= power
    if needed > min_deciding_units(n_tests):
        assert power_of(deviation, needed - 1, difference, n_tests) < power


def test_too_few_units_find_nothing() -> None:
    assert power_of(1.0, 5, 100.0) == 0
    assert detectable_difference(1.0, 5) == inf
    assert power_of(1.0, 6, 100.0) > 0.99
    assert power_of(1.0, 6, 100.0, n_tests=2) == 0
    assert units_needed(1.0, 100.0) == 6
    assert units_needed(1.0, 0.0) is None
    assert units_needed(1.0, 1e-9) is None


def test_units_that_do_not_vary_find_any_difference() -> None:
    assert power_of(0.0, 20, 0.1) == 1
    assert power_of(0.0, 20, 0.0) == 0


# ------------------------------------------------------------------------------- simulations


def simulated_power(units: int, difference: float, n_systems: int, seed: int) -> float:
    """The share of trials in which the first of several systems differs from the baseline."""
    rng, n_found = np.random.default_rng(seed), 0
    pairs = [(system, n_systems) for system in range(n_systems)]
    for _ in range(TRIALS):
        scores = rng.normal(size=(n_systems + 1, units))
        scores[0] += difference
        estimates = [UnitEstimate(float(x.mean()), x - x.mean(), units) for x in scores]
        n_found += JointEstimates(estimates).family(pairs).p(0) < 0.05
    return n_found / TRIALS


@pytest.mark.parametrize("units", [20, 80])
def test_the_detectable_difference_is_found_in_80_percent_of_trials(units: int) -> None:
    difference = detectable_difference(sqrt(2), units)
    share = simulated_power(units, difference, 1, units)
    assert share == pytest.approx(0.8, abs=0.02 + 3 * STANDARD_ERROR)


def test_the_detectable_difference_of_a_family_is_found_as_often() -> None:
    """The correction by the correlations of differences costs less than Bonferroni's."""
    units, n_systems = 60, 4
    rng, pairs = np.random.default_rng(5), [(system, 4) for system in range(n_systems)]
    smallest = []
    for _ in range(40):
        scores = rng.normal(size=(n_systems + 1, units))
        estimates = [UnitEstimate(float(x.mean()), x - x.mean(), units) for x in scores]
        smallest.append(JointEstimates(estimates).family(pairs).detectable(0))
    difference = float(np.mean(smallest))
    assert difference < detectable_difference(sqrt(2), units, n_tests=n_systems)
    assert difference > detectable_difference(sqrt(2), units)
    share = simulated_power(units, difference, n_systems, 6)
    assert share == pytest.approx(0.8, abs=0.02 + 3 * STANDARD_ERROR)


def test_families_of_too_few_or_equal_units_have_no_detectable_difference() -> None:
    one, same = UnitEstimate(1.0, np.zeros(1), 1), UnitEstimate(2.0, np.zeros(1), 1)
    assert np.isnan(JointEstimates([one, same]).family([(0, 1)]).detectable(0))
    x = np.linspace(-1, 1, 20)
    equal = [UnitEstimate(value, x, 20) for value in (1.0, 2.0)]
    assert np.isnan(JointEstimates(equal).family([(0, 1)]).detectable(0))


# ------------------------------------------------------------------------------- kt.power

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def texts(seed: int, size: int = 40) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join([*WORDS[: 10 - n], *["x"] * n]) for n in rng.integers(0, 6, size)]


REFERENCE = [" ".join(WORDS)] * 40
PILOT = {"base": texts(1), "new": texts(2), "other": texts(3)}


def test_the_pilot_is_the_comparison() -> None:
    comparison = kt.compare(PILOT, REFERENCE, "chrf", correction="none")
    analysis = kt.power(PILOT, REFERENCE, "chrf", tests=1)
    for row in analysis.rows:
        compared = comparison[row.system, row.metric]
        assert (row.delta, row.units) == (compared.delta, 40)
        assert row.detectable == pytest.approx(compared.detectable)
        assert (row.difference, row.power, row.units_needed) == (None, None, None)


def test_more_tests_need_more_units() -> None:
    one, default, many = (
        kt.power(PILOT, REFERENCE, ["chrf", "ter"], difference=2, tests=n) for n in (1, None, 50)
    )
    assert default.n_tests == 4
    for a, b, c in zip(one.rows, default.rows, many.rows, strict=True):
        assert (a.units_needed or 0) < (b.units_needed or 0) < (c.units_needed or 0)
        assert (a.power or 0) > (b.power or 0) > (c.power or 0)


def test_differences_by_metric() -> None:
    rows = kt.power(PILOT, REFERENCE, ["chrf", "ter"], difference={"ter": 3}).rows
    assert {(str(row.metric), row.difference) for row in rows} == {("chrf", None), ("ter", 3.0)}


def test_units_are_the_ones_that_are_given() -> None:
    labels = [n // 4 for n in range(40)]
    (row, _) = kt.power(PILOT, REFERENCE, "chrf", units=labels).rows
    assert row.units == 10


def test_curves_rise_to_the_units_needed() -> None:
    analysis = kt.power(PILOT, REFERENCE, "chrf", difference=4)
    row = analysis.rows[0]
    curve = analysis.curve(row)
    powers = [power for _, power in curve]
    assert powers == sorted(powers)
    assert max(n for n, _ in curve) >= (row.units_needed or 0)
    assert powers[-1] > 0.8
