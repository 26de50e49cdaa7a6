"""Scales of features: their classes, what they multiply, how they are learned, and what for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles.order_features import Tree
from oracles.order_loops import projective_orders
from oracles.order_trees import (
    BITS,
    NOTHING,
    language_model,
    ordered,
    places_of,
    trees,
    weights,
)
from oracles.scale_loops import (
    FREQUENCIES,
    Sentence,
    features,
    fitted,
    frequency,
    loss,
    template,
)
from oracles.toy_language import toy_treebank

from karat import _kernel
from karat.realize import labelling
from karat.realize import ordering as ordering_training
from karat.realize.input_trees import input_trees
from karat.realize.ordering import mean_scales, train_ordering
from karat.realize.symbols import NodeColumns, symbols, to_columns
from karat.realize.treebank import Treebank, read_treebank

ONE = np.zeros(1, dtype=np.int64)
SCALES = _kernel.TEMPLATES + _kernel.FREQUENCIES + 1


@given(trees(6), st.sampled_from([BITS, 20]), st.integers(0, 2))
def test_classes_are_templates_and_frequencies(tree: tuple, bits: int, times: int) -> None:
    columns, _, heads = tree
    order = next(projective_orders(heads))
    chosen = np.zeros(times, dtype=np.int64)
    classes = _kernel.feature_classes(columns.kernel, places_of(order), chosen, bits)
    values = [(f >> (64 - bits), template(f)) for f in features(ordered(columns, heads, order))]
    counts = Counter(at for at, _ in values)
    assert len(classes) == 1 << bits
    assert set(np.flatnonzero(classes).tolist()) == (set(counts) if times else set())
    for at in np.flatnonzero(classes).tolist():
        assert (at, classes[at] // FREQUENCIES) in values
        assert classes[at] % FREQUENCIES == frequency(counts[at] * times)


def sums(
    tree: Tree, w: NDArray[np.float32], classes: NDArray[np.uint16]
) -> tuple[NDArray[np.float64], float]:
    """What the scales multiply in an order, and w · f."""
    values, total = np.zeros(SCALES), 0.0
    for feature in features(tree):
        at = feature >> (64 - BITS)
        values[classes[at] // FREQUENCIES] += w[at]
        values[_kernel.TEMPLATES + classes[at] % FREQUENCIES] += w[at]
        total += float(w[at])
    return values, total


def dense(trainer: _kernel.ScaleTrainer, i: int) -> tuple[int, list[float], NDArray[np.float64]]:
    """A sentence of a trainer, with a row for every order."""
    right, scores, rows = trainer.parts(i)
    values = np.zeros((len(scores), SCALES))
    for k, scale, value in rows.tolist():
        values[int(k), int(scale)] = value
    return right, scores.tolist(), values


@given(trees(6), st.integers(0, 99), st.sampled_from([0.0, 0.5]))
def test_scales_multiply_what_features_add(tree: tuple, seed: int, weight: float) -> None:
    columns, words, heads = tree
    w = weights(seed)
    classes = np.random.default_rng(seed).integers(0, 600, 1 << BITS).astype(np.uint16)
    vocab = _kernel.Vocab()
    ids = vocab.add(words)
    ids = language_model().find(vocab)[ids]
    search = (5, 1000, 1000, language_model().kernel if weight else None, ids, weight)
    counts, scores, nodes = _kernel.order_trees(w, columns.kernel, 0, 1, *search)
    orders = nodes.reshape(counts[0], -1).tolist()
    aim = orders[-1]
    trainer = _kernel.ScaleTrainer(w, classes)
    trainer.see(columns.kernel, places_of(aim), ONE, *search)
    if len(orders) < 2:
        assert len(trainer) == 0
        return
    right, message, values = dense(trainer, 0)
    texts = [[words[j] for j in order] for order in orders]
    assert right == texts.index(texts[-1])
    np.testing.assert_allclose(message, scores - scores[0], atol=1e-9)
    rows = [sums(ordered(columns, heads, order), w, classes) for order in orders]
    for k, (row, total) in enumerate(rows):
        row[-1] = scores[k] - total
        np.testing.assert_allclose(values[k], row - (rows[0][0] if k else row), atol=1e-4)


@pytest.mark.parametrize(("best", "taught"), [(1, 0), (2, 0), (5, 0), (6, 1)])
def test_an_order_that_was_not_found_teaches_nothing(best: int, taught: int) -> None:
    words, heads = symbols(["a", "b", "c"]), np.array([-1, 0, 0], dtype=np.int32)
    columns = NodeColumns(*([words] * 6), heads, np.array([0, 3], dtype=np.int64))
    search = (1000, 1000, None, NOTHING, 0.0)
    _, _, nodes = _kernel.order_trees(weights(1), columns.kernel, 0, 1, 6, *search)
    trainer = _kernel.ScaleTrainer(weights(1), np.zeros(1 << BITS, dtype=np.uint16))
    trainer.see(columns.kernel, places_of(nodes[-3:].tolist()), ONE, best, *search)
    assert len(trainer) == taught


def toy_columns(folder: Path, sentences: int) -> tuple[NodeColumns, NDArray[np.int32], Treebank]:
    (folder / "toy.conllu").write_text(toy_treebank(sentences, 1), "utf-8")
    treebank = read_treebank(folder / "toy.conllu")
    values = input_trees(treebank, "all")
    return to_columns(values), values.places, treebank


@pytest.fixture(scope="module")
def trainer(tmp_path_factory: pytest.TempPathFactory) -> _kernel.ScaleTrainer:
    """The best orders of twenty sentences by weights that know nothing."""
    columns, places, _ = toy_columns(tmp_path_factory.mktemp("toy"), 20)
    all_values = np.arange(len(columns))
    classes = _kernel.feature_classes(columns.kernel, places, all_values, BITS)
    values = _kernel.ScaleTrainer(weights(1) * 2, classes)
    values.see(columns.kernel, places, all_values, 200, 200, 8, None, NOTHING, 0.0)
    return values


def listed(trainer: _kernel.ScaleTrainer) -> list[Sentence]:
    values = []
    for i in range(len(trainer)):
        right, scores, rows = dense(trainer, i)
        parts = [{j: row[j] for j in np.flatnonzero(row).tolist()} for row in rows]
        values.append(Sentence(scores, parts, right))
    return values


@pytest.mark.parametrize("epochs", [1, 3])
def test_scales_are_fitted_as_defined(trainer: _kernel.ScaleTrainer, epochs: int) -> None:
    settings = (epochs, 0.1, 10.0, 0.01, 7)
    expected = fitted(listed(trainer), SCALES, *settings)
    assert np.abs(expected).max() > 0.01
    np.testing.assert_allclose(trainer.fit(*settings), expected, atol=1e-4)


def test_the_treebank_is_more_probable_with_scales(trainer: _kernel.ScaleTrainer) -> None:
    sentences = listed(trainer)
    values = trainer.fit(6, 0.1, 10.0, 0.001, 1)
    assert loss(sentences, values.tolist()) < 0.9 * loss(sentences, [0.0] * SCALES)
    np.testing.assert_array_equal(values, trainer.fit(6, 0.1, 10.0, 0.001, 1))


def test_a_scale_is_the_sum_of_its_parts() -> None:
    values = np.zeros(SCALES, dtype=np.float32)
    values[70], values[_kernel.TEMPLATES + 2], values[-1] = 0.25, -0.5, -0.75
    class_scales, lm_scale = mean_scales([values])
    classes = np.array([0, 70 * FREQUENCIES, 70 * FREQUENCIES + 2, 2], dtype=np.uint16)
    scaled = np.full(4, 2, dtype=np.float32) * class_scales[classes]
    assert scaled.tolist() == [2.0, 2.5, 1.5, 1.0]
    assert scaled.dtype == np.float32
    assert lm_scale == 0.25


def test_several_scales_are_their_mean_and_none_are_one() -> None:
    unit_rows, threes = (np.full(SCALES, x, dtype=np.float32) for x in (1, 3))
    assert (mean_scales([unit_rows, threes])[0] == 5).all()
    class_scales, lm_scale = mean_scales([])
    assert (class_scales == 1).all()
    assert lm_scale == 1


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A small language needs no large table, and teaches scales nevertheless."""
    monkeypatch.setattr(ordering_training, "BITS", 16)
    monkeypatch.setattr(labelling, "BITS", 16)
    monkeypatch.setattr(ordering_training, "MIN_SCALE_SENTENCES", 2)
    return monkeypatch


