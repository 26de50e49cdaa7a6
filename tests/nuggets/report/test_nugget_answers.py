"""The answers of nugget reports: results and their sentences."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from nuggets.nugget_world import world

import karat as kt
from karat.nuggets.prediction.intervals import EXACT, Margin, paired_significance
from karat.nuggets.report import scores
from karat.nuggets.report.contents import contents_answer
from karat.nuggets.report.evaluation import (
    agreement_answer,
    evaluation_answer,
    evaluation_basis,
    tuning_answer,
)
from karat.nuggets.report.scores import (
    changes_answer,
    changes_basis,
    p_text,
    score_answer,
    score_basis,
)
from karat.nuggets.results.changes import NuggetChanges
from karat.nuggets.results.evaluation import Contest
from karat.nuggets.results.scoring import NuggetScoring, ScoredRun
from karat.nuggets.scores.decisions import AnswerDecisions
from karat.nuggets.scores.official import OfficialSettings, score_shares
from karat.nuggets.sets.judgements import Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet, short_places


def scoring(*flags: str, vital: bool = True) -> NuggetScoring:
    """Runs a, b, …: a letter for each question, + if its one nugget is carried. All is judged."""
    ids = [str(k) for k in range(len(flags[0]))]
    key, official = (
        make_key(Question(id, (Nugget("1", ("x",), vital),)) for id in ids),
        OfficialSettings(),
    )
    scored = []
    for tag, signs in zip("abcdefgh", flags, strict=False):
        run = make_run(tag, [(id, Response("text")) for id in ids])
        tables = {
            id: AnswerDecisions(np.array([[float(flag == "+")]]), np.ones((1, 1), dtype=bool))
            for id, flag in zip(ids, signs, strict=True)
        }
        shares = score_shares(run, key, tables)
        scored.append(ScoredRun(run, tables, official.score(run, key, tables), shares))
    nuggets = NuggetSet("s", key, {scored_run.run.tag: scored_run.run for scored_run in scored})
    return NuggetScoring(nuggets, official, True, False, tuple(scored))


UP, DOWN = "+" * 20, "+" * 4 + "-" * 16


@pytest.mark.parametrize(
    ("scored_runs", "sentence"),
    [
        (scoring("++--"), "a has F(3) 0.500 and carries 50% of the vital nuggets."),
        (scoring("+-", vital=False), "a has A 0.500."),
        (scoring("+-", "-+"), "a and b lead with the same F(3), 0.500."),
        (
            scoring("+-", "-+", "--"),
            "a and b lead with the same F(3), 0.500; the lead of a over c is not decided.",
        ),
        (
            scoring(DOWN, UP),
            "b leads: F(3) 1.000; its lead over a (+0.800 [0.516, 0.992], p = 0.009) is decided.",
        ),
        (
            scoring("++++", "+++-", "++-+", "+--+"),
            "a leads: F(3) 1.000; its lead over b (+0.250 [-0.546, 1.000], p = 0.39) is not "
            "decided, nor is that over c and d.",
        ),
        (scoring("+", "-"), "a leads: F(3) 1.000; its lead over b (+1.000) is not decided."),
        (
            scoring("++", "-+", vital=False),
            "a leads: A 1.000; its lead over b (+0.500 [-1.000, 1.000], p = 0.50) is not decided.",
        ),
    ],
)
def test_the_run_that_leads(scored_runs: NuggetScoring, sentence: str) -> None:
    assert score_answer(scored_runs) == (sentence,)
    assert scored_runs.summary == sentence


def test_many_runs_are_counted() -> None:
    six_runs = scoring("++++", *["+++-"] * 5)
    assert score_answer(six_runs)[0].endswith("is not decided, nor is that over 4 other runs.")
    assert score_basis(six_runs) == (
        "4 questions, 6 runs. A difference is decided if p < 0.05, that is, if its 95% interval, "
        "which is over questions, excludes zero. 4 questions are too few to decide: at least 6 are "
        "needed. Each of the 5 differences is tested on its own."
    )
    assert score_basis(scoring("+", "-")).endswith("One question is too few for a test.")


def half_judged(judged: int = 6, questions: int = 6) -> NuggetSet:
    """A set of eight runs, the first of them judged; the others are guessed."""
    key, runs, judgements = world(questions=questions)
    tags = {run.tag for run in runs[:judged]}
    rows = tuple(row for row in judgements.rows if row.run in tags)
    return NuggetSet("half", key, {run.tag: run for run in runs}, Judgements(rows))


def test_guesses_widen_the_interval_of_a_lead() -> None:
    scoring = kt.score_nuggets(half_judged(), classifier="paper:stem=porter")
    first, second = scoring.ranked[:2]
    best, nearest = scoring.rows[first], scoring.rows[second]
    assert {best.run, nearest.run} == {"run6", "run7"}  # both guessed
    assert best.f_high is not None
    assert nearest.f_low is not None
    assert best.f_high > best.macro
    columns = (scoring.scored[k].by_question().values() for k in (first, second))
    pairs = list(zip(*columns, strict=True))
    margins = (
        Margin(above=best.f_high - best.macro),
        Margin(below=nearest.macro - nearest.f_low),
    )
    test, without_guesses = (
        paired_significance("F", pairs, guessed) for guessed in (margins, EXACT)
    )
    assert scoring.differences[0].low == test.low
    assert test.low is not None
    assert without_guesses.low is not None
    assert test.low <= without_guesses.low  # these guesses are hardly ever wrong
    assert "over questions and allows for wrong guesses" in score_basis(scoring)
    general = kt.score_nuggets(half_judged(), classifier="paper:stem=porter", general=True)
    assert general.differences == scoring.differences


@pytest.mark.parametrize("judged", [0, 1])
def test_no_verdict_where_nothing_shows_how_wrong_guesses_are(judged: int) -> None:
    """The paper's classifier has no errors to measure without two judged runs."""
    scoring = kt.score_nuggets(half_judged(judged), classifier="paper")
    guessed = [row for row in scoring.differences if row.run != "run0" or not judged]
    assert len(guessed) > 5
    assert {row[4:] for row in guessed} == {(None, None, None, "undecided")}
    assert "is not decided" in score_answer(scoring)[0]
    assert "is decided" not in score_answer(scoring)[0]
    basis = score_basis(scoring)
    assert "allows for wrong guesses" not in basis
    assert "has no interval and no p, and is not decided, if it is unknown how wrong" in basis


