"""Bootstrap of agreement: draw by draw, paired, and as often right as it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import resampled_pairs

from karat.errors import InputError
from karat.meta.agreement import (
    MATRIX_LEVELS,
    agreement,
    bootstrap,
)
from karat.meta.evaluation import rank_metrics
from karat.meta.settings import OVER
from karat.stats.correlation import STATISTICS, Statistic, pearson_rows
from karat.stats.resampling import bootstrap_indices, percentiles


def scores(seed: int, shape: tuple[int, int], missing: float = 0.0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    human = 50 + rng.normal(size=shape) + np.arange(shape[0])[:, None] / 2
    metric = 1000 + human + rng.normal(size=shape)
    for first in (human, metric):
        first[rng.random(shape) < missing] = np.nan
    return human, metric


OF_POINTS = [name for name in STATISTICS if name not in {"spa", *resampled_pairs.OF_PAIRS}]


@pytest.mark.parametrize("by", OF_POINTS)
@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize("at", MATRIX_LEVELS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_values_are_those_of_the_drawn_matrices(
    by: str, over: str, at: str, missing: float
) -> None:
    human, metric = scores(1, (4, 9), missing)
    human = np.round(human)  # with ties
    resamples = bootstrap(human, [metric], by, at=at, over=over, resamples=40, seed=5)[0]
    ((systems, segments),) = bootstrap_indices(human.shape, over, 40, 5)
    for value, s, t in zip(resamples, systems, segments, strict=True):
        expected = agreement(human[s][:, t], metric[s][:, t], by, at).value
        assert value == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("by", resampled_pairs.OF_PAIRS)
@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize("at", MATRIX_LEVELS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_no_point_makes_a_pair_with_its_own_copy(
    by: str, over: str, at: str, missing: float
) -> None:
    human, metric = scores(1, (4, 7), missing)
    human, metric = np.round(human), np.round(metric, 1 if by == "acc-eq" else 0)
    if by == "darr":
        human = 15 * human
    resamples = 12
    values = bootstrap(human, [metric], by, at=at, over=over, resamples=resamples, seed=5)[0]
    ((systems, segments),) = bootstrap_indices(human.shape, over, resamples, 5)
    for value, *draw in zip(values, systems.tolist(), segments.tolist(), strict=True):
        groups = resampled_pairs.groups(human.tolist(), metric.tolist(), at, tuple(draw))
        expected = resampled_pairs.value(by, groups)
        assert value == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("by", ["accuracy", "tau-23", "tau-c"])
@pytest.mark.parametrize("over", ["systems", "both"])
def test_copies_of_a_system_do_not_make_up_agreement(by: str, over: str) -> None:
    human = np.arange(6.0)[:, None] + np.arange(5.0) / 10
    for metric, value in ((human, 1.0), (-human, STATISTICS[by].lowest)):
        for at in ("system", "item"):
            draws = bootstrap(human, [metric], by, at=at, over=over, resamples=100)[0]
            assert draws == pytest.approx(np.full(100, value), nan_ok=True)


@pytest.mark.parametrize("at", ["system", "segment"])
def test_a_draw_without_differences_is_undefined(at: str) -> None:
    human = np.array([[0.1, 0.1], [0.7, 0.7]])
    resamples = bootstrap(human, [human + 0.3], at=at, over="systems", resamples=200)[0]
    assert set(np.round(resamples[~np.isnan(resamples)], 9)) == {1}
    share = np.isnan(resamples).mean()  # both draws the same system: one half
    assert abs(share - 0.5) < 4 * 0.5 / np.sqrt(200)
    assert percentiles(resamples, 1.0) == (
        pytest.approx(1),
        pytest.approx(1),
        np.isnan(resamples).sum(),
    )
    assert percentiles(np.full(3, np.nan), 0.5)[2] == 3


def test_r_squared_is_the_square() -> None:
    human, metric = scores(2, (4, 9))
    r = bootstrap(human, [metric], resamples=30)
    assert np.array_equal(bootstrap(human, [metric], "r2", resamples=30), r * r)


def test_what_is_not_drawn_stays() -> None:
    for over, fixed in (("segments", 0), ("systems", 1)):
        parts = next(bootstrap_indices((4, 6), over, 10, 1))
        assert (parts[fixed] == np.arange((4, 6)[fixed])).all()
        assert len(np.unique(parts[1 - fixed], axis=0)) > 1


def test_batches_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    human, metric = scores(3, (4, 9))
    resamples = bootstrap(human, [metric], resamples=50)
    reports: list[tuple[int, int, str]] = []
    monkeypatch.setattr("karat.stats.resampling._BATCH_CELLS", 9 * 20)
    cut = bootstrap(human, [metric], resamples=50, progress=lambda *report: reports.append(report))
    assert np.allclose(resamples, cut, atol=1e-12, rtol=0)
    assert [done for done, _, _ in reports] == [20, 40, 50]


def test_metrics_share_their_draws() -> None:
    human, metric = scores(4, (5, 30))
    other = metric + np.random.default_rng(0).normal(size=metric.shape) / 5
    first, second = bootstrap(human, [metric, other], resamples=300)
    alone = bootstrap(human, [other], resamples=300)[0]
    assert np.array_equal(second, alone)
    assert (first - second).std() < 0.5 * first.std()


def test_a_statistic_of_ones_own_takes_the_general_way() -> None:
    human, metric = scores(5, (4, 9))
    custom_statistic = Statistic("mine", pearson_rows, "the same under another name")
    usual = bootstrap(human, [metric], resamples=30)
    assert np.allclose(bootstrap(human, [metric], custom_statistic, resamples=30), usual, atol=1e-9)


def test_bad_input() -> None:
    human, metric = scores(6, (3, 4))
    with pytest.raises(InputError, match="bootstrap over 'words': expected one of both"):
        bootstrap(human, [metric], over="words")
    with pytest.raises(InputError, match="resamples=0: expected 1 to 1,000,000"):
        bootstrap(human, [metric], resamples=0)


# ----------------------------------------------------------------- intervals and their estimates


def rated(seed: int, agreeing: float, shape: tuple[int, int] = (6, 24)) -> tuple[np.ndarray, ...]:
    """Human scores with ties, and a metric whose scores correlate with them so far."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=shape) + rng.normal(size=(shape[0], 1))
    noise = np.sqrt(2) * rng.normal(size=shape)
    metric = agreeing * human + np.sqrt(1 - agreeing**2) * noise
    return np.round(20 * human, -1), np.round(20 * metric)


