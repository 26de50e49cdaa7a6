"""References parsed by a real spaCy pipeline: a tiny parser, trained here on five sentences.

spaCy is too large for the `test` extra; where it is missing these tests are skipped, and a stand-in
(test_tree_accuracy.py) checks what is read of it.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import karat as kt
from karat.errors import InputError, MissingExtra

spacy = pytest.importorskip(
    "spacy", reason="spaCy is not installed: pip install 'karat-eval[trees]'"
)

TEXTS = {
    "the cat sat": (1, 2, 2),
    "a dog ran": (1, 2, 2),
    "the dog saw a cat": (1, 2, 2, 4, 2),
    "a cat saw the dog": (1, 2, 2, 4, 2),
    "the small dog ran": (2, 2, 3, 3),
}
"""Sentences with the head of each word, counted from 0; a root is its own."""

CONLLU = "{}\t{}\t_\t_\t_\t_\t{}\t_\t_\t_\n"


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """The folder of a pipeline that has learnt its five sentences by heart."""
    from spacy.training import Example

    spacy.util.fix_random_seed(1)
    nlp = spacy.blank("en")
    nlp.add_pipe("parser", config={"min_action_freq": 1})
    examples = [
        Example.from_dict(
            nlp.make_doc(text),
            {"heads": heads, "deps": ["ROOT" if h == i else "dep" for i, h in enumerate(heads)]},
        )
        for text, heads in TEXTS.items()
    ]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    folder = tmp_path_factory.mktemp("pipeline")
    nlp.to_disk(folder)
    return str(folder)


def test_the_trees_are_those_it_was_taught(pipeline):
    trees = kt.parse_references(TEXTS, pipeline)
    for (tree,), (text, heads) in zip(trees, TEXTS.items(), strict=True):
        assert str(tree) == text
        assert tree.heads == tuple(0 if h == i else h + 1 for i, h in enumerate(heads))


def test_white_space_is_left_out_and_there_is_one_root(pipeline):
    (tree,) = kt.parse_references(["the cat  sat \n a dog ran"], pipeline)[0]
    assert tree.words == ("the", "cat", "sat", "a", "dog", "ran")
    assert tree.heads.count(0) == 1


def test_the_command_line_scores_by_the_same_trees(pipeline, tmp_path):
    trees = kt.parse_references(TEXTS, pipeline)
    sentences = [
        "".join(
            CONLLU.format(i, *pair) for i, pair in enumerate(zip(t.words, t.heads, strict=True), 1)
        )
        for (t,) in trees
    ]
    (tmp_path / "ref.conllu").write_text("\n".join(sentences) + "\n")
    candidates = [" ".join(reversed(text.split())) for text in TEXTS]
    (tmp_path / "out.txt").write_text("\n".join(candidates) + "\n")
    program = "from karat.cli.main import run; run()"
    arguments = ["score", "out.txt", "-r", "ref.conllu", "-m", "generation_tree_accuracy"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments, "--format", "json"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    document = json.loads(done.stdout)["rows"][0]["score"]
    assert document == kt.metric("generation_tree_accuracy").corpus(candidates, trees).value
    assert 0 < document < 1


def test_references_of_a_set_are_parsed_in_the_words_of_a_tokeniser(pipeline, tmp_path):
    evalset = kt.make_evalset(
        "s",
        {"A": ["a cat, saw the dog.", "the cat sat"]},
        references=[["the dog, saw a cat.", "a cat saw the dog"], ["the cat sat"]],
    )
    parsed = kt.parse_evalset(evalset, pipeline, tok="13a")
    assert parsed.references == evalset.references
    assert [[str(tree) for tree in group] for group in parsed.trees] == [
        ["the dog , saw a cat .", "a cat saw the dog"],
        ["the cat sat"],
    ]
    score = kt.score(parsed, metrics=["generation_tree_accuracy:tok=13a"], segments=True)
    assert score.segment_scores("A", "generation_tree_accuracy:tok=13a")[1] == 1
    kt.save_evalset(evalset, tmp_path / "plain")
    kt.convert_evalset(tmp_path / "plain", tmp_path / "trees", parse=pipeline, tok="13a")
    assert kt.load_evalset(tmp_path / "trees").trees == parsed.trees
    system_scores = kt.parse_evalset(evalset, pipeline)  # spaCy's own words
    assert str(system_scores.trees[1][0]) == "the cat sat"


def test_what_is_no_pipeline_with_a_parser(tmp_path):
    with pytest.raises(MissingExtra, match="spaCy has no pipeline"):
        kt.parse_references(["a"], str(tmp_path / "nothing"))
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(InputError, match="has no parser"):
        kt.parse_references(["a cat"], str(tmp_path / "blank"))
    with pytest.raises(InputError, match=r"references\[0\] has no words"):
        kt.parse_references([" "], str(tmp_path / "blank"))
