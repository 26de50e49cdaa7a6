"""Statistics of all groups at once, against every cell and pair looked at one by one."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import group_loops, pair_loops

from karat import _kernel
from karat.arithmetic import exact_product, rounded
from karat.errors import InputError
from karat.meta.agreement import LEVEL_CELLS, perm_both
from karat.stats.correlation import STATISTICS, binomial_quantiles, exchange_pairs
from karat.stats.exchanges import (
    Exchanges,
    bit_positions,
    drawn_words,
    masks,
    no_exchange,
)
from karat.stats.grouped import ExchangedCells, all_cells
from karat.stats.soft_pairwise import soft_pairwise_accuracy

SEEDS = st.integers(0, 2**32)
LEVELS = st.sampled_from([*LEVEL_CELLS])
GROUPED = [name for name in STATISTICS if STATISTICS[name].grouped]


def matrices(seed: int, systems: int, segments: int, missing: float = 0.3) -> list[np.ndarray]:
    """Human scores and two metrics with ties, constant columns and missing cells."""
    rng = np.random.default_rng(seed)
    metric_scores = [rng.integers(0, 4, (systems, segments)) / 3 + k / 10 for k in range(3)]
    for x in metric_scores:
        x[:, rng.random(segments) < 0.2] = 0.1
    unknown = rng.random((systems, segments)) < missing
    return [np.where(unknown, np.nan, x) for x in metric_scores]


def values_of(by: str, group: group_loops.Group) -> float:
    human, metric, _ = group
    return STATISTICS[by](np.array(human), np.array(metric))


@given(seed=SEEDS, systems=st.integers(1, 6), segments=st.integers(1, 70), at=LEVELS)
@settings(max_examples=60)
def test_exchanged_groups_are_those_of_exchanged_matrices(
    seed: int, systems: int, segments: int, at: str
) -> None:
    human, first, second = matrices(seed, systems, segments)
    shape = human.shape
    cells = LEVEL_CELLS[at](~np.isnan(human))
    (words,) = drawn_words(shape, 3, seed)
    of = ExchangedCells(bit_positions(*cells[:2], segments), cells.offsets, words)
    points = [cells.scores(x) for x in (human, first, second)]
    counts = _kernel.exchanged_group_pairs(*points, of.bits, of.offsets, words)
    r = STATISTICS["pearson"].grouped.exchange(*points, of)  # type: ignore[union-attr]
    for trial, chosen in enumerate(masks(words, shape)):
        for other in (False, True):
            custom = np.where(chosen != other, second, first)
            for g, (h, m, _) in enumerate(group_loops.groups([human, custom, custom], at)):
                tolist = counts[:, g, trial + 3 * other].tolist()
                assert tolist == [*pair_loops.pair_counts(h, m), len(h)]
                expected = pair_loops.pearson(h, m)
                assert r[trial + 3 * other, g] == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(seed=SEEDS, systems=st.integers(1, 6), segments=st.integers(1, 20), at=LEVELS)
@settings(max_examples=60)
def test_drawn_groups_are_those_of_drawn_cells(
    seed: int, systems: int, segments: int, at: str
) -> None:
    human, metric, _ = matrices(seed, systems, segments)
    cells = LEVEL_CELLS[at](~np.isnan(human))
    rng = np.random.default_rng(seed)
    times = [rng.integers(0, 4, (3, n)).astype(np.int32) for n in human.shape]
    counts = _kernel.drawn_group_pairs(cells.scores(human), cells.scores(metric), *cells, *times)
    r = _kernel.drawn_group_pearson(cells.scores(human), cells.scores(metric), *cells, *times)
    for draw in range(3):
        often = times[0][draw][cells.rows] * times[1][draw][cells.columns]
        for g, (start, end) in enumerate(zip(cells.offsets, cells.offsets[1:], strict=False)):
            half = slice(start, end)
            h, m = (cells.scores(x)[half] for x in (human, metric))
            expected = pair_loops.drawn_pair_counts(h.tolist(), m.tolist(), often[half].tolist())
            distinct = int((often[half] > 0).sum())
            assert counts[:, g, draw].tolist() == [*expected, distinct]
            once = np.ascontiguousarray(often[half].reshape(1, -1), dtype=np.int32)
            correlations = _kernel.drawn_pearson(h, m, once)[0]
            assert r[g, draw] == correlations or (np.isnan(r[g, draw]) and np.isnan(correlations))


@pytest.mark.parametrize(("often", "width"), [(1, 16), (20, 32), (300, 64)])
def test_large_draws_are_counted_with_more_bits(often: int, width: int) -> None:
    rng = np.random.default_rng(2)
    human, metric = rng.integers(0, 9, (2, 1, 30)).astype(float)
    cells = all_cells(~np.isnan(human))
    times = np.full((1, 1), often, np.int32), np.full((1, 30), often, np.int32)
    assert (30 * often**2).bit_length() <= width
    pair_counts = _kernel.drawn_group_pairs(
        cells.scores(human), cells.scores(metric), *cells, *times
    )[:, 0, 0]
    con, dis, h, m, both, *values = pair_loops.pair_counts(human[0].tolist(), metric[0].tolist())
    pairs_of_two = often**4  # each point is there often**2 times
    assert pair_counts.tolist() == [
        *(pairs_of_two * n for n in (con, dis, h, m, both)),
        *values,
        30,
    ]


def test_many_exchanged_points_are_counted_with_more_bits() -> None:
    rng = np.random.default_rng(3)
    human, first, second = (np.round(rng.normal(size=(1, 400)), 1) for _ in range(3))
    cells, (words,) = all_cells(~np.isnan(human)), drawn_words((1, 400), 70, 1)
    points = [x[0] for x in (human, first, second)]
    bits = bit_positions(*cells[:2], 400)
    pair_counts = _kernel.exchanged_group_pairs(*points, bits, cells.offsets, words)
    for trial, chosen in enumerate(masks(words, (1, 400))):
        for other in (False, True):
            custom = np.where(chosen != other, second, first)
            expected = _kernel.pair_counts(human, custom, 0.0)[0].tolist()
            assert pair_counts[:7, 0, trial + 70 * other].tolist() == expected


@pytest.mark.parametrize("by", GROUPED)
def test_no_exchange_leaves_every_statistic(by: str) -> None:
    score_matrices = matrices(5, 5, 30)
    cells = LEVEL_CELLS["item"](~np.isnan(score_matrices[0]))
    of = ExchangedCells(bit_positions(*cells[:2], 30), cells.offsets, no_exchange((5, 30)))
    grouped, pooled = STATISTICS[by].grouped, STATISTICS[by].pooled
    assert grouped
    values = pooled.value if pooled else lambda result: result
    result = values(grouped.exchange(*(cells.scores(x) for x in score_matrices), of))
    expected = [values_of(by, g) for g in group_loops.groups(score_matrices, "item")]
    assert result[0] == pytest.approx(expected, abs=1e-12, nan_ok=True)
    times = np.ones((1, 5), np.int32), np.ones((1, 30), np.int32)
    resampled = values(
        grouped.resample(
            cells.scores(score_matrices[0]), cells.scores(score_matrices[1]), cells, *times
        )
    )
    assert resampled[0] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_wrong_cells_are_refused() -> None:
    x, at = np.arange(3.0), np.zeros(3, np.int64)
    first = np.ones((1, 1), np.int32)
    resampled = _kernel.drawn_group_pairs
    for wrong, message in [
        ((x, x[:2].copy(), at, at, np.array([0, 3]), first, first), "scores and cells differ"),
        ((x, np.array([1, np.nan, 2]), at, at, np.array([0, 3]), first, first), "a NaN"),
        ((x, x, at, at, np.array([0, 2]), first, first), "groups do not fit"),
        ((x, x, at, at, np.array([0, 4, 3]), first, first), "not in order"),
        ((x, x, at + 1, at, np.array([0, 3]), first, first), "in no row or column"),
        ((x, x, at, at, np.array([0, 3]), -first, first), "a negative number"),
        ((x, x, at, at, np.array([0, 3]), first, np.ones((2, 1), np.int32)), "number of draws"),
        ((x, x, at, at, np.array([0, 3]), 2**30 * first, 2**30 * first), "too large"),
    ]:
        with pytest.raises(ValueError, match=message):
            resampled(*wrong)
    words = np.zeros((1, 1), np.uint64)
    with pytest.raises(ValueError, match="in no row or column"):
        _kernel.exchanged_group_pairs(x, x, x, at + 64, np.array([0, 3]), words)


# ------------------------------------------------------------------------------- exact products


@given(seed=SEEDS, rows=st.integers(0, 9), columns=st.integers(1, 20), power=st.integers(-70, 31))
def test_products_of_counts_are_rounded_once(
    seed: int, rows: int, columns: int, power: int
) -> None:
    rng = np.random.default_rng(seed)
    numbers = rng.uniform(-1, 1, (rows, columns)) * 2.0**power
    counts = rng.integers(0, 4, (3, rows)).astype(float)
    product = exact_product(counts, numbers)
    largest = float(np.abs(numbers).max(initial=0))
    for d, c in np.ndindex(product.shape):
        exact = sum(
            (int(n) * Fraction(x) for n, x in zip(counts[d], numbers[:, c], strict=True)),
            Fraction(0),
        )
        # Parts below 2^-64, or the last bits of the largest number, are rounded away.
        assert abs(product[d, c] - float(exact)) <= max(largest, 2.0**-11) * 2**-52


@given(st.lists(st.tuples(*[st.integers(-(2**45), 2**45)] * 3), min_size=1))
def test_limbs_are_rounded_to_the_nearest(limbs: list[tuple[int, int, int]]) -> None:
    result = rounded(np.array(limbs).T)
    for (unsplit, middle, low), value in zip(limbs, result.tolist(), strict=True):
        assert value == float(unsplit + Fraction(middle, 2**32) + Fraction(low, 2**64))


# ------------------------------------------------------------------------------ own tests


@given(coins=st.integers(0, 40), share=st.floats(0, 1, exclude_max=True))
def test_heads_are_where_their_distribution_reaches_a_share(coins: int, share: float) -> None:
    (result,) = binomial_quantiles(coins, np.array([share])).tolist()
    cumulated = [sum(comb(coins, k) for k in range(n + 1)) / 2**coins for n in range(coins + 1)]
    assert 0 <= result <= coins
    assert cumulated[result] >= share - 1e-12
    assert not result or cumulated[result - 1] <= share + 1e-12


@given(seed=SEEDS, sizes=st.lists(st.integers(0, 7), min_size=1, max_size=4))
@settings(max_examples=40)
def test_pairs_that_one_metric_gets_right(seed: int, sizes: list[int]) -> None:
    rng = np.random.default_rng(seed)
    metric_scores = [tuple(rng.integers(0, 4, n).astype(float) for _ in range(3)) for n in sizes]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    joined = [np.concatenate([g[k] for g in metric_scores]) for k in range(3)]
    pair_counts = _kernel.right_pairs(*joined, offsets, 1.0, 0.0, None)
    for row, group in zip(pair_counts.tolist(), metric_scores, strict=True):
        assert tuple(row) == group_loops.right_pairs(tuple(x.tolist() for x in group), 1.0, 0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [3, 6])
def test_the_test_of_accuracies_exchanges_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    human, left, other = rng.normal(size=(3, 4, 6))
    human = np.round(human)
    first, second = human + left, human + other
    human[0, :2] = human[1:3, 3] = np.nan
    first, second = (np.where(np.isnan(human), np.nan, x) for x in (first, second))
    data = group_loops.groups([human, first, second], "by-system")
    delta, exact = group_loops.exchanged_pairs(data)
    trials = 20000
    permutation = exchange_pairs(
        human, first, second, Exchanges(~np.isnan(human), trials, 1, lambda *_: None)
    )
    assert permutation.delta == pytest.approx(delta, abs=1e-12)
    assert (
        abs(permutation.beyond / trials - exact)
        <= 4 * np.sqrt(exact * (1 - exact) / trials) + 1e-12
    )
    assert permutation.p == (1 + permutation.beyond) / (1 + trials)


@pytest.mark.parametrize("seed", range(6))
def test_few_pairs_are_exchanged_in_all_ways(seed: int) -> None:
    human, first, second = np.random.default_rng(seed).integers(0, 9, (3, 2, 4)).astype(float)
    human[0, 3] = np.nan
    metric_scores = [np.where(np.isnan(human), np.nan, x) for x in (human, first, second)]
    delta, exact = group_loops.exchanged_pairs(group_loops.groups(metric_scores, "by-system"))
    permutation = perm_both(*metric_scores, "acc-eq", "by-system", trials=3)
    assert permutation.exact
    assert (permutation.delta, permutation.p) == (pytest.approx(delta, abs=1e-12), exact)


def test_accuracies_without_pairs_have_no_p() -> None:
    human = np.array([[1.0, np.nan], [np.nan, 2.0]])
    assert np.isnan(perm_both(human, human, human, "acc-eq", "item").p)


@pytest.mark.parametrize("missing", [0, 2])
def test_soft_accuracies_are_tested_by_exchanged_cells(missing: int) -> None:
    rng = np.random.default_rng(4)
    human, left, other = rng.normal(size=(3, 5, 40)) + np.arange(5)[:, None] / 4
    first, second = human + left, human + 2 * other
    human[0, :missing] = np.nan
    permutation = perm_both(human, first, second, "spa", "system", trials=30, seed=2)
    has_score = ~np.isnan(human)
    a, b = ((x - x[has_score].mean()) / x[has_score].std() for x in (first, second))

    def spa(x: np.ndarray) -> float:
        return soft_pairwise_accuracy(human, x)

    assert permutation.delta == pytest.approx(spa(a) - spa(b), abs=1e-12)
    (words,) = drawn_words(human.shape, 30, 2)
    gaps = [spa(np.where(c, b, a)) - spa(np.where(c, a, b)) for c in masks(words, human.shape)]
    assert permutation.beyond == sum(gap >= permutation.delta - 1e-12 for gap in gaps)
    assert permutation.trials == 30


def test_soft_accuracy_of_few_systems_or_other_levels() -> None:
    human = np.random.default_rng(1).normal(size=(1, 20))
    assert np.isnan(perm_both(human, human, human, "spa", "system").p)
    with pytest.raises(InputError, match="spa compares systems: choose the level system"):
        perm_both(human, human, human, "spa", "segment")
