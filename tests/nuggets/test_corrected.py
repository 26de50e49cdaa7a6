"""Corrected judgements speak for identical responses of all runs; or a run's own stand."""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nuggets.nugget_world import world

from karat.nuggets.prediction.pool import corrected_labels, make_pool
from karat.nuggets.results.evaluation import NuggetEvaluation, evaluate_nuggets
from karat.nuggets.scores.decisions import decide
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
from karat.nuggets.sets.nugget_set import NuggetSet

QUESTION = Question("q", (Nugget("a", ("one",)), Nugget("b", ("two",))))
TEXTS, TAGS = ("x", "X ", "y"), ("r", "s", "")
rows = st.lists(
    st.builds(
        JudgedResponse,
        st.just("q"),
        st.sampled_from(["a", "b"]),
        st.sampled_from(TEXTS),
        st.sampled_from([0.0, 0.5, 1.0]),
        st.sampled_from(TAGS),
        judge=st.just(""),
        kind=st.just(""),
    ),
    max_size=8,
)


def best(judged: list[JudgedResponse], nugget: str, text: str, runs: tuple[str, ...]) -> float:
    """The highest value of some words in some runs; NaN where there is none."""
    values = [
        row.value
        for row in judged
        if row.nugget == nugget and row.run in runs and row.response.strip().lower() == text
    ]
    return max(values, default=math.nan)


@given(rows, st.sampled_from([None, *TAGS]))
def test_of_identical_responses_the_best_counts_or_ones_own(
    judged: list[JudgedResponse], run_tag: str | None
) -> None:
    responses = [Response("x"), Response("y")]
    decisions = decide(QUESTION, responses, Judgements(tuple(judged)), run_tag=run_tag)
    expected = []
    for response in responses:
        for nugget in QUESTION.nuggets:
            best_of_run = (
                math.nan if run_tag is None else best(judged, nugget.id, response.text, (run_tag,))
            )
            best_of_all = best(judged, nugget.id, response.text, TAGS)
            expected.append(best_of_all if math.isnan(best_of_run) else best_of_run)
    assert decisions.values.ravel() == pytest.approx(expected, nan_ok=True)
    assert (decisions.is_judged == ~np.isnan(decisions.values)).all()


@given(rows)
def test_corrected_values(judged: list[JudgedResponse]) -> None:
    runs = [make_run(tag, [("q", Response(t)) for t in TEXTS]) for tag in ("r", "s")]
    labels = corrected_labels(make_pool(make_key([QUESTION]), runs), Judgements(tuple(judged)))
    expected = [best(judged, nugget, text, TAGS) for text in ("x", "x", "y") for nugget in "ab"]
    assert labels == pytest.approx(expected * 2, nan_ok=True)


# ------------------------------------------------------------------------------------- evaluation

KEY, RUNS, JUDGED = world(questions=4, runs=4)
TWIN = replace(RUNS[0], tag="twin")
"""The answers of run0; its assessor found nothing in them."""
ALL = MappingProxyType({run.tag: run for run in (*RUNS, TWIN)})


def judged_set(twin: float) -> NuggetSet:
    more = [row._replace(run="twin", value=twin) for row in JUDGED.rows if row.run == "run0"]
    return NuggetSet("s", KEY, ALL, Judgements((*JUDGED.rows, *more)))


@pytest.fixture(scope="module")
def plain() -> NuggetEvaluation:
    return evaluate_nuggets(judged_set(0.0))


@pytest.fixture(scope="module")
def corrected() -> NuggetEvaluation:
    return evaluate_nuggets(judged_set(0.0), corrected=True)


def official(evaluation: NuggetEvaluation) -> dict[str, float]:
    return {row.run: row.official for row in evaluation.runs}


def test_official_scores_are_corrected(
    plain: NuggetEvaluation, corrected: NuggetEvaluation
) -> None:
    assert official(plain)["twin"] == 0 < official(plain)["run0"]
    assert official(corrected)["twin"] == official(corrected)["run0"] == official(plain)["run0"]
    assert {tag: official(corrected)[tag] for tag in ("run1", "run2", "run3")} == {
        tag: official(plain)[tag] for tag in ("run1", "run2", "run3")
    }


def test_so_is_the_official_f_that_pourpre_is_compared_with(
    plain: NuggetEvaluation, corrected: NuggetEvaluation
) -> None:
    rows = [
        next(row for row in evaluation.rows if row.method == "Pourpre count, macro")
        for evaluation in (plain, corrected)
    ]
    assert rows[1].rmse != rows[0].rmse
    assert rows[1].tau_b > rows[0].tau_b


def test_agreement_is_with_corrected_judgements(
    plain: NuggetEvaluation, corrected: NuggetEvaluation
) -> None:
    assert corrected.calibrated.agreement.f > plain.calibrated.agreement.f
    assert corrected.tuning.best.agreement.f > plain.tuning.best.agreement.f
    assert corrected.tuning.likeliest.agreement != plain.tuning.likeliest.agreement


def test_nothing_is_learned_from_the_run_that_is_left_out() -> None:
    """What is said of run0 may not depend on its own judgements, by way of its twin's labels."""
    evaluations = [evaluate_nuggets(judged_set(0.0), corrected=True)]
    rows = judged_set(0.0).judgements.rows
    flipped = tuple(r._replace(value=1 - r.value) if r.run == "run0" else r for r in rows)
    evaluations.append(
        evaluate_nuggets(replace(judged_set(0.0), judgements=Judgements(flipped)), corrected=True)
    )
    pool = make_pool(KEY, list(ALL.values()))
    is_selected = pool.cell_run == pool.runs.index("run0")
    for first, second in zip(
        *(evaluation.tuning.trials for evaluation in evaluations), strict=True
    ):
        assert (first.carried[is_selected] == second.carried[is_selected]).all()
    first, second = (evaluation.calibrated for evaluation in evaluations)
    assert first.probabilities[is_selected] == pytest.approx(second.probabilities[is_selected])
