"""Evidence, likeness, and the classifier that learns from them."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nuggets.nugget_world import pooled
from scipy.optimize import minimize

from karat.arithmetic import logit, sigmoid
from karat.errors import InputError
from karat.nuggets.prediction import likeness as likenesses
from karat.nuggets.prediction.calibrated import (
    Logistic,
    _newton_mixed,
    built_in_model,
    cross_validate,
    fit_calibrated,
    fit_logistic,
)
from karat.nuggets.prediction.evidence import NAMES, evidence
from karat.nuggets.prediction.evidence_groups import EvidenceSource
from karat.nuggets.prediction.likeness import Likeness
from karat.nuggets.prediction.pool import FoldedCells, Pool, folds, make_pool
from karat.nuggets.scores.words import ENGLISH, cut_sentences, sentences
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run
from karat.text.tokens import Vocab


def pool_of(nuggets: list[tuple[str, ...]], responses: list[str], question: str = "") -> Pool:
    key = make_key(
        [Question("q", tuple(Nugget(str(g), d) for g, d in enumerate(nuggets)), question)]
    )
    return make_pool(key, [make_run("run", [("q", Response(text)) for text in responses])])


def column(pool: Pool, name: str) -> list[float]:
    unit_idf = lambda words: np.ones(len(words))  # noqa: E731
    return evidence(pool, idf=unit_idf)[:, NAMES.index(name)].tolist()


# ----------------------------------------------------------------------------------- evidence


def test_shares_of_words_in_the_response_and_in_a_window() -> None:
    gap = " ".join(f"filler{k}" for k in range(30))
    pool = pool_of([("Fermi built reactors",), ("bombs",)], [f"fermi {gap} built a reactor", "x"])
    assert column(pool, "idf-whole") == pytest.approx([1, 0, 0, 0])
    assert column(pool, "idf-near") == pytest.approx([2 / 3, 0, 0, 0])
    assert column(pool, "count-whole") == pytest.approx([1, 0, 0, 0])


def test_words_of_the_question_and_of_all_nuggets_say_less() -> None:
    pool = pool_of([("fermi reactor",), ("fermi bomb",)], ["fermi", "reactor"], "The reactor?")
    assert column(pool, "informative-whole") == pytest.approx([0, 0, 1, 0])
    assert column(pool, "new-whole") == pytest.approx([1, 0, 1, 0])  # nothing new: 1 for all


def test_numbers_and_names() -> None:
    pool = pool_of([("He left Rome in 1938",), ("it",)], ["in 1938", "to Rome"])
    assert column(pool, "number") == pytest.approx([1, 1, 0, 1])
    assert column(pool, "name") == pytest.approx([0, 1, 1, 1])
    assert column(pool, "has-number") == [1, 0, 1, 0]
    assert column(pool, "has-name") == [1, 0, 1, 0]


def test_runs_misses_characters_and_ranks() -> None:
    pool = pool_of(
        [("first nuclear reactor",), ("chain",)], ["a nuclear reactor", "nuclearisation"]
    )
    assert column(pool, "run") == pytest.approx([2 / 3, 0, 0, 0])
    assert column(pool, "miss") == pytest.approx([-1, -1, -1, -1])
    characters = column(pool, "characters")
    assert characters[0] > characters[2] > 0  # `nuclear` is inside the longer word
    assert column(pool, "rank") == pytest.approx([1, 0, 0.5, 0.5])


def test_sentences_end_at_marks_and_lines() -> None:
    assert sentences("He left. Why? In 1.5 days!\n\n- by train") == [
        "He left.",
        "Why?",
        "In 1.5 days!",
        "- by train",
    ]
    assert sentences("") == [""]
    parts, bounds = cut_sentences(("a. b", "", "c"))
    assert (parts, bounds.tolist()) == (("a.", "b", "", "c"), [0, 2, 3, 4])


def test_words_in_one_sentence_and_in_two() -> None:
    pool = pool_of(
        [("Fermi built reactors",), ("bombs",)],
        [
            "Fermi left. He built a reactor. Then came others.",
            "Fermi left. Rain fell. He built it.",
        ],
    )
    assert column(pool, "idf-sentence") == pytest.approx([2 / 3, 0, 1 / 3, 0])
    assert column(pool, "idf-pair") == pytest.approx([1, 0, 1 / 3, 0])
    assert column(pool, "idf-whole") == pytest.approx([1, 0, 2 / 3, 0])
    assert column(pool, "run-sentence") == pytest.approx([1 / 3, 0, 1 / 3, 0])
    assert column(pool, "miss-pair") == pytest.approx([0, -1, -1, -1])


@given(st.text("ab.!?…。\n \t\u3000", max_size=12))
def test_sentences_are_those_that_looking_behind_gives(text: str) -> None:
    parts = re.split(r"(?<=[.!?…。！？])\s+|\n+", text)
    assert sentences(text) == ([part for part in parts if part] or [""])


def test_of_several_descriptions_the_best_counts() -> None:
    pool = pool_of([("alpha beta", "gamma"), ("delta",)], ["gamma", "alpha"])
    assert column(pool, "idf-whole") == pytest.approx([1, 0, 0.5, 0])


def test_evidence_does_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, _, _ = pooled(questions=3, runs=3)
    columns = evidence(pool)
    monkeypatch.setattr("karat.nuggets.prediction.evidence.BATCH", 2)
    assert evidence(pool) == pytest.approx(columns)


def test_no_responses_no_rows() -> None:
    assert evidence(pool_of([("x",)], [])).shape == (0, len(NAMES))


def test_empty_responses_and_descriptions_have_finite_evidence() -> None:
    assert np.isfinite(evidence(pool_of([("",), ("of the",)], ["", "of", "…"]))).all()


# ---------------------------------------------------------------------------------- regression


def data(rows: int = 60, columns: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(2, 3, (rows, columns))
    return X, rng.random(rows) < sigmoid(X @ [0.5, -0.3, 0.0] - 0.2)


@pytest.mark.parametrize("ridge", [0.5, 20.0])
@pytest.mark.parametrize("with_prior", [False, True])
def test_the_regression_is_the_best(ridge: float, with_prior: bool) -> None:
    X, yes = data()
    prior = Logistic(np.ones(3), np.full(3, 2.0), np.array([1.0, -1.0, 0.5]), 0.1)
    model = fit_logistic(X, yes, ridge, prior if with_prior else None)
    aim = prior.weights if with_prior else np.zeros(3)

    def loss(w: np.ndarray) -> float:
        z = (X - model.centre) / model.scale @ w[1:] + w[0]
        return float(
            np.logaddexp(0, np.where(yes, -z, z)).sum() + ridge / 2 * ((w[1:] - aim) ** 2).sum()
        )

    best = minimize(loss, np.zeros(4), tol=1e-12)
    assert [model.intercept, *model.weights] == pytest.approx(best.x, abs=1e-4)


@pytest.mark.parametrize("with_prior", [False, True])
def test_the_regression_with_difficulties_is_the_best(with_prior: bool) -> None:
    X, yes = data(80)
    nugget = np.arange(80) * 7 % 5
    yes = yes | (nugget == 2)
    prior = Logistic(np.ones(3), np.full(3, 2.0), np.array([1.0, -1.0, 0.5]), 0.1)
    model = fit_logistic(X, yes, 4.0, prior if with_prior else None, nugget)
    aim = prior.weights if with_prior else np.zeros(3)
    Z = (X - model.centre) / model.scale

    def loss(w: np.ndarray) -> float:
        z = Z @ w[1:4] + w[0] + w[4:][nugget]
        held = 4.0 * ((w[1:4] - aim) ** 2).sum() + (w[4:] ** 2).sum()
        return float(np.logaddexp(0, np.where(yes, -z, z)).sum() + held / 2)

    best = minimize(loss, np.zeros(9), tol=1e-12).x

    def line(v: np.ndarray) -> float:
        z = v[0] + v[1] * (Z @ best[1:4] + best[0])
        return float(np.logaddexp(0, np.where(yes, -z, z)).sum())

    a, c = minimize(line, [0.0, 1.0], tol=1e-12).x
    expected = [a + c * best[0], *(c * best[1:4])]
    assert [model.intercept, *model.weights] == pytest.approx(expected, abs=1e-3)


def test_difficulties_keep_hard_nuggets_from_turning_a_weight() -> None:
    nugget = np.repeat([0, 1], 40)
    inside = np.tile(np.arange(40) / 40, 2)
    X = (inside + nugget)[:, None]  # what is high for the second nugget is never enough
    yes = (inside > 0.3) & (nugget == 0) | (inside > 0.9)
    assert fit_logistic(X, yes, 1.0).weights[0] < 0
    Z = np.concatenate([np.ones((80, 1)), X - X.mean()], axis=1)
    assert _newton_mixed(Z, yes, nugget, np.array([1e-6, 1.0]), np.zeros(2))[1] > 1
    with pytest.raises(InputError, match="no cell was judged"):
        fit_logistic(X[:0], yes[:0], nugget=nugget[:0])


def test_constant_columns_and_separable_data_do_no_harm() -> None:
    X = np.stack([np.ones(10), np.arange(10.0)], axis=1)
    model = fit_logistic(X, np.arange(10) > 4, 1.0)
    p = model.probabilities(X)
    assert ((p > 0.5) == (np.arange(10) > 4)).all()
    assert model.weights[0] == 0


def test_logits_and_back() -> None:
    p = np.array([0.0, 0.2, 0.5, 1.0])
    assert sigmoid(logit(p)) == pytest.approx(p, abs=1e-5)
    assert sigmoid(np.array([-1e4, 1e4])).tolist() == [0, 1]


def test_nothing_to_learn_from() -> None:
    with pytest.raises(InputError, match="no cell was judged"):
        fit_calibrated(np.ones((2, 1)), np.full(2, np.nan))


# ------------------------------------------------------------------------------------ likeness


def test_leaving_a_fold_out_of_a_regression_is_not_having_it() -> None:
    rng = np.random.default_rng(1)
    A = rng.random((7, 5))
    K, values = A @ A.T, rng.normal(size=(7, 2))
    fold, is_judged = np.array([0, 0, 1, 2, 2, 3, 4]), np.array([True] * 6 + [False])
    judged = np.flatnonzero(is_judged)
    predicted = likenesses._regress(K[:, judged], values[judged], judged, fold)
    for fold_id in range(5):
        rows = np.flatnonzero(is_judged & (fold != fold_id))
        M = np.linalg.inv(K[np.ix_(rows, rows)] + likenesses._NOISE * np.eye(len(rows)))
        expected = K[fold == fold_id][:, rows] @ M @ values[rows]
        assert predicted[fold == fold_id] == pytest.approx(expected)


def test_own_judgements_say_nothing_about_oneself() -> None:
    pool, labels, _ = pooled()
    fold = folds(pool, "system")
    guesses = np.full(len(labels), 0.4)
    columns = Likeness(pool).columns(labels, guesses, fold)
    for k in (0, 3):
        left = np.where(fold == k, np.nan, labels)
        again = Likeness(pool).columns(left, guesses, fold)
        assert again[fold == k] == pytest.approx(columns[fold == k])
        turned = np.where(fold == k, 1 - labels, labels)
        other = Likeness(pool).columns(turned, guesses, fold)
        assert other[fold == k] == pytest.approx(columns[fold == k])
        assert np.abs(other - columns).max() > 0.1


def test_tables_of_words_may_be_made_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, labels, _ = pooled()
    fold, guesses = folds(pool, "system"), np.full(len(labels), 0.4)
    columns = Likeness(pool).columns(labels, guesses, fold)
    monkeypatch.setattr(likenesses, "_TABLE", 20)
    assert Likeness(pool).columns(labels, guesses, fold) == pytest.approx(columns, abs=1e-10)


def test_only_the_first_responses_may_be_judged() -> None:
    pool, labels, _ = pooled()
    fold, guesses = folds(pool, "system"), np.full(len(labels), 0.4)
    labels[pool.cell_run >= 3] = np.nan
    all_columns = Likeness(pool).columns(labels, guesses, fold)
    columns = Likeness(pool, first=3).columns(labels, guesses, fold)
    assert columns == pytest.approx(all_columns, abs=1e-12)


def test_words_are_counted_one_by_one() -> None:
    """The naive Bayes of a fold, word by word."""
    pool, labels, _ = pooled(questions=1, runs=5)
    fold = folds(pool, "system")
    log_odds = Likeness(pool).columns(labels, np.zeros(len(labels)), fold)[:, 5].reshape(5, -1)
    cut = ENGLISH.tokens(pool.texts, Vocab())
    texts = [set(cut.ids[a:b].tolist()) for a, b in pairwise(cut.offsets)]
    words = [w for w in set().union(*texts) if 1 < sum(w in text for text in texts) < 5]
    yes = labels.reshape(5, -1) > 0
    for i, j in np.ndindex(log_odds.shape):
        sums = squares = 0.0
        for word in words:
            odds = 1.0
            for kind, sign in ((True, 1), (False, -1)):
                same_kind = [k for k in range(5) if k != i and yes[k, j] == kind]
                share = (sum(word in texts[k] for k in same_kind) + 0.5) / (len(same_kind) + 1)
                odds *= (share if word in texts[i] else 1 - share) ** sign
            sums, squares = sums + np.log(odds), squares + np.log(odds) ** 2
        assert log_odds[i, j] == pytest.approx(sums / (squares + 1) ** 0.5)


def test_the_rate_is_that_of_the_others() -> None:
    pool, labels, _ = pooled()
    fold = folds(pool, "system")
    rates = Likeness(pool).columns(labels, np.zeros(len(labels)), fold)[:, 0]
    is_selected = pool.cell_nugget == 5
    for cell in np.flatnonzero(is_selected):
        other_labels = labels[is_selected & (fold != fold[cell])]
        assert sigmoid(rates[cell]) == pytest.approx(
            (other_labels.sum() + 0.5) / (len(other_labels) + 1)
        )


def test_standing_is_that_of_the_guesses_alone() -> None:
    pool, labels, _ = pooled()
    fold = folds(pool, "system")
    guesses = np.where(pool.cell_response == pool.starts[1], 0.9, 0.2)
    place = likenesses.NAMES.index("standing")
    columns = Likeness(pool).columns(labels, guesses, fold)[:, place]
    again = Likeness(pool).columns(1 - labels, guesses, fold)[:, place]
    assert columns.tolist() == again.tolist()
    n = int(pool.starts[2] - pool.starts[1])
    is_selected = pool.cell_question == 1
    assert columns[pool.cell_response == pool.starts[1]] == pytest.approx((n - 1) ** 0.5)
    assert columns[is_selected].sum() == pytest.approx(0, abs=1e-9)
    assert columns[pool.cell_question == 0] == pytest.approx(0, abs=1e-6)


# ------------------------------------------------------------------------------- the classifier


@pytest.mark.parametrize("by", ["question", "system"])
def test_cross_validation_sees_no_label_of_the_fold(by: str) -> None:
    pool, labels, _ = pooled()
    X, fold = evidence(pool), folds(pool, by)
    like = Likeness(pool) if by == "system" else None
    predictions = cross_validate(FoldedCells(pool, labels, fold), X, like)
    turned = np.where(fold == 2, 1 - labels, labels)
    again = cross_validate(FoldedCells(pool, turned, fold), X, like)
    assert again.probabilities[fold == 2] == pytest.approx(predictions.probabilities[fold == 2])
    assert (again.carried == predictions.carried)[fold == 2].all()
    assert predictions.agreement.f > 0.85


def test_identical_responses_elsewhere_decide() -> None:
    pool, labels, _ = pooled()
    texts = list(pool.texts)
    twin = int(pool.starts[1])
    texts[twin] = texts[twin + 1].upper()
    pool = replace(pool, texts=tuple(texts))
    cells = FoldedCells(pool, labels, folds(pool, "system"))
    predictions = cross_validate(cells, evidence(pool), Likeness(pool))
    is_selected, is_twin = (pool.cell_response == twin), (pool.cell_response == twin + 1)
    assert cells.is_known[is_selected].all()
    assert predictions.probabilities[is_selected].tolist() == (labels[is_twin] > 0).tolist()


def test_the_prior_is_useful_without_judgements() -> None:
    pool, labels, _ = pooled()
    model = built_in_model(EvidenceSource())
    p = model.probabilities(evidence(pool))
    yes = labels > 0
    assert p[yes].mean() > p[~yes].mean() + 0.3
    carried = p > model.threshold
    assert 2 * (carried & yes).sum() / (carried.sum() + yes.sum()) > 0.8
