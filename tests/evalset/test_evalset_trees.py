"""Sets whose references have dependency trees: read, checked, written, scored."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from karat.errors import InputError, MissingExtra

REFERENCE = "There was no cost estimate for the second phase"
TREE = kt.Tree(tuple(REFERENCE.split()), (5, 5, 5, 5, 0, 5, 9, 9, 6), "wsj")
RESULT = "There was estimate for phase the second no cost"
CHAIN = kt.Tree(("a", "b", "c", "d"), (0, 1, 2, 3))
WORKED = {
    "simple_accuracy": 4 / 9,
    "generation_accuracy": 5 / 9,
    "simple_tree_accuracy": 1 / 3,
    "generation_tree_accuracy": 2 / 3,
    "understandability_accuracy": (1.3147 / 3 - 0.4458) / 0.8689,
    "quality_accuracy": (1.0192 / 3 - 0.3553) / 0.6639,
}
"""The paper's example, and the two regressions for it."""


def the_set(**more: Any) -> kt.EvalSet:
    """The paper's sentence and a chain; one system writes them as they are, the other not."""
    values = {"gold": [(7, 7), (6, 7)], "scrambled": [(3, 4), (2, 5)]}
    judged = [
        (system, str(i), "j", dimension, value)
        for system, rows in values.items()
        for i, row in enumerate(rows, 1)
        for dimension, value in zip(("quality", "understandability"), row, strict=True)
    ]
    return kt.make_evalset(
        "trees",
        {"scrambled": [RESULT, "d c b a"], "gold": [REFERENCE, "a b c d"]},
        trees=[TREE, CHAIN],
        dimensions=["quality", "understandability"],
        judgements=judged,
        **more,
    )


def test_the_words_of_trees_are_the_references() -> None:
    evalset = the_set()
    assert evalset.references == ((REFERENCE,), ("a b c d",))
    assert evalset.trees == ((TREE,), (CHAIN,))
    assert kt.check_evalset(evalset).notes[0] == "every reference has a dependency tree"


def test_the_paper_s_example_scored_as_part_of_a_set() -> None:
    evalset = kt.score(the_set(), metrics=[*WORKED], segments=True)
    for name, value in WORKED.items():
        assert evalset.segment_scores("scrambled", name)[0] == pytest.approx(value)
        assert evalset.segment_scores("gold", name)[1] == pytest.approx(1, abs=1e-3)
    compared = kt.compare(the_set(), metrics=["generation_tree_accuracy"])
    assert compared.rows[0].system == "gold"


def test_all_six_metrics_run_against_people() -> None:
    experiment = kt.Experiment("trees", (*WORKED,), levels=("segment",), resamples=0, trials=0)
    rows = kt.meta_evaluate(experiment, the_set()).rows
    assert {row.metric for row in rows} == set(WORKED)
    assert all(row.value > 0.5 for row in rows if row.dimension == "quality")


def test_text_of_its_own_is_what_other_metrics_see() -> None:
    evalset = the_set(references=["there was no estimate", "a b c d"])
    scores = kt.score(evalset, metrics=["simple_accuracy", "simple_tree_accuracy"], segments=True)
    assert scores.segment_scores("gold", "simple_accuracy")[0] < 0.5
    assert scores.segment_scores("gold", "simple_tree_accuracy")[0] == 1


def test_some_segments_and_references_keep_their_trees() -> None:
    evalset = kt.make_evalset("s", {"A": ["x", "y"]}, trees=[[TREE, CHAIN], [CHAIN]])
    assert evalset.select(segments=["2"]).trees == ((CHAIN,),)
    assert evalset.select(references=[1]).trees == ((CHAIN,), ())


@pytest.mark.parametrize("format", ["dir", "jsonl"])
@pytest.mark.parametrize("own_text", [False, True])
def test_saved_and_read_back(format: str, own_text: bool, tmp_path: Path) -> None:
    groups = [[TREE, CHAIN], [CHAIN]]
    texts = [["own text", "a b c d"], [""]] if own_text else None
    evalset = kt.make_evalset("s", {"A": ["x", "y"]}, trees=groups, references=texts)
    kt.save_evalset(evalset, tmp_path / f"saved.{format}", format)
    assert kt.load_evalset(tmp_path / f"saved.{format}") == evalset


def test_trees_alone_are_written_where_they_say_everything(tmp_path: Path) -> None:
    kt.save_evalset(the_set(), tmp_path / "saved")
    assert [path.name for path in (tmp_path / "saved/references").iterdir()] == ["1.conllu"]
    kt.save_evalset(the_set(references=["x", "y"]), tmp_path / "both")
    names = {path.name for path in (tmp_path / "both/references").iterdir()}
    assert names == {"1.conllu", "1.txt"}


def test_a_file_of_json_may_leave_references_out(tmp_path: Path) -> None:
    tree = {"words": list(TREE.words), "heads": list(TREE.heads), "id": "wsj"}
    row = {"id": "1", "outputs": {"A": RESULT}, "trees": [tree]}
    (tmp_path / "s.jsonl").write_text(json.dumps(row))
    assert kt.load_evalset(tmp_path / "s.jsonl").trees == ((TREE,),)
    assert kt.load_evalset(tmp_path / "s.jsonl").references == ((REFERENCE,),)


