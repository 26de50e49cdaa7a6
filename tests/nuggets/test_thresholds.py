"""Marginal likelihoods against direct integration, and the thresholds they choose."""

from __future__ import annotations

from math import log10

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import dblquad
from scipy.special import betaln

from karat.errors import InputError
from karat.nuggets.prediction.pool import Pool, make_pool
from karat.nuggets.prediction.thresholds import (
    MODELS,
    _log_shared,
    best_f_threshold,
    candidate_thresholds,
    compare_models,
    fit_thresholds,
    units_of,
)
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run


def pool_of(questions: int, nuggets: int, responses: int) -> Pool:
    key = make_key(
        Question(str(q), tuple(Nugget(str(g), ("x",)) for g in range(nuggets)))
        for q in range(questions)
    )
    answers = [(str(q), Response(f"r{k}")) for q in range(questions) for k in range(responses)]
    return make_pool(key, [make_run("run", answers)])


def likelihood(scores: np.ndarray, yes: np.ndarray, t: float, fp: float, fn: float) -> float:
    """L(t, fp, fn), cell by cell."""
    chance = np.where(scores > t, np.where(yes, 1 - fn, fn), np.where(yes, fp, 1 - fp))
    return float(chance.prod())


def direct(scores: np.ndarray, yes: np.ndarray, units: np.ndarray) -> float:
    """The integral over both rates of the product over units of the mean over thresholds."""

    def inner(fn: float, fp: float) -> float:
        product = 1.0
        for unit in np.unique(units):
            s, y = scores[units == unit], yes[units == unit]
            product *= np.mean([likelihood(s, y, t, fp, fn) for t in candidate_thresholds(s)])
        return product

    return dblquad(inner, 0, 1, 0, 1, epsabs=0, epsrel=1e-7)[0]


def direct_own(scores: np.ndarray, yes: np.ndarray, units: np.ndarray) -> float:
    """Own rates: the product over units of their integrals."""
    is_selecteds = [(units == unit) for unit in np.unique(units)]
    return float(np.prod([direct(scores[u], yes[u], units[u]) for u in is_selecteds]))


@settings(max_examples=3)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=8, max_size=8))
def test_marginal_likelihoods(cells: list[tuple[int, bool]]) -> None:
    pool = pool_of(2, 2, 2)
    scores = np.array([float(s) for s, _ in cells])
    yes = np.array([y for _, y in cells])
    likelihoods = {m.name: m.log10 for m in compare_models(pool, scores, yes.astype(float))}
    for name in ("global", "question", "nugget"):
        assert likelihoods[name] == pytest.approx(
            log10(direct(scores, yes, units_of(pool, name))), abs=1e-6
        )
    own_rates = direct_own(scores, yes, units_of(pool, "nugget-errors"))
    assert likelihoods["nugget-errors"] == pytest.approx(log10(own_rates), abs=1e-6)
    p = yes.mean()
    coin = sum(log10(p if y else 1 - p) for y in yes)
    assert likelihoods["coin"] == pytest.approx(coin)


def test_a_sharp_peak_is_integrated_as_well_as_a_flat_one() -> None:
    # With thresholds that nearly all cells agree with, and many cells, the integral is that of a
    # product of two beta densities, whatever the number of units: its logarithm is known.
    n = 4000
    counts = np.array([[300.0, n - 300, 200, n - 200]])
    sharp = _log_shared([counts * 5])
    apart = _log_shared([counts, counts * 4])
    assert apart == pytest.approx(sharp, abs=1e-9)
    fp, tn, fn, tp = (5 * counts[0]).tolist()
    exact = betaln(fp + 1, tn + 1) + betaln(fn + 1, tp + 1)
    assert apart == pytest.approx(exact, abs=1e-9)


def test_cells_that_were_not_judged_are_left_out() -> None:
    pool = pool_of(1, 1, 4)
    models = compare_models(pool, np.array([1.0, 2, 3, 9]), np.array([0, 1, 1, np.nan]))
    all_ = compare_models(pool_of(1, 1, 3), np.array([1.0, 2, 3]), np.array([0.0, 1, 1]))
    assert [m.log10 for m in models] == pytest.approx([m.log10 for m in all_])


def test_thresholds_per_nugget_where_scales_differ() -> None:
    pool = pool_of(1, 2, 6)
    scores = np.stack([np.arange(6.0), 10 * np.arange(6.0)], axis=1).ravel()
    labels = np.stack([np.arange(6) > 2, np.arange(6) > 2], axis=1).ravel().astype(float)
    thresholds = fit_thresholds(pool, scores, labels, "nugget")
    assert {unit: step.threshold for unit, step in thresholds.steps.items()} == {0: 2.5, 1: 25.0}
    assert thresholds.of(pool).tolist() == [2.5, 25.0] * 6
    assert thresholds.fp < 0.05
    assert thresholds.fn < 0.05


def test_a_nugget_nobody_judged_has_the_global_threshold() -> None:
    pool = pool_of(1, 2, 4)
    labels = np.array([0, np.nan, 0, np.nan, 1, np.nan, 1, np.nan])
    thresholds = fit_thresholds(pool, np.repeat(np.arange(4.0), 2), labels, "nugget")
    assert thresholds.of(pool).tolist() == [1.5] * 8


@pytest.mark.parametrize("model", [m for m in MODELS if m != "coin"])
def test_thresholds_separate_what_can_be_separated(model: str) -> None:
    pool = pool_of(2, 2, 8)
    scores = np.tile(np.repeat(np.arange(8.0), 2), 2)
    labels = (scores > 4).astype(float)
    thresholds = fit_thresholds(pool, scores, labels, model)
    assert ((scores > thresholds.of(pool)) == (labels > 0)).all()


def test_the_grid_has_midpoints_and_both_ends_and_is_bounded() -> None:
    assert candidate_thresholds(np.array([1.0, 1, 3])).tolist() == [0, 2, 4]
    assert len(candidate_thresholds(np.arange(1000.0))) == 102


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30))
def test_the_best_f_threshold_is_the_best_of_all(cells: list[tuple[int, bool]]) -> None:
    scores, yes = np.array([float(s) for s, _ in cells]), np.array([y for _, y in cells])

    def f(t: float) -> float:
        is_selected = scores > t
        return 2 * (is_selected & yes).sum() / max(1, is_selected.sum() + yes.sum())

    assert f(best_f_threshold(scores, yes)) == max(map(f, np.arange(-0.5, 5)))


def test_without_judgements_nothing_is_learned() -> None:
    pool = pool_of(1, 1, 1)
    with pytest.raises(InputError, match="no cell was judged"):
        fit_thresholds(pool, np.ones(1), np.full(1, np.nan), "global")
    with pytest.raises(InputError, match="no cell was judged"):
        best_f_threshold(np.zeros(0), np.zeros(0, dtype=bool))
    with pytest.raises(InputError, match="threshold model 'x': expected one of coin, global"):
        units_of(pool, "x")
