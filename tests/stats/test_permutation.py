"""PERM-BOTH and its like: all exchanges there are, the fast way and the slow way, the null."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import exchange_loops

import karat as kt
from karat import _kernel
from karat.errors import InputError
from karat.meta.agreement import MATRIX_LEVELS, agreement, perm_both
from karat.progress import silent
from karat.stats import paired_tests as p
from karat.stats.correlation import pearson
from karat.stats.exchanges import (
    Exchanges,
    Permutation,
    chosen_sums,
    chosen_system_sums,
    drawn_words,
    every_choice,
    masks,
)
from karat.stats.soft_pairwise import (
    agreement_of_p_values,
    corpus_p_values,
    pairwise_p_values,
    soft_pairwise_accuracy,
)

SEEDS = st.integers(0, 2**32)


def scores(seed: int, systems: int, segments: int, missing: float = 0.0) -> list[np.ndarray]:
    """Human scores and two metrics, one better, with cells missing in each."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, segments)) + np.arange(systems)[:, None] / 3
    noise = rng.normal(size=(2, systems, segments))
    metric_scores = [human, human + noise[0], 10 + 5 * (human + 1.5 * noise[1])]
    for first in metric_scores:
        first[rng.random(first.shape) < missing] = np.nan
    return metric_scores


def system_pearson(h: np.ndarray, m: np.ndarray) -> float:
    return pearson(np.nanmean(h, axis=1), np.nanmean(m, axis=1))


MEASURES = {"segment": pearson, "system": system_pearson}


def one_by_one(
    human: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    measure: Callable[[np.ndarray, np.ndarray], float],
    trials: int = 1000,
    seed: int = 1,
) -> Permutation:
    """PERM-BOTH with each exchange made and measured."""
    of = p.standardised(human, first, second)
    return p.perm_both_many(
        of,
        lambda h, a, b, chosen: np.array([measure(h, np.where(c, b, a)) for c in chosen]),
        Exchanges(of.has_scores, trials, seed, silent),
    )


# ------------------------------------------------------------------------------------ draws


@given(
    systems=st.integers(1, 4), segments=st.integers(1, 150), trials=st.integers(1, 9), seed=SEEDS
)
@settings(max_examples=40)
def test_sums_are_those_of_the_masks(systems: int, segments: int, trials: int, seed: int) -> None:
    shape = systems, segments
    cells = np.random.default_rng(seed).integers(-9, 10, (*shape, 3)).astype(float)
    (words,) = drawn_words(shape, trials, seed)
    chosen = masks(words, shape)
    assert chosen.shape == (trials, *shape)
    expected = np.einsum("tsn,snc->tc", chosen.astype(float), cells)
    assert chosen_sums(words, cells).tolist() == expected.tolist()
    single = (chosen * cells[:, :, 0]).sum(axis=2)
    assert chosen_system_sums(words, cells[:, :, 0].copy()).tolist() == single.tolist()


def test_every_cell_is_exchanged_half_the_time_and_on_its_own() -> None:
    shape, trials = (3, 70), 5000
    chosen = np.concatenate([masks(w, shape) for w in drawn_words(shape, trials, 1)])
    flat = chosen.reshape(trials, -1) - 0.5
    error = 0.5 / np.sqrt(trials)
    assert np.abs(flat.mean(axis=0)).max() < 5 * error
    together = flat.T @ flat / trials / 0.25
    assert np.abs(together - np.eye(210)).max() < 6 / np.sqrt(trials)


def test_more_rows_than_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="more rows than bits"):
        _kernel.chosen_sums(np.zeros((1, 2), dtype=np.uint64), np.zeros((65, 1)))


# -------------------------------------------------------------------------------- PERM-BOTH


