"""One model for several inputs: content lemmas are inflected, completed, ordered and written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from oracles.scrambled import scrambled
from oracles.toy_content import toy_content
from oracles.toy_content_lemmas import ToySentence, toy_sentences

import karat as kt
from karat.errors import InputError
from karat.realize import (
    RealizerModel,
    completer,
    completion,
    explain_tree,
    labelling,
    read_input,
    realize_trees,
)
from karat.realize import ordering as ordering_training
from karat.realize.content import completed_slots
from karat.realize.forms import Cell, FormTable
from karat.realize.generation import ContentRealizer
from karat.realize.model import input_kinds
from karat.report.render.text import render_text

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
        for module in (ordering_training, labelling, completer):
            patch.setattr(module, "BITS", 16)
        produced = kt.train_realizer(bank, "ordering", inputs="lemmas, all", complete_from=("all",))
        produced.save(place / "model.npz")
        yield place


@pytest.fixture(scope="module")
def model(folder: Path) -> RealizerModel:
    return kt.open_realizer(folder / "model.npz")


def texts(model: RealizerModel, text: str, path: Path, **more: object) -> list[str]:
    path.write_text(text, "utf-8")
    expected: dict = {"inputs": "lemmas", "complete": BOTH, **more}
    return [row.sentence for row in realize_trees(model, read_input(path), **expected).rows]


def test_kinds_of_input_are_listed_in_their_order_and_once() -> None:
    assert input_kinds("lemmas,words") == ("words", "lemmas")
    assert input_kinds("both, all") == ("words", "all")
    with pytest.raises(InputError, match="inputs='lemon': expected one of words, all, lemmas"):
        input_kinds("all,lemon")


def test_one_file_has_both_models_and_one_language_model(model: RealizerModel) -> None:
    message = "ordering model (words, tags, relations), ordering model (lemmas)"
    assert model.contents() == f"{message}, completion (words, tags, relations), inflection"
    first, second = (model.ordering[kind].language_model.arrays for kind in ("all", "lemmas"))
    assert all(first[name] is second[name] for name in first)


def test_content_lemmas_become_sentences(model: RealizerModel, tmp_path: Path) -> None:
    tree = "(sleep root VERB VERB Mood={mood} (owl nsubj NOUN NOUN Definite={definite}))"
    arguments = tree.format(mood="Ind", definite="Ind") + tree.format(mood="Int", definite="Def")
    path = tmp_path / "trees.txt"
    assert texts(model, arguments, path) == ["An owl sleeps .", "The owl sleeps ?"]
    assert texts(model, arguments, path, keep=("final",)) == ["An owl sleeps", "The owl sleeps"]
    assert texts(model, arguments, path, complete=BOTH[:1], detokenise=True) == [
        "An owl sleeps",
        "The owl sleeps",
    ]


def test_neither_order_nor_capitals_of_lemmas_are_seen(
    model: RealizerModel, tmp_path: Path
) -> None:
    pairs = [("Owl", "York"), ("Cat", "house"), ("eel", "Leeds"), ("Man", "garden")]
    text = "".join(CONTENT.format(dog=noun, town=town) for noun, town in pairs)
    expected = [item.lower() for item in texts(model, text, tmp_path / "a.conllu")]
    assert expected[0] == "an owl sleeps at york ."
    for seed in range(3):
        lower = re.sub(r"(?m)^(\d+\t_\t)(\S+)", lambda m: m[1] + m[2].lower(), text)
        other = scrambled(lower, seed)
        assert [item.lower() for item in texts(model, other, tmp_path / "b.conllu")] == expected


@pytest.mark.parametrize("name", ["McDonald", "NATO", "Leeds", "iPhone", "York"])
def test_a_treebank_without_names_keeps_their_capitals(
    model: RealizerModel, tmp_path: Path, name: str
) -> None:
    (text,) = texts(model, CONTENT.format(dog="owl", town=name), tmp_path / "t.conllu")
    assert text.split(" ")[-2:] == [name, "."]
    assert text.startswith("An owl sleeps ")


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("(the root DET DET Definite=Def|PronType=Art)", ["the"]),
        ("(will root AUX AUX VerbForm=Fin (at case ADP))", ["at", "will"]),
        ("(of root ADP ADP (the det DET DET PronType=Art))", ["of", "the"]),
    ],
)
def test_a_tree_of_function_words_alone_keeps_them(
    model: RealizerModel, tmp_path: Path, tree: str, message: list[str]
) -> None:
    (text,) = texts(model, tree, tmp_path / "odd.txt", keep=("final", "comma", "other"))
    assert set(message) <= set(text.lower().split(" "))


def test_features_that_were_never_seen_do_not_change_a_form(model: RealizerModel) -> None:
    table = model.lemma_realizer().inflection.inflector.table
    occurrences = next(cell for cell in table.counts if cell.lemma == "man")
    odd = occurrences._replace(features=f"{occurrences.features}|Definite=Ind|Odd=Yes")
    assert table.source(odd) == table.source(occurrences)
    assert table.source(odd).origin == "seen"


def test_evaluation_has_all_that_the_model_can_be_given(model: RealizerModel, folder: Path) -> None:
    bank = kt.read_treebank(folder / "train.conllu")
    evaluation = kt.evaluate_realizer(model, bank)
    lemmas = [*["lemmas"] * 3, *["lemmas, content words"] * 3]
    assert [row.inputs for row in evaluation.rows] == ["all", *["all, content words"] * 3, *lemmas]
    assert [row.inputs for row in kt.evaluate_realizer(model, bank, "lemmas").rows] == lemmas
    table = evaluation.document("").blocks[1]
    assert [row.forms is None for row in table.rows] == [True] * 4 + [False] * 6
    lines = render_text(evaluation.document(""), width=70).splitlines()
    # However many parts the table is cut into, each tells the inputs.
    parts = sum(line.startswith("  Model ") for line in lines)
    assert parts > 1
    assert lines.count("from lemmas of content words") == lines.count("from lemmas") == parts
    assert "SR'19" in " ".join(evaluation.notes)


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
    explanation = explain_tree(model, read_input(path), 0, inputs="lemmas", complete=BOTH)
    written, text = (row.sentence for row in explanation.rows)
    assert [written] == texts(model, CONTENT.format(dog="owl", town="york"), path)
    assert [text] == texts(model, path.read_text("utf-8"), path, detokenise=True)
    assert written == "An owl sleeps at york ."
    (answer,) = explanation.document("").answer
    assert answer.endswith("in doubt: An owl sleeps at york .")
    assert answer.startswith("3 words inserted, ")
    assert ("owl", "article", "an") in {filling[:3] for filling in explanation.completion.fillings}


def test_punctuation_alone_is_inserted_by_the_completion(
    model: RealizerModel, tmp_path: Path
) -> None:
    # The feature tells the mark, which the language model of the sentence does not see.
    tree = "(sleep root VERB VERB Mood={} (owl nsubj NOUN NOUN Number=Sing))"
    arguments = tree.format("Ind") + tree.format("Int")
    path, marks = tmp_path / "trees.txt", BOTH[1:]
    assert texts(model, arguments, path, complete=marks) == ["owl sleeps .", "owl sleeps ?"]
    remaining = texts(model, arguments, path, complete=marks, keep=("final",))
    assert remaining == ["owl sleeps", "owl sleeps"]
    words = arguments.replace("(sleep", "(sleeps")
    text_lines = texts(model, words, path, complete=marks, inputs="all")
    assert text_lines == ["owl sleeps .", "owl sleeps ?"]
    without = replace(model, completion={})
    (first, second) = texts(without, arguments, path, complete=marks)
    assert first == second
    assert not model.completes("relations")


def test_relations_need_a_completion_of_their_own(model: RealizerModel, tmp_path: Path) -> None:
    with pytest.raises(kt.InputError, match="train it with --complete-from relations"):
        texts(model, "(a root X)", tmp_path / "t", inputs="relations", complete=("punctuation",))


# Forms that depend on inserted words, and capitals that lemmas have.


@pytest.fixture(scope="module")
def contracting(folder: Path) -> RealizerModel:
    path = folder / "contractions.conllu"
    path.write_text("".join(toy_sentence.conllu for toy_sentence in toy_sentences(200, 1)), "utf-8")
    bank = kt.read_treebank(path)
    return kt.train_realizer(bank, "ordering", inputs="all,lemmas", complete_from=("all",))


@pytest.fixture(scope="module")
def sentences() -> list[ToySentence]:
    return toy_sentences(30, 2)


def test_content_lemmas_become_text_with_contractions_and_capitals(
    contracting: RealizerModel, sentences: list[ToySentence], tmp_path: Path
) -> None:
    arguments = "".join(sentence.content for sentence in sentences)
    text_lines = texts(contracting, arguments, tmp_path / "t.txt", detokenise=True)
    assert text_lines == [sentence.text for sentence in sentences]
    message = " ".join(text_lines)
    for part in ("An owl", "A cat", "doesn't", "will not", "McDonald", "DeVito", "de l'", " du "):
        assert part in message


def test_forms_are_chosen_again_when_words_have_been_inserted(
    contracting: RealizerModel, sentences: list[ToySentence], tmp_path: Path
) -> None:
    path = tmp_path / "t.txt"
    path.write_text("".join(sentence.content for sentence in sentences), "utf-8")
    bank = read_input(path)
    first = contracting.lemma_realizer().inflection.with_forms(bank).words
    pairs = zip(first, bank.lemmas, strict=True)
    by_tree = [form for form, lemma in pairs if lemma == "not"]
    message = texts(contracting, path.read_text("utf-8"), path)
    final = [word for sentence in message for word in sentence.split(" ") if word in ("n't", "not")]
    expected = [
        "n't" if "n't" in sentence.text else "not"
        for sentence in sentences
        if "(not" in sentence.content
    ]
    assert final == expected
    assert by_tree != expected  # the word before `not` was not known yet


def test_an_inserted_word_gets_the_form_that_its_neighbour_asks_for(
    contracting: RealizerModel,
    sentences: list[ToySentence],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the classifier inserts: it is made to confuse the forms of articles."""
    completer = contracting.completer("all")
    of = completer.slots["article"]
    turned = {"a": "an", "an": "a", "le": "l'", "l'": "le"}
    fillings = tuple(
        tuple(
            tuple(
                sentence._replace(word=turned.get(sentence.word, sentence.word)) for sentence in i
            )
            for i in filling
        )
        for filling in of.fillings
    )
    wrong = replace(completer, slots={**completer.slots, "article": replace(of, fillings=fillings)})
    model = replace(contracting, completion={"all": wrong})
    weights = {
        slot: sentence._replace(words=0.0) for slot, sentence in completion.WEIGHTS["all"].items()
    }
    monkeypatch.setitem(completion.WEIGHTS, "all", weights)
    arguments = "".join(sentence.content for sentence in sentences)
    text_lines = texts(model, arguments, tmp_path / "t.txt", detokenise=True)
    assert text_lines == [sentence.text for sentence in sentences]


