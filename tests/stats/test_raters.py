"""Inference from crossed ratings: worked values, the oracle, what is identifiable, bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles import rater_loops
from sizes import examples

from karat.errors import InputError
from karat.stats.distributions import student_quantile
from karat.stats.raters import (
    ANY,
    THESE,
    Ratings,
    _freedom,
    crossed_mean,
    rater_spread,
    ratings_mean,
)

TABLE = np.array([[3.0, 4.0, 8.0], [1.0, 3.0, 5.0], [5.0, 5.0, 8.0], [3.0, 4.0, 7.0]])


def crossed(
    items: int, raters: int, seed: int, sds: tuple[float, float, float] = (1, 1, 1)
) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shapes = (items, 1), (1, raters), (items, raters)
    return sum(sd * rng.normal(size=shape) for sd, shape in zip(sds, shapes, strict=True))  # type: ignore[return-value]


def mean_squares(table: np.ndarray) -> tuple[float, float, float]:
    """Mean squares of items, raters and the rest, of a table without gaps."""
    items, raters = table.shape
    mean = table.mean()
    a, b = table.mean(axis=1) - mean, table.mean(axis=0) - mean
    e = table - mean - a[:, None] - b
    return (
        raters * float((a * a).sum()) / (items - 1),
        items * float((b * b).sum()) / (raters - 1),
        float((e * e).sum()) / ((items - 1) * (raters - 1)),
    )


# ------------------------------------------------------------------------------ worked values


def test_a_small_table_by_hand() -> None:
    result = crossed_mean(TABLE)
    items, raters, rest = mean_squares(TABLE)
    assert (items, raters, rest) == pytest.approx((14 / 3, 52 / 3, 1 / 3))
    assert result.mean == pytest.approx(14 / 3)
    assert result.error_these**2 == pytest.approx(7 / 18)
    assert result.error_any**2 == pytest.approx(65 / 36)
    assert result.parts == pytest.approx((13 / 36, 17 / 12, 1 / 36))
    freedom = (65 / 3) ** 2 / ((14 / 3) ** 2 / 3 + (52 / 3) ** 2 / 2 + (1 / 3) ** 2 / 6)
    assert result.freedom_any == pytest.approx(freedom)
    assert (result.units, result.raters, result.freedom_these) == (4, 3, 3)
    low, high = result.interval()[1:3]
    assert high - low == pytest.approx(2 * student_quantile(0.025, freedom) * result.error_any)
    assert sum(result.parts.shares) == pytest.approx(1)


@examples(40, 400)
@given(st.integers(2, 7), st.integers(2, 6), st.integers(0, 10**6))
def test_full_tables_are_the_analysis_of_variance(items: int, raters: int, seed: int) -> None:
    table = crossed(items, raters, seed)
    of_items, of_raters, rest = mean_squares(table)
    result, cells = crossed_mean(table), items * raters
    assert result.error_these**2 == pytest.approx(of_items / cells)
    extra = max(of_raters - rest, 0.0)
    assert result.error_any**2 == pytest.approx((of_items + extra) / cells)
    assert result.parts.raters == pytest.approx(extra / cells, abs=1e-12)


@examples(30, 300)
@given(st.integers(2, 7), st.integers(2, 5), st.integers(0, 10**6))
def test_a_difference_with_the_same_ratings_is_the_mean_of_differences(
    items: int, raters: int, seed: int
) -> None:
    first, second = crossed(items, raters, seed), crossed(items, raters, seed + 1)
    rng = np.random.default_rng(seed)
    gaps = rng.random((items, raters)) < 0.3
    gaps[gaps.all(axis=1), 0] = False
    first[gaps] = second[gaps] = np.nan
    both, alone = crossed_mean(first, second), crossed_mean(first - second)
    assert both.mean == pytest.approx(alone.mean)
    assert both.error_these == pytest.approx(alone.error_these)
    assert both.error_any == pytest.approx(alone.error_any, nan_ok=True)
    assert both.freedom_any == pytest.approx(alone.freedom_any)


def test_equal_weights_have_a_degree_of_freedom_less() -> None:
    for raters in (2, 3, 10):
        assert _freedom(np.full(raters, 1 / raters)) == pytest.approx(raters - 1)
    assert 1 < _freedom(np.array([0.8, 0.1, 0.1])) < 2
    assert _freedom(np.array([1.0])) == 1


# --------------------------------------------------------------------------------- the oracle


tables = hnp.arrays(
    np.float64,
    st.tuples(st.integers(3, 5), st.integers(2, 4)),
    elements=st.sampled_from([1.0, 2.0, 3.0, 5.0, math.nan]),
)


def solved(tables: tuple[np.ndarray, np.ndarray], items: list[int]) -> tuple[Any, Any]:
    """The oracle's components and reach; skip examples in which not all can be told apart."""
    weights = [rater_loops.weights_of(table, items) for table in tables]
    matrix = rater_loops.expected(*weights)
    size = np.abs(matrix).max()
    assume(size > 0 and abs(np.linalg.det(matrix / size)) > 1e-4)
    return rater_loops.covariance(tables, items)