# -------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"trees": [TREE]}, "found 1 segments, expected 2"),
        ({"trees": [[TREE, CHAIN], [CHAIN]], "references": ["a", "b"]}, "found 2, expected 1"),
        ({"trees": [TREE, ["no tree"]]}, "trees of segment 2: found str, expected a Tree"),
        ({"trees": [TREE, kt.Tree(("",), (0,))]}, "trees of segment 2: found the word ''"),
        ({"trees": [TREE, kt.Tree(("a\tb",), (0,))]}, r"found the word 'a\\tb'"),
        ({"trees": [TREE, kt.Tree(("a",), (0,), " x")]}, "found the id ' x'"),
    ],
)
def test_what_cannot_be_a_set_s_trees(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        kt.make_evalset("s", {"A": ["x", "y"]}, **more)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"1.conllu": "1\ta\n\n"}, "line 1"),
        ({"1.conllu": "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n\n"}, "found 1 sentences, expected 2"),
        ({"1.txt": "a\nb\n", "1.conllu": "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n\n"}, "found 1 sentences"),
        ({"1.txt": "a\nb\n", "2.conllu": "1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n\n" * 2}, "all or none"),
        ({"1.pdf": ""}, r"expected only \.txt and \.conllu files"),
    ],
)
def test_a_folder_with_bad_trees(files: dict[str, str], message: str, tmp_path: Path) -> None:
    kt.save_evalset(kt.make_evalset("s", {"A": ["x", "y"]}), tmp_path / "s")
    (tmp_path / "s/references").mkdir(exist_ok=True)
    for path in (tmp_path / "s/references").iterdir():
        path.unlink()
    for name, text in files.items():
        (tmp_path / "s/references" / name).write_text(text)
    with pytest.raises(InputError, match=message):
        kt.load_evalset(tmp_path / "s")


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"words": ["a"]}, "expected words and heads"),
        ({"words": "a", "heads": [0]}, "expected words and heads"),
        ({"words": ["a"], "heads": [0], "head": 1}, "found the name 'head'"),
        ({"words": ["a", "b"], "heads": [2, 1]}, "tree"),
        ("a", "expected words and heads"),
    ],
)
def test_a_file_of_json_with_bad_trees(tree: object, message: str, tmp_path: Path) -> None:
    row = {"id": "1", "outputs": {"A": "x"}, "trees": [tree]}
    (tmp_path / "s.jsonl").write_text(json.dumps(row))
    with pytest.raises(InputError, match=message):
        kt.load_evalset(tmp_path / "s.jsonl")


def test_a_set_without_trees_says_what_to_do() -> None:
    with pytest.raises(InputError, match="karat data convert --parse"):
        kt.score(kt.load_evalset("demo"), metrics=["generation_tree_accuracy"])


def test_without_spacy_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match=r"pip install 'karat-eval\[trees\]'"):
        kt.parse_evalset(kt.load_evalset("demo"))


# ------------------------------------------------------------------------------ the command


def test_the_commands_take_such_a_set(output: Callable[..., str], folder: Path) -> None:
    kt.save_evalset(the_set(), folder / "wsj")
    arguments = ("-m", "generation_tree_accuracy", "-f", "json")
    scored = json.loads(output("score", "scrambled", "--set", "wsj", *arguments))
    assert scored["rows"][0]["tokens"] == 13
    compared = json.loads(output("compare", "--set", "wsj", *arguments))
    assert {row["system"] for row in compared["rows"]} == {"gold", "scrambled"}
    ranked = json.loads(output("meta", "wsj", "-d", "quality", "-l", "segment", *arguments))
    assert ranked["rows"][0]["value"] > 0.9
    assert output("data", "convert", "wsj", "wsj.jsonl", "--format", "jsonl")
    assert kt.load_evalset(folder / "wsj.jsonl") == kt.load_evalset(folder / "wsj")


def test_a_tokeniser_needs_a_parser(run_karat: Callable[..., Any]) -> None:
    done = run_karat("data", "convert", "demo", "new", "--tok", "13a")
    assert done.returncode == 2
    assert "tok has no effect without parse" in done.stderr


@pytest.mark.parametrize("head", [True, 1.0, "1", 10**400])
def test_heads_that_are_no_numbers_of_words_are_named_shortly(head: Any) -> None:
    with pytest.raises(
        InputError, match=r"found the head .*expected a number from 0 to 2"
    ) as actual:
        kt.Tree(("a", "b"), (0, head))
    assert len(str(actual.value)) < 200


def test_a_tree_file_of_another_length_has_sentences(tmp_path: Path) -> None:
    tree = kt.Tree(("a", "b"), (0, 1))
    evalset = kt.make_evalset("s", {"A": ["a b", "b a"]}, trees=[tree, tree])
    kt.save_evalset(evalset, tmp_path / "s")
    file = tmp_path / "s" / "references" / "1.conllu"
    file.write_text(file.read_text(encoding="utf-8").split("\n\n")[0] + "\n\n", encoding="utf-8")
    with pytest.raises(InputError, match="found 1 sentences, expected 2, as"):
        kt.load_evalset(tmp_path / "s")
