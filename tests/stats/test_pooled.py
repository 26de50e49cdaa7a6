"""Statistics whose pairs are pooled over groups: worked values, loops over pairs, real draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import pair_loops

from karat.meta.agreement import agreement, bootstrap, perm_both
from karat.meta.evaluation import rank_metrics
from karat.meta.settings import OVER
from karat.stats.correlation import STATISTICS
from karat.stats.exchanges import drawn_words, masks
from karat.stats.paired_tests import standardised
from karat.stats.resampling import bootstrap_indices

Loop = Callable[[pair_loops.Groups], float]
LOOPS: dict[str, Loop] = {
    "kendall-like": pair_loops.kendall_like,
    "darr": lambda groups: pair_loops.kendall_like(groups, 25),
    "pdp": pair_loops.pairwise_difference_pearson,
}
SEEDS = st.integers(0, 2**32)


def matrices(seed: int, systems: int = 5, segments: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Human scores of 0, 12.5, ..., 100, metric scores with ties; a fifth is missing."""
    rng = np.random.default_rng(seed)
    shape = systems, segments
    human, metric = rng.integers(0, 9, shape) * 12.5, rng.integers(0, 12, shape) / 7
    human[rng.random(shape) < 0.1] = np.nan
    metric[rng.random(shape) < 0.1] = np.nan
    return human, metric


def grouped(human: np.ndarray, metric: np.ndarray) -> list[tuple[list[float], list[float]]]:
    """The rows without what is missing."""
    both = ~(np.isnan(human) | np.isnan(metric))
    rows = zip(human, metric, both, strict=True)
    return [(h[k].tolist(), m[k].tolist()) for h, m, k in rows]


# ------------------------------------------------------------------------------ worked values


def test_values_that_mt_metrics_eval_states() -> None:
    """Its tests of KendallLike and of KendallVariants("23") have these figures."""
    gold, metric = [10, 11, 100, 150], [2, 1, 4, 3]
    assert STATISTICS["darr"](gold, metric) == 3 / 5  # 10 and 11 are closer than 25
    assert STATISTICS["kendall-like"](gold, metric) == 2 / 6
    assert STATISTICS["tau-23"]([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3]) == pytest.approx(0.2)
    seven = [1, 1, 1, 2, 2, 3, 4], [1, 1, 2, 2, 4, 3, 3]
    assert STATISTICS["tau-23"](*seven) == pytest.approx((14 - 7) / 21)


def test_ties_of_humans_are_dropped_and_ties_of_the_metric_are_wrong() -> None:
    by = STATISTICS["kendall-like"]
    assert by([1, 1, 2], [5, 9, 9]) == 0  # one right, one tied, and a pair that humans tie
    assert by([1, 2, 3], [7, 7, 7]) == -1
    assert np.isnan(by([4, 4, 4], [1, 2, 3]))


def test_exactly_25_points_are_enough() -> None:
    assert STATISTICS["darr"]([50, 75], [1, 2]) == 1
    assert np.isnan(STATISTICS["darr"]([50, 74.999], [1, 2]))
    level_agreement = agreement(
        np.array([[50.0], [60.0]]), np.array([[1.0], [2.0]]), "darr", "segment"
    )
    assert level_agreement.reason == "no two human scores differ enough"


def test_pairwise_differences_by_hand() -> None:
    """Differences of two segments: humans 1, 2, metric 3, 1, and the same with a minus."""
    human = np.array([[1.0, 7.0], [0.0, 5.0]])
    metric = np.array([[3.0, 1.0], [0.0, 0.0]])
    level_agreement = agreement(human, metric, "pdp", "item")
    assert level_agreement.value == pytest.approx((1 * 3 + 2 * 1) / np.sqrt((1 + 4) * (9 + 1)))
    assert (level_agreement.groups, level_agreement.left_out) == (2, 0)


def test_of_one_group_the_differences_correlate_as_the_scores_do() -> None:
    rng = np.random.default_rng(1)
    human, metric = rng.normal(size=(2, 40))
    r = STATISTICS["pearson"](human, metric)
    assert STATISTICS["pdp"](human, metric) == pytest.approx(r, abs=1e-12)


