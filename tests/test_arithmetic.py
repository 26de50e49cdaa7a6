"""Arithmetic that is the same everywhere, against `decimal`, `fractions` and plain loops."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from karat import arithmetic as ar
from karat.errors import InputError

WIDE = Context(prec=60, Emin=-999999, Emax=999999)
numbers = st.floats(-1e6, 1e6)


def off(computed: float, true: Decimal) -> float:
    """The error in units of the last place."""
    return float(abs(Decimal(computed) - true) / Decimal(math.ulp(float(true))))


@given(st.floats(-700, 700))
def test_exp(x: float) -> None:
    assert off(ar.exp(x), WIDE.exp(Decimal(x))) < 0.52


@given(st.floats(1e-300, 1e300) | st.floats(0.5, 2))
def test_logarithms(x: float) -> None:
    assert off(ar.log(x), WIDE.ln(Decimal(x))) < 0.52
    assert off(ar.log10(x), WIDE.log10(Decimal(x))) < 0.52


@given(st.floats(-0.999, 1e6) | st.floats(1e-20, 1e-9) | st.floats(-1e-9, -1e-20))
def test_log1p(x: float) -> None:
    assume(abs(x) > 1e-30 or not x)
    assert off(ar.log1p(x), WIDE.ln(WIDE.add(1, Decimal(x)))) < 0.52


@given(st.floats(1e-3, 1e3), st.floats(-50, 50))
def test_power(x: float, y: float) -> None:
    assert off(float(ar.power(x, y)), WIDE.power(Decimal(x), Decimal(y))) < 0.6


@given(st.floats(-700, 700))
def test_sigmoid(x: float) -> None:
    true = WIDE.divide(1, WIDE.add(1, WIDE.exp(Decimal(-x))))
    assert off(ar.sigmoid(x), true) < 2


def test_ends_and_special_values() -> None:
    inf, nan = math.inf, math.nan
    assert ar.exp(np.array([-inf, -800, 0, 800, inf])).tolist() == [0, 0, 1, inf, inf]
    assert ar.log(np.array([0, 1, inf])).tolist() == [-inf, 0, inf]
    assert np.isnan(ar.log(np.array([-1, nan]))).all()
    assert math.isnan(ar.exp(nan))
    assert [ar.log10(10.0**k) for k in range(-5, 9)] == list(range(-5, 9))
    assert ar.power([0, 0, 5, 0, 27, 1], [2, -1, 0, 0, 1 / 3, 1e9]).tolist() == [0, inf, 1, 1, 3, 1]
    assert np.isnan(ar.power([0, 5, inf], nan)).all()
    assert ar.log1p(-1.0) == -inf


@given(st.floats(1e-3, 1e5))
def test_log_gamma_is_the_c_librarys(x: float) -> None:
    assert ar.log_gamma(x) == pytest.approx(math.lgamma(x), rel=4e-15, abs=4e-15)


@given(st.floats(-6, 26))
def test_erfc_is_the_c_librarys(x: float) -> None:
    assert ar.erfc(x) == pytest.approx(math.erfc(x), rel=2e-13)


def to_the_limb(x: float) -> Fraction:
    """x, rounded to a multiple of 2^-64."""
    return Fraction(round(Fraction(x) * 2**64), 2**64)


tables = st.lists(
    st.tuples(numbers | st.floats(-1e-9, 1e-9), st.floats(-4e9, 4e9)), min_size=1, max_size=30
)


@given(tables, st.randoms(use_true_random=False))
def test_sums_are_exact_in_any_order_and_partition(rows: list[tuple[float, float]], draw) -> None:
    exact_sums = [float(sum(map(to_the_limb, column))) for column in zip(*rows, strict=True)]
    assert ar.exact_sums(np.array(rows)).tolist() == exact_sums
    draw.shuffle(rows)
    cut = draw.randint(0, len(rows))
    parts = [ar.partial_sums(np.array(part).reshape(-1, 2)) for part in (rows[:cut], rows[cut:])]
    assert ar.joined_sums(parts).tolist() == exact_sums


def test_sums_of_few_columns_and_other_axes() -> None:
    table = np.array([[0.1, 1e9], [0.2, -1e9], [0.3, 2.0**-40]])
    assert ar.exact_sum(table, axis=0).tolist() == [math.fsum(c) for c in table.T.tolist()]
    assert ar.exact_sum(table, axis=1).tolist() == [math.fsum(r) for r in table.tolist()]
    assert ar.exact_sums(np.array([[1, 2], [3, 4]], dtype=np.int16)).tolist() == [4, 6]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 2.0**32])
def test_what_cannot_be_added_exactly_is_refused(bad: float) -> None:
    table = np.array([[1.0, bad]])
    for add in (ar.exact_sums, lambda rows: ar.exact_product(np.ones((1, 1)), rows)):
        with pytest.raises(InputError, match=r"between -2\^32 and 2\^32"):
            add(table)


@given(tables, st.data())
@settings(max_examples=50)
def test_weighted_sums_are_exact(rows: list[tuple[float, float]], data: st.DataObject) -> None:
    count = st.lists(st.integers(0, 9), min_size=len(rows), max_size=len(rows))
    counts = data.draw(st.lists(count, min_size=1, max_size=4))
    cut = data.draw(st.integers(0, len(rows)))
    exact_sums = [
        [
            float(sum(n * to_the_limb(row[k]) for n, row in zip(c, rows, strict=True)))
            for k in (0, 1)
        ]
        for c in counts
    ]
    table, times = np.array(rows), np.array(counts, dtype=float)
    beside_one = np.vstack([table, np.ones((1, 2))]), np.pad(times, ((0, 0), (0, 1)))
    assert ar.exact_product(*beside_one[::-1]).tolist() == exact_sums
    assert ar.ExactRows([table[:cut], table[cut:]]).sums(times).tolist() == exact_sums


@pytest.mark.parametrize("scale", [2.0**-20, 2.0**-64, 2.0**-500, 2.0**-1000])
def test_sums_of_small_numbers_keep_their_digits(scale: float) -> None:
    rng = np.random.default_rng(0)
    rows, counts = rng.normal(size=(30, 2)), rng.integers(0, 5, (4, 30)).astype(float)
    assert np.array_equal(
        ar.exact_product(counts, scale * rows), scale * ar.exact_product(counts, rows)
    )
    assert np.array_equal(ar.exact_sum(scale * rows), scale * ar.exact_sum(rows))


def test_rows_beyond_what_is_kept_and_counted_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(n, 3)) for n in (5, 1, 11)]
    counts = rng.integers(0, 5, (4, 17)).astype(float)
    expected_sums = ar.ExactRows(blocks).sums(counts)
    monkeypatch.setattr(ar, "_KEPT_CELLS", 0)
    monkeypatch.setattr(ar, "_MAX_COUNTED", 3)
    assert np.array_equal(ar.ExactRows(blocks).sums(counts), expected_sums)


def test_whole_numbers_of_any_type_are_counted_as_they_are() -> None:
    small = np.array([[200, 3], [1, 255]], dtype=np.uint8)
    assert ar.exact_product(np.array([[2.0, 3.0]]), small).tolist() == [[403.0, 771.0]]


# --------------------------------------------------------------------------- in fixed order


def looped(a: np.ndarray, b: np.ndarray) -> list[list[float]]:
    product = [[0.0] * b.shape[1] for _ in a]
    for i in range(len(a)):
        for j in range(b.shape[1]):
            for k in range(len(b)):
                product[i][j] += float(a[i, k]) * float(b[k, j])
    return product


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 99))
@settings(max_examples=50)
def test_products_add_in_order(m: int, k: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(m, k)), rng.normal(size=(k, n))
    loop_product = looped(a, b)
    assert ar.product(a, b).tolist() == loop_product
    assert ar.product(np.asfortranarray(a), np.asfortranarray(b)).tolist() == loop_product
    assert ar.product(np.stack([a, 2 * a]), b)[1].tolist() == looped(2 * a, b)
    if m and n:
        assert ar.product(a[0], b).tolist() == loop_product[0]
        assert ar.product(a, b[:, 0]).tolist() == [row[0] for row in loop_product]


@given(st.integers(1, 12), st.integers(0, 99))
@settings(max_examples=50)
def test_solutions_solve(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    root, right = rng.normal(size=(n, n)), rng.normal(size=(n, 3))
    matrix = root @ root.T + np.eye(n)
    solution = ar.solve_symmetric(matrix, right)
    assert np.allclose(solution, np.linalg.solve(matrix, right), rtol=1e-9, atol=1e-12)
    assert ar.solve_symmetric(matrix, right[:, 0]).tolist() == pytest.approx(
        solution[:, 0].tolist()
    )
    pair = ar.inverse_symmetric(np.stack([matrix, 2 * matrix]))
    assert np.allclose(pair[0] @ matrix, np.eye(n), atol=1e-8)
    assert np.allclose(pair[1] * 2, pair[0])


def test_a_singular_matrix_is_refused() -> None:
    with pytest.raises(ValueError, match="singular"):
        ar.solve_symmetric(np.zeros((2, 2)), np.ones(2))