def test_a_form_of_several_lemmas_stays_as_it_was_inserted() -> None:
    occurrences = [("be", "'s")] * 3 + [("have", "'s")] + [("be", "is")] * 5
    cells = [(Cell(lemma, "AUX", "VBZ", "Tense=Pres"), form) for lemma, form in occurrences]
    table = FormTable.learn(cells)
    assert table.cell_of("'s", "AUX") is None
    assert table.cell_of("is", "AUX") == cells[0][0]
    assert table.cell_of("is", "VERB") is None


def test_words_of_the_input_in_slots_keep_their_lemmas(
    contracting: RealizerModel, tmp_path: Path
) -> None:
    tree = """(see root VERB VB VerbForm=Inf
      (owl nsubj NOUN NN Number=Sing (a det DET DT Definite=Ind|PronType=Art))
      (do aux AUX VBZ Mood=Ind|Tense=Pres|VerbForm=Fin) (not advmod PART RB Polarity=Neg)
      (DeVito obj PROPN NNP Number=Sing)
      (lac obl NOUN NN Number=Sing (de case ADP IN) (le det DET DT Definite=Def|PronType=Art)))"""
    (text,) = texts(contracting, tree, tmp_path / "t.txt", detokenise=True)
    assert text == "An owl doesn't see DeVito du lac."


