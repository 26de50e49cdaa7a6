"""The ordering model on a small language: what it learns, keeps, explains and refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.scrambled import scrambled
from oracles.toy_language import toy_treebank

from karat.errors import InputError, Interrupted
from karat.realize import labelling
from karat.realize import ordering as ordering_training
from karat.realize.input_trees import InputTrees, input_trees, read_trees
from karat.realize.ordering import OrderingModel, TreeletScores, train_ordering
from karat.realize.treebank import Treebank, read_treebank
from karat.storage.store import ModelStore


def bank(folder: Path, text: str, name: str = "toy.conllu") -> Treebank:
    path = folder / name
    path.write_text(text, "utf-8")
    return read_treebank(path)


@pytest.fixture(scope="module", autouse=True)
def small() -> None:
    """A small language needs no large table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering_training, "BITS", 16)
        patch.setattr(labelling, "BITS", 16)
        yield


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Treebank:
    return bank(tmp_path_factory.mktemp("toy"), toy_treebank(120, 1))


@pytest.fixture(scope="module", params=["words", "all"])
def model(request: pytest.FixtureRequest, treebank: Treebank, small: None) -> OrderingModel:
    return train_ordering(treebank, request.param)


def sentences(model: OrderingModel, trees: InputTrees) -> list[str]:
    return [trees.sentence(i, result[0].nodes) for i, result in enumerate(model.realize(trees))]


def test_the_language_is_learned(model: OrderingModel, tmp_path: Path) -> None:
    trees = input_trees(bank(tmp_path, toy_treebank(50, 2)), model.inputs)
    right = [trees.sentence(i, trees.reference(i)) for i in range(len(trees))]
    assert sentences(model, trees) == right


def test_the_order_of_the_file_is_not_seen(model: OrderingModel, tmp_path: Path) -> None:
    text = toy_treebank(30, 3)
    expected = sentences(model, input_trees(bank(tmp_path, text), model.inputs))
    for seed in range(3):
        (tmp_path / "scrambled.conllu").write_text(scrambled(text, seed), "utf-8")
        trees = read_trees(tmp_path / "scrambled.conllu", model.inputs)
        assert sentences(model, trees) == expected


def test_a_scrambled_tree_of_unknown_words_too(model: OrderingModel, tmp_path: Path) -> None:
    text = toy_treebank(10, 4)
    for word in ("cat", "tree", "sees", "often", "the"):
        text = text.replace(f"\t{word}\t", f"\tx{word[::-1]}\t")
    expected = sentences(model, input_trees(bank(tmp_path, text), model.inputs))
    (tmp_path / "scrambled.conllu").write_text(scrambled(text, 1), "utf-8")
    assert sentences(model, read_trees(tmp_path / "scrambled.conllu", model.inputs)) == expected


def test_a_saved_model_is_the_same(model: OrderingModel, tmp_path: Path) -> None:
    trees = input_trees(bank(tmp_path, toy_treebank(20, 5)), model.inputs)
    about, first = model.parts()
    opened = stored(about, first)
    assert opened.realize(trees, 3) == model.realize(trees, 3)
    again, second = opened.parts()
    assert again == about
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name])


