"""`kt.estimate` of nugget sets: samples of questions, judges, the pick of a method, wrong input."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from nugget_world import world

import karat as kt
from karat.arrays import Floats
from karat.estimation.covariates import make_covariates
from karat.nuggets.estimation import (
    QuestionScores,
    question_judges,
    question_scores,
    read_question_draws,
    sample_of_questions,
    texts_of_questions,
)
from karat.nuggets.prediction.intervals import has_enough_judged_peers
from karat.nuggets.scores.decisions import AnswerDecisions
from karat.nuggets.scores.official import score_shares
from karat.nuggets.scores.pourpre import Pourpre
from karat.nuggets.scores.words import IdfSource
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet

HOW = kt.OfficialSettings()
ODD = {f"q{q}" for q in range(1, 24, 2)}
"""12 of the 24 questions of `a_set`."""


def a_set(
    judged: Callable[[JudgedResponse], bool] = lambda row: row.question in ODD,
    okay: int = 1,
    questions: int = 24,
) -> NuggetSet:
    """Questions and 8 runs, of whose judgements some are kept; the last nuggets are okay."""
    key, runs, judgements = world(questions=questions, runs=8)
    changed = [
        replace(q, nuggets=tuple(replace(n, vital=g < 4 - okay) for g, n in enumerate(q.nuggets)))
        for q in key.questions.values()
    ]
    selected = judgements.with_rows(filter(judged, judgements.rows))
    tags = MappingProxyType({run.tag: run for run in runs})
    return NuggetSet("world", make_key(changed), tags, selected)


def with_model(nuggets: NuggetSet, without: Collection[tuple[str, str]] = ()) -> NuggetSet:
    """The set with the labels of a model that calls everything carried that has its first word.

    It did not label the first nugget of some answers: pairs of run and question.
    """
    rows = []
    for tag, run in nuggets.runs.items():
        for id, (response,) in run.answers.items():
            for nugget in nuggets.key.questions[id].nuggets:
                if nugget.id != "n0" or (tag, id) not in without:
                    label = float(nugget.descriptions[0].split()[0] in response.text)
                    rows.append(
                        JudgedResponse(
                            id, nugget.id, response.text, label, tag, "gpt", kind="model"
                        )
                    )
    judgements = nuggets.judgements
    return replace(nuggets, judgements=judgements.with_rows((*judgements.rows, *rows)))


def values(nuggets: NuggetSet, dimension: str, judge: str) -> Floats:
    (judge_values,) = question_judges(question_scores(nuggets, dimension, HOW), [judge])
    return judge_values.values


# ------------------------------------------------------------------------------ worked values


def test_the_estimate_is_ppi_over_questions_by_hand() -> None:
    nuggets, fully_judged = a_set(), a_set(lambda row: True)
    estimate = kt.estimate(nuggets, "A", "words", covariates="none")
    at = [k for k, id in enumerate(nuggets.key.questions) if id in ODD]
    y = np.array(
        [
            [row.A for row in score_shares(scored.run, fully_judged.key, scored.decisions)]
            for scored in kt.score_nuggets(fully_judged, guess=False).scored
        ]
    )[:, at]
    f = values(nuggets, "A", "words")
    x = f[:, at]
    dx, dy = (v - v.mean(axis=1, keepdims=True) for v in (x, y))
    factor = (dx * dy).sum() / (dx * dx).sum()
    expected = (y - factor * x).mean(axis=1) + factor * f.mean(axis=1)
    assert [row.people for row in estimate.rows] == pytest.approx(y.mean(axis=1).tolist())
    assert [row.estimate for row in estimate.rows] == pytest.approx(expected.tolist())
    assert {(row.labels, row.units) for row in estimate.rows} == {(12, 24)}
    assert (estimate.unit, estimate.better, estimate.ends, estimate.methods) == (
        "question",
        "higher",
        (0, 1),
        {},
    )
    assert np.mean([row.ratio for row in estimate.rows]) < 1


def test_words_are_the_matches_of_pourpre_weighed_as_the_score_weighs_nuggets() -> None:
    nuggets = a_set(okay=2, questions=3)
    pourpre = Pourpre(weigh=IdfSource().of_words(nuggets.runs.values(), "porter"))
    okay = {"A": 1.0, "V": 0.0, "W": 0.5, "f": 0.0}
    for dimension, weight in okay.items():
        word_values = values(nuggets, dimension, "words")
        for k, run in enumerate(nuggets.runs.values()):
            for q, question in enumerate(nuggets.key.questions.values()):
                match = pourpre.match(question, run.responses(question.id))
                expected = np.average(match, weights=[1, 1, weight, weight])
                assert word_values[k, q] == pytest.approx(expected)


def test_a_model_has_the_score_by_its_labels() -> None:
    nuggets = with_model(a_set(okay=2))
    judgements = nuggets.judgements.with_rows(
        row._replace(kind="person") for row in nuggets.judgements.rows if row.kind == "model"
    )
    done = kt.score_nuggets(replace(nuggets, judgements=judgements), guess=False)
    for dimension, score in (("f", "F"), ("A", "A"), ("V", "V")):
        expected = [[*scored.by_question(score).values()] for scored in done.scored]
        assert values(nuggets, dimension, "gpt").tolist() == expected
    assert [scored.judge for scored in kt.estimate(nuggets).judges] == ["gpt"]
    assert [scored.judge for scored in kt.estimate(a_set()).judges] == ["words"]


def test_a_question_that_a_model_labelled_in_part_has_no_value_of_it() -> None:
    part = with_model(a_set(), {("run1", "q0"), ("run1", "q5")})
    estimate = kt.estimate(part, "A")
    assert estimate.judges[0].missing == 2
    assert any("gpt has no value for 2 outputs" in note for note in estimate.notes)
    all_values, filled = (
        values(labelled_set, "A", "gpt") for labelled_set in (with_model(a_set()), part)
    )
    mean_of_others = np.delete(all_values[1], [0, 5]).mean()
    assert filled[1, [0, 5]] == pytest.approx([mean_of_others, mean_of_others])
    runs = [f"run{k}" for k in range(8)]
    most = with_model(a_set(), {(tag, f"q{q}") for tag in runs for q in range(13)})
    with pytest.raises(kt.InputError, match="'gpt' has no value for 104 of 192 outputs"):
        kt.estimate(most, "A")


def test_labels_of_models_are_no_judgements() -> None:
    alone = with_model(a_set(lambda row: False))
    with pytest.raises(kt.InputError, match="no system has 10 labelled questions for 'f'"):
        kt.estimate(alone)


@pytest.mark.parametrize("judge", ["words", "calibrated", "paper:n=1,stem=porter"])
@pytest.mark.parametrize("dimension", ["f", "A", "V", "W"])
def test_values_of_judges_do_not_depend_on_judgements(judge: str, dimension: str) -> None:
    judged_set, nuggets = a_set(), a_set(lambda row: row.value > 0)
    judge_values = values(judged_set, dimension, judge)
    assert judge_values.tolist() == values(nuggets, dimension, judge).tolist()
    assert judge_values.shape == (8, 24)
    assert 0 <= judge_values.min() < judge_values.max() <= 1


# ---------------------------------------------------------------------------- what is judged


def judged_answer(*rows: list[float]) -> AnswerDecisions:
    table = np.array(rows)
    return AnswerDecisions(table, ~np.isnan(table))


def test_an_answer_is_judged_if_nothing_else_can_change_its_score() -> None:
    nan = math.nan
    assert judged_answer([1, 0], [0, 0.5]).all_settled
    assert judged_answer(
        [1, 0], [nan, 0]
    ).all_settled  # carried in full, whatever the other response has
    assert not judged_answer([0.5, 0], [nan, 0]).all_settled
    assert not judged_answer([0, 0], [nan, 0]).all_settled
    assert AnswerDecisions(np.zeros((0, 2)), np.zeros((0, 2), bool)).all_settled


def test_a_question_without_a_response_is_judged_where_others_are() -> None:
    nuggets = a_set()
    silent = nuggets.runs["run3"]
    left = {q: answer for q, answer in silent.answers.items() if q not in ("q0", "q1")}
    runs = {**nuggets.runs, "run3": replace(silent, answers=MappingProxyType(left))}
    scores = question_scores(replace(nuggets, runs=MappingProxyType(runs)), "A", HOW)
    assert math.isnan(scores.values[3, 0])  # nobody was judged on q0
    assert scores.values[3, 1] == 0
    assert not scores.judged[3, :2].any()
    assert np.isnan(scores.values).sum() == 8 * 12
    sample = sample_of_questions(scores, question_judges(scores, ["words"]))
    assert sample.all_values[3, :2, 0].tolist() == [0, 0]
    assert sample.present.all()


def test_questions_without_a_score_are_no_units() -> None:
    nuggets = a_set()
    first = nuggets.key.questions["q0"]
    okay = tuple(replace(nugget, vital=False) for nugget in first.nuggets)
    questions = {**nuggets.key.questions, "q0": replace(first, nuggets=okay)}
    changed = replace(nuggets, key=make_key(questions.values()))
    assert {row.units for row in kt.estimate(changed, "f").rows} == {23}
    assert {row.units for row in kt.estimate(changed, "A").rows} == {24}


def test_without_vital_nuggets_the_score_is_a() -> None:
    nuggets = a_set(okay=4)
    assert kt.estimate(nuggets).dimension == "A"
    with pytest.raises(kt.InputError, match="no question has a score 'V'"):
        kt.estimate(nuggets, "V")


# -------------------------------------------------------------------------- which of the methods


def test_other_runs_tell_where_enough_of_them_were_judged() -> None:
    answered = np.ones((10, 4), bool)
    judged = answered.copy()
    nobody = np.zeros(4, np.int64)
    assert not has_enough_judged_peers(answered, judged, nobody).any()  # nothing is left to judge
    judged[0] = False
    assert np.flatnonzero(has_enough_judged_peers(answered, judged, nobody)).tolist() == [0]
    judged[:5, 1] = False  # 5 other runs are left there: the fewest, but 3.9 others elsewhere, too
    assert has_enough_judged_peers(answered, judged, nobody)[0]
    judged[5, 1] = False
    assert not has_enough_judged_peers(answered, judged, nobody)[0]
    assert has_enough_judged_peers(answered, judged, nobody + 3)[
        0
    ]  # of runs that are not scored here
    values = np.zeros((40, 20), bool)
    values[:, :10] = values[:8] = True  # 8 others on open questions, 39 on judged ones
    assert not has_enough_judged_peers(
        np.ones((40, 20), bool), values, np.zeros(20, np.int64)
    ).any()


def test_runs_judged_on_the_same_questions_are_estimated() -> None:
    estimate = kt.estimate(a_set(), "A")
    assert {row.form for row in estimate.rows} <= {"student", "bounded"}
    assert sum("Nuggeteer's intervals are not used" in note for note in estimate.notes) == 1
    full_estimate = kt.estimate(a_set(lambda row: True), "A")
    assert not any("Nuggeteer" in note for note in full_estimate.notes)
    assert all(row.low == row.high == row.estimate for row in full_estimate.rows)


def test_scores_warn_of_questions_that_nobody_judged() -> None:
    (warning,) = [note for note in kt.score_nuggets(a_set()).notes if note.startswith("Warning:")]
    assert warning.startswith("Warning: nobody judged any run on 12 of 24 questions. ")
    assert "Use karat estimate" in warning


@pytest.mark.parametrize(
    "judged",
    [
        lambda row: row.run != "run2",  # others were judged there
        lambda row: True,
        lambda row: row.nugget != "n1",  # in part, but everywhere
        lambda row: False,  # intervals do not come from measured errors
    ],
)
def test_scores_without_such_questions_do_not_warn(
    judged: Callable[[JudgedResponse], bool],
) -> None:
    scoring = kt.score_nuggets(a_set(judged, questions=12))
    assert not any(note.startswith("Warning:") for note in scoring.notes)
    quoted = kt.score_nuggets(a_set(judged, questions=12).select("run2"))
    assert not any(note.startswith("Warning:") for note in quoted.notes)


@pytest.mark.parametrize(
    ("dimension", "interval_name", "population"), [("A", "share", "set"), ("f", "macro", "new")]
)
def test_a_run_beside_judged_ones_has_nuggeteers_interval(
    dimension: str, interval_name: str, population: str
) -> None:
    nuggets = a_set(lambda row: row.run != "run2", questions=12)
    estimate = kt.estimate(nuggets, dimension, population=population)
    rows = {row.system: row for row in estimate.rows}
    assert [row.system for row in estimate.rows] == [*nuggets.runs]
    assert [tag for tag, row in rows.items() if row.form == "nuggeteer"] == ["run2"]
    assert estimate.methods == dict.fromkeys(rows, "estimate") | {"run2": "nuggeteer"}
    done = kt.score_nuggets(nuggets, general=population == "new")
    ends = getattr(done.scored[2].intervals, interval_name)
    row = rows["run2"]
    assert (row.low, row.high, row.labels, row.units) == (ends.low, ends.high, 0, 12)
    assert row.low <= row.estimate <= row.high
    assert math.isnan(row.people)
    assert math.isnan(row.ratio)
    assert sum(
        note.startswith("Nuggeteer's intervals for 1 of 8 runs (run2)") for note in estimate.notes
    )
    assert f"nuggeteer={done.signature}" in estimate.signature


def test_runs_that_only_judgements_quote_are_other_runs_too() -> None:
    nuggets = a_set(lambda row: row.run != "run2", questions=12).select("run2")
    estimate = kt.estimate(nuggets, "A")
    (row,) = estimate.rows
    assert (row.system, row.form, estimate.judges) == ("run2", "nuggeteer", ())
    assert "judges=," in estimate.signature
    four = ("run0", "run1", "run4", "run6")
    four_judged = a_set(lambda row: row.run in four, questions=12).select("run2")
    with pytest.raises(kt.InputError, match="no system has 10 labelled questions"):
        kt.estimate(four_judged, "A")


def test_nuggeteer_has_no_intervals_of_v() -> None:
    nuggets = a_set(lambda row: row.run != "run2", questions=12)
    estimate = kt.estimate(nuggets, "V")
    assert "run2" not in [row.system for row in estimate.rows]
    assert "Left out, with fewer than 10 labelled questions: run2." in estimate.notes


def test_one_run_judged_in_part_keeps_intervals_their_width() -> None:
    nuggets = a_set(lambda row: row.run != "run2" or row.question in ODD)
    estimate = kt.estimate(nuggets, "V")
    assert "Every question is labelled" not in estimate.summary
    assert [row.system for row in estimate.rows if row.low < row.high] == ["run2"]


def test_differences_by_two_methods_have_both_errors() -> None:
    nuggets = a_set(lambda row: row.run != "run5", questions=12)
    estimate = kt.estimate(nuggets, "A", population="new", baseline="run5", correction="none")
    rows = {row.system: row for row in estimate.rows}
    run_row = rows["run5"]
    assert len(estimate.differences) == 7
    for difference in estimate.differences:
        other = rows[difference.system]
        assert difference.delta == pytest.approx(other.estimate - run_row.estimate)
        below = math.hypot(other.estimate - other.low, run_row.high - run_row.estimate)
        assert difference.low == pytest.approx(difference.delta - below)
        sure = difference.low > 0 or difference.high < 0
        assert (difference.p < 0.05) == sure == (difference.verdict != "undecided")
    assert {difference.verdict for difference in estimate.differences} == {"worse", "undecided"}


@pytest.mark.parametrize(
    "judged",
    [lambda row: row.question in ODD, lambda row: row.run != "run3" or row.question in ODD],
    ids=["questions", "a run"],
)
def test_interval_p_and_verdict_agree(judged: Callable[[JudgedResponse], bool]) -> None:
    verdicts: set[str] = set()
    for correction in ("none", "simultaneous"):
        for difference in kt.estimate(a_set(judged), "A", correction=correction).differences:
            verdicts.add(difference.verdict)
            if difference.verdict == "not tested":
                assert math.isnan(difference.p)
                assert difference.low == difference.high
            else:
                is_selected = difference.verdict in ("better", "worse")
                assert (
                    (difference.low > 0 or difference.high < 0)
                    == (difference.p < 0.05)
                    == is_selected
                )
    assert verdicts - {"not tested"}


def test_a_difference_between_scores_that_are_known_is_not_tested() -> None:
    estimate = kt.estimate(a_set(lambda row: True), "A", correction="none")
    assert estimate.summary.startswith(
        "Every question of these systems is labelled, so nothing was estimated"
    )
    scores = {row.system: row.estimate for row in estimate.rows}
    for difference in estimate.differences:
        assert difference.delta == pytest.approx(
            scores[difference.system] - scores[difference.baseline]
        )
        assert (difference.verdict, math.isnan(difference.p)) == ("not tested", True)


# ----------------------------------------------------------------------------- draws and plans


def test_a_plan_draws_questions_and_is_read_back() -> None:
    nuggets = a_set()
    estimate = kt.estimate(nuggets, "A", next=4, seed=3)
    assert len(estimate.planned) == 4
    assert not {planned.unit for planned in estimate.planned} & ODD
    assert {draw.round for draw in estimate.draws} == {1, 2}
    drawn_questions = ODD | {planned.unit for planned in estimate.planned}
    more = kt.estimate(
        a_set(lambda row: row.question in drawn_questions), "A", draws=estimate.draws
    )
    assert {row.labels for row in more.rows} == {16}
    assert not any("taken as drawn at random" in note for note in more.notes)
    with pytest.raises(kt.InputError, match="12 questions are neither labelled nor drawn yet"):
        kt.estimate(nuggets, next=13)


def test_questions_chosen_on_purpose_say_nothing_of_others() -> None:
    draws = [kt.Draw(id, None if id == "q1" else 0.5, of="group") for id in sorted(ODD)]
    estimate = kt.estimate(a_set(), "A", draws=draws)
    assert {row.labels for row in estimate.rows} == {11}
    with pytest.raises(kt.InputError, match="1 labelled questions are not among the draws"):
        kt.estimate(a_set(), "A", draws=draws[1:])
    with pytest.raises(kt.InputError, match="a draw of 'q99': world has no such question"):
        kt.estimate(a_set(), "A", draws=[*draws, kt.Draw("q99", 0.5)])


def test_a_plan_is_written_judged_and_read_back(tmp_path: Path, output: Callable[..., str]) -> None:
    before, after, plan = (str(tmp_path / name) for name in ("a.jsonl", "b.jsonl", "draws.tsv"))
    kt.save_nuggets(a_set(), before)
    options = "-d", "A", "-f", "json"
    output("estimate", before, *options, "--next", "4", "--plan", plan)
    lines = [line.split("\t") for line in Path(plan).read_text("utf-8").splitlines()[1:]]
    planned = {unit for unit, *_, round in lines if round == "2"}
    assert {of for _, of, *_ in lines} == {"group"}
    assert len(planned) == 4
    judged = a_set(lambda row: row.question in ODD | planned)
    kt.save_nuggets(judged, after)
    report = json.loads(output("estimate", after, *options, "--draws", plan))
    draws = [kt.Draw(q, float(p), reason, int(n), of) for q, of, p, reason, n in lines]
    expected = kt.estimate(judged, "A", draws=draws)
    assert [row["estimate"] for row in report["rows"]] == [row.estimate for row in expected.ranked]
    assert {row["labels"] for row in report["rows"]} == {16}
    plain = kt.estimate(judged, "A")
    assert [row.low for row in plain.rows] != [row.low for row in expected.rows]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q99\tgroup\t0.5\trandom\t1", "a draw of group 'q99', which is not in the set"),
        ("q3\tgroup\t1.5\trandom\t1", "found the probability 1.5, expected a number above 0"),
        ("q1\tgroup\t0.5\trandom\t1", "group 'q1' is drawn twice in round 1"),
        ("q3\tquestion\t0.5\trandom\t1", "found a draw of 'question', expected segment or group"),
    ],
)
def test_wrong_draws_are_told_with_their_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "draws.tsv"
    first = "unit\tof\tprobability\treason\tround\nq1\tgroup\t0.5\trandom\t1\n"
    path.write_text(f"{first}{line}\n", encoding="utf-8")
    with pytest.raises(kt.InputError, match=re.escape(f"{path}, line 3: {message}")):
        read_question_draws(a_set(), path)


# --------------------------------------------------------------------------------- wrong input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dimension": "F1"}, "dimension 'F1' of nuggets: expected one of f, A, V, W"),
        ({"judges": "gpt"}, "world has no judge 'gpt': expected one of words, calibrated, paper"),
        ({"judges": "auto"}, "world has no judge 'auto'"),
        ({"judges": ["words", "words"]}, "judge 'words' is named twice"),
        ({"unit": "segment"}, "that of a nugget set is the question"),
        ({"exclude": ["run9"]}, "world has no run 'run9'"),
        ({"exclude": [f"run{k}" for k in range(8)]}, "all runs are left out"),
        ({"baseline": "run9"}, "world has no run 'run9'"),
        ({"strict": True}, "^setting 'strict' of estimate: expected one of population, unit, "),
        (
            {"offical_settings": HOW},
            r"^setting 'offical_settings' of estimate: .*; did you mean official_settings\?$",
        ),
        ({"normalise": "z"}, "only ratings of an evaluation set are scaled"),
    ],
)
def test_wrong_settings_are_told(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        kt.estimate(a_set(), **arguments)


def test_sets_with_too_little_are_refused() -> None:
    nine_questions = {f"q{q}" for q in range(9)}
    with pytest.raises(kt.InputError, match=r"10 labelled questions for 'f' \(the most is 9\)"):
        kt.estimate(a_set(lambda row: row.question in nine_questions))
    with pytest.raises(kt.InputError, match="world comes without runs"):
        kt.estimate(replace(a_set(), runs=MappingProxyType({})))
    nuggets = a_set(lambda row: row.question in (nine_questions if row.run == "run1" else ODD))
    with pytest.raises(kt.InputError, match="baseline 'run1' has fewer than 10 labels"):
        kt.estimate(nuggets, "V", baseline="run1")


# ----------------------------------------------------------------------------------- real data


@pytest.fixture(scope="module")
def rag24(karat_data: Path) -> NuggetSet:
    return kt.load_nuggets(karat_data / "nuggets-rag24" / "nugget_assignment.20241108.jl")


def test_rag24_from_ten_of_its_questions(rag24: NuggetSet) -> None:
    ids = sorted(rag24.key.questions)[::2][:10]
    judgements = rag24.judgements.with_rows(r for r in rag24.judgements.rows if r.question in ids)
    estimate = kt.estimate(replace(rag24, judgements=judgements), "A")
    truth = {row.run: row.A for row in kt.score_nuggets(rag24, guess=False).rows}
    held = [row.low <= truth[row.system] <= row.high for row in estimate.rows]
    assert len(held) == 45
    assert sum(held) >= 40
    assert np.mean([row.ratio for row in estimate.rows]) < 1
    assert estimate.judges[0].r > 0.4


def test_a_small_set_by_hand() -> None:
    """12 questions of one vital nugget: the score is 1 or 0, and words see it but for one."""
    key = make_key(Question(f"q{k}", (Nugget("n", (f"fact{k}",)),)) for k in range(12))
    answers = [(f"q{k}", Response(f"fact{k}" if k % 2 else f"other{k}")) for k in range(12)]
    run = make_run("mine", answers)
    rows = [
        JudgedResponse(id, "n", response.text, float("fact" in response.text), "mine")
        for id, response in answers[:10]
    ]
    nuggets = NuggetSet("small", key, {"mine": run}, Judgements(tuple(rows)))
    scores: QuestionScores = question_scores(nuggets, "A", HOW)
    assert np.nan_to_num(scores.values, nan=-1).tolist() == [[0, 1] * 5 + [-1, -1]]
    (row,) = kt.estimate(nuggets, "A").rows
    assert (row.people, row.estimate, row.form) == (0.5, 0.5, "bounded")
    assert row.ratio < 0.8


# ---------------------------------------------------------------------------------- covariates


def test_covariates_are_those_of_answers_and_questions() -> None:
    nuggets = a_set()
    estimate = kt.estimate(nuggets, "A", "words")
    columns = [row.covariate for row in estimate.covariates]
    assert "consensus" in columns
    assert estimate.settings["covariates"] == tuple(columns)
    texts = texts_of_questions(question_scores(nuggets, "A", HOW))
    run = next(iter(nuggets.runs.values()))
    assert texts.outputs[0] == [run.responses(id)[0].text for id in nuggets.key.questions]
    (length,) = make_covariates(texts, "length").values
    assert length.values[0].tolist() == [len(text or "") for text in texts.outputs[0]]


def test_widths_with_covariates_are_at_most_those_without() -> None:
    nuggets = a_set()
    both, none = (kt.estimate(nuggets, "A", covariates=c) for c in ("auto", "none"))
    widths = [sum(row.high - row.low for row in e.rows) for e in (both, none)]
    assert widths[0] <= widths[1]
