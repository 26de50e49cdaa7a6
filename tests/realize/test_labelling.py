"""The labeller of unordered trees: better than a word's most frequent label, and jackknifed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.label_features import affix_features
from oracles.label_loops import accuracy, best_two, chances, most_frequent, trained
from oracles.toy_language import toy_treebank

from karat import _kernel
from karat.realize import labelling
from karat.realize.input_trees import InputTrees, input_trees
from karat.realize.labelling import Classifier, Gold, Labeller, jackknife
from karat.realize.symbols import NodeColumns, symbols, to_columns
from karat.realize.treebank import read_treebank


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small language needs no large table."""
    monkeypatch.setattr(labelling, "BITS", 16)
    monkeypatch.setattr(labelling, "MIN_FEATURE_COUNT", 2)


def trees(folder: Path, sentences: int, seed: int) -> InputTrees:
    path = folder / f"{seed}.conllu"
    path.write_text(toy_treebank(sentences, seed), "utf-8")
    return input_trees(read_treebank(path), "all")


@st.composite
def random_trees(draw: st.DrawFn) -> tuple[NodeColumns, list[str], list[int]]:
    """A tree of a few nodes, its words and its heads."""
    n = draw(st.integers(1, 6))
    heads = [-1, *(draw(st.integers(0, i)) for i in range(n - 1))]
    words, labels = (
        draw(st.lists(st.sampled_from(part), min_size=n, max_size=n))
        for part in (("a", "is", "words", "worded", "3-fold", "évident"), ("x", "y"))
    )
    heads_of, ends = np.array(heads, dtype=np.int32), np.array([0, n], dtype=np.int64)
    places = np.arange(n, dtype=np.int32)
    tree = InputTrees("random", "all", words, labels, labels, heads_of, ends, places, ["1"])
    return to_columns(tree), words, heads


def labelled(arguments: InputTrees) -> tuple[Labeller, NodeColumns]:
    columns = to_columns(arguments).blank()
    gold = {"tags": Gold.of(arguments.tags), "relations": Gold.of(arguments.relations)}
    folds = np.arange(len(arguments), dtype=np.int32) % 3
    return jackknife(columns, gold, folds, (0, 1), 1, lambda what: None)


def names_of(result: np.ndarray, names: list[str]) -> list[str]:
    has_weight = dict(zip(symbols(names).tolist(), names, strict=True))
    return [has_weight[symbol] for symbol in result.tolist()]


def test_relations_are_found_from_words_alone(tmp_path: Path) -> None:
    train, test = trees(tmp_path, 90, 1), trees(tmp_path, 40, 2)
    labeller, _ = labelled(train)
    columns = labeller.label(to_columns(test).blank())
    names = sorted(set(train.relations))
    result = accuracy(names_of(columns.relations, names), test.relations)
    assert result > accuracy(most_frequent(test.words, test.relations), test.relations) + 0.02
    assert result > 0.9
    tags = names_of(columns.tags, sorted(set(train.tags)))
    assert accuracy(tags, test.tags) == 1


def test_the_training_set_is_labelled_by_others(tmp_path: Path) -> None:
    arguments = trees(tmp_path, 30, 3)
    rng = np.random.default_rng(1)
    random = ["left" if x else "right" for x in rng.integers(0, 2, len(arguments.words))]
    gold = {"relations": Gold.of(random)}
    folds = np.arange(len(arguments), dtype=np.int32) % 3
    labeller, jackknifed = jackknife(
        to_columns(arguments).blank(), gold, folds, (0,), 1, lambda what: None
    )
    own_model = labeller.label(to_columns(arguments).blank())
    names = ["left", "right"]
    assert accuracy(names_of(own_model.relations, names), random) > 0.6
    assert accuracy(names_of(jackknifed.relations, names), random) < 0.58


def test_what_is_stored_is_close_and_stays_the_same(tmp_path: Path) -> None:
    labeller, _ = labelled(trees(tmp_path, 30, 4))
    stored = Labeller.from_arrays(labeller.about(), labeller.arrays())
    for n, item in labeller.classifiers.items():
        for kind, weights in item.weights.items():
            result, largest = stored.classifiers[n].weights[kind], np.abs(weights).max()
            np.testing.assert_allclose(result, weights, atol=largest / 9)
    again = Labeller.from_arrays(stored.about(), stored.arrays())
    for n, item in stored.classifiers.items():
        for kind, weights in item.weights.items():
            np.testing.assert_array_equal(again.classifiers[n].weights[kind], weights)


def test_rows_beyond_the_table_are_refused(tmp_path: Path) -> None:
    columns = to_columns(trees(tmp_path, 1, 5))
    has_weight = np.ones(8, dtype=bool)
    tables = {"tags": np.zeros(6, dtype=np.float32)}
    bad = Classifier({"tags": ("a", "b")}, False, has_weight, tables)
    with pytest.raises(ValueError, match="beyond the table"):
        bad.predict_labels(columns, np.array([0]))
    rows = _kernel.rows_of_nodes(*kernel_of(columns), np.arange(8, dtype=np.int32), False)
    trainer = _kernel.LabelTrainer([2], 3, 0.1, 0.0, 1.0)
    gold = np.zeros((columns.nodes, 1), dtype=np.int32)
    with pytest.raises(ValueError, match="beyond the table"):
        trainer.train(rows, gold, columns.kernel, np.array([0]), 1)


