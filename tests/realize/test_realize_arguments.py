"""Arguments from Python: what does not fit is refused in one sentence that names it."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from karat.realize.input_trees import input_trees, to_names
from karat.realize.treebank import Treebank

DEMO = Path(str(resources.files("karat") / "data" / "treebank" / "demo.conllu"))


@pytest.fixture(scope="module")
def bank() -> Treebank:
    return kt.read_treebank(DEMO).select(range(20))


@pytest.fixture(scope="module")
def model(bank: Treebank) -> kt.RealizerModel:
    return kt.train_realizer(bank, "fergus")


def refused(message: str, function: Any, *given: Any, **named: Any) -> None:
    with pytest.raises(kt.InputError) as error:
        function(*given, **named)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("n_best", "message"),
    [
        (10**9, "n_best=1000000000: expected at most 1,000"),
        (2.5, "n_best=2.5: expected a whole number, 1 or more"),
        (0, "n_best=0: expected a whole number, 1 or more"),
        (None, "n_best=None: expected a whole number"),
    ],
)
def test_numbers_of_sentences(
    model: kt.RealizerModel, bank: Treebank, n_best: Any, message: str
) -> None:
    refused(message, kt.realize_trees, model, input_trees(bank), n_best)
    refused(message, kt.realize_trees, model, bank, n_best)
    refused(message.replace("n_best", "k"), kt.explain_tree, model, input_trees(bank), 0, n_best)


def test_models_trees_and_treebanks(model: kt.RealizerModel, bank: Treebank) -> None:
    trees = input_trees(bank)
    refused("model=None: expected a model, as open_", kt.realize_trees, None, trees)
    refused("trees='t.conllu': expected trees, as read_trees", kt.realize_trees, model, "t.conllu")
    refused("trees=[]: expected trees", kt.explain_tree, model, [], 0)
    refused("treebank=[]: expected a treebank, as read_treebank", kt.train_realizer, [])
    refused("treebank=None: expected a treebank", kt.evaluate_realizer, model, None)
    refused("trees=None: expected trees", kt.explain_tree, model, None, 0)
    refused("tree=0.5: expected a whole number, from 0", kt.explain_tree, model, trees, 0.5)
    for read in (kt.read_trees, kt.read_treebank, kt.open_realizer):
        refused("path=None: expected the path of a file", read, None)
    refused("source=None: expected the path of a file", kt.list_supertags, None)
    refused("most='x': expected a whole number", kt.list_supertags, DEMO, "x")


def test_names_of_inputs_and_slots(model: kt.RealizerModel, bank: Treebank) -> None:
    message = "inputs=['all', 3]: expected a string, with commas"
    refused(message, kt.train_realizer, bank, inputs=["all", 3])
    refused(message, kt.evaluate_realizer, model, bank, ["all", 3])
    refused("inputs=3: expected one of words, all, lemmas", kt.read_trees, DEMO, 3)
    refused("realizer=[]: expected one of fergus", kt.train_realizer, bank, [])
    refused("lm_order='x': expected a whole number", kt.train_realizer, bank, lm_order="x")
    refused("complete_from='everything': ex", kt.train_realizer, bank, complete_from="everything")
    refused("complete=5: expected a list of names", kt.realize_trees, model, bank, complete=5)
    arguments: dict[str, Any] = {"complete": "function-words", "keep": "auxiliary"}
    refused("keep='auxiliary': expected some of", kt.realize_trees, model, bank, **arguments)
    assert to_names("keep", "aux, comma") == ("aux", "comma") == to_names("keep", ["aux", "comma"])
    assert to_names("keep", "") == ()
    refused("keep=[3]: expected a list of names", to_names, "keep", [3])
    refused("keep=b'aux': expected a list of names", to_names, "keep", b"aux")


def test_what_was_asked_for_is_named(model: kt.RealizerModel, bank: Treebank) -> None:
    words: dict[str, Any] = {"inputs": "words", "complete": "punctuation"}
    message = "insertion of punctuation is explained from relations: give --inputs all, relations"
    refused(message, kt.explain_tree, model, bank, 0, **words)
    message = "--keep needs relations: give --inputs all, relations or lemmas, or leave --keep out"
    refused(message, kt.realize_trees, model, bank, **words, keep="comma")
    words["complete"] = "function-words"
    message = "relations are needed to choose where to insert function words: give --inputs all"
    refused(message, kt.realize_trees, model, bank, **words)
    arguments: dict[str, Any] = {"inputs": "all", "complete": "punctuation", "keep": "aux"}
    message = (
        "keep='aux': nothing is inserted there, as it is for --complete function-words: leave it"
    )
    refused(message, kt.realize_trees, model, bank, **arguments)
