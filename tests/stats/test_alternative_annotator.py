"""The alternative annotator test: a slow oracle, worked values, control judges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from oracles.alternative_annotator_loops import panel_test, sign_enumeration

from karat.stats.alternative_annotator import (
    CANNOT_TELL,
    FAILS,
    LABELS,
    NUMBERS,
    PASSES,
    AnnotatorPanel,
    judge_verdict,
    noninferiority_p,
    signed_rank_p,
)
from karat.stats.significance import benjamini_yekutieli


def panel_of(
    people: np.ndarray[Any, Any],
    judge: np.ndarray[Any, Any],
    units: np.ndarray[Any, Any] | None = None,
) -> AnnotatorPanel:
    """The panel of a table of annotators x items; NaN where there is no rating."""
    annotator, item = np.nonzero(~np.isnan(people))
    unit = np.arange(people.shape[1]) if units is None else units
    return AnnotatorPanel.from_ratings(annotator, item, people[annotator, item], judge, unit)


def single_p(sums: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any], epsilon: float) -> float:
    return float(noninferiority_p(sums[None], sizes, epsilon)[0])


def mappings(table: np.ndarray[Any, Any]) -> dict[int, dict[int, float]]:
    return {
        j: {i: float(v) for i, v in enumerate(row) if not np.isnan(v)}
        for j, row in enumerate(table)
    }


@pytest.mark.parametrize("similarity", [LABELS, NUMBERS])
@pytest.mark.parametrize(("items", "per_unit"), [(100, 1), (12, 1), (160, 4), (60, 5)])
@pytest.mark.parametrize("seed", range(5))
def test_it_equals_the_loops(similarity: str, items: int, per_unit: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, items)
    people = np.clip(np.round(quality + rng.normal(0, 0.7, (4, items))), 1, 5)
    people[rng.random(people.shape) < 0.15] = np.nan
    judge = np.clip(np.round(quality + rng.normal(0, 0.7, items)), 1, 5)
    judge[rng.random(items) < 0.1] = np.nan
    units = np.arange(items) // per_unit
    panel = panel_of(people, judge, units)
    judged = {i: float(v) for i, v in enumerate(judge) if not np.isnan(v)}
    for epsilon in (0.1, 0.2):
        tests = panel.test(panel.judge[None], epsilon, similarity)
        slow = panel_test(
            mappings(people), judged, epsilon, similarity == LABELS, dict(enumerate(units))
        )
        shares = np.stack([tests.judge_share[0], tests.annotator_share[0]], axis=1)
        assert shares.ravel() == pytest.approx(np.ravel(slow["shares"]), abs=1e-12)
        assert tests.p[0] == pytest.approx(slow["p"], abs=1e-12)
        assert tests.winning_rate[0] == slow["omega"]
        assert tests.advantage[0] == pytest.approx(slow["advantage"], abs=1e-12)


def test_worked_values() -> None:
    """Six items; the judge is closer once, the annotator twice, three ties."""
    people = np.array([[1, 1, 1, 0, 1, 0], [1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]], float)
    judge = np.array([1, 1, 0, 1, 0, 0], float)
    panel = panel_of(people, judge)
    gaps = panel.compare(panel.judge[None], LABELS)[0]
    assert gaps.reshape(3, 6)[0].tolist() == [0, 0, 1, -1, 1, 0]
    tests = panel.test(panel.judge[None], 0.2, LABELS)
    assert (tests.items[0], tests.units[0]) == (6, 6)
    assert tests.judge_share[0, 0] == pytest.approx(4 / 6)
    assert tests.annotator_share[0, 0] == pytest.approx(5 / 6)
    # d - .2: -.2 three times (mid-rank 2), -1.2 (rank 6), .8 twice (mid-rank 4.5): W+ = 9
    differences = [-0.2, -0.2, 0.8, -1.2, 0.8, -0.2]
    student = scipy.stats.ttest_1samp(differences, 0, alternative="less").pvalue
    assert tests.p[0, 0] == pytest.approx(max(sign_enumeration(differences), student))


def test_few_units_need_both_tests() -> None:
    """Wilcoxon's test alone is too liberal where most differences are ties."""
    d = np.array([0] * 15 + [1] * 3)
    student = scipy.stats.ttest_1samp(d, 0.2, alternative="less").pvalue
    assert signed_rank_p(d - 0.2) < 0.1 < student
    assert single_p(d, np.ones(18, int), 0.2) == pytest.approx(student, abs=1e-14)


def test_two_values_are_compared_alike_as_labels_and_as_numbers() -> None:
    rng = np.random.default_rng(1)
    people, judge = rng.integers(0, 2, (4, 50)).astype(float), rng.integers(0, 2, 50).astype(float)
    panel = panel_of(people, judge)
    of_labels, of_numbers = (panel.compare(panel.judge[None], s) for s in (LABELS, NUMBERS))
    assert np.array_equal(of_labels, of_numbers)


