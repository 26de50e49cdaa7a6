"""One model for several inputs: content lemmas are inflected, completed, ordered and written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from oracles.scrambled import scrambled
from oracles.toy_content import toy_content

import karat as kt
from karat.errors import InputError
from karat.realize import (
    RealizerModel,
    explain_content_words,
    generate_sentences,
    read_input,
)
from karat.realize.completion import classifier
from karat.realize.model import input_kinds
from karat.realize.ordering import labelling
from karat.realize.ordering import training as ordering_training

BOTH = ("function-words", "punctuation")
CONTENT = """\
1\t_\t{dog}\tNOUN\tNOUN\tDefinite=Ind|Number=Sing\t2\tnsubj\t_\t_
2\t_\tsleep\tVERB\tVERB\tMood=Ind\t0\troot\t_\t_
3\t_\t{town}\tPROPN\tPROPN\tNumber=Sing\t2\tobl\t_\t_

"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A model of the small language for two inputs, in a file."""
    place = tmp_path_factory.mktemp("content-lemmas")
    (place / "train.conllu").write_text(toy_content(150, 1), "utf-8")
    bank = kt.read_treebank(place / "train.conllu")
    with pytest.MonkeyPatch.context() as patch:
        for module in (ordering_training, labelling, classifier):
            patch.setattr(module, "BITS", 16)
        made = kt.train_realizer(bank, "ordering", inputs="lemmas, all", complete_from=("all",))
        made.save(place / "model.npz")
        yield place


@pytest.fixture(scope="module")
def model(folder: Path) -> RealizerModel:
    return kt.open_realizer(folder / "model.npz")


def texts(model: RealizerModel, text: str, path: Path, **more: object) -> list[str]:
    path.write_text(text, "utf-8")
    wanted: dict = {"inputs": "lemmas", "complete": BOTH, **more}
    return [row.sentence for row in generate_sentences(model, read_input(path), **wanted).rows]


def test_kinds_of_input_are_listed_in_their_order_and_once() -> None:
    assert input_kinds("lemmas,words") == ("words", "lemmas")
    assert input_kinds("both, all") == ("words", "all")
    with pytest.raises(InputError, match="inputs='lemon': expected one of words, all, lemmas"):
        input_kinds("all,lemon")


def test_one_file_has_both_models_and_one_language_model(model: RealizerModel) -> None:
    said = "ordering model (words, tags, relations), ordering model (lemmas)"
    assert model.contents() == f"{said}, completion (words, tags, relations), inflection"
    first, second = (model.ordering[kind].language_model.arrays for kind in ("all", "lemmas"))
    assert all(first[name] is second[name] for name in first)


def test_content_lemmas_become_sentences(model: RealizerModel, tmp_path: Path) -> None:
    tree = "(sleep root VERB VERB Mood={mood} (owl nsubj NOUN NOUN Definite={definite}))"
    given = tree.format(mood="Ind", definite="Ind") + tree.format(mood="Int", definite="Def")
    path = tmp_path / "trees.txt"
    assert texts(model, given, path) == ["An owl sleeps .", "The owl sleeps ?"]
    assert texts(model, given, path, keep=("final",)) == ["An owl sleeps", "The owl sleeps"]
    assert texts(model, given, path, complete=BOTH[:1], detokenise=True) == [
        "An owl sleeps",
        "The owl sleeps",
    ]


def test_neither_order_nor_capitals_of_lemmas_are_seen(
    model: RealizerModel, tmp_path: Path
) -> None:
    pairs = [("Owl", "York"), ("Cat", "house"), ("eel", "Leeds"), ("Man", "garden")]
    text = "".join(CONTENT.format(dog=noun, town=town) for noun, town in pairs)
    known = [one.lower() for one in texts(model, text, tmp_path / "a.conllu")]
    assert known[0] == "an owl sleeps at york ."
    for seed in range(3):
        lower = re.sub(r"(?m)^(\d+\t_\t)(\S+)", lambda m: m[1] + m[2].lower(), text)
        other = scrambled(lower, seed)
        assert [one.lower() for one in texts(model, other, tmp_path / "b.conllu")] == known


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ("(the root DET DET Definite=Def|PronType=Art)", ["the"]),
        ("(will root AUX AUX VerbForm=Fin (at case ADP))", ["at", "will"]),
        ("(of root ADP ADP (the det DET DET PronType=Art))", ["of", "the"]),
    ],
)
def test_a_tree_of_function_words_alone_keeps_them(
    model: RealizerModel, tmp_path: Path, tree: str, said: list[str]
) -> None:
    (found,) = texts(model, tree, tmp_path / "odd.txt", keep=("final", "comma", "other"))
    assert set(said) <= set(found.lower().split(" "))


def test_features_that_were_never_seen_do_not_change_a_form(model: RealizerModel) -> None:
    table = model.the_inflection().inflector.table
    seen = next(cell for cell in table.counts if cell.lemma == "man")
    odd = seen._replace(features=f"{seen.features}|Definite=Ind|Odd=Yes")
    assert table.source(odd) == table.source(seen)
    assert table.source(odd).origin == "seen"


def test_evaluation_has_all_that_the_model_can_be_given(model: RealizerModel, folder: Path) -> None:
    bank = kt.read_treebank(folder / "train.conllu")
    found = kt.evaluate_realizer(model, bank)
    assert [row.inputs for row in found.rows] == [
        "all",
        *["all, content words"] * 3,
        *["lemmas"] * 3,
    ]
    assert [row.inputs for row in kt.evaluate_realizer(model, bank, "lemmas").rows] == [
        "lemmas"
    ] * 3
    table = found.document("").blocks[1]
    assert [row["forms"] is None for row in table.rows] == [True] * 4 + [False] * 3
    assert "SR'19" in " ".join(found.notes)


def test_a_model_without_the_part_says_what_to_train(model: RealizerModel, tmp_path: Path) -> None:
    path = tmp_path / "trees.txt"
    with pytest.raises(InputError, match="with --inputs all,lemmas --complete-from all"):
        texts(replace(model, completion={}), "(a root X)", path)
    with pytest.raises(InputError, match="not trained for inputs=lemmas"):
        texts(replace(model, inflection=None), "(a root X)", path)
    with pytest.raises(InputError, match="text is written from lemmas"):
        texts(model, "(a root X)", path, inputs="all", detokenise=True)


def test_content_lemmas_are_explained_without_the_forms_of_the_file(
    model: RealizerModel, tmp_path: Path
) -> None:
    path = tmp_path / "content.conllu"
    path.write_text(CONTENT.format(dog="owl", town="york"), "utf-8")
    found = explain_content_words(model, read_input(path), 0, inputs="lemmas")
    written, text = (row.sentence for row in found.rows)
    assert [written] == texts(model, CONTENT.format(dog="owl", town="york"), path)
    assert [text] == texts(model, path.read_text("utf-8"), path, detokenise=True)
    assert written == "An owl sleeps at york ."
    (told,) = found.document("").answer
    assert told.endswith("in doubt: An owl sleeps at york .")
    assert told.startswith("3 words inserted, ")
    assert ("owl", "article", "an") in {one[:3] for one in found.completion.fillings}


def test_punctuation_alone_is_inserted_by_the_completion(model: RealizerModel) -> None:
    assert model.completes("lemmas")
    assert model.completes("all")
    assert not model.completes("relations")


def test_relations_need_a_completion_of_their_own(model: RealizerModel, tmp_path: Path) -> None:
    with pytest.raises(kt.InputError, match="train it with --complete-from relations"):
        texts(model, "(a root X)", tmp_path / "t", inputs="relations", complete=("punctuation",))