@pytest.mark.parametrize("level", MEASURES)
@pytest.mark.parametrize("missing", [False, True])
def test_p_is_that_of_all_exchanges_within_chance(level: str, missing: bool) -> None:
    human, first, second = scores(13, 3, 5) if missing else scores(12, 2, 7)
    if missing:
        human[0, 1], second[1, 4] = np.nan, np.nan
    exact = exchange_loops.perm_both(human, first, second, MEASURES[level])
    assert 0.005 < exact < 0.995
    trials = 20000
    permutation = perm_both(human, first, second, at=level, trials=trials)
    assert abs(permutation.beyond / trials - exact) < 4 * np.sqrt(exact * (1 - exact) / trials)
    assert permutation.p == (1 + permutation.beyond) / (1 + trials)


@pytest.mark.parametrize("by", ["pearson", "spearman", "tau-b", "tau-c", "r2", "accuracy"])
@pytest.mark.parametrize("level", MATRIX_LEVELS)
@pytest.mark.parametrize(("shape", "missing"), [((4, 1), 0.0), ((2, 3), 0.0), ((3, 4), 0.25)])
def test_few_cells_have_an_exact_p(
    by: str, level: str, shape: tuple[int, int], missing: float
) -> None:
    score_sets = scores(13, *shape, missing)

    def measure(h: np.ndarray, m: np.ndarray) -> float:
        return agreement(h, m, by, level).value

    permutation = perm_both(*score_sets, by, level, trials=3, seed=1)
    assert permutation.exact
    exact = exchange_loops.perm_both(*score_sets, measure)
    assert permutation.p == pytest.approx(exact, abs=1e-12, nan_ok=True)
    again = perm_both(*score_sets, by, level, trials=1000, seed=2)
    assert again[:5] == permutation[:5] or (
        np.isnan(permutation.p) and again[2:5] == permutation[2:5]
    )


def test_more_cells_than_twelve_are_sampled() -> None:
    assert perm_both(*scores(1, 3, 4), trials=50).exact
    permutation = perm_both(*scores(1, 13, 1), trials=50)
    assert (permutation.exact, permutation.trials) == (False, 50)


def test_every_word_is_there_once() -> None:
    has_score = np.zeros((3, 70), dtype=bool)
    for cell in ((0, 0), (0, 63), (0, 64), (1, 69), (2, 5)):
        has_score[cell] = True
    chosen = np.concatenate([masks(w, has_score.shape) for w in every_choice(has_score)])
    assert chosen.shape == (32, 3, 70)
    assert not chosen[:, ~has_score].any()
    assert not chosen[0].any()
    assert len(np.unique(chosen[:, has_score], axis=0)) == 32


@pytest.mark.parametrize("level", MEASURES)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_fast_way_is_the_slow_way(level: str, missing: float, seed: int) -> None:
    score_sets = scores(seed, 5, 70, missing)
    slow = one_by_one(*score_sets, MEASURES[level], 600, seed)
    fast = perm_both(*score_sets, at=level, trials=600, seed=seed)
    assert fast.delta == pytest.approx(slow.delta, abs=1e-12)
    assert fast[1:5] == slow[1:5]


@pytest.mark.parametrize("level", MATRIX_LEVELS)
@pytest.mark.parametrize("by", ["pearson", "spearman", "tau-b", "accuracy", "acc-eq"])
def test_any_statistic_and_level_can_be_tested(by: str, level: str) -> None:
    human, first, second = scores(3, 6, 40)
    permutation = perm_both(human, first, second, by, level, trials=60)
    h, a, b = p.standardised(human, first, second)
    delta = agreement(h, a, by, level).value - agreement(h, b, by, level).value
    assert permutation.delta == pytest.approx(delta, abs=1e-12)
    assert permutation.exact == ((by, level) == ("acc-eq", "system"))  # few pairs, in all ways
    assert permutation.exact or permutation.trials == 60
    back = perm_both(human, second, first, by, level, trials=60)
    assert back.delta == pytest.approx(-permutation.delta, abs=1e-12)