def test_blocks_of_any_size_make_the_same_text(
    contracting: RealizerModel, sentences: list[ToySentence], tmp_path: Path
) -> None:
    path = tmp_path / "t.txt"
    path.write_text("".join(sentence.content for sentence in sentences), "utf-8")
    realizer = ContentRealizer(contracting, "lemmas", completed_slots(BOTH))
    full_result, *rest = (
        [
            text
            for _, part in realizer.realize_all(read_input(path), 2, most=most)
            for text in part.texts(detokenise=True)
        ]
        for most in (30, 7, 1)
    )
    assert rest == [full_result, full_result]


def test_content_lemmas_are_evaluated(
    contracting: RealizerModel, sentences: list[ToySentence], tmp_path: Path
) -> None:
    path = tmp_path / "t.conllu"
    path.write_text("".join(item.conllu for item in sentences), "utf-8")
    evaluation = kt.evaluate_realizer(contracting, kt.read_treebank(path), "lemmas")
    rows = [row for row in evaluation.rows if row.inputs == "lemmas, content words"]
    assert [(row.model, row.exact, row.forms) for row in rows] == [
        ("completion: function words and punctuation", 1, 1),
        ("completion: function words", 1, 1),
        ("completion: punctuation", 1, 1),
    ]
    scores = {
        (item.complete, item.slot): item for item in evaluation.slots if item.inputs == "lemmas"
    }
    both = "function words and punctuation"
    assert [scores[both, slot].f for slot in ("aux", "case", "article", "final")] == [1] * 4
    assert scores[both, "article"].words == 60
    assert ("punctuation", "aux") not in scores
    *_, last = evaluation.document("").answer
    assert last.startswith("BLEU from lemmas of content words is 100.0 with completion of function")


