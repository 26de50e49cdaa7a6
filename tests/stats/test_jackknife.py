"""Jackknife inference: the formulas by explicit loops, and intervals that agree with p."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, inf, isnan, nan

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import jackknife_loops as loops
from sizes import examples

from karat.arrays import Floats
from karat.stats import jackknife as module
from karat.stats.jackknife import UnitEstimate, jackknife
from karat.stats.significance import SIGNIFICANCE_LEVEL
from karat.stats.units import Units

ROW = st.tuples(st.integers(0, 9), st.integers(9, 30), st.integers(9, 30))
ROWS = st.lists(ROW, min_size=3, max_size=12)


def ratio(sums: Floats) -> Floats:
    return np.asarray(100 * sums[:, 0] / sums[:, 1])


def f_score(sums: Floats) -> Floats:
    precision, recall = sums[:, 0] / sums[:, 1], sums[:, 0] / sums[:, 2]
    positive = precision + recall > 0
    return np.divide(
        2 * precision * recall, precision + recall, out=np.zeros(len(sums)), where=positive
    )


MEASURES = {"ratio": (ratio, loops.ratio_score), "f": (f_score, loops.f_score)}


def estimate(rows: list[tuple[int, ...]], measure: Callable[[Floats], Floats]) -> UnitEstimate:
    return jackknife(measure, np.array(rows), np.ones(len(rows), bool))


def of_values(values: list[float] | Floats) -> UnitEstimate:
    """The mean of values."""
    rows = np.column_stack([values, np.ones(len(values))])
    return jackknife(lambda x: x[:, 0] / x[:, 1], rows, np.ones(len(values), bool))


# -------------------------------------------------------------------------------- the formulas


@pytest.mark.parametrize("name", MEASURES)
@examples(40, 400)
@given(rows=ROWS, null=st.floats(-5, 60))
def test_one_system_is_the_formulas_by_loops(
    name: str, rows: list[tuple[int, ...]], null: float
) -> None:
    measure, score = MEASURES[name]
    result, psi = estimate(rows, measure), loops.influences(rows, score)
    assert result.value == pytest.approx(score(loops.total(rows)))
    assert result.influence.tolist() == pytest.approx(psi, abs=1e-7)
    assume(loops.standard_error(psi) > 1e-6)
    assert result.error == pytest.approx(loops.standard_error(psi))
    assert result.p(null) == pytest.approx(loops.p_value(result.value, psi, null), abs=1e-9)


@pytest.mark.parametrize("name", MEASURES)
@examples(25, 200)
@given(data=st.data(), rows=ROWS)
def test_the_interval_of_a_difference_is_found_by_bisection(
    name: str, data: st.DataObject, rows: list[tuple[int, ...]]
) -> None:
    others = data.draw(st.lists(ROW, min_size=len(rows), max_size=len(rows)))
    measure, score = MEASURES[name]
    difference = estimate(rows, measure) - estimate(others, measure)
    both = zip(loops.influences(rows, score), loops.influences(others, score), strict=True)
    psi = [a - b for a, b in both]
    value = score(loops.total(rows)) - score(loops.total(others))
    assume(loops.standard_error(psi) > 1e-6)
    assert difference.value == pytest.approx(value, abs=1e-9)
    assert difference.p() == pytest.approx(loops.p_value(value, psi), abs=1e-9)
    assert difference.interval() == pytest.approx(loops.interval(value, psi), rel=1e-5, abs=1e-7)


def test_of_symmetric_values_it_is_the_paired_t_test() -> None:
    """Without skewness, h(t) = t."""
    values = np.array([-3.0, -1, -1, 0, 1, 1, 3]) + 1.25
    result, expected = of_values(values), scipy.stats.ttest_1samp(values, 0)
    assert result.p() == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.95)
    assert result.interval() == pytest.approx((low, high))


def test_a_worked_example() -> None:
    """Values 0, 0, 0, 0, 0, 12: mean 2, influences -2 (5 times) and 10, error 2."""
    result = of_values([0, 0, 0, 0, 0, 12.0])
    assert (result.value, result.error) == (2, pytest.approx(2))
    assert result.influence.tolist() == [-2, -2, -2, -2, -2, 10]
    skewness = (5 * -8 + 1000) / 6 / 20**1.5  # mean square 20
    a = skewness / (3 * 6**0.5)
    unskewed = 1 + a + a**2 / 3 + a / 2
    assert unskewed > 1
    assert result.statistic() == pytest.approx(1)
    assert result.p() == pytest.approx(2 * scipy.stats.t.sf(1, 5))
    assert result.statistic(4) == pytest.approx(-min(1, abs(-1 + a - a**2 / 3 + a / 2)))


# ----------------------------------------------------------- one distribution, two views of it

VALUES = st.one_of(
    st.lists(st.floats(-100, 100), min_size=2, max_size=30),
    st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0, -1.0, 50.0]), min_size=2, max_size=30),
)


def excludes(ends: tuple[float, float], null: float) -> bool:
    return not ends[0] <= null <= ends[1]


@examples(300, 5000)
@given(values=VALUES, null=st.floats(-120, 120))
def test_p_is_below_the_level_exactly_where_the_interval_excludes_the_null(
    values: list[float], null: float
) -> None:
    result = of_values(values)
    assume(result.error > 0)
    ends = result.interval()
    for candidate in (null, 0.0, result.value, *ends):
        p = result.p(candidate)
        if abs(p - SIGNIFICANCE_LEVEL) > 1e-9:
            assert excludes(ends, candidate) == (p < SIGNIFICANCE_LEVEL)
    for end in ends:
        assert result.p(end) == pytest.approx(SIGNIFICANCE_LEVEL, abs=1e-6)


@examples(200, 2000)
@given(values=VALUES, critical=st.floats(0.01, 60))
def test_the_interval_contains_the_estimate(values: list[float], critical: float) -> None:
    result = of_values(values)
    for low, high in (result.interval(), result.interval(critical)):
        assert low <= result.value <= high


@given(values=VALUES, level=st.floats(0.001, 0.5))
def test_other_levels_agree_too(values: list[float], level: float) -> None:
    result = of_values(values)
    assume(result.error > 0)
    p, ends = result.p(), result.interval(result.critical(level))
    if abs(p - level) > 1e-9:
        assert excludes(ends, 0) == (p < level)


# ----------------------------------------------------------------------------- special cases


@pytest.mark.parametrize("units", range(2, 12))
@pytest.mark.parametrize("value", [0.25, -3.0])
def test_units_that_differ_by_the_same_amount_have_the_p_of_a_sign_test(
    units: int, value: float
) -> None:
    result = of_values([value] * units)
    assert result.p() == 2 / 2**units == 2 * comb(units, 0) / 2**units
    ends = result.interval()
    assert ends == ((value, value) if units >= 6 else (min(value, 0), max(value, 0)))
    assert excludes(ends, 0) == (result.p() < SIGNIFICANCE_LEVEL)
    assert result.p(value) == 1
    assert result.statistic() == (inf if value > 0 else -inf)


def test_equal_systems_have_no_difference() -> None:
    system = of_values([0.1, 0.7, 0.2, 0.4])
    difference = system - of_values([0.1, 0.7, 0.2, 0.4])
    assert (difference.value, difference.p(), difference.interval()) == (0, 1, (0, 0))


def test_rounding_is_no_difference() -> None:
    """Sums in another order differ in their last bits."""
    thirds = of_values([1 / 3, 2 / 3, 0.1, 0.7])
    nearly = of_values([1 - 2 / 3, 1 - 1 / 3, 0.3 - 0.2, 0.1 + 0.6])
    assert nearly.value != thirds.value or (nearly.influence != thirds.influence).any()
    difference = nearly - thirds
    assert (difference.value, difference.error, difference.p()) == (0, 0, 1)


def test_one_unit_has_no_interval() -> None:
    result = of_values([3.0])
    assert (result.value, result.units) == (3, 1)
    assert isnan(result.error)
    assert isnan(result.p())
    assert all(map(isnan, result.interval()))
    assert all(map(isnan, (result - of_values([1.0])).interval()))


def test_two_units_have_a_wide_interval() -> None:
    result = of_values([1.0, 2.0])
    low, high = result.interval()
    half = 0.5 * scipy.stats.t.isf(0.025, 1)
    assert (low, high) == pytest.approx((1.5 - half, 1.5 + half))
    assert result.p() == pytest.approx(2 * scipy.stats.t.sf(3, 1))


def test_units_without_a_score_have_no_influence() -> None:
    rows = np.array([[2.0, 1], [0, 0], [5, 1], [6, 1], [0, 0]])
    has_score = rows[:, 1] > 0
    result = jackknife(lambda x: x[:, 0] / x[:, 1], rows, has_score)
    scored = of_values([2.0, 5, 6])
    assert (result.units, result.value) == (3, scored.value)
    assert result.influence[~has_score].tolist() == [0, 0]
    assert result.influence[has_score].tolist() == pytest.approx(scored.influence.tolist())
    assert (result.p(), result.interval()) == (scored.p(), scored.interval())
    with np.errstate(invalid="ignore"):
        none = jackknife(lambda x: x[:, 0] / x[:, 1], np.zeros((3, 2)), np.zeros(3, bool))
    assert none.units == 0
    assert isnan(none.p())


def test_the_statistics_do_not_depend_on_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).normal(size=50)
    whole = of_values(values)
    monkeypatch.setattr(module, "_CHUNK", 7)
    assert of_values(values).influence.tolist() == whole.influence.tolist()


def test_any_scale_gives_the_same_p() -> None:
    values = np.random.default_rng(3).gamma(0.5, size=30) - 0.3
    p = of_values(values).p()
    for scale in (1e-3, 0.1, 1e3, 1e6):
        assert of_values(values * scale).p() == pytest.approx(p)
    assert of_values(-values).p() == pytest.approx(p)


# -------------------------------------------------------------------------------- units of rows


@given(rows=ROWS, data=st.data())
def test_the_order_of_units_does_not_matter(
    rows: list[tuple[int, ...]], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(rows))))
    first, second = estimate(rows, f_score), estimate([rows[i] for i in order], f_score)
    assert first.value == second.value
    assert second.influence.tolist() == pytest.approx(first.influence[list(order)].tolist())
    assume(first.error > 1e-9)
    assert (second.p(), *second.interval()) == pytest.approx((first.p(), *first.interval()))


@given(rows=ROWS, data=st.data())
@settings(max_examples=60)
def test_sums_by_unit_equal_rows_that_were_added_beforehand(
    rows: list[tuple[int, ...]], data: st.DataObject
) -> None:
    labels = data.draw(st.lists(st.sampled_from("abcd"), min_size=len(rows), max_size=len(rows)))
    units = Units.from_labels("document", labels)
    pairs = list(zip(rows, labels, strict=True))
    added = [loops.total([row for row, x in pairs if x == u]) for u in dict.fromkeys(labels)]
    result = jackknife(ratio, units.sums(np.array(rows)), np.ones(len(units), bool))
    expected = estimate(added, ratio)
    assert result.value == expected.value == estimate(rows, ratio).value
    assert result.influence.tolist() == expected.influence.tolist()


def test_a_null_that_is_no_number_has_no_p() -> None:
    assert isnan(of_values([1.0, 2.0, 4.0]).p(nan))