@pytest.mark.parametrize("level", MATRIX_LEVELS)
@pytest.mark.parametrize("by", ["pearson", "spearman", "tau-b", "tau-c", "r2", "accuracy"])
def test_many_exchanges_at_once_are_those_one_by_one(by: str, level: str) -> None:
    score_sets = scores(14, 4, 20, missing=0.2)
    score_sets[0] = np.round(score_sets[0])  # with ties
    slow = one_by_one(*score_sets, lambda h, m: agreement(h, m, by, level).value, 40, seed=3)
    fast = perm_both(*score_sets, by, level, trials=40, seed=3)
    assert fast.delta == pytest.approx(slow.delta, abs=1e-12)
    assert fast[1:5] == slow[1:5]


@pytest.mark.parametrize("level", MEASURES)
def test_scale_and_shift_do_not_matter(level: str) -> None:
    human, first, second = scores(4, 6, 50)
    permutation = perm_both(human, first, second, at=level, trials=200)
    moved = perm_both(human, 3 + 100 * first, second / 7 - 1, at=level, trials=200)
    assert moved.beyond == permutation.beyond


@pytest.mark.parametrize(
    "function",
    [perm_both, lambda *x: perm_both(*x, at="system"), lambda *x: one_by_one(*x, pearson, 50)],
)
def test_a_metric_is_not_better_than_itself(function: Callable[..., Permutation]) -> None:
    human, first, _ = scores(5, 4, 30)
    result = function(human, first, first.copy())
    assert (result.delta, result.p) == (pytest.approx(0, abs=1e-12), 1)


@pytest.mark.parametrize("level", MEASURES)
def test_a_constant_metric_has_no_p(level: str) -> None:
    human, first, _ = scores(6, 4, 30)
    for result in (
        perm_both(human, first, np.full_like(first, 0.1), at=level, trials=20),
        one_by_one(human, first, np.full_like(first, 0.1), MEASURES[level], 20),
    ):
        assert np.isnan(result.delta)
        assert np.isnan(result.p)


@pytest.mark.parametrize("level", MEASURES)
def test_nothing_in_common_has_no_p(level: str) -> None:
    human, first, second = scores(6, 3, 5)
    first[:], second[0, 0] = np.nan, 1
    assert np.isnan(perm_both(human, first, second, at=level, trials=20).p)


def test_two_equally_good_metrics_are_told_apart_as_often_as_the_level_says() -> None:
    rng = np.random.default_rng(8)
    runs, level = 400, 0.1
    result = 0
    for _ in range(runs):
        human, noise, other = rng.normal(size=(3, 6, 30))
        result += perm_both(human, human + noise, human + other, trials=99).p <= level
    error = np.sqrt(level * (1 - level) / runs)
    assert abs(result / runs - level) < 3.5 * error


def test_progress_and_bad_input() -> None:
    score_sets = scores(7, 3, 8)
    reports: list[tuple[int, int, str]] = []
    perm_both(*score_sets, trials=1100, progress=lambda *report: reports.append(report))
    assert reports == [
        (512, 1100, "permuting"),
        (1024, 1100, "permuting"),
        (1100, 1100, "permuting"),
    ]
    with pytest.raises(InputError, match="expected one shape, systems x segments"):
        perm_both(score_sets[0], score_sets[1], score_sets[2][:, :4])
    with pytest.raises(InputError, match="rmse has no such test"):
        perm_both(*score_sets, by="rmse")
    with pytest.raises(InputError, match="level 'word': expected one of system"):
        perm_both(*score_sets, at="word")
    with pytest.raises(InputError, match="trials=0: expected 1 to 1,000,000"):
        perm_both(*score_sets, trials=0)


# ------------------------------------------------------------------------------ paired, soft


def test_pairwise_p_values_are_those_of_all_exchanges_within_chance() -> None:
    table = np.random.default_rng(5).integers(0, 6, (4, 9)).astype(float)
    p_values = pairwise_p_values(table, 20000)
    for i in range(4):
        assert np.isnan(p_values[i, i])
        for j in {0, 1, 2, 3} - {i}:
            exact = exchange_loops.p_better(table[i], table[j])
            assert abs(p_values[i, j] - exact) <= 4 * np.sqrt(exact * (1 - exact) / 20000)


