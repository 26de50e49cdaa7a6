"""The choice between FERGUS and the ordering model: in generate, explain and evaluate."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from oracles.toy_content import toy_content

import karat as kt
from karat.errors import InputError
from karat.realize import completer, labelling
from karat.realize import ordering as ordering_training
from karat.realize.generation import realize_trees
from karat.realize.treebank import Treebank

BOTH = ("function-words", "punctuation")
Called = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a toy treebank to train on, another one, and models of few weights."""
    place = tmp_path_factory.mktemp("choice")
    (place / "train.conllu").write_text(toy_content(150, 1), "utf-8")
    (place / "test.conllu").write_text(toy_content(40, 2), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for module in (ordering_training, labelling, completer):
            patch.setattr(module, "BITS", 16)
        bank = kt.read_treebank(place / "train.conllu")
        completed: dict[str, Any] = {"complete_from": ("all", "relations")}
        kt.train_realizer(bank, inputs="words", **completed).save(place / "both.npz")
        kt.train_realizer(bank, "ordering", inputs="all", **completed).save(place / "alone.npz")
        kt.train_realizer(bank, "fergus", **completed).save(place / "fergus.npz")
        yield place


@pytest.fixture(scope="module")
def both(place: Path) -> kt.RealizerModel:
    """Supertags, an ordering model for words, and completion."""
    return kt.open_realizer(place / "both.npz")


@pytest.fixture(scope="module")
def fergus(place: Path) -> kt.RealizerModel:
    """Supertags and completion alone."""
    return kt.open_realizer(place / "fergus.npz")


@pytest.fixture(scope="module")
def held_out_bank(place: Path) -> Treebank:
    return kt.read_treebank(place / "test.conllu")


def sentences(rows_found: kt.RealizedSentences) -> list[str]:
    return [row.sentence for row in rows_found.rows]


def references(bank: Treebank) -> list[str]:
    return [" ".join(bank.words[a:b]).lower() for a, b in pairwise(bank.offsets.tolist())]


@pytest.mark.parametrize(("realizer", "own_model"), [("fergus", "the_fergus"), ("ordering", None)])
def test_sentences_are_those_of_the_realizer_that_was_named(
    both: kt.RealizerModel, place: Path, realizer: str, own_model: str | None
) -> None:
    trees = kt.read_trees(place / "test.conllu")
    orders = (both.require_fergus() if own_model else both.ordering["words"]).realize(trees)
    expected = [trees.sentence(i, best.nodes) for i, (best, *_) in enumerate(orders)]
    rows_found = kt.realize_trees(both, trees, realizer=realizer)
    assert sentences(rows_found) == expected
    assert [row.score for row in rows_found.rows] == [best.score for best, *_ in orders]
    assert rows_found.settings["realizer"] == realizer


def test_the_ordering_model_writes_by_default(both: kt.RealizerModel, place: Path) -> None:
    trees = kt.read_trees(place / "test.conllu")
    default, ordering, fergus = (
        kt.realize_trees(both, trees, realizer=name).rows for name in (None, "ordering", "fergus")
    )
    assert default == ordering
    assert [row.score for row in default] != [row.score for row in fergus]


def test_the_command_writes_with_the_realizer_that_was_named(
    place: Path, run_karat: Called
) -> None:
    arguments = ("realize", "generate", str(place / "test.conllu"), "--model")
    output = {
        name: json.loads(
            run_karat(*arguments, str(place / "both.npz"), "-f", "json", "--realizer", name).stdout
        )
        for name in ("fergus", "ordering")
    }
    assert output["fergus"]["summary"].endswith("from words, by the supertags.")
    assert output["ordering"]["summary"].endswith("from words, by the ordering model.")
    assert output["fergus"]["rows"][0]["score"] != output["ordering"]["rows"][0]["score"]


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("alone.npz", ["--realizer", "fergus", "--inputs", "all"], "the model has no supertags: "
         "train it with --realizer fergus or all"),
        ("fergus.npz", ["--realizer", "ordering"], "the model has no ordering model for words "
         "alone: train it with --realizer all --inputs words, or give --realizer fergus"),
        ("both.npz", ["--realizer", "ordering", "--inputs", "all"], "the model has no ordering "
         "model for words with tags and relations: train it with --realizer all --inputs both"),
        ("both.npz", ["--realizer", "fergus", "--inputs", "lemmas"], "inputs=lemmas: the supertags "
         "order words: give --inputs words or all, or --realizer ordering"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["generate", "explain", "evaluate"])
def test_a_model_without_the_realizer_is_refused_in_a_sentence(
    place: Path, run_karat: Called, command: str, model: str, options: list[str], message: str
) -> None:
    trees, path = str(place / "test.conllu"), str(place / model)
    done = run_karat("realize", command, trees, "--model", path, *options)
    assert (done.returncode, done.stdout) == (2, "")
    stderr = done.stderr
    assert stderr.startswith(f"karat: {message}")
    assert stderr.count("\n") == 1


def test_completion_needs_the_realizer_that_was_named(place: Path, run_karat: Called) -> None:
    arguments = ("realize", "generate", str(place / "test.conllu"), "--inputs", "relations")
    arguments = (*arguments, "--complete", "function-words", "--model")
    for model, realizer in (("alone.npz", "fergus"), ("both.npz", "ordering")):
        done = run_karat(*arguments, str(place / model), "--realizer", realizer)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("karat: the model has no ")


def test_an_unknown_realizer_is_refused(both: kt.RealizerModel, place: Path) -> None:
    trees = kt.read_trees(place / "test.conllu")
    with pytest.raises(InputError, match="realizer='supertags': expected fergus or ordering"):
        kt.realize_trees(both, trees, realizer="supertags")


def test_the_help_says_which_realizer_writes_by_default(run_karat: Called) -> None:
    output = " ".join(run_karat("realize", "generate", "--help").stdout.split())
    assert "Default: ordering if the model has it for these inputs, else fergus." in output


# ----------------------------------------------------------------------------- explain, evaluate


def test_an_explanation_can_be_of_one_realizer(both: kt.RealizerModel, place: Path) -> None:
    trees = kt.read_trees(place / "test.conllu")
    supertags, ordering = (
        kt.explain_tree(both, trees, 0, realizer=name) for name in ("fergus", "ordering")
    )
    assert [row.model for row in supertags.rows] == ["supertags", "the file"]
    assert [row.model for row in ordering.rows] == ["ordering model", "the file"]
    assert (supertags.ordering, ordering.supertags) == (None, None)
    message = "karat realize generate --realizer fergus writes the sentence of the supertags."
    assert message in supertags.notes
    with pytest.raises(InputError, match="realizer=ordering, so no lattice: leave unpruned out"):
        kt.explain_tree(both, trees, 0, realizer="ordering", unpruned=True)


def test_an_evaluation_can_be_of_one_realizer(
    both: kt.RealizerModel, held_out_bank: Treebank
) -> None:
    rows = {
        name: kt.evaluate_realizer(both, held_out_bank, "words", realizer=name).rows
        for name in (None, "fergus", "ordering")
    }
    models = {name: [row.model for row in rows_found] for name, rows_found in rows.items()}
    assert models["fergus"] == ["LR, random trees", "LR, real trees", "supertags"]
    assert models["ordering"] == ["ordering model"]
    assert models[None] == models["fergus"] + models["ordering"]


def test_an_evaluation_of_one_realizer_leaves_out_completions_that_it_cannot_order(
    both: kt.RealizerModel, held_out_bank: Treebank
) -> None:
    evaluation = kt.evaluate_realizer(both, held_out_bank, realizer="ordering")
    assert [row.model for row in evaluation.rows] == ["ordering model"]
    assert any(note.startswith("Completion is not evaluated") for note in evaluation.notes)
    by_fergus = kt.evaluate_realizer(both, held_out_bank, realizer="fergus")
    assert any(row.model.startswith("completion") for row in by_fergus.rows)
    assert not any(note.startswith("Completion is not evaluated") for note in by_fergus.notes)
    with pytest.raises(kt.InputError, match="no ordering model for words with tags and relations"):
        kt.evaluate_realizer(both, held_out_bank, "relations", realizer="ordering")


# ------------------------------------------------------------------------------------ completion


CONTENT = "(sleeps root VERB VERB Mood=Ind (dog nsubj NOUN NOUN Definite=Def|Number=Sing))"


def test_fergus_inserts_function_words_and_punctuation(place: Path, run_karat: Called) -> None:
    (place / "content.txt").write_text(CONTENT, "utf-8")
    model = ("--model", str(place / "fergus.npz"))
    arguments = ("realize", "generate", str(place / "content.txt"), *model, "--complete")
    for inputs in ("all", "relations"):
        done = run_karat(*arguments, ",".join(BOTH), "--inputs", inputs)
        assert (done.returncode, done.stderr) == (0, "")
        words = done.stdout.split()
        assert words[-1] in {".", "?"}
        assert words[:-1] in (["the", "dog", "sleeps"], ["a", "dog", "sleeps"])
    marks = run_karat(*arguments, "punctuation", "--inputs", "all").stdout
    assert marks == "dog sleeps .\n"


def test_completed_trees_are_ordered_by_the_realizer_that_was_named(
    both: kt.RealizerModel, place: Path
) -> None:
    (place / "content.txt").write_text(CONTENT, "utf-8")
    bank = kt.realize.read_input(place / "content.txt")
    by_supertags, by_default = (
        realize_trees(both, bank, inputs="all", complete=BOTH, realizer=name)
        for name in ("fergus", None)
    )
    assert sentences(by_supertags) == sentences(by_default) == ["the dog sleeps ."]
    assert (by_supertags.inserted, by_default.inserted) == (2, 2)
    assert by_supertags.notes == ()
    assert by_default.notes == (
        "The supertags order the completed trees, because the model has no ordering model for "
        "words with tags and relations: train with --inputs both.",
    )
    explanation = kt.explain_tree(both, bank, 0, inputs="all", complete=BOTH, realizer="fergus")
    assert explanation.ordering is None
    assert explanation.supertags is not None
    assert (
        explanation.supertags.paths[0].sentence
        == explanation.rows[0].sentence
        == "the dog sleeps ."
    )
    assert "Tree Chooser: supertags" in [block.title for block in explanation.document("").blocks]


def test_the_ordering_model_orders_completed_trees_by_default(place: Path) -> None:
    alone = kt.open_realizer(place / "alone.npz")
    fergus = kt.open_realizer(place / "fergus.npz").fergus
    model = replace(alone, fergus=fergus)
    assert model.best("all") is alone.ordering["all"]
    assert model.best("all", "fergus") is fergus
    assert model.fallback_notes("all", None, completed=True) == ()


def test_a_completion_by_fergus_is_evaluated(
    fergus: kt.RealizerModel, held_out_bank: Treebank
) -> None:
    evaluation = kt.evaluate_realizer(fergus, held_out_bank, "all")
    rows = {row.model: row for row in evaluation.rows}
    assert rows["completion: function words and punctuation"].exact > 0.9
    assert {score.f for score in evaluation.slots if score.slot in ("aux", "article")} == {1}
