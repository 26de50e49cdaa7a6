"""p of correlations, beside scipy's and worked values."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

import karat as kt
from karat.stats.distributions import p_of_r, p_of_tau

RNG = np.random.default_rng(16)


@pytest.mark.parametrize("n", [3, 4, 10, 47, 400])
@pytest.mark.parametrize("tied", [False, True])
def test_they_are_scipy_s(n: int, tied: bool) -> None:
    human = RNG.normal(size=n)
    metric = human + 2 * RNG.normal(size=n)
    if tied:
        human, metric = np.round(human), np.round(metric)
    if len(set(human)) == 1 or len(set(metric)) == 1:
        pytest.skip("nothing to correlate")
    value = {name: kt.statistic(name).p_value(human, metric) for name in ("pearson", "spearman")}
    assert value["pearson"] == pytest.approx(stats.pearsonr(human, metric).pvalue, abs=1e-9)
    if n > 7:  # fewer are tried in all orders, scipy has Student's t
        assert value["spearman"] == pytest.approx(stats.spearmanr(human, metric).pvalue, abs=1e-9)
    tau = stats.kendalltau(human, metric, method="asymptotic").pvalue
    assert p_of_tau(human, metric) == pytest.approx(tau, abs=1e-12)
    assert kt.statistic("tau-c").p_value(human, metric) == p_of_tau(human, metric)
    assert kt.statistic("r2").p_value(human, metric) == value["pearson"]


def test_the_paper_s_47_sentences() -> None:
    """The smallest r that is significant at 0.05 over 47 sentences (section 4): 0.2876."""
    assert p_of_r(0.2876, 47) == pytest.approx(0.05, abs=1e-4)
    assert p_of_r(-0.2876, 47) == p_of_r(0.2876, 47)


def test_ends() -> None:
    assert math.isnan(p_of_r(0.5, 2))
    assert p_of_r(1.0, 5) == 0
    assert p_of_r(0.0, 5) == 1
    assert math.isnan(p_of_r(math.nan, 5))
    assert math.isnan(p_of_tau(np.array([1.0, 2.0]), np.array([1.0, 2.0])))
    assert math.isnan(p_of_tau(np.ones(5), np.arange(5.0)))


@pytest.mark.parametrize("n", [3, 4, 6, 7])
def test_rho_of_few_points_is_tried_in_all_orders(n: int) -> None:
    human, metric = RNG.normal(size=n), np.round(RNG.normal(size=n), 1)

    ranks = stats.zscore(stats.rankdata(human))
    orders = stats.zscore(list(permutations(stats.rankdata(metric))), axis=1)
    result = np.abs(orders @ ranks) / n
    assert result[0] == pytest.approx(abs(stats.spearmanr(human, metric).statistic))
    expected = np.mean(result >= result[0] - 1e-9)
    assert kt.statistic("spearman").p_value(human, metric) == pytest.approx(expected)


def test_a_perfect_order_of_four_is_no_proof() -> None:
    ranks = np.arange(4.0)
    assert kt.statistic("spearman").p_value(ranks, ranks) == 2 / 24
    assert math.isnan(kt.statistic("spearman").p_value(ranks[:2], ranks[:2]))
    assert math.isnan(kt.statistic("spearman").p_value(ranks, np.ones(4)))
