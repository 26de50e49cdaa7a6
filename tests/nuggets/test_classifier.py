"""The classifier against its formula, and what it does with keys of every shape."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.nugget_formulas import score as formula

from karat.errors import InputError
from karat.nuggets.prediction.paper import Paper, ngram_scores
from karat.nuggets.prediction.pool import Pool, make_pool
from karat.nuggets.scores.words import WordRecipe, smoothed_idf
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run

WORDS = ["reactor", "built", "first", "chain", "neutrino", "named", "the", "it"]
IDF = {word: 0.5 + k for k, word in enumerate(WORDS)}
texts = st.lists(st.sampled_from(WORDS), max_size=8)
nuggets = st.lists(st.lists(texts, min_size=1, max_size=3), min_size=1, max_size=4)


def idf(words: list[str]) -> np.ndarray:
    return np.array([IDF.get(word, 9.0) for word in words])


def pool_of(keys: list[list[list[list[str]]]], responses: list[list[list[str]]]) -> Pool:
    """A pool of one run: for every question its nuggets' texts and the responses."""
    questions = [
        Question(
            f"q{q}",
            tuple(Nugget(f"n{g}", tuple(map(" ".join, texts))) for g, texts in enumerate(key)),
        )
        for q, key in enumerate(keys)
    ]
    answers = [(f"q{q}", Response(" ".join(r))) for q, texts in enumerate(responses) for r in texts]
    return make_pool(make_key(questions), [make_run("run", answers)])


questions = st.lists(st.tuples(nuggets, st.lists(texts, max_size=3)), min_size=1, max_size=3)


@given(questions, st.integers(1, 4), st.booleans(), st.booleans(), st.booleans())
def test_scores_are_the_formulas(
    keys_and_answers: list[tuple[list[list[list[str]]], list[list[str]]]],
    n: int,
    counts: bool,
    once: bool,
    normalised: bool,
) -> None:
    keys, responses = (
        [key for key, _ in keys_and_answers],
        [answers for _, answers in keys_and_answers],
    )
    pool = pool_of(keys, responses)
    rule = Paper(n, "count" if counts else "idf", normalised=normalised, once=once)
    scores = ngram_scores(pool, rule, None if counts else idf)
    expected = [
        formula(response, key, g, n, None if counts else IDF, once, normalised)
        for key, answers in zip(keys, responses, strict=True)
        for response in answers
        for g in range(len(key))
    ]
    assert scores == pytest.approx(expected)


def test_a_single_nugget_has_scores() -> None:
    pool = pool_of([[[["first", "reactor"]]]], [[["the", "reactor"]]])
    assert ngram_scores(pool, Paper(1), idf).tolist() == [IDF["reactor"]]


def test_a_word_of_all_nuggets_says_nothing() -> None:
    pool = pool_of([[[["first", "reactor"]], [["built", "reactor"]]]], [[["reactor"], ["first"]]])
    assert ngram_scores(pool, Paper(1), idf).tolist() == [0, 0, IDF["first"] / 2, 0]


def test_case_punctuation_and_stems_do_not_matter() -> None:
    pool = pool_of([[[["built", "reactors"]], [["chain"]]]], [[["“Reactor”,", "(BUILT)!"]]])
    rule = Paper(2, "count", stem="english")
    assert ngram_scores(pool, rule).tolist() == [1.0, 0.0]
    assert ngram_scores(pool, Paper(2, "count")).tolist() == [0.5, 0.0]


def test_stop_words_are_taken_out_before_n_grams_are_made() -> None:
    pool = pool_of([[[["built", "the", "reactor"]], [["chain"]]]], [[["built", "reactor"]]])
    assert ngram_scores(pool, Paper(2, "count", stop="en")).tolist() == [1.5, 0.0]
    assert ngram_scores(pool, Paper(2, "count")).tolist() == [1.0, 0.0]


def test_other_scripts_count() -> None:
    pool = pool_of([[[["первый", "реактор"]], [["цепь"]]]], [[["Реактор", "—", "мой"]]])
    assert ngram_scores(pool, Paper(1, "count")).tolist() == [0.5, 0.0]


def test_smoothed_idf_counts_responses_not_words() -> None:
    weights = smoothed_idf(["a a b", "a", "c"], WordRecipe())(["a", "b", "nowhere"])
    assert weights == pytest.approx(np.log([4 / 2.5, 4 / 1.5, 4 / 0.5]).tolist())


def test_many_responses_in_batches_score_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = pool_of([[[["first", "reactor"]], [["chain"]]]] * 3, [[["first"], ["chain", "it"]]] * 3)
    scores = ngram_scores(pool, Paper(2))
    monkeypatch.setattr("karat.nuggets.prediction.paper.BATCH", 1)
    progress_calls: list[tuple[int, int]] = []
    again = ngram_scores(
        pool, Paper(2), progress=lambda done, total, what: progress_calls.append((done, total))
    )
    assert again.tolist() == scores.tolist()
    assert progress_calls == [(k, 6) for k in range(1, 7)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 0}, "paper: n=0 is out of range: expected at least 1"),
        ({"weight": "tf"}, "paper: weight=tf is not one of idf, count"),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Paper(**settings)  # type: ignore[arg-type]
