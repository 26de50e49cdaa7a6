"""The official score and today's shares: worked values, edges, plain loops on random answers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import nugget_loops

import karat as kt
from karat.nuggets.scores.decisions import AnswerDecisions, decide, decide_run
from karat.nuggets.scores.official import (
    NuggetShares,
    NuggetStats,
    OfficialSettings,
    answer_length,
    mean_shares,
    nugget_weights,
    score_shares,
)
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import (
    Nugget,
    NuggetKey,
    Question,
    Response,
    make_key,
    make_run,
)

near = pytest.approx


def stats(*numbers: float) -> NuggetStats:
    return NuggetStats(*map(np.array, numbers))


def question(*kinds: str, votes: list[int] | None = None, id: str = "q") -> Question:
    """A question with a nugget for each letter: v(ital) or o(kay)."""
    nuggets = [
        Nugget(str(i), (f"nugget {i}",), kind == "v", None if votes is None else votes[i - 1])
        for i, kind in enumerate(kinds, 1)
    ]
    return Question(id, tuple(nuggets))


def judged_answer(matrix: list[list[float]], nuggets: int) -> AnswerDecisions:
    values = np.array(matrix, dtype=np.float64).reshape(len(matrix), nuggets)
    return AnswerDecisions(values, ~np.isnan(values))


def scored(
    measure: OfficialSettings, question: Question, texts: list[str], matrix: list[list[float]]
) -> Any:
    run = make_run("A", [(question.id, Response(text)) for text in texts])
    return measure.score(
        run, make_key([question]), {question.id: judged_answer(matrix, len(question.nuggets))}
    )


def shares(question: Question, decisions: AnswerDecisions) -> NuggetShares:
    return score_shares(make_run("A", []), make_key([question]), {question.id: decisions})[0]


# ------------------------------------------------------------------------------ worked values


def test_pyramid_weights_are_those_of_the_paper() -> None:
    pyramid = question(*"oooooo", votes=[3, 3, 4, 2, 0, 6])
    assert nugget_weights(pyramid, "pyramid").tolist() == near([0.5, 0.5, 2 / 3, 1 / 3, 0, 1])


def test_pyramid_recall_is_by_weight() -> None:
    pyramid = question(*"oooooo", votes=[3, 3, 4, 2, 0, 6])
    report = scored(OfficialSettings(weights="pyramid"), pyramid, ["x"], [[0, 0, 1, 0, 1, 1]])
    assert report.questions[0].recall == near((2 / 3 + 1) / 3)
    assert report.questions[0].allowance == 300  # a nugget without weight still allows


def test_the_figure_of_the_paper_by_hand() -> None:
    # 7 nuggets, 1, 2 and 4 vital; two vital and one okay returned in 600 characters
    paper_question = question(*"vvovooo")
    questions = scored(
        OfficialSettings(beta=3), paper_question, ["x" * 600], [[1, 0, 1, 1, 0, 0, 0]]
    ).questions[0]
    assert (questions.recall, questions.precision) == (near(2 / 3), near(0.5))
    assert questions.f == near(10 * 0.5 * (2 / 3) / (9 * 0.5 + 2 / 3))
    assert (questions.vital_returned, questions.okay_returned, questions.vital, questions.okay) == (
        2,
        1,
        3,
        4,
    )


@pytest.mark.parametrize(
    ("size", "precision"), [(0, 1.0), (99, 1.0), (100, 1.0), (101, 100 / 101), (200, 0.5)]
)
def test_precision_around_the_allowance(size: int, precision: float) -> None:
    assert stats(1, 2, 100, size).precision == near(precision)


@pytest.mark.parametrize("beta", [0, 1, 3, 5])
def test_beta(beta: float) -> None:
    answer_stats = stats(1, 4, 100, 400)
    assert (answer_stats.recall, answer_stats.precision, answer_stats.f(beta)) == (
        0.25,
        0.25,
        near(0.25),
    )
    high = float(stats(3, 4, 100, 400).f(beta))
    assert high == near((beta**2 + 1) * 0.25 * 0.75 / (beta**2 * 0.25 + 0.75))


def test_nothing_returned() -> None:
    two_nuggets = question(*"vo")
    silent = scored(OfficialSettings(), two_nuggets, [], []).questions[0]
    assert (silent.f, silent.recall, silent.length) == (0, 0, 0)
    assert math.isnan(silent.precision)
    empty = scored(OfficialSettings(), two_nuggets, ["  "], [[0, 0]]).questions[0]
    assert (empty.f, empty.length) == (0, 0)
    assert math.isnan(empty.precision)
    idle = scored(OfficialSettings(), two_nuggets, ["some words"], [[0, 0]]).questions[0]
    assert (idle.f, idle.precision, idle.length) == (0, 0, 9)
    okay = scored(OfficialSettings(), two_nuggets, ["x"], [[0, 1]]).questions[0]
    assert (okay.f, okay.precision, okay.recall) == (0, 1, 0)


def test_a_question_without_vital_nuggets_is_skipped_and_named() -> None:
    first, second = question("v", id="a"), question("o", id="b")
    run = make_run("A", [("a", Response("x")), ("b", Response("y" * 1000))])
    both = {"a": judged_answer([[1.0]], 1), "b": judged_answer([[1.0]], 1)}
    score = OfficialSettings().score(run, make_key([first, second]), both)
    assert score.skipped == ("b",)
    assert (score.micro.f, score.macro.f) == (1, 1)  # the length of b's answer does not count
    only = OfficialSettings().score(run, make_key([second]), both)
    assert only.questions == ()
    assert all(math.isnan(value) for value in (*only.micro, *only.macro))


def test_no_votes_at_all_is_skipped_too() -> None:
    without_votes = question(*"vv", votes=[0, 0])
    assert scored(OfficialSettings(weights="pyramid"), without_votes, ["x"], [[1, 1]]).skipped == (
        "q",
    )


def test_micro_and_macro_differ_as_they_should() -> None:
    short, long = question("v", id="a"), question(*"vvvv", id="b")
    run = make_run("A", [("a", Response("x" * 100)), ("b", Response("y" * 900))])
    both = {"a": judged_answer([[1.0]], 1), "b": judged_answer([[1.0, 0, 0, 0]], 4)}
    score = OfficialSettings(beta=1).score(run, make_key([short, long]), both)
    b = 2 * (1 / 9) * 0.25 / (1 / 9 + 0.25)
    assert score.macro.f == near((1 + b) / 2)
    assert score.micro == (near(2 / 5), near(0.2), near(2 * 0.4 * 0.2 / 0.6))


def test_a_nugget_counts_once_and_for_the_first_response() -> None:
    two_vital = question(*"vv")
    decisions = judged_answer([[0, 0.5], [1, 1], [1, 0]], 2)
    assert decisions.credit() == [1, 0]
    assert decisions.credit(strict=True) == [1, 1]
    twice = scored(
        OfficialSettings(), two_vital, ["a", "b", "c"], [[0, 0.5], [1, 1], [1, 0]]
    ).questions[0]
    assert (twice.vital_returned, twice.allowance) == (2, 200)


def test_a_judgement_settles_a_nugget_whatever_is_guessed_of_other_responses() -> None:
    """Columns: judged yes after a guessed yes; guessed; judged no; partly judged, then guessed."""
    values = np.array([[1.0, 0, 0, 0.5], [1, 1, 0, 1]])
    is_judged = np.array([[False, False, True, True], [True, False, True, False]])
    answer = AnswerDecisions(values, is_judged)
    assert answer.settled.tolist() == [True, False, True, False]
    assert answer.open_pairs.tolist() == [[False, True, False, False], [False, True, False, True]]
    assert answer.credit() == [1, 1, None, 0]
    assert answer.sources() == ["judgement", "guess", "judgement", "guess"]
    assert not answer.all_settled
    assert answer.support().tolist() == [1, 1, 0, 1]


def test_partial_support_counts_unless_strict() -> None:
    two_vital = question(*"vv")
    assert scored(OfficialSettings(), two_vital, ["a"], [[0.5, 1]]).questions[0].recall == 1
    assert (
        scored(OfficialSettings(strict=True), two_vital, ["a"], [[0.5, 1]]).questions[0].recall
        == 0.5
    )


def test_nobody_gets_credit_where_there_are_no_responses() -> None:
    nothing = AnswerDecisions(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.bool_))
    assert nothing.credit() == [None, None, None]


def test_undecided_pairs_are_counted_and_get_no_credit() -> None:
    two_nuggets = question(*"vo")
    row = scored(OfficialSettings(), two_nuggets, ["a"], [[math.nan, 1]]).questions[0]
    assert (row.recall, row.undecided, row.judged) == (0, 1, 1)


def test_length_leaves_all_white_space_out() -> None:
    assert answer_length([Response("a b\tc\n"), Response("\u00a0d\u2003é")]) == 5


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"beta": -1}, "beta=-1: expected a number of at least 0"),
        ({"beta": math.nan}, "beta=nan"),
        ({"weights": "x"}, "expected one of vital, pyramid"),
    ],
)
def test_bad_settings(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(kt.InputError, match=sentence):
        OfficialSettings(**settings)


def test_pyramid_weights_need_all_votes() -> None:
    half_voted = Question("q", (Nugget("1", ("a",), votes=2), Nugget("2", ("b",))))
    with pytest.raises(kt.InputError, match="question q, nugget 2 has no votes"):
        nugget_weights(half_voted, "pyramid")


# ---------------------------------------------------------------------------------- decisions


def test_a_known_judgement_wins_over_a_guess() -> None:
    two_vital = question(*"vv")
    judgements = Judgements((JudgedResponse("q", "1", "Some  Words", 0.0),))
    both = [Response("some words"), Response("others")]
    decisions = decide(two_vital, both, judgements, lambda q, r: np.ones((len(r), len(q.nuggets))))
    assert decisions.values.tolist() == [[0, 1], [1, 1]]
    assert decisions.is_judged.tolist() == [[True, False], [False, False]]
    assert (int(decisions.is_judged.sum()), decisions.undecided) == (1, 0)
    alone = decide(two_vital, both, judgements)
    assert alone.undecided == 3
    assert alone.support().tolist() == [0, 0]


def test_guesses_of_a_wrong_shape_are_refused() -> None:
    with pytest.raises(kt.InputError, match=r"shape \(1,\), expected \(1, 2\)"):
        decide(question(*"vv"), [Response("x")], guess=lambda q, r: np.ones(1))


def test_a_guess_is_not_written_to() -> None:
    values = np.zeros((1, 1))
    judgements = Judgements((JudgedResponse("q", "1", "x", 1.0),))
    assert decide(
        question("v"), [Response("x")], judgements, lambda q, r: values
    ).values.tolist() == [[1]]
    assert values.tolist() == [[0]]


# --------------------------------------------------------------------------------- the shares


def test_shares_by_hand() -> None:
    answer_shares = shares(question(*"vvo"), judged_answer([[1, 0, 0], [0, 0.5, 0.5]], 3))
    assert answer_shares[2:] == near([2 / 3, 0.75, 1.75 / 2.5, 1 / 3, 0.5, 1 / 2.5])


def test_v_is_missing_without_vital_nuggets_and_left_out_of_the_mean() -> None:
    key = make_key([question("v", id="a"), question("o", id="b")])
    run = make_run("A", [("a", Response("x"))])
    decisions = decide_run(run, key, guess=lambda q, r: np.ones((len(r), 1)))
    rows = score_shares(run, key, decisions)
    assert math.isnan(rows[1].V)
    assert rows[1].A == 0  # no response
    assert (mean_shares(rows).V, mean_shares(rows).A) == (1, 0.5)


# ---------------------------------------------------------------------------- random answers

values = st.sampled_from([0.0, 0.5, 1.0])


@st.composite
def answers(draw: st.DrawFn) -> tuple[Question, list[str], list[list[float]]]:
    kinds = draw(st.lists(st.sampled_from("vo"), min_size=1, max_size=6))
    votes = draw(st.lists(st.integers(0, 9), min_size=len(kinds), max_size=len(kinds)))
    texts = draw(st.lists(st.text("ab \t\n\u00a0é", max_size=300), max_size=4))
    row = st.lists(values, min_size=len(kinds), max_size=len(kinds))
    return question(*kinds, votes=votes), texts, [draw(row) for _ in texts]


@given(
    drawn_answer=answers(),
    beta=st.sampled_from([0.0, 1.0, 3.0, 5.0]),
    kind=st.sampled_from(["vital", "pyramid"]),
    strict=st.booleans(),
)
def test_the_official_score_is_that_of_plain_loops(
    drawn_answer: tuple[Question, list[str], list[list[float]]],
    beta: float,
    kind: str,
    strict: bool,
) -> None:
    drawn_question, texts, matrix = drawn_answer
    got = nugget_loops.returned_nuggets(matrix, strict) or [False] * len(drawn_question.nuggets)
    votes = [nugget.votes or 0 for nugget in drawn_question.nuggets]
    weight = [float(n.vital) for n in drawn_question.nuggets]
    if kind == "pyramid":
        weight = [v / max(*votes, 1) for v in votes]
    size = nugget_loops.characters(texts)
    expected = nugget_loops.f_beta([float(x) for x in got], weight, 100 * sum(got), size, beta)
    report = scored(OfficialSettings(beta, kind, strict), drawn_question, texts, matrix)
    if expected is None:
        assert report.skipped == ("q",)
        return
    row = report.questions[0]
    assert (row.recall, row.precision, row.f) == near(expected, nan_ok=True)
    assert report.micro == near(expected, nan_ok=True)
    assert 0 <= row.f <= 1


@given(drawn_answer=answers())
def test_shares_and_credit_are_those_of_plain_loops(
    drawn_answer: tuple[Question, list[str], list[list[float]]],
) -> None:
    drawn_question, _, matrix = drawn_answer
    decisions = judged_answer(matrix, len(drawn_question.nuggets))
    vital = [nugget.vital for nugget in drawn_question.nuggets]
    expected = [
        nugget_loops.share(matrix, vital, okay, strict)
        for strict in (False, True)
        for okay in (1.0, 0.0, 0.5)
    ]
    answer_shares = shares(drawn_question, decisions)[2:]
    assert answer_shares == near([math.nan if x is None else x for x in expected], nan_ok=True)
    first = [nugget_loops.first_carrier(matrix, j) for j in range(len(vital))]
    assert decisions.credit() == first


def test_the_bundled_keys_have_the_shape_of_the_papers() -> None:
    key = kt.load_nuggets("demo-nuggets").key
    assert isinstance(key, NuggetKey)
    for question in key.questions.values():
        assert len(question.nuggets) == 7
        assert [nugget.id for nugget in question.vital] == ["1", "2", "4"]


def test_the_bundled_runs_score_as_worked_out() -> None:
    demo = kt.load_nuggets("demo-nuggets")
    score = {
        tag: OfficialSettings().score(run, demo.key, decide_run(run, demo.key, demo.judgements))
        for tag, run in demo.runs.items()
    }
    heron = {row.question: row for row in score["heron"].questions}
    assert (heron["marlow"].recall, heron["marlow"].f) == (1, 1)
    assert heron["aldis"].recall == near(2 / 3)
    # the words of heron's first response, judged once, count for plover in other case
    assert score["plover"].questions[0].vital_returned == 1
    assert score["wren"].macro.f == 0


def test_scores_are_seen_at_a_glance() -> None:
    demo = kt.load_nuggets("demo-nuggets").select("heron", "kestrel")
    text = repr(kt.score_nuggets(demo))
    assert text == "<NuggetScoring: heron F 0.8448 A 0.5000; kestrel F 0.6887 A 0.3571>"
