"""The labeller of unordered trees: better than a word's most frequent label, and jackknifed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from oracles.label_loops import accuracy, most_frequent
from oracles.toy_language import toy_treebank

from karat import _kernel
from karat.realize import labelling
from karat.realize.labelling import Classifier, Gold, Labeller, jackknife
from karat.realize.symbols import Columns, columns_of, symbols
from karat.realize.treebank import read_treebank
from karat.realize.trees import InputTrees, input_trees


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small language needs no large table."""
    monkeypatch.setattr(labelling, "BITS", 16)
    monkeypatch.setattr(labelling, "LEAST", 2)


def trees(folder: Path, sentences: int, seed: int) -> InputTrees:
    path = folder / f"{seed}.conllu"
    path.write_text(toy_treebank(sentences, seed), "utf-8")
    return input_trees(read_treebank(path), "all")


def labelled(given: InputTrees) -> tuple[Labeller, Columns]:
    columns = columns_of(given).blank()
    gold = {"tags": Gold.of(given.tags), "relations": Gold.of(given.relations)}
    folds = np.arange(len(given), dtype=np.int32) % 3
    return jackknife(columns, gold, folds, (0, 1), 1, lambda what: None)


def names_of(found: np.ndarray, names: list[str]) -> list[str]:
    known = dict(zip(symbols(names).tolist(), names, strict=True))
    return [known[symbol] for symbol in found.tolist()]


def test_relations_are_found_from_words_alone(tmp_path: Path) -> None:
    train, test = trees(tmp_path, 90, 1), trees(tmp_path, 40, 2)
    labeller, _ = labelled(train)
    columns = labeller.label(columns_of(test).blank())
    names = sorted(set(train.relations))
    found = accuracy(names_of(columns.relations, names), test.relations)
    assert found > accuracy(most_frequent(test.words, test.relations), test.relations) + 0.02
    assert found > 0.9
    tags = names_of(columns.tags, sorted(set(train.tags)))
    assert accuracy(tags, test.tags) == 1


def test_the_training_set_is_labelled_by_others(tmp_path: Path) -> None:
    given = trees(tmp_path, 30, 3)
    rng = np.random.default_rng(1)
    random = ["left" if x else "right" for x in rng.integers(0, 2, len(given.words))]
    gold = {"relations": Gold.of(random)}
    folds = np.arange(len(given), dtype=np.int32) % 3
    labeller, jackknifed = jackknife(
        columns_of(given).blank(), gold, folds, (0,), 1, lambda what: None
    )
    own = labeller.label(columns_of(given).blank())
    names = ["left", "right"]
    assert accuracy(names_of(own.relations, names), random) > 0.6
    assert accuracy(names_of(jackknifed.relations, names), random) < 0.58


def test_what_is_stored_is_close_and_stays_the_same(tmp_path: Path) -> None:
    labeller, _ = labelled(trees(tmp_path, 30, 4))
    stored = Labeller.stored(labeller.about(), labeller.arrays())
    for key, one in labeller.classifiers.items():
        largest = np.abs(one.weights).max()
        np.testing.assert_allclose(stored.classifiers[key].weights, one.weights, atol=largest / 9)
    again = Labeller.stored(stored.about(), stored.arrays())
    for key, one in stored.classifiers.items():
        np.testing.assert_array_equal(again.classifiers[key].weights, one.weights)


def test_rows_beyond_the_table_are_refused(tmp_path: Path) -> None:
    columns = columns_of(trees(tmp_path, 1, 5))
    known = np.ones(8, dtype=bool)
    bad = Classifier(("a", "b"), False, known, np.zeros(6, dtype=np.float32))
    with pytest.raises(ValueError, match="beyond the table"):
        bad.found(columns, np.array([0]))


def test_labels_that_are_none_are_refused(tmp_path: Path) -> None:
    columns = columns_of(trees(tmp_path, 1, 6))
    trainer = _kernel.LabelTrainer(2, 8, False, 0.1, 0.0, 1.0)
    rows = np.arange(8, dtype=np.int32)
    with pytest.raises(IndexError, match="no such label"):
        trainer.train(
            columns.kernel, rows, np.full(columns.nodes, 2, dtype=np.int32), np.array([0]), 1
        )


def test_threads_do_not_change_the_result(tmp_path: Path) -> None:
    given = trees(tmp_path, 30, 7)
    gold = {"tags": Gold.of(given.tags), "relations": Gold.of(given.relations)}
    folds = np.arange(len(given), dtype=np.int32) % 3
    (one, labels), (many, same) = (
        jackknife(columns_of(given).blank(), gold, folds, (0, 1), 1, lambda what: None, threads)
        for threads in (1, 3)
    )
    np.testing.assert_array_equal(labels.relations, same.relations)
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(array, many.arrays()[name])