@pytest.mark.parametrize("agreeing", [0.0, 0.5, 0.97])
@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize("by", resampled_pairs.OF_PAIRS)
def test_percentiles_of_pairs_hold_their_estimate(by: str, over: str, agreeing: float) -> None:
    human, metric = rated(4, agreeing)
    for at in MATRIX_LEVELS:
        draws = bootstrap(human, [metric], by, at=at, over=over, resamples=100)[0]
        low, high, _ = percentiles(draws, np.nan)  # not extended to the estimate
        estimate = agreement(human, metric, by, at).value
        assert low - 1e-9 <= estimate <= high + 1e-9 or np.isnan(estimate), at


@pytest.mark.parametrize("by", [*STATISTICS])
@given(
    seed=st.integers(0, 2**32),
    agreeing=st.sampled_from([-0.9, 0.0, 0.5, 0.97, 1.0]),
    over=st.sampled_from([*OVER]),
    at=st.sampled_from(MATRIX_LEVELS),
    systems=st.integers(2, 6),
)
@settings(max_examples=12)
def test_every_interval_holds_its_estimate(
    by: str, seed: int, agreeing: float, over: str, at: str, systems: int
) -> None:
    at = "system" if by == "spa" else at
    human, near = rated(seed, agreeing, (systems, 9))
    far = rated(seed + 1, 0.0, (systems, 9))[1]
    options = {"resamples": 30, "trials": 9, "over": over, "threads": 1}
    result = rank_metrics(human, {"near": near, "far": far}, by, at, **options)
    for row in result.rows:
        if not (np.isnan(row.value) or np.isnan(row.low)):
            assert row.low <= row.value <= row.high
        if row.delta is not None and not np.isnan(row.delta_low):
            assert row.delta_low <= row.delta <= row.delta_high
    for test in result.tests:
        if not np.isnan(test.delta + test.low):
            assert test.low <= test.delta <= test.high


def test_an_interval_reaches_to_an_estimate_that_all_resamples_miss() -> None:
    draws = np.linspace(0.2, 0.4, 101)
    low, high, _ = percentiles(draws, np.nan)
    assert (low, high) == (pytest.approx(0.204), pytest.approx(0.396))
    assert percentiles(draws, 0.3)[:2] == (low, high)
    assert percentiles(draws, 0.1)[:2] == (0.1, high)
    assert percentiles(draws, 0.5)[:2] == (low, 0.5)


# ------------------------------------------------------------------------------------ coverage

RHO = 0.6


def simulated(
    rng: np.random.Generator, shape: tuple[int, int], system_sd: float, segment_sd: float
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of systems and segments drawn at random; every part of them correlates with RHO."""
    human, metric = np.zeros((2, *shape))
    for size, sd in (((shape[0], 1), system_sd), ((1, shape[1]), segment_sd), (shape, 1)):
        x, y = rng.normal(size=(2, *size))
        human += sd * x
        metric += sd * (RHO * x + np.sqrt(1 - RHO**2) * y)
    return human, metric


@pytest.mark.parametrize(
    ("over", "at", "shape", "sds"),
    [
        ("segments", "segment", (5, 80), (0.0, 1.0)),
        ("systems", "system", (60, 5), (1.0, 0.0)),
        ("both", "segment", (50, 50), (1.0, 1.0)),
    ],
)
@pytest.mark.parametrize("runs", [150, pytest.param(500, marks=pytest.mark.long)])
def test_intervals_hold_the_true_value_as_often_as_they_say(
    over: str, at: str, shape: tuple[int, int], sds: tuple[float, float], runs: int
) -> None:
    share = 0.95
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(runs):
        human, metric = simulated(rng, shape, *sds)
        draws = bootstrap(human, [metric], at=at, over=over, resamples=400)[0]
        low, high, _ = percentiles(draws, np.nan)  # not extended to the estimate
        held += low <= RHO <= high
    # The Monte-Carlo error of the coverage is 0.018, in the long form 0.01; percentile intervals
    # are a little short.
    error = np.sqrt(share * (1 - share) / runs)
    assert abs(held / runs - share) < 3 * error