def test_no_decided_change_where_nothing_shows_how_wrong_guesses_are() -> None:
    nuggets = half_judged(0, questions=12)
    key, sides = nuggets.key, [nuggets.runs[tag] for tag in ("run0", "run7")]
    old, new = (NuggetSet("s", key, {run.tag: run}) for run in sides)
    changes = kt.diff_nuggets(old, new, classifier="paper")
    assert [(math.isnan(test.p), test.low, test.verdict) for test in changes.tests] == [
        (True, None, "undecided"),
        (True, None, "undecided"),
    ]
    assert changes_answer(changes)[0].endswith(": no decided change.")
    assert "allows for wrong guesses" not in changes_basis(changes)
    for score in "VW":  # no classifier has intervals of V and W
        assert kt.diff_nuggets(old, new).significance(score).verdict == "undecided"
    judged = half_judged(8, questions=12)
    versions = (replace(judged, runs={tag: judged.runs[tag]}) for tag in ("run0", "run7"))
    assert kt.diff_nuggets(*versions).significance("V").verdict == "better"  # nothing is guessed


def test_guesses_that_change_nothing_are_not_reported() -> None:
    """Judgements settle all nuggets of the demonstration, though a quarter of pairs is unjudged."""
    for classifier in ("calibrated", "paper"):
        scoring = kt.score_nuggets("demo-nuggets", classifier=classifier)
        (heron,) = [row for row in scoring.rows if row.run == "heron"]
        decisions = next(
            scored for scored in scoring.scored if scored.run.tag == "heron"
        ).decisions.values()
        assert not all(answer.is_judged.all() for answer in decisions)
        assert (heron.known_share, heron.guessed, heron.undecided) == (1, 0, 0)
        assert (heron.f_low, heron.f_high) == pytest.approx((heron.macro, heron.macro))
        assert "guess" not in score_basis(scoring)
        assert {row.p for row in scoring.decisions if row.run == "heron"} == {None}


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ((0.0, 0.0), []),
        ((0.001,), ["Under 1% of the nuggets of a rest on a classifier's guesses."]),
        ((0.001, 0.0), ["Under 1% of the nuggets of a and b rest on a classifier's guesses."]),
        ((0.45, 0.1), ["Up to 45% of the nuggets of a and b rest on a classifier's guesses."]),
        ((0.999,), ["Over 99% of the nuggets of a rest on a classifier's guesses."]),
        ((0.999, 0.1), ["Up to 100% of the nuggets of a and b rest on a classifier's guesses."]),
    ],
)
def test_the_share_of_guesses_in_a_sentence(shares: tuple[float, ...], sentence: list[str]) -> None:
    row = scoring("+", "-").rows[0]
    rows = [
        row._replace(run=name, guessed=share) for name, share in zip("ab", shares, strict=False)
    ]
    assert scores._guessed(rows) == sentence


