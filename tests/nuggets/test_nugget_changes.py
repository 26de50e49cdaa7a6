"""Nuggets gained and lost between two versions, against plain loops."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import nugget_loops

from karat.nuggets.prediction.intervals import Margin, paired_significance
from karat.nuggets.results.changes import KINDS, NuggetChanges
from karat.nuggets.results.scoring import NuggetScoring, ScoredRun
from karat.nuggets.scores.decisions import AnswerDecisions
from karat.nuggets.scores.official import OfficialSettings, score_shares
from karat.nuggets.sets.keys_and_runs import (
    Nugget,
    NuggetKey,
    Question,
    Response,
    Run,
    make_key,
    make_run,
)
from karat.nuggets.sets.nugget_set import NuggetSet

Matrix = list[list[float | None]]


def judged_answer(matrix: Matrix, nuggets: int) -> AnswerDecisions:
    """All that is decided was judged."""
    values = np.array(matrix, dtype=np.float64).reshape(-1, nuggets)
    return AnswerDecisions(values, ~np.isnan(values))


def run(tag: str, sizes: dict[str, int]) -> Run:
    pairs = [(q, Response(f"{tag} {q} {i}")) for q, size in sizes.items() for i in range(size)]
    return make_run(tag, pairs)


def compare(
    key: NuggetKey, old: dict[str, Matrix], new: dict[str, Matrix], measure: OfficialSettings
) -> NuggetChanges:
    scored = []
    for tag, decisions in (("old", old), ("new", new)):
        version = run(tag, {q: len(decisions[q]) for q in key.questions})
        tables = {
            q: judged_answer(decisions[q], len(key.questions[q].nuggets)) for q in key.questions
        }
        shares = score_shares(version, key, tables)
        scored.append(ScoredRun(version, tables, measure.score(version, key, tables), shares))
    nuggets = NuggetSet("s", key, {scored_run.run.tag: scored_run.run for scored_run in scored})
    return NuggetChanges(
        NuggetScoring(nuggets, measure, True, False, tuple(scored)), everything=True
    )


VALUES = st.sampled_from([None, 0.0, 0.5, 1.0])


@st.composite
def cases(draw: st.DrawFn) -> tuple[NuggetKey, dict[str, Matrix], dict[str, Matrix]]:
    """Up to three questions, and what two versions carry."""
    questions, both = [], ({}, {})
    for id in "abc"[: draw(st.integers(1, 3))]:
        vital = draw(st.lists(st.booleans(), min_size=1, max_size=3))
        questions.append(
            Question(id, tuple(Nugget(str(j), (f"n{j}",), v) for j, v in enumerate(vital)))
        )
        row = st.lists(VALUES, min_size=len(vital), max_size=len(vital))
        for side in both:
            side[id] = draw(st.lists(row, max_size=3))
    return make_key(questions), *both


@given(cases(), st.booleans())
def test_changes_are_those_of_loops(
    case: tuple[NuggetKey, dict[str, Matrix], dict[str, Matrix]], strict: bool
) -> None:
    key, old, new = case
    changes = compare(key, old, new, OfficialSettings(strict=strict))
    rows = iter(changes.all)
    for id, question in key.questions.items():
        for j, nugget in enumerate(question.nuggets):
            kind, first, second = nugget_loops.what_became(old[id], new[id], j, strict)
            row = next(rows)
            assert (row.question, row.nugget, row.change) == (id, nugget.id, kind)
            assert row.old_response == ("" if first is None else f"old {id} {first}")
            assert row.new_response == ("" if second is None else f"new {id} {second}")
            unsure = [
                at is None and any(line[j] is None for line in matrix)
                for at, matrix in ((first, old[id]), (second, new[id]))
            ]
            assert (row.by == "nothing") == any(unsure)
    assert next(rows, None) is None
    kinds = [(row.change, row.importance) for row in changes.all]
    expected = [(k, kinds.count((k, "vital")), kinds.count((k, "okay"))) for k in KINDS]
    assert list(changes.counts) == expected
    assert [row.change for row in changes.rows] == sorted((k for k, _ in kinds), key=KINDS.index)
    changed_rows = replace(changes, everything=False).rows
    assert changed_rows == tuple(row for row in changes.rows if row.change in ("gained", "lost"))
    scored = [id for id, question in key.questions.items() if question.vital]
    assert list(changes.differences()) == scored
    assert [row.question for row in changes.questions if row.old is not None] == scored
    assert list(changes.scoring.scored[1].official_score.skipped) == [
        id for id in key.questions if id not in scored
    ]


def yes_or_no(flags: str) -> dict[str, Matrix]:
    """A question for each letter, its one nugget carried or not."""
    return {str(k): [[float(flag == "+")]] for k, flag in enumerate(flags)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("----------", "+++++++++-"),
        ("+-+-+-", "-+-+-+"),
        ("++++", "++++"),
        ("++++++++", "--------"),
        ("+-", "++"),
    ],
)
def test_significance_is_that_of_the_jackknife(old: str, new: str) -> None:
    key = make_key(Question(str(k), (Nugget("1", ("x",)),)) for k in range(len(old)))
    changes = compare(key, yes_or_no(old), yes_or_no(new), OfficialSettings())
    test = changes.significance()
    differences = [b - a for a, b in changes.differences().values()]
    assert test.p == pytest.approx(nugget_loops.jackknife_p(differences), abs=1e-6)
    assert test.low is not None
    assert test.high is not None
    assert (test.low > 0 or test.high < 0) == (test.p < 0.05)
    assert test.questions == len(old)
    assert test.delta == pytest.approx(
        changes.scoring.rows[1].macro - changes.scoring.rows[0].macro
    )
    assert test == changes.significance()


MARGINS = st.sampled_from([0.0, 0.01, 0.1, 0.5])


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6) | st.just(6)), min_size=2, max_size=12),
    st.lists(MARGINS, min_size=4, max_size=4),
)
def test_interval_and_p_agree_whatever_guesses_may_be_wrong(
    pairs: list[tuple[int, int]], margins: list[float]
) -> None:
    """p is that of the widest interval that excludes 0, found by trying many."""
    scores = [(a / 6, b / 6) for a, b in pairs]
    test = paired_significance("F", scores, (Margin(*margins[:2]), Margin(*margins[2:])))
    assert test.low is not None
    assert test.high is not None
    assert (test.low > 0 or test.high < 0) == (test.p < 0.05)
    assert (test.verdict != "undecided") == (test.p < 0.05 and len(pairs) >= 6)
    assert 0 <= test.p <= 1
    plain = paired_significance("F", scores)
    assert plain.low is not None
    assert plain.high is not None
    assert test.p >= plain.p - 1e-9
    assert test.low <= plain.low <= plain.high <= test.high


def test_guesses_that_may_be_wrong_by_an_unknown_amount_have_no_test() -> None:
    test = paired_significance("F", [(0.0, 1.0)] * 20, (None, Margin()))
    assert math.isnan(test.p)
    assert (test.low, test.high, test.verdict) == (None, None, "undecided")
    assert str(test).endswith("no test, since it is unknown how wrong the guesses may be.")


def test_shares_are_compared_too() -> None:
    """Of okay nuggets there is no F."""
    key = make_key(Question(str(k), (Nugget("1", ("x",), k < 2),)) for k in range(4))
    changes = compare(key, yes_or_no("--++"), yes_or_no("+++-"), OfficialSettings())
    assert changes.differences("A") == {"0": (0, 1), "1": (0, 1), "2": (1, 1), "3": (1, 0)}
    assert changes.differences("V") == changes.differences() == {"0": (0, 1), "1": (0, 1)}
    test = changes.significance("A")
    assert (test.questions, test.old, test.new) == (4, 0.5, 0.75)
    differences = [b - a for a, b in changes.differences("A").values()]
    assert test.p == pytest.approx(nugget_loops.jackknife_p(differences), abs=1e-6)


def test_too_few_questions_for_a_test() -> None:
    key = make_key(
        [Question("0", (Nugget("1", ("x",)),)), Question("1", (Nugget("1", ("x",), False),))]
    )
    test = compare(key, yes_or_no("-+"), yes_or_no("+-"), OfficialSettings()).significance()
    assert (test.questions, test.old, test.new, test.low) == (1, 0, 1, None)
    assert math.isnan(test.p)
