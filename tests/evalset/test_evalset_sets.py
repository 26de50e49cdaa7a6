"""Evaluation sets: what is refused, what human scores are, what a selection keeps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.judge_loops import human

import karat as kt

SYSTEMS = {"A": ["a1", "a2", "a3"], "B": ["b1", None, ""]}
ROWS = [
    ("A", "1", "x", "good", 1.0),
    ("A", "2", "x", "good", 3.0),
    ("A", "1", "y", "good", 2.0),
    ("B", "1", "y", "good", 5.0),
    ("A", "3", "x", "bad", 7.0),
]
GOOD: dict[str, Any] = {
    "name": "tiny",
    "systems": SYSTEMS,
    "references": ["r1", ["r2", "r2b"], []],
    "groups": ["d", "d", "e"],
    "sources": ["s1", "s2", "s3"],
    "judgements": ROWS,
    "dimensions": ["good", kt.Dimension("bad", better="lower", low=0, high=5)],
}


def make(**changed: Any) -> kt.EvalSet:
    return kt.make_evalset(**{**GOOD, **changed})


def test_a_set_tells_what_is_in_it() -> None:
    evalset = make()
    assert repr(evalset) == "<EvalSet tiny: 2 systems; 3 segments; 5 judgements of good, bad>"
    assert evalset.segments == ("1", "2", "3")
    assert evalset.references == (("r1",), ("r2", "r2b"), ())
    assert list(evalset.judgements) == ROWS
    assert evalset.judgements[1:3] == [kt.Judgement(*row) for row in ROWS[1:3]]
    assert evalset.judgements.judges == ("x", "y")
    assert repr(make(judgements=[])) == "<EvalSet tiny: 2 systems; 3 segments>"


BAD: list[tuple[dict[str, Any], str]] = [
    ({"systems": {}, "segments": ["1", "2", "3"]}, "tiny: no systems"),
    ({"systems": {"A": []}, "references": None}, "tiny: no segments"),
    ({"systems": {"A": "abc"}}, "system A is one str: give a list"),
    ({"systems": {"A": ["x"], "B": ["y", "z"]}}, "system B: found 2, expected 1, one per segment"),
    ({"systems": {"A": ["x", 1, "y"]}}, "system A, segment 2: found int, expected str"),
    ({"systems": {"": ["x", "y", "z"]}}, "system '': expected a name"),
    ({"systems": {"a\tb": ["x", "y", "z"]}}, "expected a name of at least one character"),
    ({"segments": ["1", "2", "1"]}, "segments 1 and 3 have the same id '1'"),
    ({"references": ["r"]}, "references: found 1 segments, expected 3"),
    ({"references": ["r", [1], "r"]}, "references of segment 2: found int, expected str"),
    ({"groups": ["d"]}, "groups: found 1, expected 3"),
    ({"sources": ["s", None, "s"]}, "sources, segment 2: found NoneType"),
    ({"dimensions": ["good", "good", "bad"]}, "dimension 'good' is given twice"),
    ({"dimensions": ["good"]}, r"judgements\[4\]: .*'bad', which is not declared \(good\)"),
    ({"judgements": [("C", "1", "x", "good", 1)]}, r"judgements\[0\]: .* system 'C', which is not"),
    ({"judgements": [("A", "9", "x", "good", 1)]}, "segment '9', which is not in the set"),
    ({"judgements": [("B", "2", "x", "good", 1)]}, "on segment '2', which has no output"),
    ({"judgements": [("A", "1", "", "good", 1)]}, "found the judge ''"),
    ({"judgements": [("A", "1", "x", "good", math.nan)]}, "found the value nan"),
    ({"judgements": [("A", "1", "x", "good", math.inf)]}, "found the value inf"),
    ({"judgements": [("A", "1", "x", "good", "high")]}, "found the value 'high', expected a"),
    ({"judgements": [("A", "1", "x", "good", True)]}, "found the value True"),
    ({"judgements": [("A", "1", "x", "good", None)]}, "found the value None"),
    ({"judgements": [("A", "1", "x", "good", 10**400)]}, "expected a finite number"),
    ({"judgements": [("A", "1", "x")]}, r"judgements\[0\]: found .*expected \(system, segment"),
    (
        {"judgements": [ROWS[0], ROWS[1], ("A", "1", "x", "good", 9.0)]},
        r"judgements\[2\]: judge 'x' has judged good of system 'A' on segment '1' already "
        r"\(tiny, judgements\[0\]\)",
    ),
]


@pytest.mark.parametrize(("changed", "sentence"), BAD)
def test_what_is_wrong_is_said(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(kt.InputError, match=sentence):
        make(**changed)


def test_further_problems_are_counted() -> None:
    rows = [("C", "1", "x", "good", 1)] * 3
    with pytest.raises(kt.InputError, match=r"judgements\[0\].*\(and 2 more: karat data check"):
        make(judgements=rows)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"better": "more"}, "better='more': expected 'higher' or 'lower'"),
        ({"low": 5, "high": 1}, "from 5 to 1"),
        ({"low": math.inf}, "ends at inf"),
        ({"high": "5"}, "ends at '5'"),
    ],
)
def test_a_bad_dimension(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(kt.InputError, match=sentence):
        kt.Dimension("d", **settings)


# ------------------------------------------------------------------------------- human scores


def matrix(rows: list[list[float | None]]) -> np.ndarray[Any, Any]:
    return np.array([[np.nan if x is None else x for x in row] for row in rows], dtype=float)


def test_human_scores_are_means_with_gaps() -> None:
    expected = matrix([[1.5, 3.0, None], [5.0, None, None]])
    np.testing.assert_array_equal(make().human("good"), expected)


def test_less_is_better_is_turned_and_raw_values_stay() -> None:
    evalset = make()
    assert evalset.human("bad")[0, 2] == -7.0
    assert evalset.judgements[4].value == 7.0


def test_only_some_judges() -> None:
    np.testing.assert_array_equal(
        make().human("good", judges=["y"]), matrix([[2.0, None, None], [5.0, None, None]])
    )
    with pytest.raises(kt.InputError, match="tiny has no judge 'z'"):
        make().human("good", judges=["z"])


def test_a_judge_without_spread_has_no_z_scores() -> None:
    assert np.isnan(make().human("bad", "z")).all()


def test_a_dimension_or_a_way_that_is_not_there() -> None:
    with pytest.raises(kt.InputError, match=r"no dimension 'fluency' \(it has good, bad\)"):
        make().human("fluency")
    with pytest.raises(kt.InputError, match="normalise='minmax': expected 'none' or 'z'"):
        make().human("good", "minmax")


def test_a_set_without_judgements_has_only_gaps() -> None:
    assert np.isnan(make(judgements=[]).human("good")).all()


values = st.sampled_from([0.0, 1.0, 2.5, -3.0, 100.0])
rows = st.dictionaries(
    st.tuples(*(st.sampled_from(names) for names in ("AB", "123", "xyz", "de"))),
    values,
    max_size=30,
)


@given(rows, st.booleans(), st.sampled_from("de"))
def test_human_scores_equal_plain_loops(
    given_rows: dict[tuple[str, str, str, str], float], z: bool, dimension: str
) -> None:
    judgements = [(*key, value) for key, value in given_rows.items()]
    dimensions = [kt.Dimension("d"), kt.Dimension("e", better="lower")]
    outputs = {"A": [*"123"], "B": [*"123"]}
    evalset = make(systems=outputs, judgements=judgements, dimensions=dimensions)
    sign = 1 if dimension == "d" else -1
    expected = human(judgements, "AB", "123", dimension, sign, z)
    got = evalset.human(dimension, "z" if z else "none")
    np.testing.assert_allclose(got, matrix(expected), rtol=1e-12, atol=1e-12)


# ---------------------------------------------------------------------------------- selections


def test_a_selection_keeps_what_belongs_to_it() -> None:
    evalset = make().select(systems=["B", "A"], segments=["3", "1"])
    assert list(evalset.systems.items()) == [("B", ("", "b1")), ("A", ("a3", "a1"))]
    assert (evalset.segments, evalset.groups, evalset.sources) == (
        ("3", "1"),
        ("e", "d"),
        ("s3", "s1"),
    )
    assert evalset.references == ((), ("r1",))
    assert list(evalset.judgements) == [ROWS[0], *ROWS[2:]]
    np.testing.assert_array_equal(evalset.human("good"), matrix([[None, 5.0], [None, 1.5]]))


def test_judges_who_judged_nothing_that_is_left_are_gone() -> None:
    assert make().without("A").judgements.judges == ("y",)


def test_references_are_chosen_by_place() -> None:
    assert make().select(references=[1]).references == ((), ("r2b",), ())


@pytest.mark.parametrize(
    ("expected", "sentence"),
    [
        ({"systems": ["A", "C"]}, "tiny has no system 'C'"),
        ({"systems": ["A", "A"]}, "system 'A' is named twice"),
        ({"segments": ["7"]}, "tiny has no segment '7'"),
        ({"segments": []}, "tiny: nothing was selected"),
        ({"systems": []}, "tiny: nothing was selected"),
        ({"references": [-1]}, "they are numbered from 0"),
    ],
)
def test_a_selection_of_what_is_not_there(expected: dict[str, Any], sentence: str) -> None:
    with pytest.raises(kt.InputError, match=sentence):
        make().select(**expected)


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(kt.InputError, match="did you mean atlas"):
        kt.load_evalset("demo").without("atlsa")


# ------------------------------------------------------------------------------------- scoring


def test_score_and_compare_read_a_set() -> None:
    evalset = kt.load_evalset("demo")
    outputs, references = evalset.texts()
    from_set = kt.score(evalset, metrics="bleu")
    from_lists = kt.score(outputs, references, "bleu")
    assert [row.score for row in from_set.rows] == [row.score for row in from_lists.rows]
    compared = kt.compare(evalset, metrics="chrf", baseline="drift")
    assert compared["atlas", "chrf"].score.value > compared["drift", "chrf"].score.value


def test_scoring_needs_references_and_every_output() -> None:
    evalset = make()
    with pytest.raises(
        kt.InputError, match="tiny: 1 of 3 segments have no reference, the first is '3'"
    ):
        kt.score(evalset)
    selection = evalset.select(segments=["1", "2"])
    with pytest.raises(kt.InputError, match=r"system B has no output for 1 of 2 .* first is 2\)"):
        kt.score(selection)
    assert kt.score(selection.without("B")).rows
    with pytest.raises(kt.InputError, match="has its own references"):
        kt.score(selection, [["r"], ["r"]])
    with pytest.raises(kt.InputError, match="no references were given"):
        kt.score(["a"])


# -------------------------------------------------------------------------------------- census


def test_a_census_counts() -> None:
    check = kt.check_evalset(make())
    assert check.rows == (("tiny", 2, 3, 2, 0, 1.0, 2, 5, 2, 1, 1),)
    assert check.systems == (("A", 3, 0, 0, 3, 4), ("B", 2, 1, 1, 1, 1))
    assert [tuple(count)[4:] for count in check.dimensions] == [
        (4, 2, 3, 1.0, 5.0, 0),
        (1, 1, 1, 7.0, 7.0, 1),
    ]
    assert check.notes == (
        "bad: 1 judgement is off the stated scale",
        "bad: 1 judges always gave one value and have no z-scores: x",
    )
    issues = {issue.problem: (issue.number, issue.first) for issue in check.issues}
    assert issues["missing output"] == (1, "B, segment 2")
    assert issues["segment without a reference"][0] == 1
    assert "good: no judgements" in kt.check_evalset(make(judgements=[])).notes
    assert kt.check_evalset(make(judgements=ROWS[:2]).without("A")).notes[-1] == (
        "one system: there is nothing to compare at the level of systems"
    )
