"""Judges: published worked examples, the formulas by loops, and what is said of odd judges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import judge_formulas

from karat.errors import InputError
from karat.stats.judges import (
    SCALES,
    inter_judge,
    intraclass_correlation,
    judge_table,
    krippendorff_alpha,
    standings,
)

NAN = float("nan")
FOUR_CODERS = [  # Krippendorff 2011
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]
SIX_TARGETS = [  # Shrout and Fleiss 1979, units x judges
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]

# -------------------------------------------------------------------------------------- alpha


@pytest.mark.parametrize(
    ("scale", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_of_the_published_example(scale: str, expected: float) -> None:
    alpha = krippendorff_alpha(np.array(FOUR_CODERS), scale)
    assert round(alpha.value, 3) == expected
    assert alpha.units == 11


CELLS = st.one_of(st.none(), st.integers(1, 4).map(float))
TABLES = st.tuples(st.integers(2, 5), st.integers(1, 8)).flatmap(
    lambda shape: st.lists(
        st.lists(CELLS, min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


@pytest.mark.parametrize("scale", SCALES)
@given(table=TABLES)
def test_alpha_is_the_formula(scale: str, table: list[list[float | None]]) -> None:
    units = [[v for v in unit if v is not None] for unit in zip(*table, strict=True)]
    pairable = [v for unit in units if len(unit) > 1 for v in unit]
    assume(len(set(pairable)) > 1)
    assume(sum(len(unit) > 1 for unit in units) > 1)
    alpha = krippendorff_alpha(np.array(table, dtype=float), scale)
    assert alpha.value == pytest.approx(judge_formulas.alpha(table, scale), abs=1e-9)


def test_alpha_is_undefined_without_two_units_or_different_judgements() -> None:
    assert np.isnan(krippendorff_alpha(np.array([[1, NAN], [NAN, 2]])).value)
    assert np.isnan(krippendorff_alpha(np.array([[3.0, 3.0], [3.0, 3.0]])).value)
    # One unit: the pairs within it are all pairs, so that 1 - observed / expected is always 0.
    alpha = krippendorff_alpha(np.array([[1.0, 2.0], [5.0, NAN]]))
    assert alpha.units == 1
    assert np.isnan(alpha.value)
    with pytest.raises(InputError, match="scale 'ratio': expected one of nominal"):
        krippendorff_alpha(np.ones((2, 2)), "ratio")


# ---------------------------------------------------------------------------------------- ICC


def test_intraclass_correlation_of_the_published_example() -> None:
    assert round(intraclass_correlation(np.array(SIX_TARGETS, dtype=float).T), 2) == 0.29


@given(seed=st.integers(0, 2**32), n=st.integers(2, 8), k=st.integers(2, 5))
def test_intraclass_correlation_is_the_formula(seed: int, n: int, k: int) -> None:
    x = np.random.default_rng(seed).normal(size=(n, k)) + np.arange(n)[:, None]
    B, _, J, E = judge_formulas.mean_squares(x.tolist())
    expected = (B - E) / (B + (k - 1) * E + k * (J - E) / n)
    assert intraclass_correlation(x.T) == pytest.approx(expected)


def test_intraclass_correlation_needs_units_that_all_judged() -> None:
    table = np.array(SIX_TARGETS, dtype=float).T
    holed = np.hstack([table, [[1], [NAN], [3], [4]]])
    assert intraclass_correlation(holed) == intraclass_correlation(table)
    assert np.isnan(intraclass_correlation(table[:1]))
    assert np.isnan(intraclass_correlation(np.ones((3, 3))))


# ------------------------------------------------------------------------------------- tables


def test_a_table_has_means_of_repeated_judgements_and_nan_for_none() -> None:
    units, judges = ["u", "v", "u", "u", "w"], ["b", "a", "a", "a", "b"]
    table = judge_table(units, judges, [1, 2, 3, 5, NAN])
    assert table.judges == ["b", "a"]
    assert table.units == ["u", "v", "w"]
    assert np.array_equal(table.values, [[1, NAN, NAN], [4, 2, NAN]], equal_nan=True)
    with pytest.raises(InputError, match="2 values for columns of 1, 2 rows"):
        judge_table(["u"], ["a", "b"], [1, 2])


# -------------------------------------------------------------------------------- inter-judge


def judged(rows: list[list[float]]) -> tuple[list[int], list[str], list[float]]:
    """Flat rows of a table of judges x units."""
    flat = [(u, "abcdefgh"[j], x) for j, row in enumerate(rows) for u, x in enumerate(row)]
    units, judges, values = zip(*flat, strict=True)
    return list(units), list(judges), list(values)


def test_judges_are_correlated_on_what_both_judged() -> None:
    table = judge_table(*judged([[1, 2, 3, 5, NAN], [2, 1, 4, NAN, 3], [7, 7, 7, 7, 7]]))
    ab, ac, bc = inter_judge(table)
    assert ab == pytest.approx(np.corrcoef([1, 2, 3], [2, 1, 4])[0, 1])
    assert np.isnan([ac, bc]).all()  # c is constant
    apart = judge_table(*judged([[1, 2, NAN, NAN], [NAN, 5, 6, 7], [NAN, NAN, 1, 2]]))
    assert inter_judge(apart) == pytest.approx([NAN, NAN, 1], nan_ok=True)  # 1, 0 and 2 units


def test_judges_are_correlated_on_means_of_systems() -> None:
    rows = [[1, 2, 3, 5, 4, 6, NAN, 9], [2, 1, 4, NAN, 3, 3, 1, NAN]]
    systems = ["x", "x", "y", "y", "z", "z", "unshared", "unshared"]
    table = judge_table(*judged(rows))
    (r,) = inter_judge(table, systems)
    means = [1.5, 3, 5], [1.5, 4, 3]
    assert r == pytest.approx(np.corrcoef(*means)[0, 1])
    with pytest.raises(InputError, match="2 systems for 8 units"):
        inter_judge(table, ["x", "y"])


# ----------------------------------------------------------------------------------- standings


def noisy(seed: int, judges: int, noise: float) -> list[list[float]]:
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=60)
    return (truth + noise * rng.normal(size=(judges, 60))).tolist()


def test_a_judge_who_answers_at_random_is_flagged_and_kept() -> None:
    rows = noisy(1, 5, 0.5)
    rows[2] = np.random.default_rng(9).normal(size=60).tolist()
    judge_standings = standings(judge_table(*judged(rows)))
    assert [standing.judge for standing in judge_standings] == list("abcde")
    assert [standing.judge for standing in judge_standings if standing.flagged] == ["c"]
    assert "below the median of all judges" in judge_standings[2].reason
    rivals = np.delete(np.array(rows), 0, axis=0).mean(axis=0)
    assert judge_standings[0].r == pytest.approx(np.corrcoef(rows[0], rivals)[0, 1])
    assert judge_standings[0].n == 60


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.5, 3.0])
def test_judges_of_one_kind_are_hardly_ever_flagged(noise: float) -> None:
    result = [
        standing
        for seed in range(20)
        for standing in standings(judge_table(*judged(noisy(seed, 6, noise))))
    ]
    assert len(result) == 120
    assert sum(standing.flagged for standing in result) <= 2


def test_a_few_units_are_not_enough_to_flag_a_judge() -> None:
    rows = [[1, 2, 3], [1, 2, 3], [1, 2, 3], [3, 2, 1]]
    judge_standings = standings(judge_table(*judged(rows)))
    assert judge_standings[3].r == pytest.approx(-1)
    assert not any(standing.flagged for standing in judge_standings)


def test_a_constant_judge_is_flagged_and_two_judges_never() -> None:
    rows = noisy(3, 4, 0.5)
    rows[1] = [4.0] * 60
    judge_standings = standings(judge_table(*judged(rows)))
    assert [standing.flagged for standing in judge_standings] == [False, True, False, False]
    assert judge_standings[1].reason == "the judge's scores are constant"
    two = standings(judge_table(*judged([rows[0], [-x for x in rows[0]]])))
    assert [standing.flagged for standing in two] == [False, False]


def test_judges_without_overlap_are_incomparable_and_not_accused() -> None:
    rows = [[NAN] * 60 for _ in range(4)]
    for k, row in enumerate(noisy(4, 4, 0.5)):
        rows[k][15 * k : 15 * k + 15] = row[15 * k : 15 * k + 15]
    judge_standings = standings(judge_table(*judged(rows)))
    assert [
        (standing.flagged, standing.comparable, standing.n) for standing in judge_standings
    ] == [(False, False, 0)] * 4
    assert {standing.reason for standing in judge_standings} == {
        "no overlap with other judges: cannot be compared"
    }
    rows[0][15] = 1.0  # one unit shared: still nothing to correlate
    once = standings(judge_table(*judged(rows)))
    assert [(standing.comparable, standing.n) for standing in once] == [(False, 1)] * 2 + [
        (False, 0)
    ] * 2
    rows[0] = noisy(4, 4, 0.5)[0]
    assert all(
        standing.comparable and standing.reason == ""
        for standing in standings(judge_table(*judged(rows)))
    )


def test_identical_judges_are_named_and_the_independent_one_is_not_accused() -> None:
    rng = np.random.default_rng(5)
    copied, alone = rng.integers(1, 6, 1400).tolist(), rng.integers(1, 6, 1400).tolist()
    judge_standings = standings(judge_table(*judged([copied, copied, alone])))
    assert [standing.identical for standing in judge_standings] == [("b",), ("a",), ()]
    assert not any(standing.flagged for standing in judge_standings)
    assert (
        judge_standings[0].r
        == judge_standings[2].r
        == pytest.approx(np.corrcoef(copied, alone)[0, 1])
    )
    # Counted as one judge, they do not outvote others: here the copied one is the odd one out.
    rivals = noisy(6, 4, 0.3)
    odd = rng.normal(size=60).tolist()
    crowd = standings(judge_table(*judged([odd, odd, odd, *rivals])))
    assert [standing.flagged for standing in crowd] == [True] * 3 + [False] * 4
    assert crowd[0].identical == ("b", "c")
    two = standings(judge_table(*judged([copied, copied])))  # they share everything
    assert {standing.reason for standing in two} == {
        "no overlap with further judges: cannot be compared"
    }


@pytest.mark.parametrize(
    ("rows", "identical"),
    [
        ([[1.0] * 500, [1.0] * 500], False),  # both constant: equal, and no evidence
        ([[0.0, 1.0] * 5, [0.0, 1.0] * 5], False),  # ten units: honest judges may agree on all
        ([[0.0, 1.0] * 100, [0.0, 1.0] * 100], True),
        ([[0.0] * 190 + [1.0] * 10] * 2, False),  # what is rare is hardly a test
        ([[0.0, 1.0] * 100, [0.0, 1.0] * 99 + [0.0, 0.0]], False),  # one is not equal
        ([list(range(40)), list(range(40))], True),
        ([[float(k) for k in range(40)], [NAN] * 39 + [39.0]], False),
    ],
)
def test_equal_values_are_evidence_only_where_chance_makes_them_unlikely(
    rows: list[list[float]], identical: bool
) -> None:
    judge_standings = standings(judge_table(*judged(rows)))
    assert bool(judge_standings[0].identical) == bool(judge_standings[1].identical) == identical


def test_a_constant_judge_is_accused_only_where_the_others_differ_enough() -> None:
    easy = [[1.0] * 18 + [0.0, 0.0], [1.0] * 17 + [0.0] * 3, [1.0] * 16 + [0.0] * 4, [1.0] * 20]
    assert not any(standing.flagged for standing in standings(judge_table(*judged(easy))))
    hard = [
        *([[1.0, 0.0] * 10, [1.0, 0.0] * 9 + [1.0, 1.0], [0.0, 0.0] + [1.0, 0.0] * 9]),
        [1.0] * 20,
    ]
    assert [standing.flagged for standing in standings(judge_table(*judged(hard)))] == [
        False
    ] * 3 + [True]


def test_a_lone_judge_is_said_to_be_one() -> None:
    (judge_standings,) = standings(judge_table(*judged([[1, 2, 3, 4]])))
    assert (judge_standings.comparable, judge_standings.reason) == (
        False,
        "one judge: cannot be compared",
    )
