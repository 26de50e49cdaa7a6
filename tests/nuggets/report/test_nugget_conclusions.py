"""Sentences that nugget reports draw from numbers: cases where each is drawn, and where it is not.

`tests/report/test_conclusions.py` has the same for notes and other commands; exact wordings are in
`test_nugget_answers.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from nuggets.nugget_world import world

import karat as kt
from karat.nuggets.report.contents import contents_answer
from karat.nuggets.report.evaluation import (
    _caption,
    agreement_answer,
    evaluation_answer,
    evaluation_basis,
    tuning_answer,
)
from karat.nuggets.report.scores import (
    changes_answer,
    changes_basis,
    percentage,
    score_answer,
    score_basis,
)
from karat.nuggets.results.changes import NuggetChanges
from karat.nuggets.results.evaluation import Contest
from karat.nuggets.results.scoring import NuggetScoring, ScoredRun
from karat.nuggets.scores.decisions import AnswerDecisions
from karat.nuggets.scores.official import OfficialSettings, score_shares
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet

Case = Callable[[], str]
"""Returns the sentences of a report about some numbers."""


class Conclusion(NamedTuple):
    """A sentence, cases in which it must be drawn, and cases in which it must not."""

    sentence: str
    cases: tuple[Case, ...]
    other_cases: tuple[Case, ...]


def case(sentences: Callable[..., str]) -> Callable[..., Case]:
    """Numbers are given now; the sentences are made when a test needs them, once."""
    cached = cache(sentences)
    return lambda *numbers, **more: partial(cached, *numbers, **more)


# ------------------------------------------------------------------------------- score and diff


def judged_runs(*flags: str, vital: bool = True) -> NuggetScoring:
    """Runs a, b, …: a sign for each question: + carried, - not, ? guessed no, ! guessed yes."""
    ids = [str(k) for k in range(len(flags[0]))]
    key, official = (
        make_key(Question(id, (Nugget("1", ("x",), vital),)) for id in ids),
        OfficialSettings(),
    )
    scored = []
    for tag, signs in zip("abcdefgh", flags, strict=False):
        run = make_run(tag, [(id, Response("text")) for id in ids])
        decisions = {
            id: AnswerDecisions(np.array([[float(sign in "+!")]]), np.array([[sign in "+-"]]))
            for id, sign in zip(ids, signs, strict=True)
        }
        shares = score_shares(run, key, decisions)
        scored.append(ScoredRun(run, decisions, official.score(run, key, decisions), shares))
    nuggets = NuggetSet("s", key, {scored_run.run.tag: scored_run.run for scored_run in scored})
    return NuggetScoring(nuggets, official, True, False, tuple(scored))


@case
def score(*flags: str, vital: bool = True) -> str:
    scoring = judged_runs(*flags, vital=vital)
    return " ".join([*score_answer(scoring), score_basis(scoring)])


@case
def diff(old: str, new: str) -> str:
    changes = NuggetChanges(judged_runs(old, new))
    return " ".join([*changes_answer(changes), changes_basis(changes), *changes.notes])


MANY, FEW = "+" * 20, "+" * 4 + "-" * 16
GUESSED = "!" * 20

SCORE = [
    Conclusion(
        "is decided.",
        (score(MANY, FEW),),
        (score("+++", "---"), score(MANY, MANY), score(GUESSED, FEW), score("+", "-")),
    ),
    Conclusion("is not decided", (score("+++", "---"), score(GUESSED, FEW)), (score(MANY, FEW),)),
    Conclusion(
        "is decided; that over c is not",
        (score(MANY, FEW, FEW[:-16] + "?" * 16),),
        (score(MANY, FEW, FEW),),
    ),
    Conclusion("lead with the same", (score("+-", "-+"),), (score("++", "+-"), score("+-"))),
    Conclusion(
        "of the vital nuggets", (score("+-"),), (score("+-", "--"), score("+-", vital=False))
    ),
    Conclusion("carries 100% of", (score("++"),), (score("+" * 999 + "-"),)),
    Conclusion(
        "rest on a classifier's guesses",
        (score("+!"), score("+!", "--")),
        (score("+-"), score("++", "--")),
    ),
    Conclusion(
        "if it is unknown how wrong they may be",
        (score(GUESSED, FEW),),
        (score(MANY, FEW), score("!", "-"), score("!")),
    ),
    Conclusion("allows for wrong guesses", (), (score(MANY, FEW), score(GUESSED, FEW))),
    Conclusion("One question is too few", (score("+", "-"),), (score("++", "--"), score("+"))),
    Conclusion(
        "differences is tested on its own",
        (score("++", "+-", "--"),),
        (score("++", "--"), score("+", "-", "-")),
    ),
]

DIFF = [
    Conclusion(
        "an improvement",
        (diff(FEW, MANY),),
        (diff(MANY, FEW), diff("--", "++"), diff(FEW, GUESSED)),
    ),
    Conclusion(
        "a loss", (diff(MANY, FEW),), (diff(FEW, MANY), diff("++", "--"), diff(GUESSED, FEW))
    ),
    Conclusion(
        "no decided change",
        (diff("--", "++"), diff(FEW, GUESSED)),
        (diff(FEW, MANY), diff(MANY, FEW), diff("-", "+")),
    ),
    Conclusion("carries the same nuggets as", (diff("+-", "+-"),), (diff("+-", "-+"),)),
    Conclusion("too few for a test", (diff("-", "+"),), (diff("--", "++"),)),
    Conclusion(
        "changes rest on guesses", (diff("--", "!-"),), (diff("--", "+-"), diff("-?", "+?"))
    ),
    Conclusion("rest on a classifier's guesses", (diff("--", "!-"),), (diff("--", "+-"),)),
]


# ----------------------------------------------------------------------------------- evaluate


@case
def evaluate(contest: Contest, runs: int = 3) -> str:
    by = SimpleNamespace(
        by="system", cells=SimpleNamespace(pool=SimpleNamespace(questions="ab", runs="abc"))
    )
    evaluation: Any = SimpleNamespace(contest=contest, runs=[0] * runs, tuning=by)
    return " ".join([*evaluation_answer(evaluation), evaluation_basis(evaluation)])


WON = Contest(0.88, 0.81, 0.07, 0.05, 0.09, 0.9, 0.8)
LOST = Contest(0.81, 0.88, -0.07, -0.09, -0.05, 0.8, 0.9)
OPEN = Contest(0.88, 0.81, 0.07, -0.02, 0.16, 0.9, 0.8)
UNKNOWN = Contest(0.88, 0.81, 0.07, None, None, 0.9, 0.8)
EQUAL = Contest(0.8, 0.8, 0.0, 0.0, 0.0, 0.9, 0.8)

EVALUATE = [
    Conclusion(
        "The calibrated classifier agrees better",
        (evaluate(WON),),
        (evaluate(LOST), evaluate(OPEN), evaluate(UNKNOWN), evaluate(EQUAL)),
    ),
    Conclusion(
        "The paper's classifier agrees better",
        (evaluate(LOST),),
        (evaluate(WON), evaluate(OPEN), evaluate(UNKNOWN), evaluate(EQUAL)),
    ),
    Conclusion(
        "It is undecided which classifier agrees better with assessors",
        (evaluate(OPEN), evaluate(UNKNOWN)),
        (evaluate(WON), evaluate(LOST), evaluate(EQUAL)),
    ),
    Conclusion(
        "Both classifiers agree equally well",
        (evaluate(EQUAL),),
        (evaluate(WON), evaluate(OPEN), evaluate(UNKNOWN)),
    ),
    Conclusion(
        "Rank correlation",
        (evaluate(WON),),
        (
            evaluate(WON, runs=2),
            evaluate(WON._replace(calibrated_tau=np.nan, paper_tau=np.nan)),
        ),
    ),
    Conclusion(
        "and the threshold model nugget",
        (evaluate(WON._replace(paper_model="nugget")),),
        (evaluate(WON),),
    ),
    Conclusion("runs lie outside", (lambda: _caption((1, 20)),), (lambda: _caption(None),)),
]


# --------------------------------------------------------------------------------------- tune


@case
def tune(f: tuple[float, ...], coin: float = -50.0, likely: float = -20.0) -> str:
    setting = SimpleNamespace(n=1, weight="idf", stem="none", stop="none")
    rows = [SimpleNamespace(**vars(setting), f=value) for value in sorted(f, reverse=True)]
    models = [
        SimpleNamespace(model="coin", name="coin", likeliest=False, f=None, log10=coin),
        SimpleNamespace(
            model="global", name="global threshold", likeliest=True, f=0.7, log10=likely
        ),
    ]
    tuning: Any = SimpleNamespace(rows=rows, models=models)
    return " ".join(tuning_answer(tuning))


TUNE = [
    Conclusion("The best of 3 settings is", (tune((0.7, 0.6, 0.6)),), (tune((0.7, 0.7, 0.7)),)),
    Conclusion(
        "All 3 settings have the same F", (tune((0.7, 0.7, 0.7)),), (tune((0.7, 0.7, 0.6)),)
    ),
    Conclusion("with the same F", (tune((0.7, 0.7, 0.6)),), (tune((0.7, 0.6, 0.6)),)),
    Conclusion(
        "A coin is at least as likely",
        (tune((0.7, 0.6), coin=-10.0), tune((0.7, 0.6), coin=-20.0)),
        (tune((0.7, 0.6)),),
    ),
]


# -------------------------------------------------------------------------- agree and describe


@case
def agree(*changes: tuple[str, str, float]) -> str:
    """Judgements of three runs against the same, with some labels changed."""
    texts = {"a": "one", "b": "two", "c": "three"}
    key = make_key([Question(q, (Nugget("1", (q,)),)) for q in "wxyz"])
    runs = {
        tag: make_run(tag, [(q, Response(text + q)) for q in "wxyz"]) for tag, text in texts.items()
    }
    carried = {"a": "wxyz", "b": "wx", "c": "w"}
    rows = [
        JudgedResponse(q, "1", texts[tag] + q, float(q in carried[tag]), tag)
        for tag in texts
        for q in "wxyz"
    ]
    changed = {(tag, q): value for tag, q, value in changes}
    other = tuple(
        row._replace(value=changed.get((row.run, row.question), row.value)) for row in rows
    )
    agreement = kt.agree_nuggets(
        NuggetSet("s", key, runs, Judgements(tuple(rows))), Judgements(other)
    )
    return " ".join(agreement_answer(agreement))


@case
def equal_share(share: float, pairs: int) -> str:
    row = SimpleNamespace(kappa=None, f=None, equal=share, pairs=pairs)
    agreement: Any = SimpleNamespace(rows=[row], scores=())
    return " ".join(agreement_answer(agreement))


@case
def describe(judged: float, contradictions: int = 0) -> str:
    row = SimpleNamespace(questions=2, vital=6, okay=8, runs=4, judged=judged)
    contents: Any = SimpleNamespace(
        nuggets=1, rows=[row], contradictions=[0] * contradictions, disputes=[]
    )
    return " ".join(contents_answer(contents))


AGREE = [
    Conclusion(
        "in the same way",
        (agree(), agree(("a", "z", 0.0))),
        (agree(("b", "y", 1.0), ("a", "y", 0.0), ("a", "z", 0.0)), agree(("b", "x", 0.0))),
    ),
    Conclusion("but tie different pairs", (agree(("b", "x", 0.0)),), (agree(),)),
    Conclusion(
        "the other way round.",
        (agree(("b", "y", 1.0), ("a", "y", 0.0), ("a", "z", 0.0), ("a", "x", 0.0)),),
        (agree(), agree(("b", "x", 0.0))),
    ),
    Conclusion(
        "on 100.0% of",
        (agree(), equal_share(1.0, 9)),
        (agree(("a", "z", 0.0)), equal_share(0.9999, 9999)),
    ),
    Conclusion("100.0% of the pairs", (describe(1.0),), (describe(0.99999), describe(0.5))),
    Conclusion("contradiction", (describe(1.0, 1),), (describe(1.0),)),
]

EVERY = [*SCORE, *DIFF, *EVALUATE, *TUNE, *AGREE]


@pytest.mark.parametrize("conclusion", EVERY, ids=lambda one: one.sentence)
def test_a_conclusion_is_drawn_only_where_numbers_allow(conclusion: Conclusion) -> None:
    for justified in conclusion.cases:
        assert conclusion.sentence in justified()
    assert conclusion.other_cases
    for unjustified in conclusion.other_cases:
        assert conclusion.sentence not in unjustified()


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (0.0, 0, "0%"),
        (0.004, 0, "under 1%"),
        (0.25, 0, "25%"),
        (0.996, 0, "over 99%"),
        (1.0, 0, "100%"),
        (0.99999, 1, "over 99.9%"),
        (0.9949, 1, "99.5%"),
    ],
)
def test_only_all_is_100_percent(share: float, digits: int, text: str) -> None:
    assert percentage(share, digits) == text


def test_measured_errors_are_claimed_only_where_they_were_measured() -> None:
    key, runs, judgements = world()
    nuggets = NuggetSet("w", key, {run.tag: run for run in runs}, judgements)
    none = replace(nuggets, judgements=Judgements(()))
    errors = "from its errors on judged runs left out of its training"
    for classifier in ("calibrated", "paper"):
        assert errors in " ".join(kt.score_nuggets(nuggets, classifier=classifier).notes)
        assert errors not in " ".join(kt.score_nuggets(none, classifier=classifier).notes)
    assert "It has no intervals" in " ".join(kt.score_nuggets(none, classifier="paper").notes)
    assert "It has no intervals" not in " ".join(
        kt.score_nuggets(nuggets, classifier="paper").notes
    )
    assert "allow for an unknown base rate" in " ".join(kt.score_nuggets(none).notes)
    assert "allow for an unknown base rate" not in " ".join(kt.score_nuggets(nuggets).notes)
