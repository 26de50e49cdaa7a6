"""Labels that a model never saw: counted and named, where the model knows those of its treebank."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from oracles.toy_lemmas import toy_lemmas

import karat as kt
from karat.realize import (
    completer,
    labelling,
    read_input,
    read_trees,
    realize_trees,
)
from karat.realize import ordering as ordering_training
from karat.realize.model import RealizerModel

MISTYPED = """
(see foo VERB VBZ Numbre=Sing|Person=3|Tense=Pres|VerbForm=Fin
  (owl bar NOUN NN Number=Sing|Tense[aux]=Pot|Complete=No (a det BAR DT Definite=Ind))
  (. punct PUNCT .))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("labels")
    (place / "train.conllu").write_text(toy_lemmas(60, 1), "utf-8")
    (place / "trees.txt").write_text(MISTYPED, "utf-8")
    return place


@pytest.fixture(scope="module", autouse=True)
def small() -> Iterator[None]:
    """A small language needs no large table."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (ordering_training, labelling, completer):
            patch.setattr(module, "BITS", 16)
        yield


def trained(folder: Path, *given: str, **more) -> RealizerModel:
    return kt.train_realizer(kt.read_treebank(folder / "train.conllu"), *given, **more)


@pytest.fixture(scope="module")
def model(folder: Path, small: None) -> RealizerModel:
    return trained(folder, inputs="all,lemmas", complete_from=("all", "relations"))


TAGS = "The input has 2 relations and 1 UPOS tag that the model never saw: bar, foo, BAR."
ALL = (
    "The input has 2 relations, 1 UPOS tag and 1 feature that the model never saw: bar, foo, BAR, "
    "Numbre=Sing."
)


@pytest.mark.parametrize(
    ("inputs", "complete", "note"),
    [
        ("all", (), TAGS),
        ("lemmas", (), ALL),
        ("all", ("punctuation",), ALL),
        ("lemmas", ("function-words",), ALL),
        ("relations", ("function-words",), "The input has 2 relations that the model never saw: "),
    ],
)
def test_labels_that_a_realiser_sees_are_checked(
    model: RealizerModel, folder: Path, inputs: str, complete: tuple[str, ...], note: str
) -> None:
    path = folder / "trees.txt"
    sentences = realize_trees(model, read_input(path), inputs=inputs, complete=complete)
    assert sentences.notes[-1].startswith(note)
    if complete:
        explanation = kt.explain_tree(model, read_input(path), 0, inputs=inputs, complete=complete)
    else:
        explanation = kt.explain_tree(model, read_trees(path, inputs), 0)
    assert explanation.notes[-1] == sentences.notes[-1]


def test_nothing_is_said_of_known_labels_or_words_alone(model: RealizerModel, folder: Path) -> None:
    expected, typed = (read_input(folder / name) for name in ("train.conllu", "trees.txt"))
    assert not realize_trees(model, expected, inputs="lemmas").notes
    assert not any("never saw" in note for note in realize_trees(model, typed).notes)


def test_many_labels_are_counted_and_some_named(model: RealizerModel, folder: Path) -> None:
    path = folder / "many.txt"
    nodes = " ".join(f"(owl x{n} NOUN NN)" for n in range(7))
    path.write_text(f"(see root VERB VBZ {nodes})", "utf-8")
    (note,) = realize_trees(model, read_input(path), inputs="lemmas").notes
    message = "The input has 7 relations that the model never saw: x0, x1, x2, x3, x4 and 2 more."
    assert note == message


def test_a_model_checks_what_it_knows(folder: Path) -> None:
    typed = read_input(folder / "trees.txt")
    lemmas = trained(folder, "ordering", inputs="lemmas")
    (note,) = realize_trees(lemmas, typed, inputs="lemmas").notes
    message = "The input has 1 UPOS tag and 1 feature that the model never saw: BAR, Numbre=Sing."
    assert note == message
    both = trained(folder, "ordering", inputs="both")
    assert realize_trees(both, typed, inputs="all").notes == (TAGS,)
    alone = trained(folder, "ordering", inputs="all")
    assert realize_trees(alone, typed, inputs="all").notes == ()