def test_one_item_per_unit_is_student_s_paired_test() -> None:
    d = np.array([1, 0, -1, 0] * 10)
    p = single_p(d, np.ones(40, int), 0.2)
    assert p == pytest.approx(scipy.stats.ttest_1samp(d, 0.2, alternative="less").pvalue, abs=1e-14)


def test_units_that_do_not_vary_have_the_p_of_a_sign_test() -> None:
    assert single_p(np.zeros(40, int), np.ones(40, int), 0.1) == 2.0**-40
    assert single_p(np.ones(40, int), np.ones(40, int), 0.1) == 1.0


def test_items_of_a_document_are_not_independent() -> None:
    """Five copies of each item do not make the test more certain."""
    d = np.array([1, -1, -1, 0, 0, 0, 1, -1] * 5)
    once = single_p(d, np.ones(40, int), 0.1)
    assert single_p(5 * d, np.full(40, 5), 0.1) == pytest.approx(once, abs=1e-14)
    assert single_p(np.repeat(d, 5), np.ones(200, int), 0.1) < once / 5


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=11))
def test_signed_ranks_are_enumerated(values: list[int]) -> None:
    differences = np.array(values) / 4
    assert signed_rank_p(differences) == pytest.approx(sign_enumeration(differences), abs=1e-12)


def test_signed_ranks_without_ties_are_scipy_s() -> None:
    differences = np.random.default_rng(4).normal(-0.3, 1, 22)
    expected = scipy.stats.wilcoxon(differences, alternative="less", method="exact").pvalue
    assert signed_rank_p(differences) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_benjamini_yekutieli_is_scipy_s(p_values: list[float]) -> None:
    expected = scipy.stats.false_discovery_control(p_values, method="by")
    assert benjamini_yekutieli(p_values) == pytest.approx(expected, abs=1e-12)


def labels(prevalence: float, seed: int) -> tuple[np.ndarray[Any, Any], ...]:
    """People, a judge like them, and a judge that draws labels."""
    rng = np.random.default_rng(seed)
    truth = rng.random(100) < prevalence

    def rater() -> np.ndarray[Any, Any]:
        return np.where(rng.random(100) < 0.9, truth, ~truth).astype(float)

    people = np.stack([rater() for _ in range(3)])
    return people, rater(), (rng.random(100) < prevalence).astype(float)


def verdicts(prevalence: float, draws: int) -> tuple[list[str], list[str]]:
    equal, chance = [], []
    for seed in range(draws):
        people, judge, coin = labels(prevalence, seed)
        for values, outcomes in ((judge, equal), (coin, chance)):
            panel = panel_of(people, values)
            tests = panel.test(panel.judge[None], 0.2, LABELS)
            controls = panel.controls(0.2, LABELS, 40, seed)
            outcomes.append(judge_verdict(bool(tests.passed[0]), controls))
    return equal, chance


@pytest.mark.parametrize("draws", [40, pytest.param(1000, marks=pytest.mark.long)])
def test_judges_like_people_pass_and_chance_does_not(draws: int) -> None:
    equal, chance = verdicts(0.5, draws)
    assert np.mean([verdict == PASSES for verdict in equal]) >= 0.9
    assert np.mean([verdict == PASSES for verdict in chance]) <= 0.05


def test_skewed_labels_cannot_tell() -> None:
    equal, chance = verdicts(0.9, 20)
    assert {*equal, *chance} == {CANNOT_TELL}


def test_a_judge_that_is_worse_does_not_pass() -> None:
    people, judge, _ = labels(0.5, 0)
    judge[::3] = 1 - judge[::3]
    panel = panel_of(people, judge)
    tests = panel.test(panel.judge[None], 0.2, LABELS)
    assert judge_verdict(bool(tests.passed[0]), panel.controls(0.2, LABELS, 40, 0)) == FAILS


def test_controls_see_no_item() -> None:
    """The controls do not depend on which item has which value of the judge."""
    people, judge, _ = labels(0.8, 3)
    panel, turned = panel_of(people, judge), panel_of(people, judge[::-1])
    first, second = (p.controls(0.2, NUMBERS, 40, 5) for p in (panel, turned))
    assert first[:2] == second[:2]
    assert first.constant == 1
    again = panel.controls(0.2, NUMBERS, 40, 5)
    assert again == first


def test_annotators_with_few_units_are_no_test_but_count_as_others() -> None:
    people = np.full((4, 30), 1.0)
    people[0, ::2] = 0
    people[3, 5:] = np.nan
    panel = panel_of(people, np.ones(30))
    assert panel.tested == [0, 1, 2]
    assert {*panel.annotator.tolist()} == {0, 1, 2, 3}
