"""What tells of nuggets that nobody was judged on: their place, and echoes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nuggets.nugget_world import pooled
from oracles.echo_loops import echo
from scipy.optimize import minimize

from karat.nuggets.prediction import evidence as unjudged
from karat.nuggets.prediction.calibrated import Logistic, cross_validate, fit_logistic, fit_unjudged
from karat.nuggets.prediction.evidence import UnjudgedEvidence, evidence
from karat.nuggets.prediction.pool import FoldedCells, Pool, folds, make_pool
from karat.nuggets.scores.words import WordRecipe, smoothed_idf
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run

WORDS = [f"w{a}{b}" for a in "bdfgk" for b in "bdfgk"]
PLAIN = WordRecipe()


def pool_of(*questions: tuple[list[str], list[str]]) -> Pool:
    """Questions of nuggets and responses, one run each."""
    key = make_key(
        Question(str(q), tuple(Nugget(str(g), (text,)) for g, text in enumerate(nuggets)))
        for q, (nuggets, _) in enumerate(questions)
    )
    most = max(len(responses) for _, responses in questions)
    runs = [
        make_run(
            f"run{r}",
            [
                (str(q), Response(texts[r]))
                for q, (_, texts) in enumerate(questions)
                if r < len(texts)
            ],
        )
        for r in range(most)
    ]
    return make_pool(key, runs)


# ----------------------------------------------------------------------------------- the place


def test_places_run_from_0_to_1_in_each_key() -> None:
    pool = pool_of((["a", "b", "c"], ["x", "y"]), (["d"], ["z"]))
    assert UnjudgedEvidence(pool).place.tolist() == [0, 0.5, 1, 0, 0.5, 1, 0]


# ------------------------------------------------------------------------------------- echoes


SENTENCE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9)
RESPONSE = st.lists(SENTENCE, min_size=1, max_size=3)


@settings(max_examples=60)
@given(
    st.lists(RESPONSE, min_size=1, max_size=6),
    st.lists(st.sets(st.sampled_from(WORDS), min_size=1, max_size=4), min_size=1, max_size=3),
    st.data(),
)
def test_echoes_are_those_of_the_loops(
    responses: list[list[list[str]]], nuggets: list[set[str]], data: st.DataObject
) -> None:
    texts = [" ".join(" ".join(words) + "." for words in response) for response in responses]
    pool = pool_of(([" ".join(sorted(words)) for words in nuggets], texts))
    cells = len(responses) * len(nuggets)
    chances = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])
    p = data.draw(st.lists(chances, min_size=cells, max_size=cells))
    echoes = UnjudgedEvidence(pool, PLAIN).echoes(np.array(p))
    idf = dict(zip(WORDS, smoothed_idf(pool.texts, PLAIN)(WORDS), strict=True))
    expected = [
        echo(responses, nuggets, g, idf, p[g :: len(nuggets)], r)
        for r in range(len(responses))
        for g in range(len(nuggets))
    ]
    assert echoes == pytest.approx(expected, abs=1e-9)


def other_words() -> Pool:
    """Two say the fact in the key's words and `bird`; one says it with `bird` alone."""
    about = ["They sang a tune.", "Rain fell today.", "Nobody was there."]
    texts = ["A kestrel hovered as a small bird of prey.", "One kestrel hovered, a bird of prey."]
    rest = ["That bird of prey was seen.", "The train was late again."]
    return pool_of(
        (["the kestrel hovered", "trains"], [" ".join([*about, x]) for x in [*texts, *rest]])
    )


def test_other_words_are_learned_from_responses_that_seem_to_carry_the_nugget() -> None:
    pool = other_words()
    p = np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.1], [0.1, 0.1]])
    first_nugget = UnjudgedEvidence(pool).echoes(p.ravel()).reshape(4, 2)[:, 0]
    assert first_nugget[2] > 0.2
    assert first_nugget[3] < 0.05


