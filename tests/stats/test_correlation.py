"""Statistics of two vectors: pair by pair, and scipy's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from oracles import pair_loops

from karat import _kernel
from karat.errors import InputError, Interrupted
from karat.progress import Stop
from karat.stats import correlation
from karat.stats import correlation as c
from karat.stats.correlation import calibrate

OF_POINTS = [name for name in c.STATISTICS if name != "spa"]
COARSE = st.integers(-3, 3).map(float)  # many ties
FINE = st.floats(-100, 100).map(lambda x: round(x, 6))
SCORES = st.one_of(COARSE, FINE)


def vectors(least: int = 0, most: int = 25) -> st.SearchStrategy[tuple[list[float], list[float]]]:
    sizes = st.integers(least, most)
    return sizes.flatmap(
        lambda n: st.tuples(
            st.lists(SCORES, min_size=n, max_size=n), st.lists(SCORES, min_size=n, max_size=n)
        )
    )


EPSILONS = st.sampled_from([0.0, 0.5, 1.0, 2.5, 300.0])


@given(pair=vectors(), epsilon=EPSILONS)
def test_pair_counts_are_those_of_every_pair(
    pair: tuple[list[float], list[float]], epsilon: float
) -> None:
    h, m = (np.array([x]) for x in pair)
    assert _kernel.pair_counts(h, m, epsilon)[0].tolist() == pair_loops.pair_counts(*pair, epsilon)


@given(pair=vectors())
def test_average_ranks_count_what_is_below(pair: tuple[list[float], list[float]]) -> None:
    ranks = _kernel.average_ranks(np.array(pair))
    assert ranks.tolist() == [pair_loops.average_ranks(x) for x in pair]


@given(pair=vectors())
def test_taus_and_accuracy_are_those_of_every_pair(pair: tuple[list[float], list[float]]) -> None:
    assert c.tau_b(*pair) == pytest.approx(pair_loops.tau_b(*pair), abs=1e-12, nan_ok=True)
    assert c.tau_c(*pair) == pytest.approx(pair_loops.tau_c(*pair), abs=1e-12, nan_ok=True)
    if len(pair[0]) > 1:
        assert c.pairwise_accuracy(*pair) == pair_loops.accuracy(*pair, 0.0)


PEERS = {
    "pearson": scipy.stats.pearsonr,
    "spearman": scipy.stats.spearmanr,
    "tau-b": scipy.stats.kendalltau,
    "tau-c": lambda h, m: scipy.stats.kendalltau(h, m, variant="c"),
    "r2": lambda h, m: [scipy.stats.linregress(h, m).rvalue ** 2],
    "rmse": lambda h, m: [np.sqrt(np.mean(np.subtract(h, m) ** 2))],
}


@pytest.mark.parametrize("name", PEERS)
@given(pair=vectors(2))
def test_statistics_are_scipys(name: str, pair: tuple[list[float], list[float]]) -> None:
    h, m = pair
    constant = len(set(h)) == 1 or len(set(m)) == 1
    result = c.STATISTICS[name](h, m)
    if constant and name != "rmse":
        assert np.isnan(result)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = PEERS[name](h, m)[0]
    assert result == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", OF_POINTS)
def test_rows_are_done_as_if_one_by_one(name: str) -> None:
    rng = np.random.default_rng(1)
    h, m = rng.integers(0, 4, (2, 30, 7)).astype(float)
    h[3], m[4] = 1, 2
    statistic = c.STATISTICS[name]
    expected = [statistic(x, y) for x, y in zip(h, m, strict=True)]
    assert np.array_equal(statistic.rows(h, m), expected, equal_nan=True)


DEFINED_FOR_CONSTANTS = {"rmse", "accuracy", "acc-eq", "tau-23", "kendall-like", "darr"}


@pytest.mark.parametrize("name", sorted({*OF_POINTS} - DEFINED_FOR_CONSTANTS))
@pytest.mark.parametrize(
    ("h", "m", "reason"),
    [
        ([], [], "0 points, at least 2 are needed"),
        ([1.0], [2.0], "1 point, at least 2 are needed"),
        ([1.0, np.nan, 3.0], [2.0, 1.0, np.nan], "1 point, at least 2 are needed"),
        ([0.1] * 3, [1.0, 2.0, 3.0], "the human scores are constant"),
        ([1.0, 2.0, 3.0], [0.1] * 3, "the metric scores are constant"),
    ],
)
def test_what_is_undefined_is_nan_and_says_why(
    name: str, h: list[float], m: list[float], reason: str
) -> None:
    assert np.isnan(c.STATISTICS[name](h, m))
    assert c.why_undefined(h, m) == reason


@pytest.mark.parametrize("name", OF_POINTS)
def test_missing_scores_are_left_out(name: str) -> None:
    h, m = [10.0, np.nan, 20.0, 40.0, 30.0, 90.0], [2.0, 7.0, 1.0, 5.0, 4.0, np.nan]
    assert c.STATISTICS[name](h, m) == c.STATISTICS[name]([10, 20, 40, 30], [2, 1, 5, 4])
    assert c.why_undefined(h, m) == ""


def test_a_constant_that_does_not_round_well_is_still_constant() -> None:
    assert np.isnan(c.pearson([0.1] * 10, np.arange(10)))
    assert np.isnan(c.pearson(np.arange(3), [1e16 / 3] * 3))


def test_shapes_and_names_are_checked() -> None:
    with pytest.raises(InputError, match=r"\(2,\) and metric scores \(3,\): expected the same"):
        c.pearson([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="statistic 'tau': expected one of pearson"):
        c.statistic("tau")
    with pytest.raises(InputError, match="spa is of matrices"):
        c.statistic("spa")([1, 2], [1, 2])


# ------------------------------------------------------------------------------- calibration

GROUPS = st.lists(vectors(0, 7), min_size=1, max_size=5).filter(
    lambda groups: any(len(h) > 1 for h, _ in groups)
)


def matrices(groups: list[tuple[list[float], list[float]]]) -> tuple[np.ndarray, np.ndarray]:
    """Groups as rows, filled up with NaN in one or the other."""
    width = max(len(h) for h, _ in groups) + 1
    human, metric = np.full((2, len(groups), width), 5.0)
    for k, (h, m) in enumerate(groups):
        human[k, : len(h)], metric[k, : len(m)] = h, m
        (human if k % 2 else metric)[k, len(h) :] = np.nan
    return human, metric


@given(groups=GROUPS)
def test_calibration_finds_the_best_of_all_thresholds(
    groups: list[tuple[list[float], list[float]]],
) -> None:
    calibration = calibrate(*matrices(groups))
    epsilon, accuracy = pair_loops.calibrate(groups)
    assert (calibration.epsilon, calibration.accuracy) == (
        epsilon,
        pytest.approx(accuracy, abs=1e-12),
    )
    selected = [len(h) for h, _ in groups if len(h) > 1]
    assert calibration.groups == len(selected)
    assert calibration.left_out == len(groups) - len(selected)
    assert calibration.pairs == sum(n * (n - 1) // 2 for n in selected)


def test_calibration_makes_ties_where_humans_have_them() -> None:
    calibration = calibrate([1, 1, 2, 2], [0.1, 0.2, 0.9, 1.05])
    assert calibration.accuracy == 1
    assert calibration.epsilon == pytest.approx(0.15)


def test_one_threshold_serves_all_groups() -> None:
    # At 1 the first group keeps one pair of three right, and the second gets its only one.
    groups = [([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), ([1.0, 1.0], [5.0, 6.0])]
    alone = [calibrate(h, m).epsilon for h, m in groups]
    assert alone == [0, 1]
    assert calibrate(*matrices(groups))[:2] == (1.0, pytest.approx((1 / 3 + 1) / 2))


def test_calibration_without_pairs_is_undefined() -> None:
    calibration = calibrate([[1.0], [np.nan]], [[1.0], [2.0]])
    assert np.isnan(calibration.accuracy)
    assert np.isnan(calibration.epsilon)
    assert calibration.left_out == 2


def test_bands_do_not_change_the_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    for digits in (0, 1, 8):
        human = rng.integers(0, 4, (6, 30)).astype(float)
        metric = np.round(human + 2 * rng.normal(size=human.shape), digits)
        human[rng.random(human.shape) < 0.2] = np.nan
        calibration = calibrate(human, metric)
        for band in (1, 7, 100):
            monkeypatch.setattr(correlation, "BAND", band)
            assert calibrate(human, metric) == calibration
        monkeypatch.undo()


@given(groups=GROUPS, band=st.integers(1, 9))
def test_bands_of_any_size_find_the_best(
    groups: list[tuple[list[float], list[float]]], band: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(correlation, "BAND", band)
        calibration = calibrate(*matrices(groups))
    epsilon, accuracy = pair_loops.calibrate(groups)
    assert (calibration.epsilon, calibration.accuracy) == (
        epsilon,
        pytest.approx(accuracy, abs=1e-12),
    )


def test_calibration_can_be_stopped() -> None:
    stop = Stop()
    stop.request()
    with pytest.raises(Interrupted):
        calibrate(np.arange(9.0), np.arange(9.0), stop)


def test_infinite_scores_have_ranks_but_no_line() -> None:
    h, m = [1.0, 2.0, 3.0, 4.0], [-np.inf, 0.0, 2.0, 1.0]
    assert c.tau_b(h, m) == pytest.approx(4 / 6)
    assert c.spearman(h, m) == pytest.approx(0.8)
    assert np.isnan(c.pearson(h, m))
    assert c.why_undefined(h, m) == "the metric scores are not all finite"
    with pytest.raises(InputError, match="scores must be finite"):
        calibrate(h, m)


def test_the_kernel_refuses_what_it_cannot_sort() -> None:
    x, bad = np.zeros((1, 3)), np.array([[1.0, np.nan, 2.0]])
    for call in (
        lambda: _kernel.pair_counts(x, bad, 0.0),
        lambda: _kernel.pair_counts(bad, x, 0.0),
        lambda: _kernel.average_ranks(bad),
    ):
        with pytest.raises(ValueError, match="there is a NaN among the scores"):
            call()
    with pytest.raises(ValueError, match="epsilon is negative"):
        _kernel.pair_counts(x, x, -1.0)
    with pytest.raises(ValueError, match="differ in shape"):
        _kernel.pair_counts(np.zeros((2, 3)), x, 0.0)
    with pytest.raises(ValueError, match="not all finite"):
        _kernel.calibrate_ties(bad[0], x[0], np.array([0, 3]), np.array([0]), 9, None)


def test_groups_out_of_order_are_refused() -> None:
    x = np.zeros(4)
    with pytest.raises(ValueError, match="not in order"):
        _kernel.calibrate_ties(x, x, np.array([0, 3, 2]), np.zeros(2, np.int64), 9, None)
    with pytest.raises(ValueError, match="not in order"):
        _kernel.calibrate_ties(x, x, np.array([0, 5]), np.zeros(1, np.int64), 9, None)


@pytest.mark.parametrize(
    ("copies", "message"),
    [
        ([0, 0], "copies and groups differ in number"),
        ([-1], "a negative number of copies"),
        ([2], "more pairs of copies than ties"),
    ],
)
def test_copies_that_cannot_be_are_refused(copies: list[int], message: str) -> None:
    x = np.array([1.0, 1.0, 2.0])  # one tie
    with pytest.raises(ValueError, match=message):
        _kernel.calibrate_ties(x, x, np.array([0, 3]), np.array(copies), 9, None)


def test_no_points_have_no_ranks_and_no_pairs() -> None:
    nothing = np.empty((2, 0))
    assert _kernel.average_ranks(nothing).shape == (2, 0)
    assert _kernel.pair_counts(nothing, nothing, 0.0).tolist() == [[0] * 7] * 2
    assert np.isnan(c.STATISTICS["spearman"]([], []))
    assert _kernel.chosen_sums(np.ones((1, 3), np.uint64), np.empty((2, 0))).shape == (3, 0)
