"""The kernel's orders against all orders, and its gradient against differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles.order_features import symbol, treelet_features
from oracles.order_loops import daughters, expected_minus_gold, loss, projective_orders
from oracles.order_trees import (
    BITS,
    NOTHING,
    language_model,
    ordered,
    places_of,
    trees,
    weights,
)

from karat import _kernel
from karat.lm.model import LanguageModel
from karat.realize.symbols import NodeColumns, symbols


def parts(w: NDArray[np.float32], columns: NodeColumns, order: Sequence[int]) -> float:
    """w · f of all treelets of an order."""
    return float(_kernel.explain_order(w, columns.kernel, 0, places_of(order))[1].sum())


def best_orders(
    w: NDArray[np.float32],
    columns: NodeColumns,
    k: int,
    model: LanguageModel | None = None,
    words: NDArray[np.int32] = NOTHING,
    weight: float = 0.0,
) -> list[tuple[float, tuple[int, ...]]]:
    """The k best orders, nothing being cut."""
    kernel = model.kernel if model else None
    counts, scores, nodes = _kernel.order_trees(
        w, columns.kernel, 0, 1, k, 1000, 1000, kernel, words, weight
    )
    size = columns.nodes
    return [
        (score, tuple(nodes[i * size : (i + 1) * size].tolist()))
        for i, score in enumerate(scores.tolist()[: counts[0]])
    ]


@given(trees(7), st.integers(0, 99))
def test_features_are_those_of_the_tree(tree: tuple, seed: int) -> None:
    columns, _, heads = tree
    w = weights(seed)
    order = next(projective_orders(heads))
    at, rows = _kernel.explain_order(w, columns.kernel, 0, places_of(order))
    for node, row in zip(at.tolist(), rows.tolist(), strict=True):
        orders = treelet_features(ordered(columns, heads, order), node)
        sums = [sum(float(w[h >> (64 - BITS)]) for h in group) for group in orders.values()]
        np.testing.assert_allclose(row, sums, atol=1e-4)


@pytest.mark.parametrize("text", ["", "a", "the", "naïve", "日本"])
def test_symbols_are_hashes_of_bytes(text: str) -> None:
    assert symbols([text]).tolist() == [symbol(text)]


@given(trees(), st.integers(0, 99))
def test_the_best_orders_are_those_of_all(tree: tuple, seed: int) -> None:
    columns, _, heads = tree
    w = weights(seed)
    ranked = sorted((parts(w, columns, order) for order in projective_orders(heads)), reverse=True)
    best = best_orders(w, columns, 8)
    assert len(best) == min(8, len(ranked))
    totals = [parts(w, columns, order) for _, order in best]
    np.testing.assert_allclose(totals, ranked[: len(best)], atol=1e-4)
    assert len({order for _, order in best}) == len(best)


@given(trees(4), st.integers(0, 99), st.sampled_from([0.2, 1.0]))
def test_the_language_model_has_its_say(tree: tuple, seed: int, weight: float) -> None:
    columns, words, heads = tree
    w = weights(seed)
    model = language_model()
    vocab = _kernel.Vocab()
    ids = vocab.add(words)
    ids = model.find(vocab)[ids]

    def total(order: Sequence[int]) -> float:
        text = " ".join(words[i] for i in order)
        fluency = float(model.score([text])[0]) * np.log(10)
        return parts(w, columns, order) + weight * fluency

    best = max(total(order) for order in projective_orders(heads))
    assert total(best_orders(w, columns, 1, model, ids, weight)[0][1]) == pytest.approx(
        best, abs=1e-4
    )


@given(trees(4), st.integers(0, 99))
def test_the_loss_is_that_of_all_orders(tree: tuple, seed: int) -> None:
    columns, _, heads = tree
    w = weights(seed)
    order = next(projective_orders(heads))

    def score(places: Sequence[int], node: int) -> float:
        at, rows = _kernel.explain_order(w, columns.kernel, 0, np.array(places, dtype=np.int32))
        return float(rows[at == node].sum())

    trainer = _kernel.OrderingTrainer(BITS, 100, 1, 0.1, 0.2, 1.0)
    places = places_of(order)
    value, _ = trainer.gradient(columns.kernel, places, 0, w)
    assert value == pytest.approx(loss(heads, places.tolist(), score), abs=1e-4)


@given(trees(4), st.integers(0, 99))
def test_the_gradient_is_the_slope_of_the_loss(tree: tuple, seed: int) -> None:
    """The slopes are the derivative in closed form, in double precision.

    That form is checked by differences of the loss of the oracle. Differences of the kernel's own
    losses would not do: its scores are floats, so a step that is small enough for the differences
    to be the derivative leaves too few digits of the loss.
    """
    columns, _, heads = tree
    w = weights(seed)
    trainer = _kernel.OrderingTrainer(BITS, 1000, 1, 0.1, 0.2, 1.0)
    places = places_of(next(projective_orders(heads)))
    _, slopes = trainer.gradient(columns.kernel, places, 0, w)

    @cache
    def counts(at: tuple[int, ...], node: int) -> NDArray[np.float64]:
        groups = treelet_features(ordered(columns, heads, np.argsort(at).tolist()), node)
        hashes = [h >> (64 - BITS) for group in groups.values() for h in group]
        return np.bincount(hashes, minlength=1 << BITS).astype(np.float64)

    def features(at: Sequence[int], node: int) -> NDArray[np.float64]:
        return counts(tuple(at), node)

    at, exact = places.tolist(), w.astype(np.float64)
    expected = expected_minus_gold(heads, at, exact, features)
    # The kernel leaves out orders of a chance below 1e-6, of which there may be two dozen, each
    # with some features several times.
    np.testing.assert_allclose(slopes, expected, atol=1e-4)
    assert slopes.any() == any(daughters(heads, i) for i in range(len(heads)))

    def along(distance: float) -> float:
        moved = exact + distance * direction
        return loss(heads, at, lambda places, node: float(features(places, node) @ moved))

    direction = np.random.default_rng(seed + 1).normal(0, 1, len(w))
    step = 2.0**-16
    difference = (along(step) - along(-step)) / (2 * step)
    assert difference == pytest.approx(float(expected @ direction), abs=1e-4, rel=1e-5)


def trained(columns: NodeColumns, hidden: float) -> NDArray[np.float32]:
    trainer = _kernel.OrderingTrainer(BITS, 32, 3, 0.1, 0.2, 1.0)
    chances = np.full(columns.nodes, hidden, dtype=np.float32)
    places = np.arange(columns.nodes, dtype=np.int32)
    trainer.train(columns.kernel, places, chances, np.zeros(1, dtype=np.int64), 1)
    return trainer.mean()


@given(trees(7))
def test_hidden_words_teach_nothing(tree: tuple) -> None:
    columns, words, _ = tree
    symbols_found = symbols([f"{word}-" for word in words])
    changed = replace(columns, words=symbols_found, endings=symbols_found)
    np.testing.assert_array_equal(trained(columns, 1.0), trained(changed, 1.0))
    assert columns.nodes == 1 or (trained(columns, 0.0) != trained(changed, 0.0)).any()


def test_every_node_has_its_chance() -> None:
    columns = flat_tree(2)
    trainer = _kernel.OrderingTrainer(BITS, 32, 3, 0.1, 0.2, 1.0)
    places, chances = np.arange(3, dtype=np.int32), np.zeros(2, dtype=np.float32)
    with pytest.raises(ValueError, match="one chance a node"):
        trainer.train(columns.kernel, places, chances, np.zeros(1, dtype=np.int64), 1)


def flat_tree(n: int) -> NodeColumns:
    """A head with n daughters, all different."""
    words = symbols([f"w{i}" for i in range(n + 1)])
    heads = np.array([-1] + [0] * n, dtype=np.int32)
    return NodeColumns(*([words] * 6), heads, np.array([0, n + 1], dtype=np.int64))


@pytest.mark.parametrize("n", [0, 1, 60, 64, 65, 500])
def test_any_number_of_daughters_is_ordered(n: int) -> None:
    columns = flat_tree(n)
    _, _, nodes = _kernel.order_trees(
        weights(1), columns.kernel, 0, 1, 1, 32, 3, None, NOTHING, 0.0
    )
    assert sorted(nodes.tolist()) == list(range(n + 1))
    assert nodes.tolist()[65:] == list(range(65, n + 1))


def test_a_long_chain_is_ordered() -> None:
    n = 3000
    words = symbols([f"w{i}" for i in range(n)])
    heads = np.arange(-1, n - 1, dtype=np.int32)
    columns = NodeColumns(*([words] * 6), heads, np.array([0, n], dtype=np.int64))
    _, _, nodes = _kernel.order_trees(
        weights(1), columns.kernel, 0, 1, 1, 32, 3, None, NOTHING, 0.0
    )
    assert sorted(nodes.tolist()) == list(range(n))


@pytest.mark.parametrize(
    ("heads", "offsets", "message"),
    [
        ([0, 0], [0, 2], "begins with its root"),
        ([-1, 1], [0, 2], "before its daughters"),
        ([-1, 0], [0, 1], "do not fit"),
        ([-1, 0], [0, 2, 2], "begins with its root"),
    ],
)
def test_columns_that_are_no_trees(heads: list[int], offsets: list[int], message: str) -> None:
    words = symbols(["a", "b"])
    columns = NodeColumns(*([words] * 6), np.array(heads, dtype=np.int32), np.array(offsets))
    with pytest.raises(ValueError, match=message):
        _ = columns.kernel


def test_weights_of_a_wrong_size_are_refused() -> None:
    columns = flat_tree(2)
    with pytest.raises(ValueError, match="power of two"):
        _kernel.order_trees(
            np.zeros(3, dtype=np.float32), columns.kernel, 0, 1, 1, 32, 3, None, NOTHING, 0.0
        )
