"""Systems that do not differ from the best, differences of all pairs, and margins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat as kt
from karat.comparison import MAX_PAIRED_SYSTEMS, Comparison
from karat.errors import InputError
from karat.stats.significance import min_deciding_units


def compared(
    values: Mapping[str, Sequence[float]], *metrics: Mapping[str, Sequence[float]], **more: Any
) -> Comparison:
    """A comparison of systems by scores from outside, whose means are the systems' scores."""
    size = len(next(iter(values.values())))
    scores = [
        kt.external_scores(f"m{n}", {name: list(table[name]) for name in values})
        for n, table in enumerate((values, *metrics))
    ]
    texts = {name: ["x"] * size for name in values}
    return kt.compare(texts, ["x"] * size, scores, **more)


def drawn(seed: int, shifts: Sequence[float], size: int = 40) -> dict[str, list[float]]:
    rng = np.random.default_rng(seed)
    return {f"s{n}": list(rng.normal(shift, 1, size)) for n, shift in enumerate(shifts)}


# ------------------------------------------------------------------------------ all pairs


def test_all_pairs_are_in_both_directions() -> None:
    result = compared(drawn(1, [0, 1, 2, 3]))
    names = {(row.system, row.other) for row in result.pairs}
    assert names == {(a, b) for a in result.systems for b in result.systems if a != b}
    by_names = {row[:2]: row for row in result.pairs}
    opposite = {"better": "worse", "worse": "better", "undecided": "undecided"}
    for a, b in combinations(result.systems, 2):
        row, turned = by_names[a, b], by_names[b, a]
        assert turned[3:6] == (-row.delta, -row.high, -row.low)
        assert (turned.p, turned.verdict) == (row.p, opposite[row.verdict])
        assert (turned.wins, turned.losses) == (row.losses, row.wins)


@given(st.integers(0, 10_000), st.lists(st.floats(-2, 2), min_size=3, max_size=6))
@settings(max_examples=25, deadline=None)
def test_tests_of_all_pairs_are_never_less_careful(seed: int, shifts: list[float]) -> None:
    """All pairs hold the pairs with the baseline, so their intervals are as wide or wider."""
    result = compared(drawn(seed, shifts, 20))
    for row in (row for row in result.rows if row.verdict):
        pair = result.against(result.baseline, row.metric)[row.system]
        assert pair.delta == row.delta
        slack = 0.03 * (pair.high - pair.low)  # of the draws behind either family
        assert pair.low <= (row.delta_low or 0) + slack
        assert pair.high >= (row.delta_high or 0) - slack
        assert pair.p >= 0.9 * (row.p or 0) - 0.001


def test_pairs_of_all_metrics_are_one_family() -> None:
    values, other_values = drawn(2, [0, 0.5, 1]), drawn(3, [0, 0.5, 1])
    alone, together = compared(values), compared(values, other_values)
    for row, same in zip(alone.pairs, together.pairs[: len(alone.pairs)], strict=True):
        assert row.high - row.low < same.high - same.low
    raw = compared(values, other_values, correction="none")
    for row, same in zip(alone.pairs, raw.pairs[: len(alone.pairs)], strict=True):
        assert row.high - row.low > same.high - same.low


@pytest.mark.parametrize(
    ("n_systems", "kept"), [(2, False), (3, True), (MAX_PAIRED_SYSTEMS, True), (21, False)]
)
def test_pairs_are_kept_for_three_to_twenty_systems(n_systems: int, kept: bool) -> None:
    result = compared(drawn(4, [0.0] * n_systems, 12))
    assert len(result.pairs) == (n_systems * (n_systems - 1) if kept else 0)
    assert bool(result.against("s0", result.rows[0].metric)) == kept
    assert all(row.is_leading is not None for row in result.rows)


# ------------------------------------------------------------------------------- leading


def leading(result: Comparison) -> set[str]:
    return {row.system for row in result.rows if row.is_leading}


def test_systems_far_below_the_best_do_not_lead() -> None:
    assert leading(compared(drawn(5, [5, 4.9, 0, 0.1]))) == {"s0", "s1"}
    assert leading(compared(drawn(5, [0, 9, 0, 0]))) == {"s1"}


def test_the_best_is_the_lowest_where_lower_is_better() -> None:
    texts = {"a": ["one two three four"] * 8, "b": ["one two x y"] * 8, "c": ["x y z w"] * 8}
    result = kt.compare(texts, ["one two three four"] * 8, "ter")
    assert [row.system for row in result.rows if row.is_leading] == ["a"]


def test_all_systems_lead_with_too_few_units() -> None:
    units = min_deciding_units(3) - 1
    shifts = [0, 50, 100]
    assert leading(compared(drawn(6, shifts, units))) == {"s0", "s1", "s2"}
    assert leading(compared(drawn(6, shifts, units + 1))) == {"s2"}


def test_the_baseline_changes_no_leading_system() -> None:
    values = drawn(7, [0, 0.3, 0.6, 0.9])
    assert len({frozenset(leading(compared(values, baseline=name))) for name in values}) == 1


def test_the_leading_systems_are_those_undecided_against_the_best() -> None:
    result = compared(drawn(8, [0, 0.2, 0.4, 0.6, 0.8]))
    best = result.systems[0]
    against_best = result.against(best, result.rows[0].metric)
    undecided = {name for name, row in against_best.items() if row.verdict == "undecided"}
    assert leading(result) == {best} | undecided


@pytest.mark.parametrize("n_systems", [3, pytest.param(15, marks=pytest.mark.long)])
def test_equal_systems_all_lead_in_95_percent_of_trials(n_systems: int) -> None:
    trials, n_wrong = 200, 0
    for trial in range(trials):
        result = compared(drawn(1000 + trial, [0.0] * n_systems, 30))
        n_wrong += len(leading(result)) < n_systems
    assert n_wrong / trials < 0.05 + 3 * sqrt(0.05 * 0.95 / trials)