@pytest.mark.parametrize("classifier", ["calibrated", "paper"])
def test_a_guess_has_its_probability(classifier: str) -> None:
    scoring = kt.score_nuggets(half_judged(), classifier=classifier, details=True)
    guesses = scoring.predictions
    assert guesses is not None
    by = {(row.by, row.run in ("run6", "run7"), row.p is None) for row in scoring.decisions}
    assert by == {("judgement", False, True), ("guess", True, False)}
    row = next(row for row in scoring.decisions if (row.run, row.nugget) == ("run6", "n2"))
    (chances,) = guesses.pool.answer(guesses.probabilities, "run6", row.question)  # one response
    assert row.p == chances[2]
    assert "Up to 100% of the nuggets of run" in score_basis(scoring)
    report = json.loads(scoring.render("json"))["nuggets"]
    assert [row.get("p") for row in report] == [row.p for row in scoring.decisions]


@pytest.mark.parametrize(
    ("margins", "low", "high"),
    [
        ((Margin(), Margin()), 0.5 - 3.182446 * 0.57735 / 2, 1.0),
        ((Margin(above=0.4), Margin(below=0.3)), 0.5 - math.hypot(0.918693, 0.5), 1.0),
        ((Margin(below=9), Margin(above=9)), 0.5 - 0.918693, 1.0),
    ],
)
def test_an_interval_by_hand(margins: tuple[Margin, Margin], low: float, high: float) -> None:
    """Four questions, differences 1, 0, 1, 0: the mean is 0.5, Student's quantile 3.182."""
    pairs = [(0.0, 1.0), (0.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
    test = paired_significance("F", pairs, margins)
    assert (test.low, test.high) == pytest.approx((low, high), abs=1e-5)


def test_p_and_interval_must_both_decide() -> None:
    test = paired_significance("F", [(0.0, 0.5), (0.0, 0.5)])
    assert (test.low, test.high, test.p, test.verdict) == (0.0, 0.5, 0.5, "undecided")
    unsure = paired_significance("F", [(0.0, 1.0)] * 20, (Margin(), Margin(below=1.0)))
    assert (unsure.p, unsure.low, unsure.verdict) == (pytest.approx(0.05), 0.0, "undecided")
    assert paired_significance("F", [(1.0, 0.0)] * 20).verdict == "worse"


@pytest.mark.parametrize(
    ("scored_runs", "sentence"),
    [
        (scoring("+-", "+-"), "b carries the same nuggets as a."),
        (
            scoring("+-", "-+"),
            "b lost 1 vital nugget that a carries and gained 1: F(3) 0.000 [-1.000, 1.000], "
            "p = 1.00: no decided change.",
        ),
        (
            scoring(DOWN, UP),
            "b lost 0 vital nuggets that a carries and gained 16: F(3) +0.800 [0.516, 0.992], "
            "p = 0.009: an improvement.",
        ),
        (
            scoring(UP, DOWN),
            "b lost 16 vital nuggets that a carries and gained 0: F(3) -0.800 [-0.992, -0.516], "
            "p = 0.009: a loss.",
        ),
        (
            scoring("+", "-"),
            "b lost 1 vital nugget that a carries and gained 0: F(3) -1.000 on one question, too "
            "few for a test.",
        ),
        (
            scoring("++", "-+", vital=False),
            "b lost 1 nugget that a carries and gained 0: A -0.500 [-1.000, 1.000], p = 0.50: no "
            "decided change.",
        ),
    ],
)
def test_what_a_new_version_lost(scored_runs: NuggetScoring, sentence: str) -> None:
    assert changes_answer(NuggetChanges(scored_runs)) == (sentence,)


@pytest.mark.parametrize(
    ("p", "text"), [(0.0004, "p < 0.001"), (0.0123, "p = 0.012"), (0.41, "p = 0.41")]
)
def test_p_in_running_text(p: float, text: str) -> None:
    assert p_text(p) == text


RANKS = "Rank correlation of run scores with assessors (tau-b): the calibrated classifier 0.90, "


@pytest.mark.parametrize(
    ("contest", "sentence"),
    [
        (
            Contest(0.88, 0.81, 0.07, 0.05, 0.09),
            "The calibrated classifier agrees better with assessors: F 0.880, the paper's "
            "classifier 0.810; the difference (+0.070 [0.050, 0.090]) is decided.",
        ),
        (
            Contest(0.81, 0.88, -0.07, -0.2, 0.06),
            "It is undecided which classifier agrees better with assessors: F of the paper's "
            "classifier 0.880, of the calibrated classifier 0.810, difference +0.070 [-0.060, "
            "0.200].",
        ),
        (
            Contest(0.81, 0.8, 0.01, None, None),
            "It is undecided which classifier agrees better with assessors: F of the calibrated "
            "classifier 0.810, of the paper's classifier 0.800, difference +0.010.",
        ),
        (
            Contest(0.8, 0.8, 0.0, 0.0, 0.0),
            "Both classifiers agree equally well with assessors: F 0.800.",
        ),
    ],
)
def test_which_classifier_won(contest: Contest, sentence: str) -> None:
    contest = contest._replace(calibrated_tau=0.9, paper_tau=0.8)
    three_runs: Any = SimpleNamespace(contest=contest, runs=[0] * 3)
    assert evaluation_answer(three_runs) == (sentence, f"{RANKS}the paper's classifier 0.80.")
    two_runs: Any = SimpleNamespace(contest=contest, runs=[0] * 2)
    assert evaluation_answer(two_runs) == (sentence,)


def test_f_and_tau_are_of_the_same_classifier() -> None:
    """A threshold for each nugget has a better F here than one for all, and another tau.

    Nearly all responses carry one nugget of each question, whatever their words.
    """
    key, runs, judgements = world(questions=4, runs=5, seed=0)
    rng, rows = random.Random(0), []
    for row in judgements.rows:
        if row.nugget == "n1" and rng.random() < 0.9:
            rows.append(row._replace(value=1.0))
        else:
            rows.append(row._replace(value=1 - row.value) if rng.random() < 0.15 else row)
    judged = Judgements(tuple(rows))
    evaluation = kt.evaluate_nuggets(NuggetSet("w", key, {run.tag: run for run in runs}, judged))
    one_threshold, model = evaluation.rows[1:3]
    assert model.f is not None
    assert one_threshold.f is not None
    assert model.f > one_threshold.f
    assert f"{model.tau_b:.2f}" != f"{one_threshold.tau_b:.2f}"
    assert (evaluation.contest.paper, evaluation.contest.paper_tau) == (model.f, model.tau_b)
    headline, ranks = evaluation_answer(evaluation)
    assert f"the paper's classifier {model.f:.3f}" in headline
    assert ranks.endswith(f"the paper's classifier {model.tau_b:.2f}.")
    assert f"and the threshold model {evaluation.contest.paper_model}" in evaluation_basis(
        evaluation
    )


def test_the_best_setting() -> None:
    tuning = kt.tune_nuggets("demo-nuggets")
    assert tuning_answer(tuning) == (
        "The best of 24 settings is n=1, weight=idf, stem=none, stop=none: F 0.973 (1 other "
        "setting with the same F).",
        "The likeliest threshold model is global (global threshold, F 0.973).",
    )


def test_two_sets_of_judgements() -> None:
    agreement = kt.agree_nuggets("demo-nuggets", kt.load_nuggets("demo-nuggets").judgements)
    assert agreement_answer(agreement) == (
        "Both judgements agree on whether a response carries a nugget on 100.0% of 107 pairs, "
        "kappa 1.00, F 1.000 [1.000, 1.000].",
        "They order the runs by F in the same way.",
    )


def test_the_size_of_a_set() -> None:
    size = "2 questions with 6 vital nuggets and 8 okay; 4 runs"
    judged = "79.6% of the pairs of response and nugget are judged"
    assert contents_answer(kt.describe_nuggets("demo-nuggets")) == (f"{size}; {judged}.",)
    broken: Any = SimpleNamespace(nuggets=None, problem_count=2)
    assert contents_answer(broken) == ("The set cannot be used: 2 problems.",)


@pytest.mark.parametrize(
    ("places", "short"),
    [
        (["/a/b/judged.txt, line 3", "/a/b/judged.txt, line 4"], ["judged.txt, line 3"]),
        (["/a/b/x.txt, line 3", "/a/c/x.txt, line 4"], ["b/x.txt, line 3", "c/x.txt, line 4"]),
        (["C:\\d\\x.txt, line 1", "run a/b"], ["x.txt, line 1", "run a/b"]),
        ([], []),
    ],
)
def test_places_without_folders(places: list[str], short: list[str]) -> None:
    assert short_places(places)[: len(short)] == short