def test_tables_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    columns = to_columns(trees(tmp_path, 1, 5))
    has_weight = np.ones(8, dtype=bool)
    tables = {"tags": np.zeros(16, dtype=np.float32), "fine": np.zeros(18, dtype=np.float32)}
    bad = Classifier({"tags": ("a", "b"), "fine": ("a", "b")}, False, has_weight, tables)
    with pytest.raises(ValueError, match="do not fit the labels"):
        bad.predict_labels(columns, np.array([0]))
    with pytest.raises(ValueError, match="affixes of other words"):
        _kernel.count_labelling(columns.kernel, columns.affixes[1:], np.array([0]), 3, False)


def test_labels_that_are_none_are_refused(tmp_path: Path) -> None:
    columns = to_columns(trees(tmp_path, 1, 6))
    rows = _kernel.rows_of_nodes(*kernel_of(columns), np.arange(8, dtype=np.int32), False)
    trainer = _kernel.LabelTrainer([3, 2], 8, 0.1, 0.0, 1.0)
    gold = np.full((columns.nodes, 2), 2, dtype=np.int32)
    with pytest.raises(IndexError, match="no such label"):
        trainer.train(rows, gold, columns.kernel, np.array([0]), 1)
    with pytest.raises(ValueError, match="one label of each kind"):
        trainer.train(rows, gold[:, :1].copy(), columns.kernel, np.array([0]), 1)


def kernel_of(columns: NodeColumns) -> tuple[Any, Any, Any]:
    """All trees of some columns, as the kernel takes them."""
    return columns.kernel, columns.affixes, np.arange(len(columns))


SMALL = 8  # bits of features


def every_row(columns: NodeColumns, second: bool) -> list[list[int]]:
    """The rows of every node, where every feature has one."""
    has_weight = np.arange(1 << SMALL, dtype=np.int32)
    rows = _kernel.rows_of_nodes(*kernel_of(columns), has_weight, second)
    return [rows.of(i).tolist() for i in range(columns.nodes)]


@given(random_trees(), st.booleans())
def test_features_are_counted_and_have_their_rows(
    tree: tuple[NodeColumns, list[str], list[int]], second: bool
) -> None:
    columns, words, heads = tree
    rows = every_row(columns, second)
    counts = _kernel.count_labelling(*kernel_of(columns), SMALL, second)
    expected = np.bincount([r for row in rows for r in row], minlength=1 << SMALL)
    np.testing.assert_array_equal(counts, np.minimum(expected, 255))
    for i, left in enumerate(rows):
        affixes = Counter(h >> (64 - SMALL) for h in affix_features(words, heads, i))
        assert not affixes - Counter(left)
    has_weight = np.full(1 << SMALL, -1, dtype=np.int32)
    assert len(_kernel.rows_of_nodes(*kernel_of(columns), has_weight, second)) == 0


@given(random_trees(), st.booleans(), st.data())
def test_kinds_are_learned_together_as_each_alone(
    tree: tuple[NodeColumns, list[str], list[int]], second: bool, data: st.DataObject
) -> None:
    columns, _, _ = tree
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    gold = [[data.draw(st.integers(0, n - 1)) for n in sizes] for _ in range(columns.nodes)]
    trainer = _kernel.LabelTrainer(sizes, 1 << SMALL, 0.5, 0.0, 2.0)
    has_weight = np.arange(1 << SMALL, dtype=np.int32)
    rows = _kernel.rows_of_nodes(*kernel_of(columns), has_weight, second)
    numbers = np.array(gold, dtype=np.int32)
    trainer.train(rows, numbers, columns.kernel, np.arange(1), 1)
    expected = trained(every_row(columns, second), gold, sizes, 1 << SMALL, 0.5, 2.0)
    np.testing.assert_allclose(trainer.mean(), np.concatenate(expected, axis=1), atol=1e-4)


@given(random_trees(), st.booleans(), st.integers(0, 99), st.sampled_from([0.3, 0.9, 1.0]))
def test_the_most_probable_labels_are_found(
    tree: tuple[NodeColumns, list[str], list[int]], second: bool, seed: int, sure: float
) -> None:
    columns, _, _ = tree
    rng = np.random.default_rng(seed)
    tables = [rng.normal(0, 0.1, (1 << SMALL, n)).astype(np.float32) for n in (3, 2, 1)]
    has_weight = np.arange(1 << SMALL, dtype=np.int32)
    flat = [table.reshape(-1) for table in tables]
    result = _kernel.label_trees(flat, [3, 2, 1], has_weight, *kernel_of(columns), second, sure)
    expected = [
        [best_two(chances(table.astype(float), left), sure) for table in tables]
        for left in every_row(columns, second)
    ]
    assert result.tolist() == expected


def test_what_is_not_sure_has_another_relation_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelling, "MIN_CERTAIN", 0.99999)  # for the language is easy
    labeller, jackknifed = labelled(trees(tmp_path, 60, 8))
    test = to_columns(trees(tmp_path, 30, 9)).blank()
    for columns in (labeller.label(test), jackknifed):
        doubted = columns.doubtful_relations != 0
        assert 0 < doubted.mean() < 0.6
        assert not np.any(columns.doubtful_relations[doubted] == columns.relations[doubted])


def test_threads_do_not_change_the_result(tmp_path: Path) -> None:
    arguments = trees(tmp_path, 30, 7)
    gold = {"tags": Gold.of(arguments.tags), "relations": Gold.of(arguments.relations)}
    folds = np.arange(len(arguments), dtype=np.int32) % 3
    (item, labels), (many, equal) = (
        jackknife(to_columns(arguments).blank(), gold, folds, (0, 1), 1, lambda what: None, threads)
        for threads in (1, 3)
    )
    np.testing.assert_array_equal(labels.relations, equal.relations)
    for name, array in item.arrays().items():
        np.testing.assert_array_equal(array, many.arrays()[name])