def test_the_explanation_of_content_lemmas_has_their_forms(
    contracting: RealizerModel, sentences: list[ToySentence], tmp_path: Path
) -> None:
    number = next(i for i, sentence in enumerate(sentences) if "An owl doesn't" in sentence.text)
    path = tmp_path / "t.txt"
    path.write_text("".join(sentence.content for sentence in sentences), "utf-8")
    explanation = explain_tree(
        contracting, read_input(path), number, 2, inputs="lemmas", complete=BOTH
    )
    assert explanation.rows[1].sentence == sentences[number].text
    chosen = [
        (sentence.lemma, sentence.form) for sentence in explanation.inflection if sentence.chosen
    ]
    assert chosen[:4] == [("a", "an"), ("owl", "owl"), ("do", "does"), ("not", "n't")]
    forms = {(sentence.lemma, sentence.form): sentence for sentence in explanation.inflection}
    assert forms["a", "a"].probability < 0.5 < forms["a", "an"].probability
    assert forms["not", "not"].source == "seen with these tags and features"
    assert forms[".", "."].source == "inserted as it is"
    words = explanation.rows[0].sentence.lower()
    assert " ".join(form for _, form in chosen) == words
    assert explanation.ordering is not None
    assert explanation.ordering.orders[0].sentence == words
    assert (
        " ".join(sentence.word for sentence in explanation.completion.optional if sentence.word)
        == words
    )
    titles = [table.title for table in explanation.document("").tables]
    assert titles[:3] == ["Sentences", "Forms", "Words inserted"]