def test_training_is_repeatable(treebank: Treebank) -> None:
    trees = input_trees(treebank, "all")
    first, second = (train_ordering(treebank, "all", seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)
    assert first.realize(trees, 2) == second.realize(trees, 2)


def test_several_orders(model: OrderingModel, tmp_path: Path) -> None:
    trees = input_trees(bank(tmp_path, toy_treebank(20, 6)), model.inputs)
    for i, result in enumerate(model.realize(trees, 5)):
        assert len({order.nodes for order in result}) == len(result) == 5
        scores = [order.score for order in result]
        assert scores == sorted(scores, reverse=True)
        assert all(
            sorted(order.nodes) == list(range(len(trees.words[trees.slice(i)]))) for order in result
        )


def test_an_order_is_explained(model: OrderingModel, tmp_path: Path) -> None:
    trees = input_trees(bank(tmp_path, toy_treebank(5, 7)), model.inputs)
    right, wrong = model.realize(trees, 2)[0]
    parts = model.explain(trees, 0, right)
    assert parts[0].treelet.endswith(" .")
    assert all(treelet.treelet.count("[") == 1 for treelet in parts)
    assert all(treelet.sum == sum(treelet[1:-1]) for treelet in parts)
    assert TreeletScores._fields[1:-1] == (
        "side", "pair", "neighbour", "triple", "across", "order"
    )  # fmt: skip
    total = sum(treelet.sum for treelet in parts)
    assert total > sum(treelet.sum for treelet in model.explain(trees, 0, wrong))


def test_words_are_not_enough_for_a_model_of_all(treebank: Treebank) -> None:
    model = train_ordering(treebank, "all")
    with pytest.raises(InputError, match="only words: read them with inputs='all'"):
        model.realize(input_trees(treebank, "words"))


@pytest.mark.parametrize("k", [0, -1])
def test_k_is_at_least_one(model: OrderingModel, treebank: Treebank, k: int) -> None:
    with pytest.raises(InputError, match=f"k={k}: expected at least 1"):
        model.realize(input_trees(treebank, model.inputs), k)


def test_unknown_inputs(treebank: Treebank) -> None:
    with pytest.raises(InputError, match="inputs='tags': expected one of words, all"):
        train_ordering(treebank, "tags")


def test_one_word_and_a_single_sentence(tmp_path: Path) -> None:
    item = bank(tmp_path, "1\tyes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_\n\n")
    for inputs in ("words", "all"):
        model = train_ordering(item, inputs)
        assert sentences(model, input_trees(item, inputs)) == ["yes"]


def test_a_tree_that_is_not_projective_is_trained_on_and_ordered(
    model: OrderingModel, tmp_path: Path
) -> None:
    text = "".join(
        f"{i}\t{word}\t_\tX\tX\t_\t{head}\tdep\t_\t_\n"
        for i, (word, head) in enumerate([("a", 3), ("b", 4), ("c", 0), ("d", 1)], 1)
    )
    crossed = bank(tmp_path, text + "\n")
    orders = train_ordering(crossed, "all").realize(input_trees(crossed, "all"))
    assert sorted(orders[0][0].nodes) == [0, 1, 2, 3]


def test_training_can_be_stopped(treebank: Treebank) -> None:
    occurrences: list[tuple[int, int, str]] = []

    def progress(done: int, total: int, subject: str) -> None:
        occurrences.append((done, total, subject))
        if len(occurrences) == 6:
            raise Interrupted("interrupted")

    with pytest.raises(Interrupted):
        train_ordering(treebank, "all", progress=progress)
    assert [done for done, _, _ in occurrences] == list(range(6))


@pytest.mark.parametrize("inputs", ["words", "all"])
def test_all_progress_is_reported(treebank: Treebank, inputs: str) -> None:
    occurrences: list[tuple[int, int]] = []
    train_ordering(treebank, inputs, progress=lambda d, t, _: occurrences.append((d, t)))
    assert {total for _, total in occurrences} == {len(occurrences)}


def stored(about: dict[str, Any], arrays: dict[str, Any]) -> OrderingModel:
    """The model in a store of these parts."""
    return OrderingModel.from_store(ModelStore("model.npz", about, arrays))


def test_a_model_that_says_nonsense_is_damaged(model: OrderingModel) -> None:
    about, arrays = model.parts()
    nameless = [{**message, "names": [1] * len(message["names"])} for message in about["labels"]]
    for change in ({"lm_weight": float("nan")}, {"labels": nameless}):
        with pytest.raises(InputError, match="damaged"):
            stored({**about, **change}, arrays)
    with pytest.raises(InputError, match="damaged"):
        stored({"inputs": "all"}, {})


def test_a_model_whose_language_model_has_no_numbers_is_damaged(model: OrderingModel) -> None:
    about, arrays = model.parts()
    odd = arrays["lm_p"].copy()
    odd[3] = np.nan
    with pytest.raises(InputError, match=r"model\.npz: damaged \(p has a value that is not a"):
        stored(about, {**arrays, "lm_p": odd})


def test_a_model_with_weights_missing_is_damaged(model: OrderingModel) -> None:
    about, arrays = model.parts()
    name = next(name for name in arrays if name.endswith("_exponents"))
    for change in ({name: arrays[name][:-1]}, {"weights": arrays["weights"][:-1]}):
        with pytest.raises(InputError, match="damaged"):
            stored(about, {**arrays, **change})