# ------------------------------------------------------------------------------- margins


def margin_of(shift: float, spread: float, margin: float, size: int = 20) -> str | None:
    """The verdict by a margin on differences of a mean, with as much above as below it."""
    differences = shift + spread * np.linspace(-1, 1, size)
    values = {"base": [0.0] * size, "new": list(differences)}
    return compared(values, margin=margin)["new", "given:metric=m0"].margin_verdict


@pytest.mark.parametrize(
    ("shift", "spread", "expected"),
    [
        (0.0, 0.5, "equivalent"),
        (0.5, 0.5, "equivalent"),
        (-0.5, 0.5, "equivalent"),
        (5.0, 0.5, "no loss"),  # a gain beyond the margin
        (1.0, 0.5, "no loss"),  # not equivalent: the gain may be larger
        (-5.0, 0.5, "loss"),
        (-1.0, 0.5, "undecided"),
        (0.0, 50.0, "undecided"),
    ],
)
def test_verdicts_by_a_margin_of_one(shift: float, spread: float, expected: str) -> None:
    assert margin_of(shift, spread, 1.0) == expected


def test_five_units_have_no_verdict_by_a_margin() -> None:
    assert margin_of(-5.0, 0.5, 1.0, size=5) == "undecided"
    assert margin_of(0.0, 0.01, 1.0, size=5) == "undecided"
    assert margin_of(0.0, 0.01, 1.0, size=6) == "equivalent"


def test_without_a_loss_a_margin_of_zero_needs_a_gain() -> None:
    assert margin_of(2.0, 0.5, 0.0) == "no loss"
    assert margin_of(-2.0, 0.5, 0.0) == "loss"
    assert margin_of(0.0, 0.5, 0.0) == "undecided"


@given(st.floats(-3, 3), st.floats(0.1, 5), st.floats(0, 3))
@settings(max_examples=40, deadline=None)
def test_verdicts_by_a_margin_agree_with_the_interval(
    shift: float, spread: float, margin: float
) -> None:
    values = {"base": [0.0] * 12, "new": list(shift + spread * np.linspace(-1, 1, 12))}
    row = compared(values, margin=margin)["new", "given:metric=m0"]
    low, high = row.delta_low or 0.0, row.delta_high or 0.0
    expected = "undecided"
    if high < -margin:
        expected = "loss"
    elif low > -margin:
        expected = "equivalent" if high < margin else "no loss"
    assert row.margin_verdict == expected


def test_a_lower_ter_is_a_gain() -> None:
    reference = ["one two three four five six seven eight nine ten"] * 12
    texts = {"base": ["one two three four five"] * 12, "new": reference}
    row = kt.compare(texts, reference, "ter", margin=1)["new", "ter"]
    assert ((row.delta or 0) < 0, row.verdict, row.margin_verdict) == (True, "better", "no loss")
    turned = kt.compare(texts, reference, "ter", margin=1, baseline="new")["base", "ter"]
    assert (turned.verdict, turned.margin_verdict) == ("worse", "loss")


def test_margins_are_by_metric() -> None:
    values = drawn(10, [0, 0, 0])
    result = compared(values, values, margin={"given:metric=m1": 2})
    assert {(str(row.metric), row.margin) for row in result.rows if row.verdict} == {
        ("given:metric=m0", None),
        ("given:metric=m1", 2.0),
    }
    for row in result.pairs:
        assert (row.margin_verdict is None) == (str(row.metric) == "given:metric=m0")


def test_margins_of_pairs_are_those_of_their_intervals() -> None:
    result = compared(drawn(11, [0, 1, 2]), margin=0.6)
    for row in result.pairs:
        expected = "undecided"
        if row.high < -0.6:
            expected = "loss"
        elif row.low > -0.6:
            expected = "equivalent" if row.high < 0.6 else "no loss"
        assert row.margin_verdict == expected


@pytest.mark.parametrize(
    ("margin", "message"),
    [
        (-1, "margin: found -1, expected 0 or more"),
        ({"bleu": 1}, "margin bleu: no such metric"),
        (float("nan"), "margin: found"),
        ("much", "margin: found 'much', expected a number"),
    ],
)
def test_bad_margins(margin: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compared(drawn(12, [0, 0]), margin=margin)


# -------------------------------------------------------------------- binned differences


@given(st.lists(st.floats(-50, 50), min_size=6, max_size=30))
@settings(max_examples=40, deadline=None)
def test_bins_of_segments(differences: list[float]) -> None:
    values = {"a": [0.0] * len(differences), "b": differences, "c": [1.0] * len(differences)}
    result = compared(values)
    m = result.rows[0].metric
    bins = result.binned_differences("b", "a", m)
    assert (len(bins), sum(bins)) == (41, len(differences))
    assert result.binned_differences("a", "b", m) == bins[::-1]
    width = 2 * result.largest_gap(m) / 41
    places = [min(int(abs(x) / width + 0.5), 20) * (1 if x > 0 else -1) + 20 for x in differences]
    assert bins == [places.count(n) for n in range(41)]


def test_equal_segments_are_in_the_middle_bin() -> None:
    values = {"a": [1.0] * 8, "b": [1.0] * 8, "c": [2.0] * 8}
    result = compared(values)
    m = result.rows[0].metric
    assert result.binned_differences("b", "a", m)[20] == 8
    assert result.binned_differences("c", "a", m)[40] == 8
    assert result.binned_differences("a", "c", m)[0] == 8