@examples(60, 600)
@given(tables)
def test_components_of_tables_with_gaps_are_those_of_loops(table: np.ndarray) -> None:
    items = [i for i in range(len(table)) if not np.isnan(table[i]).all()]
    assume(len(items) > 1)
    components, reach = solved((table, table), items)
    spread = rater_spread(*_ratings(items, table))
    expected = components * reach
    both = max(expected[0] + expected[2], 0.0)
    assert spread.parts.raters == pytest.approx(max(expected[1], 0.0), abs=1e-9)
    assert spread.parts.items + spread.parts.rest == pytest.approx(both, abs=1e-9)
    assert spread.parts.rest == pytest.approx(min(max(expected[2], 0.0), both), abs=1e-9)


@examples(60, 600)
@given(tables, st.integers(0, 10**6))
def test_covariances_of_two_systems_are_those_of_loops(table: np.ndarray, seed: int) -> None:
    other = np.random.default_rng(seed).permuted(table, axis=1)
    items = [i for i in range(len(table)) if not np.isnan(table[i]).all()]
    assume(len(items) > 1)
    pairs = [(table, table), (other, other), (table, other)]
    parts = np.array([np.prod(solved(pair, items), axis=0) for pair in pairs])
    limit = math.sqrt(max(parts[0, 1], 0.0) * max(parts[1, 1], 0.0))
    assume((np.isnan(table) != np.isnan(other)).any())  # the same cells: differences, no limit
    parts[2, 1] = min(max(parts[2, 1], -limit), limit)
    expected = parts[0] + parts[1] - 2 * parts[2]
    spread = rater_spread(*_ratings(items, table, other))
    assert spread.parts.raters == pytest.approx(max(expected[1], 0.0), abs=1e-8)
    both = max(expected[0] + expected[2], 0.0)
    assert spread.parts.items + spread.parts.rest == pytest.approx(both, abs=1e-8)


def _ratings(items: list[int], *tables: np.ndarray) -> list[Ratings]:
    systems = []
    for table in tables:
        weights = rater_loops.weights_of(table, items)
        unit, rater = (np.array(codes) for codes in zip(*weights, strict=True))
        values = np.array([table[c] for c in weights])
        systems.append(Ratings(unit, rater, values, np.array([*weights.values()])))
    return systems


# ---------------------------------------------------------------------- what can be told apart


def test_one_rater_says_nothing_about_raters_in_general() -> None:
    result = crossed_mean(TABLE[:, :1])
    assert result.interval(THESE).low < result.mean < result.interval(THESE).high
    assert math.isnan(result.error_any)
    assert math.isnan(result.interval(ANY).low)
    assert math.isnan(result.p_value(ANY))


def test_one_rater_for_each_item_is_a_nested_analysis() -> None:
    """With n items for each of R raters, the variance of the mean is MS_raters / (n R)."""
    values = crossed(12, 1, 5)[:, 0] + np.repeat([0.0, 2.0, 5.0], 4)
    table = np.where(np.repeat(np.eye(3, dtype=bool), 4, axis=0), values[:, None], np.nan)
    result = crossed_mean(table)
    means = values.reshape(3, 4).mean(axis=1)
    assert result.error_any**2 == pytest.approx(means.var(ddof=1) / 3)
    assert math.isnan(result.parts.rest)
    assert result.parts.raters > 0
    assert result.freedom_any == pytest.approx(2, rel=0.1)


def test_raters_of_one_item_each_count_once() -> None:
    """Every rating has a rater of its own: other raters are as other items."""
    table = np.where(np.eye(8, dtype=bool), crossed(8, 8, 1), np.nan)
    result = crossed_mean(table)
    assert result.error_any == pytest.approx(result.error_these)
    assert result.freedom_any == pytest.approx(7)
    assert math.isnan(result.parts.raters)


def test_severity_cancels_only_if_raters_rated_both_systems() -> None:
    quality = crossed(12, 4, 3, (1, 0, 0.2))
    severity = np.array([-9.0, -3.0, 3.0, 9.0])
    first, second = quality + severity, crossed(12, 4, 3, (1, 0, 0)) + severity
    same = crossed_mean(first, second)
    assert same.error_any < 0.2
    turns = np.arange(12)[:, None] % 4
    mine, yours = turns == np.arange(4), (turns + 1) % 4 == np.arange(4)
    apart = crossed_mean(np.where(mine, first, np.nan), np.where(yours, second, np.nan))
    assert apart.error_any > 1
    halves = np.arange(4) < 2
    other_raters = crossed_mean(np.where(halves, first, np.nan), np.where(~halves, second, np.nan))
    assert other_raters.error_any > 4
    assert other_raters.parts.shares.raters > 0.9


