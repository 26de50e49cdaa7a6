"""`judge_agreement`: one call for ratings and nuggets, and its result as data."""

from __future__ import annotations

import pytest

import karat as kt
from karat.nuggets.results.contents import NuggetJudgeAgreement


def test_the_agreement_of_ratings_is_data() -> None:
    judges_result = kt.judge_agreement(kt.load_evalset("demo"), ["errors", "fluency"], ["drift"])
    assert [row.dimension for row in judges_result.rows] == ["errors", "fluency"]
    assert [(row.dimension, row.judge) for row in judges_result.judges] == [
        ("errors", "ben"),
        *(("fluency", name) for name in ("anna", "ben", "cleo")),
    ]
    assert judges_result.settings == {"dimensions": ("errors", "fluency"), "exclude": ("drift",)}
    assert judges_result.notes == (
        "3 judges, flagged in 0 of 4 rows; no judge was left out. Systems left out: drift.",
        "One judge in 1 of 2 dimensions: no agreement to measure there.",
    )
    assert [list(row) for row in judges_result.records()] == [
        list(row._fields) for row in judges_result.rows
    ]
    assert [row["judges"] for row in judges_result.records()] == [1, 3]
    assert len(repr(judges_result)) < 200


def test_controls_are_left_out_of_everything() -> None:
    demo = kt.load_evalset("demo")
    result, expected = kt.judge_agreement(demo, exclude=["drift"]), demo.without("drift")
    assert str(result.rows) == str(kt.judge_agreement(expected).rows)  # NaN is not equal to NaN
    assert str(result.rows) != str(kt.judge_agreement(demo).rows)
    with pytest.raises(kt.InputError, match="demo has no system 'drfit'; did you mean drift"):
        kt.judge_agreement(demo, exclude=["drfit"])
    with pytest.raises(kt.InputError, match="demo has no dimension 'grace'"):
        kt.judge_agreement(demo, ["grace"])


def test_the_agreement_of_nuggets_is_data() -> None:
    judges_result = kt.judge_agreement(kt.load_nuggets("demo-nuggets"))
    assert isinstance(judges_result, NuggetJudgeAgreement)
    assert [(row.judge, row.kind, row.labels) for row in judges_result.kappa] == [
        ("unnamed", "person", 96)
    ]
    assert judges_result.pairs == ()
    assert [table.key for table in judges_result.document().tables] == ["rows", "judges", "kappa"]
    with pytest.raises(kt.InputError, match="has no run 'heros'"):
        kt.judge_agreement(kt.load_nuggets("demo-nuggets"), exclude=["heros"])
