"""Likeness where responses speak of a nugget: the kernel against loops, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nugget_world import world
from oracles.nugget_nearness_loops import near

from karat import _kernel
from karat.nuggets.prediction import likeness as likenesses
from karat.nuggets.prediction.likeness import Likeness
from karat.nuggets.prediction.pool import make_pool
from karat.nuggets.sets.keys_and_runs import Nugget, Question, Response, make_key, make_run

sentence = st.lists(st.integers(0, 4), max_size=5)
answer = st.lists(sentence, max_size=3)


def ragged(id_rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    ids = np.array([i for row in id_rows for i in row], dtype=np.int32)
    return ids, starts(id_rows)


def starts(groups: list) -> np.ndarray:
    return np.cumsum([0, *map(len, groups)]).astype(np.int64)


@given(
    st.lists(answer, min_size=1, max_size=5),
    st.lists(st.lists(sentence, max_size=2), max_size=3),
    st.integers(1, 3),
    st.data(),
)
def test_nearness(
    responses: list[list[list[int]]],
    nuggets: list[list[list[int]]],
    order: int,
    data: st.DataObject,
) -> None:
    sentences = [sentence_tokens for response in responses for sentence_tokens in response]
    row = st.tuples(*[st.sampled_from([0.0, 0.5, 1.0]) for _ in nuggets])
    relevance = data.draw(st.lists(row, min_size=len(sentences), max_size=len(sentences)))
    first = data.draw(st.integers(0, len(responses)))
    most = data.draw(st.integers(0, len(responses)))
    nearness = _kernel.nugget_nearness(
        *ragged(sentences),
        starts(responses),
        *ragged([text for texts in nuggets for text in texts]),
        starts(nuggets),
        np.array(relevance, dtype=np.float64).reshape(len(sentences), len(nuggets)),
        order,
        most,
    )
    columns = [[r[g] for r in relevance] for g in range(len(nuggets))]
    expected = np.array(
        [
            near(i, j, responses, texts, columns[g], order, most)
            for i in range(len(responses))
            for j in range(first)
            for g, texts in enumerate(nuggets)
        ]
    ).reshape(len(responses), first, len(nuggets))
    assert nearness.table(first, None) == pytest.approx(expected[:first])
    row = st.tuples(*[st.sampled_from([-1.0, 0.0, 0.5]) for _ in nuggets])
    values = np.array(data.draw(st.lists(row, min_size=first, max_size=first)), dtype=np.float64)
    values = values.reshape(first, len(nuggets))
    assert nearness.sum(values, None) == pytest.approx((expected * values).sum(axis=1), abs=1e-12)


@pytest.mark.parametrize("count", [1, 3, 4, 9, 17, 28, 33])
def test_any_number_of_nuggets(count: int) -> None:
    """Nuggets are taken some at a time: each has what it has alone."""
    rng = np.random.default_rng(count)
    responses = [[rng.integers(0, 9, 12).tolist()] for _ in range(5)]
    relevance = rng.random((5, count))

    def nearness_table(relevance: np.ndarray) -> np.ndarray:
        sentences = ragged([response[0] for response in responses])
        none = np.zeros(relevance.shape[1] + 1, dtype=np.int64)
        near = _kernel.nugget_nearness(
            *sentences, starts(responses), *ragged([]), none, relevance, 1, 5
        )
        return near.table(5, None)

    alone = [nearness_table(np.ascontiguousarray(relevance[:, [g]])) for g in range(count)]
    assert nearness_table(relevance) == pytest.approx(np.concatenate(alone, axis=2))


def one_response(relevance: np.ndarray, order: int = 1) -> _kernel.NuggetNearness:
    bounds, none = np.array([0, 1], dtype=np.int64), np.zeros(1, dtype=np.int64)
    return _kernel.nugget_nearness(*ragged([[1]]), bounds, *ragged([]), none, relevance, order, 1)


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="relevance for every sentence"):
        one_response(np.ones((2, 0)))
    with pytest.raises(ValueError, match="units of 1 to 3 tokens"):
        one_response(np.ones((1, 0)), order=4)
    with pytest.raises(ValueError, match="at most all responses"):
        one_response(np.ones((1, 0))).table(2, None)
    for shape in ((2, 0), (1, 1)):
        with pytest.raises(ValueError, match="some responses and all nuggets"):
            one_response(np.ones((1, 0))).sum(np.ones(shape), None)


@pytest.mark.parametrize("large", [1 << 21, -1, 2**31 - 1])
def test_tokens_too_large_for_a_key_stand_alone(large: int) -> None:
    """Units of several would have the keys of others: 1, 0 that of 0, 2^21."""
    first_bounds, both = np.array([0, 1], dtype=np.int64), np.array([0, 1, 2], dtype=np.int64)

    def near_(sentences: list[list[int]], texts: list[list[int]], order: int) -> np.ndarray:
        relevance = np.ones((2, 1))
        nearness = _kernel.nugget_nearness(
            *ragged(sentences), both, *ragged(texts), first_bounds, relevance, order, 2
        )
        return nearness.table(2, None)

    assert near_([[large], [large]], [[large]], 1)[0, 1, 0] == pytest.approx(1.0)
    assert near_([[large], [large & 0x1FFFFF]], [[0]], 1)[0, 1, 0] == 0.0
    for sentences, texts in ([[0, large], [1, 0]], [[1]]), ([[1, 0], [1, 0]], [[0, large]]):
        with pytest.raises(ValueError, match=r"tokens below 2\^21"):
            near_(sentences, texts, 2)


def test_what_is_said_elsewhere_hardly_counts() -> None:
    """Two answers agree on the lamp, two on the salary: they are near for that nugget alone."""
    lamp, tower = "She built a turning lamp.", "The lamp never turned for her."
    pay, unpaid = "Her salary was twelve pounds.", "Nobody ever paid a salary."
    texts = [f"{lamp} {pay}", f"{lamp} {unpaid}", f"{tower} {pay}", f"{tower} {unpaid}"]
    nuggets = Nugget("1", ("built a turning lamp",)), Nugget("2", ("salary of twelve pounds",))
    key = make_key([Question("q", nuggets)])
    runs = [make_run(f"r{k}", [("q", Response(text))]) for k, text in enumerate(texts)]
    (question,) = Likeness(make_pool(key, runs))._questions
    ((_, nearness),) = question.near.parts(4, 1000)
    near_ = nearness.table(4)
    assert near_[0, 0, 1] > 2 * near_[0, 0, 2]  # the same lamp, the same salary
    assert near_[1, 0, 2] > 2 * near_[1, 0, 1]
    assert near_ == pytest.approx(near_.transpose(0, 2, 1))
    assert near_[:, range(4), range(4)] == pytest.approx(2.0)  # stems and characters


def test_some_nuggets_at_a_time_are_the_same() -> None:
    key, runs, _ = world(questions=2, runs=5)
    for question in Likeness(make_pool(key, runs))._questions:
        ((_, nearness),) = question.near.parts(5, 10**6)
        table, parts = nearness.table(5), list(question.near.parts(5, 1))
        assert [nuggets.start for nuggets, _ in parts] == list(range(len(table)))
        tables = [part.table(5) for _, part in parts]
        assert np.concatenate(tables) == pytest.approx(table)


def test_of_several_descriptions_any_makes_responses_near() -> None:
    texts = ["The keeper drowned at sea.", "The keeper drowned at sea.", "Rain fell all day."]
    runs = [make_run(f"r{k}", [("q", Response(text))]) for k, text in enumerate(texts)]

    def relevance(*descriptions: str) -> list[float]:
        key = make_key([Question("q", (Nugget("1", descriptions), Nugget("2", ("none",))))])
        (question,) = Likeness(make_pool(key, runs))._questions
        relevances: list[float] = question.near.relevance[:, 0].tolist()
        return relevances

    assert relevance("the keeper drowned") == pytest.approx([1.0, 1.0, 0.0])
    assert relevance("a storm", "the keeper drowned") == pytest.approx([1.0, 1.0, 0.0])
    assert relevance("a storm") == [0.0, 0.0, 0.0]


def test_regression_over_nearness_leaves_folds_and_open_cells_out() -> None:
    rng = np.random.default_rng(5)
    A = rng.normal(size=(3, 8, 20))
    K = A @ A.transpose(0, 2, 1) / 20
    rows, fold = np.arange(6), np.array([0, 0, 1, 1, 2, 2, 3, 3])
    values, judged = rng.normal(size=(6, 3)), rng.random((6, 3)) < 0.7
    noise = np.where(judged, 0.5, likenesses._UNKNOWN)
    weighted, inside = likenesses._regress_each(K[:, :6, :6], values * judged, noise, fold[:6])
    predicted = np.concatenate([inside, np.einsum("gij,jg->ig", K[:, 6:, :6], weighted)])
    for g in range(3):
        for i in range(8):
            used = [j for j in rows if judged[j, g] and fold[j] != fold[i]]
            M = np.linalg.inv(K[g][np.ix_(used, used)] + 0.5 * np.eye(len(used)))
            assert predicted[i, g] == pytest.approx(K[g][i, used] @ M @ values[used, g], abs=1e-4)


def test_who_was_not_judged_is_predicted_from_the_same_likeness() -> None:
    """Sums over units give what a table of all responses would."""
    key, runs, _ = world(questions=1, runs=7)
    (question,) = Likeness(make_pool(key, runs))._questions
    rng = np.random.default_rng(2)
    rows, fold = np.array([0, 2, 3]), np.array([0, 9, 1, 2, 9, 9, 9])
    values, judged = rng.normal(size=(3, 4)), np.ones((3, 4))
    predicted = likenesses._regress_residuals(question, values, judged, rows, fold)
    ((_, nearness),) = question.near.parts(7, 10**6)
    K = nearness.table(7) + 1
    for g in range(4):
        M = np.linalg.inv(K[g][np.ix_(rows, rows)] + likenesses._NEAR_NOISE * np.eye(3))
        for i in (1, 4, 5, 6):
            assert predicted[i, g] == pytest.approx(K[g][i, rows] @ M @ values[:, g])


def test_one_fold_predicts_others_and_nothing_of_itself() -> None:
    rng = np.random.default_rng(4)
    A = rng.normal(size=(2, 5, 9))
    K, values, noise = A @ A.transpose(0, 2, 1), rng.normal(size=(5, 2)), np.full((5, 2), 0.5)
    weighted, inside = likenesses._regress_each(K, values, noise, np.zeros(5, dtype=np.int64))
    several, _ = likenesses._regress_each(K, values, noise, np.arange(5))
    assert weighted == pytest.approx(several)
    assert not inside.any()
