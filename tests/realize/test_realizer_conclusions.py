"""Conclusions on realizers, and cases in which they must not be drawn."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from karat.realize import explain_demo, labelling, read_input, realize_trees
from karat.realize import ordering as ordering_training
from karat.realize.evaluation import RealizerOutput, evaluate_realizer, realize_each
from karat.realize.input_trees import InputTrees, input_trees
from karat.realize.reproduction import EXAMPLE, PRINTED, is_better, is_example_right
from karat.realize.treebank import Treebank

EXAMPLE_SENTENCE = "there was no cost estimate for the second phase ."
TRAINED = "The model was trained on this sentence."
"""The note that a sentence was in the training text."""


@pytest.fixture(scope="module", autouse=True)
def _small_tables() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering_training, "BITS", 16)
        patch.setattr(labelling, "BITS", 16)
        yield


@pytest.fixture(scope="module")
def demo() -> Treebank:
    with resources.as_file(resources.files("karat") / "data/treebank/demo.conllu") as path:
        return kt.read_treebank(path)


@pytest.fixture(scope="module")
def model(demo: Treebank) -> kt.RealizerModel:
    """Supertags of all sentences but the first twenty."""
    return kt.train_realizer(demo.select(range(20, len(demo))), "fergus")


@pytest.fixture(scope="module")
def held_out(demo: Treebank) -> Treebank:
    return demo.select(range(20))


# ------------------------------------------------------------------------------- reproduction


@pytest.fixture(scope="module")
def outputs(model: kt.RealizerModel, held_out: Treebank) -> list[RealizerOutput]:
    """What the baseline and the supertags write for the held-out trees."""
    fergus = model.require_fergus()
    return realize_each([fergus.baselines[0], fergus], input_trees(held_out, "words"))


def first(output: RealizerOutput, sentences: int) -> RealizerOutput:
    trees = output.trees.select(range(sentences))
    return output._replace(sentences=output.sentences[:sentences], trees=trees)


def test_the_supertag_model_is_better_if_all_four_differences_are_significant(
    outputs: list[RealizerOutput],
) -> None:
    baseline, supertags = outputs
    assert is_better(supertags, baseline, "d").verdict == "holds"


def test_the_supertag_model_is_not_called_better_without_evidence(
    outputs: list[RealizerOutput],
) -> None:
    baseline, supertags = outputs
    assert is_better(baseline, supertags, "d").verdict == "fails"
    assert is_better(supertags, supertags, "d").verdict == "undecided"  # equal models
    one_sentence = is_better(first(supertags, 1), first(baseline, 1), "d")
    assert one_sentence.verdict == "undecided"
    alike = [*supertags.sentences[:1], *baseline.sentences[1:]]  # one sentence of twenty differs
    better_once = is_better(baseline._replace(sentences=alike), baseline, "d")
    assert better_once.verdict == "undecided"
    assert better_once.evidence.startswith("simple +0.")


def test_the_example_holds_only_for_the_right_sentence(held_out: Treebank) -> None:
    right = PRINTED["supertags"].lower()
    other = held_out.select(range(1, 20))
    assert is_example_right(right, other, "d").verdict == "holds"
    assert is_example_right(PRINTED["LR, random trees"].lower(), other, "d").verdict == "fails"
    occurrences = is_example_right(right, held_out, "d")  # its first sentence is the example
    assert occurrences.verdict == "undecided"
    assert occurrences.evidence.startswith("the training text has this sentence")


def test_figure_2_is_realized_from_the_tree_of_the_paper() -> None:
    heads = {
        word: EXAMPLE.words[head - 1] if head else ""
        for word, head in zip(EXAMPLE.words, EXAMPLE.heads, strict=True)
    }
    assert heads == {
        **dict.fromkeys(("There", "was", "no", "cost", "for"), "estimate"),
        "estimate": "",
        "phase": "for",
        **dict.fromkeys(("the", "second"), "phase"),
    }
    result = kt.reproduce("fergus", "bundled")
    rows = [row for row in result.rows if row.data == "Figure 2"]
    paper = {(row.item.split(":")[0], row.paper) for row in rows}
    assert paper == {
        *(("LR, random trees", value) for value in (0.44, 0.56, 0.33, 0.67)),
        ("supertags", 1.0),
    }
    words = sorted(EXAMPLE.words, key=str.lower)
    for model, printed in PRINTED.items():
        (detail,) = [row.detail for row in rows if row.item == f"{model}: simple"]
        left, quoted = detail.removesuffix(")").split(" (paper: ")
        assert quoted == printed
        assert sorted(left.split()) == [word.lower() for word in words]
    assert result.conclusions[1].evidence == rows[4].detail.split(" (")[0]
    assert result.notes[1].endswith(EXAMPLE_SENTENCE)  # from the tree of the treebank


def test_printed_sentences_have_the_accuracies_of_the_paper() -> None:
    rows = [row for row in kt.reproduce("fergus", "bundled").rows if row.source == "section 3.2"]
    assert [round(row.value, 2) for row in rows] == [row.paper for row in rows]
    assert rows[0].detail == f"the baseline's printed sentence: {PRINTED['LR, random trees']}"


# --------------------------------------------------------------------------------- evaluation


def test_a_lead_in_bleu_is_tested(model: kt.RealizerModel, held_out: Treebank) -> None:
    (lead,) = evaluate_realizer(model, held_out, "words").leads
    assert (lead.first.model, lead.second.model) == ("supertags", "LR, real trees")
    assert lead.verdict == "better"
    (sample,) = evaluate_realizer(model, held_out.select([0]), "words").leads
    assert sample.first.bleu > sample.second.bleu
    assert sample.verdict == "undecided"


def test_equal_realizers_are_not_ranked(model: kt.RealizerModel) -> None:
    evaluation = evaluate_realizer(model, words_of_one_letter(), "words")
    assert {row.exact for row in evaluation.rows} == {1}
    (lead,) = evaluation.leads
    assert lead.verdict == "undecided"
    assert lead.first.model == "supertags"  # of equal ones the last of the table


def words_of_one_letter() -> Treebank:
    """Ten sentences of one word, which no realizer can get wrong."""
    rows = [("a", "a", "X", "X", "root", "_")] * 10
    return Treebank.of_rows("one", rows, [0] * 10, range(11), [""] * 10)


def test_one_realizer_has_no_lead(model: kt.RealizerModel, held_out: Treebank) -> None:
    evaluation = evaluate_realizer(model, held_out)  # baselines see words alone
    assert [lead.inputs for lead in evaluation.leads] == ["words"]
    assert {row.inputs for row in evaluation.rows} == {"words", "all"}


# ------------------------------------------------------------------------- generation, explain


def test_punctuation_is_counted_only_if_it_was_inserted(
    model: kt.RealizerModel, held_out: Treebank, tmp_path: Path
) -> None:
    complete = realize_trees(model, held_out, complete="punctuation")
    assert complete.inserted == 0
    assert complete.document("").answer[0].endswith("; no punctuation inserted.")
    (tmp_path / "t.txt").write_text("(sleeps root VERB (she nsubj PRON))", "utf-8")
    bare = realize_trees(model, read_input(tmp_path / "t.txt"), 2, complete="punctuation")
    assert bare.rows[0].sentence == "she sleeps ."
    assert bare.inserted == 1
    assert bare.document("").answer[0].endswith("; punctuation inserted (1 token).")


@pytest.mark.parametrize(
    "text",
    ["(sleeps root VERB (she nsubj PRON) (. punct PUNCT))",
     '{"lemma": "sleeps", "daughters": [{"lemma": "she"}, {"lemma": "."}]}'],
    ids=["brackets", "json"],
)  # fmt: skip
def test_the_order_of_brackets_is_not_called_that_of_the_file(
    model: kt.RealizerModel, tmp_path: Path, text: str
) -> None:
    (tmp_path / "t.txt").write_text(text, "utf-8")
    trees = kt.read_trees(tmp_path / "t.txt")
    assert not trees.has_word_order
    explanation = kt.explain_tree(model, trees, 0)
    assert [(row.model, row.exact) for row in explanation.rows] == [("supertags", None)]
    assert explanation.document("").answer == ("Supertags: she sleeps .",)
    assert TRAINED not in explanation.notes


def test_words_in_a_treebank_have_the_order_of_the_file(
    model: kt.RealizerModel, held_out: Treebank
) -> None:
    explanation = kt.explain_tree(model, input_trees(held_out), 0)
    assert [row.model for row in explanation.rows] == ["supertags", "the file"]
    assert explanation.document("").answer == (f"Supertags, as in the file: {EXAMPLE_SENTENCE}",)


def test_an_explanation_says_if_the_sentence_was_trained_on(
    model: kt.RealizerModel, demo: Treebank
) -> None:
    trees: InputTrees = input_trees(demo)
    assert TRAINED in kt.explain_tree(model, trees, 20).notes
    assert TRAINED not in kt.explain_tree(model, trees, 19).notes


def test_the_demonstration_leaves_its_sentence_out_of_training(demo: Treebank) -> None:
    explanation = explain_demo()
    assert {row.sentence for row in explanation.rows} == {EXAMPLE_SENTENCE}
    assert explanation.notes[-1] == (
        "Trained on the other 181 sentences of the bundled treebank; this one was left out."
    )
    assert TRAINED not in explanation.notes
    rest = kt.train_realizer(demo.select(range(1, len(demo))), "fergus")
    expected = kt.explain_tree(rest, input_trees(demo), 0).supertags
    assert explanation.supertags is not None
    assert expected is not None
    assert explanation.supertags.paths == expected.paths
