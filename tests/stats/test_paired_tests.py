"""Williams, Wilcoxon, tails, corrections and clusters: scipy's numbers and the formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
import scipy.stats
from hypothesis import example, given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.stats.distributions import incomplete_beta, normal_tail, student_tail
from karat.stats.paired_tests import ALTERNATIVES, wilcoxon, williams, williams_from_correlations
from karat.stats.significance import benjamini_hochberg, clusters, holm

# ------------------------------------------------------------------------------------- tails


@given(t=st.floats(-60, 60), freedom=st.integers(1, 2000))
@example(t=5.960464477539063e-08, freedom=5)
@example(t=-1e-9, freedom=1)
@example(t=1e200, freedom=3)
@example(t=0.0, freedom=7)
def test_student_tail_is_scipys(t: float, freedom: int) -> None:
    assert student_tail(t, freedom) == pytest.approx(scipy.stats.t.sf(t, freedom), rel=1e-9)


@given(z=st.floats(-30, 30))
def test_normal_tail_is_scipys(z: float) -> None:
    assert normal_tail(z) == pytest.approx(scipy.stats.norm.sf(z), rel=1e-11)


@given(a=st.floats(0.1, 500), b=st.floats(0.1, 500), x=st.floats(0, 1))
def test_incomplete_beta_is_scipys(a: float, b: float, x: float) -> None:
    assert incomplete_beta(a, b, x) == pytest.approx(scipy.special.betainc(a, b, x), abs=1e-11)


# ---------------------------------------------------------------------------------- Williams


@given(seed=st.integers(0, 2**32), n=st.integers(5, 40))
def test_williams_is_the_formula(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    h = rng.normal(size=n)
    a, b = h + rng.normal(size=(2, n))
    r = np.corrcoef([h, a, b])
    spread = 2 * np.linalg.det(r) * (n - 1) / (n - 3)  # K is the determinant of correlations
    spread += ((r[0, 1] + r[0, 2]) / 2) ** 2 * (1 - r[1, 2]) ** 3
    t = (r[0, 1] - r[0, 2]) * np.sqrt((n - 1) * (1 + r[1, 2]) / spread)
    test = williams(h, a, b)
    assert test.t == pytest.approx(t, abs=1e-8)
    assert test.p == pytest.approx(scipy.stats.t.sf(t, n - 3), abs=1e-9)
    assert williams(h, b, a).p == pytest.approx(1 - test.p, abs=1e-12)


def test_williams_knows_equal_metrics_and_too_few_points() -> None:
    h = np.array([1.0, 2.0, 4.0, 3.0, 7.0])
    a = np.array([2.0, 1.0, 5.0, 3.0, 6.0])
    assert williams(h, a, a) == (0, 0.5, 5)
    assert np.isnan(williams(h[:3], a[:3], -a[:3]).p)
    assert np.isnan(williams(h, a, np.ones(5)).p)
    assert np.isnan(williams_from_correlations(1.0, -1.0, -1.0, 9).p)
    holed = np.append(a, np.nan)
    assert williams(np.append(h, 1), holed, np.append(h, 5)) == williams(h, a, h)
    with pytest.raises(InputError, match="5 human scores, 5 and 4 metric scores"):
        williams(h, a, a[:4])


# ---------------------------------------------------------------------------------- Wilcoxon

GAPS = st.lists(st.integers(-60, 60).filter(bool), min_size=1, max_size=30)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@given(gaps=GAPS)
def test_wilcoxon_with_ties_is_scipys(alternative: str, gaps: list[int]) -> None:
    test = wilcoxon(gaps, np.zeros(len(gaps)), alternative, exact=False)
    expected = scipy.stats.wilcoxon(gaps, alternative=alternative, method="asymptotic")
    assert test.p == pytest.approx(expected.pvalue, abs=1e-12)
    assert (test.n, test.exact) == (len(gaps), False)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@given(data=st.data())
def test_wilcoxon_without_ties_is_scipys_exact_one(alternative: str, data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 999), min_size=1, max_size=50, unique=True))
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(sizes), max_size=len(sizes)))
    gaps = np.multiply(sizes, signs).astype(float)
    test = wilcoxon(gaps, np.zeros(len(gaps)), alternative)
    expected = scipy.stats.wilcoxon(gaps, alternative=alternative, method="exact")
    assert test.exact
    assert test.p == pytest.approx(expected.pvalue, abs=1e-12)
    assert test.r_plus == scipy.stats.wilcoxon(gaps, alternative="greater").statistic


def test_wilcoxon_chooses_its_distribution_and_leaves_zeros_out() -> None:
    rng = np.random.default_rng(0)
    assert wilcoxon(rng.normal(size=50), np.zeros(50)).exact
    assert not wilcoxon(rng.normal(size=51), np.zeros(51)).exact
    assert not wilcoxon([1, -1, 2], [0, 0, 0]).exact
    assert wilcoxon([1, 2, 5, np.nan, 4], [1, 4, 2, 1, 3])[2:] == (3, True)
    assert wilcoxon([1, 2], [1, 2]) == (0, 1, 0, True)
    with pytest.raises(InputError, match="alternative 'more': expected one of two-sided"):
        wilcoxon([1], [2], "more")


# ------------------------------------------------------------------------------- corrections

P_VALUES = st.lists(st.floats(0, 1), max_size=12)


@given(p=P_VALUES)
def test_benjamini_hochberg_is_scipys(p: list[float]) -> None:
    expected = scipy.stats.false_discovery_control(p) if p else []
    assert benjamini_hochberg(p).tolist() == pytest.approx(list(expected))


@given(p=P_VALUES, level=st.floats(0.001, 0.5))
def test_holm_rejects_step_by_step(p: list[float], level: float) -> None:
    rejected = set()
    for k, i in enumerate(np.argsort(p, kind="stable")):
        if p[i] > level / (len(p) - k):
            break
        rejected.add(int(i))
    corrected = holm(p)
    near = np.abs(corrected - level) < 1e-12
    assert {i for i in range(len(p)) if corrected[i] <= level and not near[i]} == {
        i for i in rejected if not near[i]
    }


def test_corrections_leave_nan_alone_and_keep_the_shape() -> None:
    p = np.array([[np.nan, 0.01], [0.04, 0.03]])
    assert np.allclose(holm(p), [[np.nan, 0.03], [0.06, 0.06]], equal_nan=True)
    assert np.allclose(benjamini_hochberg(p), [[np.nan, 0.03], [0.04, 0.04]], equal_nan=True)


# ---------------------------------------------------------------------------------- clusters


def upper(n: int, **cells: float) -> np.ndarray:
    """A table of p-values, all 0.5 but those named, like p02 for row 0, column 2."""
    p = np.full((n, n), 0.5)
    for name, value in cells.items():
        p[int(name[1]), int(name[2])] = value
    return p


def test_a_metric_that_is_worse_than_one_of_the_rank_starts_the_next() -> None:
    assert clusters(upper(4)) == [1, 1, 1, 1]
    assert clusters(upper(4, p02=0.05)) == [1, 1, 2, 2]
    assert clusters(upper(4, p02=0.01, p13=0.01)) == [1, 1, 2, 2]  # 1 and 3 are ranks apart
    assert clusters(upper(4, p02=0.01, p23=0.01)) == [1, 1, 2, 3]
    assert clusters(upper(4, p02=0.04), level=0.03) == [1, 1, 1, 1]
    assert clusters(np.empty((0, 0))) == []
    assert clusters(upper(2, p01=np.nan)) == [1, 1]
    with pytest.raises(InputError, match="expected a square"):
        clusters(np.zeros((2, 3)))