def test_a_model_from_words_has_no_scales(small: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _, _, treebank = toy_columns(tmp_path, 80)
    assert train_ordering(treebank, "words").lm_weight == ordering_training.LM_WEIGHT


def test_a_model_is_trained_with_scales(small: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inputs = "all"
    _, _, treebank = toy_columns(tmp_path, 80)
    occurrences: list[tuple[int, int]] = []
    model = train_ordering(treebank, inputs, progress=lambda d, t, _: occurrences.append((d, t)))
    assert [done for done, _ in occurrences] == list(range(occurrences[0][1]))
    again = train_ordering(treebank, inputs)
    np.testing.assert_array_equal(model.weights, again.weights)
    small.setattr(ordering_training, "MIN_SCALE_SENTENCES", 1000)
    plain = train_ordering(treebank, inputs)
    assert (model.weights != plain.weights).any()
    assert model.lm_weight != plain.lm_weight == ordering_training.LM_WEIGHT
    (tmp_path / "new.conllu").write_text(toy_treebank(30, 2), "utf-8")
    new = input_trees(read_treebank(tmp_path / "new.conllu"), inputs)
    right = [new.sentence(i, new.reference(i)) for i in range(len(new))]
    assert [new.sentence(i, o[0].nodes) for i, o in enumerate(model.realize(new))] == right


def test_classes_that_there_are_not() -> None:
    w = weights(1)
    with pytest.raises(ValueError, match="one class a weight"):
        _kernel.ScaleTrainer(w, np.zeros(3, dtype=np.uint16))
    with pytest.raises(ValueError, match="no such class"):
        _kernel.ScaleTrainer(w, np.full(len(w), 65535, dtype=np.uint16))