def test_nobody_listens_to_oneself() -> None:
    pool = other_words()
    p = np.full(8, 0.3)
    p[pool.cell_response == 2] = 0.9
    columns = UnjudgedEvidence(pool)
    echoes = columns.echoes(p)
    p[pool.cell_response == 2] = 0.1
    again = columns.echoes(p)
    is_selected = pool.cell_response == 2
    assert echoes[is_selected] == pytest.approx(again[is_selected])
    assert np.abs(echoes - again).max() > 0.01
    assert UnjudgedEvidence(pool_of((["a b"], ["a c. d e"]))).echoes(np.ones(1)).tolist() == [0]


def test_of_very_many_responses_those_that_are_believed_speak(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = other_words()
    p = np.array([[0.9, 0.1], [0.9, 0.1], [0.0, 0.1], [0.0, 0.1]]).ravel()
    all_speak = UnjudgedEvidence(pool).echoes(p).reshape(4, 2)[:, 0]
    monkeypatch.setattr(unjudged, "_SPEAKERS", 2)
    assert UnjudgedEvidence(pool).echoes(p).reshape(4, 2)[:, 0] == pytest.approx(all_speak)


def test_empty_responses_and_questions_without_any() -> None:
    pool = pool_of((["of the", "a fact"], ["", "…", "a fact. of"]), (["x"], []))
    echoes = UnjudgedEvidence(pool).echoes(np.full(6, 0.5))
    assert echoes.shape == (6,)
    assert np.isfinite(echoes).all()
    key = make_key([Question("q", ()), Question("r", (Nugget("1", ("x",)),))])
    run = make_run("run", [("q", Response("y")), ("r", Response("x"))])
    assert UnjudgedEvidence(make_pool(key, [run])).echoes(np.ones(1)).tolist() == [0]


# ------------------------------------------------------------------------------- the classifier


def test_a_place_is_learned_from_other_questions() -> None:
    pool, labels, _ = pooled()
    first = np.where(UnjudgedEvidence(pool).place < 0.5, 1.0, 0.0)
    blind = np.zeros((len(labels), 1))
    fold = folds(pool, "question")
    assert cross_validate(FoldedCells(pool, first, fold), blind).agreement.f == 1
    second = np.where(pool.cell_run % 2, first, 1 - first)  # no place tells that
    assert cross_validate(FoldedCells(pool, second, fold), blind).agreement.f < 0.9


def test_rows_are_evidence_place_and_echo() -> None:
    pool, labels, _ = pooled()
    X = evidence(pool)
    model, rows = fit_unjudged(X, labels, UnjudgedEvidence(pool))
    assert rows[:, :-2].tolist() == X.tolist()
    assert rows[:, -2].tolist() == UnjudgedEvidence(pool).place.tolist()
    assert model.probabilities(rows).shape == (len(labels),)


def test_a_prior_with_fewer_columns_and_a_ridge_for_each() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(1, 2, (90, 3))
    yes = rng.random(90) < 1 / (1 + np.exp(-X @ [0.4, -0.2, 0.3]))
    prior = Logistic(np.ones(2), np.full(2, 2.0), np.array([1.0, -1.0]), 0.1)
    ridge = np.array([5.0, 9.0, 0.1])
    model = fit_logistic(X, yes, ridge, prior)
    assert model.centre == pytest.approx([1, 1, X[:, 2].mean()])
    assert model.scale == pytest.approx([2, 2, X[:, 2].std()])

    def loss(w: np.ndarray) -> float:
        z = (X - model.centre) / model.scale @ w[1:] + w[0]
        held = (ridge * (w[1:] - [1.0, -1.0, 0.0]) ** 2).sum() / 2
        return float(np.logaddexp(0, np.where(yes, -z, z)).sum() + held)

    best = minimize(loss, np.zeros(4), tol=1e-12)
    assert [model.intercept, *model.weights] == pytest.approx(best.x, abs=1e-4)


def test_difficulties_with_a_ridge_for_each_column() -> None:
    X = np.array([[0.0, 0.0], [1.0, 1.0]] * 8)
    yes, nugget = np.arange(16) % 2 == 1, np.repeat(np.arange(4), 4)
    held = fit_logistic(X, yes, np.array([1e6, 1.0]), nugget=nugget).weights
    assert abs(held[0]) < 1e-3 < held[1]
    by_column, all_ = (fit_logistic(X, yes, r, nugget=nugget) for r in (np.full(2, 3.0), 3.0))
    assert by_column.weights == pytest.approx(all_.weights)