def test_p_values_of_corpus_scores_are_those_of_exchanged_segments_scored_together() -> None:
    metric = kt.BLEU(n=2)
    rng = np.random.default_rng(8)
    texts = [
        [" ".join(rng.choice(list("abc"), rng.integers(1, 7))) for _ in range(9)] for _ in range(4)
    ]
    rows = np.array([metric.stats(text, texts[3]) for text in texts[:3]], dtype=float)
    words = np.concatenate([*drawn_words((1, 9), 200, 3)], axis=1)
    chosen = masks(words, (1, 9))[:, 0]
    p_values = corpus_p_values(rows, lambda sums: metric.measure(sums)["value"], 200, 3)
    for i, j in permutations(range(3), 2):
        expected = exchange_loops.corpus_p(
            rows[i], rows[j], chosen, lambda x: metric.score(x).value
        )
        assert p_values[i, j] == expected
    assert 0.01 < p_values[0, 1] < 0.99
    means = rows[:, :, 2]  # a score that is a sum has the p-values of sums
    assert corpus_p_values(rows, lambda sums: sums[:, 2], 200, 3) == pytest.approx(
        pairwise_p_values(means, 200, 3), nan_ok=True
    )


def test_soft_pairwise_accuracy_of_corpus_scores_leaves_out_what_is_missing() -> None:
    rng = np.random.default_rng(4)
    rows, human = rng.integers(0, 5, (4, 8, 2)).astype(float), rng.normal(size=(4, 8))
    human[3] = np.nan  # nobody judged this system

    def score(sums: np.ndarray) -> np.ndarray:
        return sums[:, 0] / (1 + sums[:, 1])

    accuracy = soft_pairwise_accuracy(human, rows, score=score)
    assert accuracy == soft_pairwise_accuracy(human[:3], rows[:3], score=score)
    human[0, 2] = np.nan
    selected = [0, 1, 3, 4, 5, 6, 7]
    again = soft_pairwise_accuracy(human, rows, score=score)
    assert again == soft_pairwise_accuracy(human[:3, selected], rows[:3, selected], score=score)


def test_soft_pairwise_accuracy_is_one_minus_the_mean_gap_of_p_values() -> None:
    human = np.array([[np.nan, 0.1, 0.7], [np.nan] * 3, [np.nan] * 3])
    human[1, 2] = 0.5
    metric = human + np.array([[0, 0.2, -0.1], [0, 0, 0.3], [0, 0, 0]])
    assert agreement_of_p_values(human, metric) == pytest.approx(1 - (0.2 + 0.1 + 0.3) / 3)
    table, other, _ = scores(9, 4, 20)
    accuracy = soft_pairwise_accuracy(table, other)
    expected = agreement_of_p_values(pairwise_p_values(table), pairwise_p_values(other))
    assert accuracy == expected
    assert soft_pairwise_accuracy(table, table) == 1
    assert soft_pairwise_accuracy(table, 3 * table + 1) == 1
    assert soft_pairwise_accuracy(table, -table) < accuracy


def test_soft_pairwise_accuracy_needs_whole_segments_and_two_systems() -> None:
    human, metric, _ = scores(9, 3, 20)
    human[0, 4], metric[2, 5] = np.nan, np.nan
    accuracy = soft_pairwise_accuracy(human, metric)
    selected = [k for k in range(20) if k not in {4, 5}]
    assert accuracy == soft_pairwise_accuracy(human[:, selected], metric[:, selected])
    assert np.isnan(soft_pairwise_accuracy(human[:1], metric[:1]))
    human[1] = np.nan  # a system that nobody judged takes no part
    without = soft_pairwise_accuracy(human[[0, 2]], metric[[0, 2]])
    assert soft_pairwise_accuracy(human, metric) == without
    assert np.isnan(soft_pairwise_accuracy(np.full((3, 20), np.nan), metric))
    human[0, :10], human[2, 10:] = np.nan, np.nan  # no segment in common
    assert np.isnan(soft_pairwise_accuracy(human, metric))
    with pytest.raises(InputError, match="expected the same"):
        soft_pairwise_accuracy(human, metric[:2])