def test_a_segment_counts_by_its_pairs() -> None:
    """One segment has three pairs, all right, the other one pair, wrong: 2 of 4, not the mean."""
    human = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, np.nan]])
    metric = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 9.0]])
    assert agreement(human, metric, "kendall-like", "item").value == 0.5
    assert agreement(human, metric, "tau-b", "item").value == 0


# ------------------------------------------------------------------------------- against loops


@given(seed=SEEDS, n=st.integers(0, 12))
def test_tau_23_is_that_of_every_pair(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    h, m = rng.integers(0, 4, n) / 3, rng.integers(0, 4, n) / 3
    expected = pair_loops.tau_23(h.tolist(), m.tolist())
    assert STATISTICS["tau-23"](h, m) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", LOOPS)
@given(seed=SEEDS)
def test_values_are_those_of_every_pair_of_every_group(name: str, seed: int) -> None:
    human, metric = matrices(seed)
    for at, turned in (("item", (human.T, metric.T)), ("by-system", (human, metric))):
        groups = grouped(*turned)
        level_agreement = agreement(human, metric, name, at)
        expected = LOOPS[name](groups)
        assert level_agreement.value == pytest.approx(expected, abs=1e-9, nan_ok=True)
        assert level_agreement.groups + level_agreement.left_out == len(groups)
        assert bool(level_agreement.reason) == np.isnan(level_agreement.value)
    cells = grouped(human.reshape(1, -1), metric.reshape(1, -1))
    expected = LOOPS[name](cells)
    assert agreement(human, metric, name, "segment").value == pytest.approx(
        expected, abs=1e-9, nan_ok=True
    )


@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize("name", LOOPS)
def test_draws_are_those_of_the_drawn_segments(name: str, over: str) -> None:
    human, metric = matrices(3)
    resamples = bootstrap(human, [metric], name, "item", over, 10, 5)[0]
    ((systems, segments),) = bootstrap_indices(human.shape, over, 10, 5)
    for value, s, t in zip(resamples, systems, segments, strict=True):
        resampled = (x[np.ix_(s, t)].T for x in (human, metric))
        assert value == pytest.approx(LOOPS[name](grouped(*resampled)), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("name", LOOPS)
def test_exchanges_are_those_one_by_one(name: str) -> None:
    human, first = matrices(4)
    _, second = matrices(5)
    permutation = perm_both(human, first, second, name, "item", 40, 9)
    of = standardised(human, first, second)
    (words,) = drawn_words(human.shape, 40, 9)

    def apart(chosen: np.ndarray) -> float:
        pair = np.where(chosen, of.second, of.first), np.where(chosen, of.first, of.second)
        left, other = (LOOPS[name](grouped(of.human.T, m.T)) for m in pair)
        return left - other

    delta = apart(np.zeros(human.shape, bool))
    beyond = sum(apart(mask) >= delta - 1e-12 for mask in masks(words, human.shape))
    assert permutation.delta == pytest.approx(delta, abs=1e-9)
    assert permutation.beyond == beyond
    assert permutation.p == (1 + beyond) / 41


def test_the_order_of_systems_and_the_scales_do_not_matter() -> None:
    human, metric = matrices(6)
    order = np.random.default_rng(1).permutation(len(human))
    for name in LOOPS:
        value = agreement(human, metric, name, "item").value
        assert agreement(human[order], metric[order], name, "item").value == pytest.approx(value)
        assert agreement(human, 3 * metric - 1, name, "item").value == pytest.approx(value)


def test_metrics_are_ranked_by_them() -> None:
    rng = np.random.default_rng(1)
    human = np.round(50 + 20 * rng.normal(size=(8, 80)))
    noise = rng.normal(size=(2, *human.shape))
    metric_scores = {"bad": human + 60 * noise[0], "good": human + 10 * noise[1]}
    for name in (*LOOPS, "tau-23"):
        ranking = rank_metrics(human, metric_scores, name, "item", resamples=50, trials=50)
        assert [(row.metric, row.rank) for row in ranking.rows] == [("good", 1), ("bad", 2)]
        assert all(row.low < row.value < row.high for row in ranking.rows)
