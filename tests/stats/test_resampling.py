"""Resampling as matrix products equals resampling by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.resampling_loops import add_rows, bootstrap, exchanges, middle

import karat.stats.resampling as module
from karat.arithmetic import ExactRows, rounded
from karat.progress import Progress, silent
from karat.settings import SEED
from karat.stats.resampling import bootstrap_sums, exchange_choices, exchange_limbs, interval

ROWS = st.integers(1, 3).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(-9, 99), min_size=columns, max_size=columns), min_size=1, max_size=12
    )
)
SEEDS = st.integers(0, 2**32)


def exchange_sums(
    differences: np.ndarray, trials: int, seed: int = SEED, progress: Progress = silent
) -> np.ndarray:
    return rounded(exchange_limbs([ExactRows([differences])], trials, seed, progress)[0])


@given(rows=ROWS, resamples=st.integers(1, 20), seed=SEEDS)
def test_bootstrap_sums_are_sums_of_drawn_rows(
    rows: list[list[int]], resamples: int, seed: int
) -> None:
    sums = bootstrap_sums(np.array(rows, dtype=float), resamples, seed)
    assert sums.tolist() == bootstrap(rows, resamples, seed)


@given(rows=ROWS, trials=st.integers(1, 20), seed=SEEDS, data=st.data())
def test_exchange_sums_are_sums_of_kept_rows(
    rows: list[list[int]], trials: int, seed: int, data: st.DataObject
) -> None:
    other = data.draw(st.permutations(rows))
    first, second = np.array(rows, dtype=float), np.array(other, dtype=float)
    moved = exchange_sums(first - second, trials, seed)
    expected = exchanges(rows, other, trials, seed)
    assert (second.sum(axis=0) + moved).tolist() == [a for a, _ in expected]
    assert (first.sum(axis=0) - moved).tolist() == [b for _, b in expected]


@pytest.mark.parametrize(("units", "trials"), [(77, 100), (2999, 700), (140_001, 40)])
def test_exchanges_are_those_of_a_single_draw(units: int, trials: int) -> None:
    choices = np.concatenate([*exchange_choices(units, trials, SEED)])
    rng = np.random.default_rng(SEED)
    assert (choices == rng.integers(2, size=(trials, units), dtype=bool)).all()


@given(rows=ROWS, resamples=st.integers(1, 30), cells=st.integers(1, 60))
@settings(max_examples=60)
def test_bootstrap_draws_do_not_depend_on_the_batches(
    rows: list[list[int]], resamples: int, cells: int
) -> None:
    stats = np.array(rows, dtype=float)
    sums = bootstrap_sums(stats, resamples)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BATCH_CELLS", cells)
        assert bootstrap_sums(stats, resamples).tolist() == sums.tolist()


def test_exchange_in_batches_is_still_fair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BATCH_CELLS", 1000)
    selected = exchange_sums(np.eye(50), 4000).mean(axis=0)
    assert np.abs(selected - 0.5).max() < 5 * 0.5 / np.sqrt(4000)


def test_the_seed_is_sacrebleus_and_decides() -> None:
    assert SEED == 12345
    stats = np.arange(40, dtype=float).reshape(20, 2)
    assert np.array_equal(bootstrap_sums(stats, 50), bootstrap_sums(stats, 50, 12345))
    assert not np.array_equal(bootstrap_sums(stats, 50), bootstrap_sums(stats, 50, 1))
    assert np.array_equal(exchange_sums(stats, 50), exchange_sums(stats, 50, 12345))
    assert not np.array_equal(exchange_sums(stats, 50), exchange_sums(stats, 50, 1))


def test_progress_counts_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BATCH_CELLS", 40)
    reports: list[tuple[int, int, str]] = []
    stats = np.ones((10, 1))
    bootstrap_sums(stats, 9, progress=lambda *report: reports.append(report))
    exchange_sums(stats, 4, progress=lambda *report: reports.append(report))
    steps = [(4, 9, "resampling"), (8, 9, "resampling"), (9, 9, "resampling")]
    assert reports == [*steps, (4, 4, "exchanging")]


@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=300),
    level=st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]),
)
def test_interval_cuts_both_ends_alike(values: list[float], level: float) -> None:
    assert interval(np.array(values), level) == middle(values, level)


def test_interval_is_sacrebleus() -> None:
    from sacrebleu.significance import estimate_ci

    for n in (1, 39, 40, 41, 80, 999, 1000, 1001):
        values = np.random.default_rng(n).normal(size=n)
        low, high = interval(values)
        assert (high - low) / 2 == pytest.approx(estimate_ci(values)[1], abs=1e-12)


def test_interval_of_a_thousand_leaves_out_twenty_five_at_each_end() -> None:
    assert interval(np.arange(1000.0)) == (25.0, 974.0)


def test_oracle_adds_columns() -> None:
    assert add_rows([[1, 2], [3, 4]]) == [4, 6]