def test_few_raters_who_differ_limit_the_degrees_of_freedom_of_a_difference() -> None:
    """Many raters of one system do not tell how the two raters of the other differ."""
    few = np.where(np.arange(22) < 2, crossed(10, 22, 1, (0.1, 10, 0.1)), np.nan)
    many = np.where(np.arange(22) >= 2, crossed(10, 22, 2, (0.1, 0.5, 0.1)), np.nan)
    assert crossed_mean(few, many).freedom_any < 2


def test_documents_are_the_units() -> None:
    """Segments of a document that are copies of each other add nothing."""
    table = crossed(8, 3, 4)
    plain, copied = (
        crossed_mean(table),
        crossed_mean(np.repeat(table, 5, axis=0), units=np.repeat(list("hgfedcba"), 5)),
    )
    assert copied.mean == pytest.approx(plain.mean)
    assert copied.error_these == pytest.approx(plain.error_these)
    assert copied.error_any == pytest.approx(plain.error_any)
    assert copied.freedom_any == pytest.approx(plain.freedom_any)
    segments = crossed_mean(np.repeat(table, 5, axis=0))
    assert segments.error_these < 0.6 * plain.error_these


def test_equal_ratings_have_no_error_and_no_test() -> None:
    result = crossed_mean(np.full((5, 3), 4.0))
    assert (result.mean, result.error_any) == (4.0, 0.0)
    assert math.isnan(result.p_value())
    assert math.isnan(crossed_mean([[1.0, 2.0]]).error_these)


# ------------------------------------------------------------------------------------- laws


@examples(40, 400)
@given(tables, st.floats(-3, 3))
def test_p_and_interval_never_contradict_each_other(table: np.ndarray, shift: float) -> None:
    assume((~np.isnan(table)).any())
    result = crossed_mean(table - shift)
    for raters in (THESE, ANY):
        family = result.intervals(raters)
        p = family.p_value()
        if math.isnan(p) or abs(p - 0.05) < 1e-6:
            continue
        low, high = family.interval()[1:3]
        assert (p < 0.05) == (low > 0 or high < 0)


@examples(40, 400)
@given(tables, st.randoms())
def test_order_scale_and_origin_do_not_matter(table: np.ndarray, random: Any) -> None:
    assume((~np.isnan(table)).any(axis=1).sum() > 1)
    items, raters = (random.sample(range(n), n) for n in table.shape)
    plain = crossed_mean(table)
    moved = crossed_mean(10 * table[items][:, raters] - 7)
    assert moved.mean == pytest.approx(10 * plain.mean - 7)
    assert moved.error_these == pytest.approx(10 * plain.error_these, abs=1e-6)
    assert moved.error_any == pytest.approx(10 * plain.error_any, abs=1e-6, nan_ok=True)
    assert plain.raters < 2 or plain.error_any >= plain.error_these * (1 - 1e-9)


def test_intervals_for_raters_in_general_hold_where_those_for_these_raters_do_not() -> None:
    held = np.zeros(2)
    for seed in range(400):
        result = crossed_mean(crossed(20, 5, seed))
        intervals = [result.interval(raters) for raters in (ANY, THESE)]
        held += [ends.low <= 0 <= ends.high for ends in intervals]
    assert 0.92 < held[0] / 400 < 0.98
    assert held[1] / 400 < 0.75


# --------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 2.0],), "ratings have 1 axes: expected items x raters"),
        (([[1.0, math.inf]],), "a rating is infinite: expected numbers, and NaN"),
        (([[math.nan, math.nan]],), "no item has a rating"),
        (([[1.0, math.nan]], [[math.nan, math.nan]]), "no item has a rating for both systems"),
        (([[1.0, 2.0]], [[1.0]]), "expected the same; use NaN for missing ratings"),
    ],
)
def test_bad_tables_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        crossed_mean(*arguments)


def test_bad_units_and_raters_are_refused() -> None:
    with pytest.raises(InputError, match="3 units for 4 items: expected one for each"):
        crossed_mean(TABLE, units=["a", "a", "b"])
    with pytest.raises(InputError, match="raters='all': expected one of these, any"):
        crossed_mean(TABLE).intervals("all")


def test_ratings_are_merged_and_weighted_as_given() -> None:
    codes = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    ratings = Ratings(*codes, np.array([1.0, 3.0, 5.0, 9.0]), np.array([0.125, 0.375, 0.25, 0.25]))
    assert ratings_mean(ratings).mean == pytest.approx(0.5 * (2.5 + 7))
