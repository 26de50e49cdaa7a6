"""Completion on a small language: what is taken out, put back, kept, stored and refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from oracles.scrambled import scrambled
from oracles.toy_content import toy_content

from karat.errors import InputError
from karat.realize import completer, evaluation, labelling, slot_features
from karat.realize import ordering as ordering_training
from karat.realize.choices import SlotFilling, explain_completion
from karat.realize.cli import command
from karat.realize.completer import Completer
from karat.realize.completion import WEIGHTS, realize_content
from karat.realize.content import completed_slots, content_trees
from karat.realize.evaluation import evaluate_realizer
from karat.realize.explanation import explain_tree
from karat.realize.generation import ContentRealizer, realize_trees
from karat.realize.model import RealizerModel, open_realizer, train_realizer
from karat.realize.treebank import Treebank, read_treebank, split_into_blocks
from karat.report.render.records import render_json
from karat.storage.store import ModelStore

BOTH = ("function-words", "punctuation")


def bank(folder: Path, text: str, name: str = "toy.conllu") -> Treebank:
    path = folder / name
    path.write_text(text, "utf-8")
    return read_treebank(path)


@pytest.fixture(scope="module", autouse=True)
def small() -> Iterator[None]:
    """A small language needs no large table."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (ordering_training, labelling, completer):
            patch.setattr(module, "BITS", 16)
        yield


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, small: None) -> RealizerModel:
    folder = tmp_path_factory.mktemp("toy")
    trained = train_realizer(
        bank(folder, toy_content(150, 1)),
        "ordering",
        inputs="all",
        complete_from=("all", "relations"),
    )
    trained.save(folder / "model.npz")
    return open_realizer(folder / "model.npz")


def content(treebank: Treebank, model: RealizerModel, inputs: str, classes: tuple[str, ...] = BOTH):
    """Return the sentences that are made of a treebank without some classes of words."""
    completer, slots = model.completer(inputs), completed_slots(classes)
    trees = content_trees(treebank, completer.final_marks).without(slots)
    realized = realize_content(completer, model.ordering["all"], trees, slots)
    trees = realized.inserted.trees
    return [trees.sentence(i, best.nodes) for i, (best, *_) in enumerate(realized.orders)]


def references(treebank: Treebank) -> list[str]:
    pairs = pairwise(treebank.offsets.tolist())
    return [" ".join(treebank.words[a:b]).lower() for a, b in pairs]


@pytest.mark.parametrize("inputs", ["all", "relations"])
@pytest.mark.parametrize("classes", [BOTH, BOTH[:1], BOTH[1:]])
def test_the_language_is_learned(
    model: RealizerModel, tmp_path: Path, inputs: str, classes: tuple[str, ...]
) -> None:
    treebank = bank(tmp_path, toy_content(40, 2))
    right = sum(
        a == b
        for a, b in zip(
            content(treebank, model, inputs, classes), references(treebank), strict=True
        )
    )
    # From relations alone nothing tells a from the, or a question.
    assert right == 40 if inputs == "all" else right > 5


@pytest.mark.parametrize("inputs", ["all", "relations"])
def test_neither_order_nor_capitals_of_the_file_are_seen(
    model: RealizerModel, tmp_path: Path, inputs: str
) -> None:
    text = toy_content(25, 3)
    expected = content(bank(tmp_path, text), model, inputs)
    for seed in range(3):
        assert content(bank(tmp_path, scrambled(text, seed)), model, inputs) == expected
    lower = re.sub(r"(?m)^(\d+\t)(\S+)", lambda m: m[1] + m[2].lower(), text)
    assert lower != text
    assert content(bank(tmp_path, lower), model, inputs) == expected


def test_given_words_stay_and_slots_can_be_kept(model: RealizerModel, tmp_path: Path) -> None:
    noun = "1\tdog\tdog\tNOUN\tNOUN\tDefinite=Def|Number=Sing{more}\t2\tnsubj\t_\t_\n"
    verb = "2\tsleeps\tsleep\tVERB\tVERB\tMood=Ind\t0\troot\t_\t_\n"
    bare = bank(tmp_path, noun.format(more="") + verb + "\n")

    def realized_sentence(treebank: Treebank, **more) -> str:
        return realize_trees(model, treebank, inputs="all", **more).rows[0].sentence

    assert realized_sentence(bare, complete=BOTH) == "the dog sleeps ."
    assert realized_sentence(bare, complete=BOTH[:1]) == "the dog sleeps"
    assert realized_sentence(bare, complete=BOTH[1:]) == "dog sleeps ."
    assert realized_sentence(bare, complete=BOTH, keep=("article",)) == "dog sleeps ."
    closed = bank(tmp_path, noun.format(more="|Complete=No") + verb + "\n")
    assert realized_sentence(closed, complete=BOTH) == "dog sleeps ."
    that = "3\ta\ta\tDET\tDET\tDefinite=Ind|PronType=Art\t1\tdet\t_\t_\n"
    arguments = bank(tmp_path, noun.format(more="") + verb + that + "\n")
    assert realized_sentence(arguments, complete=BOTH) == "a dog sleeps ."


def test_the_words_beside_an_article_decide(model: RealizerModel, tmp_path: Path) -> None:
    treebank = bank(tmp_path, toy_content(60, 5))
    message = " ".join(content(treebank, model, "all"))
    assert " an owl " in f" {message}"
    assert not re.search(r"\b(a (owl|eel)|an (cat|dog|man))\b", message)


def test_a_stored_model_says_the_same(model: RealizerModel, tmp_path: Path) -> None:
    treebank = bank(tmp_path, toy_content(20, 6))
    model.save(tmp_path / "again.npz")
    again = open_realizer(tmp_path / "again.npz")
    assert isinstance(again.completer("all"), Completer)
    assert content(treebank, again, "relations") == content(treebank, model, "relations")
    assert "completion (words, relations)" in again.contents()


def test_a_completer_of_another_version_is_refused(model: RealizerModel) -> None:
    about, arrays = model.completer("all").parts()
    message = "m.npz: its completion is of version {}, and this Karat reads version 2: train"
    for version in (3, 1):
        with pytest.raises(InputError, match=message.format(version)):
            Completer.from_store(ModelStore("m.npz", about | {"version": version}, arrays))
    del about["version"]
    with pytest.raises(InputError, match=message.format(1)):
        Completer.from_store(ModelStore("m.npz", about, arrays))


def test_evaluation_has_rows_for_content_words(model: RealizerModel, tmp_path: Path) -> None:
    rows_found = evaluate_realizer(model, bank(tmp_path, toy_content(20, 7)))
    (both,) = [
        row
        for row in rows_found.rows
        if row.model == "completion: function words and punctuation"
        and row.inputs == "all, content words"
    ]
    assert both.bleu == pytest.approx(100)
    assert both.exact == 1
    scores = {(slot.inputs, slot.complete, slot.slot): slot for slot in rows_found.slots}
    assert scores["all", "function words", "aux"].f == 1
    assert scores["relations", "punctuation", "final"].words == 20
    assert "Words inserted" in [block.title for block in rows_found.document("").blocks]


def tall(words: int) -> str:
    """Return a tree in which every word is the daughter of the one before it."""
    return nouns(range(1, words))


def flat(words: int) -> str:
    """Return a tree in which all words are daughters of the first."""
    return nouns([1] * (words - 1))


def nouns(heads: Iterable[int]) -> str:
    verb = "1\tsleeps\tsleep\tVERB\tVERB\tMood=Ind\t0\troot\t_\t_\n"
    noun = "{}\tdog\tdog\tNOUN\tNOUN\tDefinite=Def|Number=Sing\t{}\tnsubj\t_\t_\n"
    return verb + "".join(noun.format(i, head) for i, head in enumerate(heads, 2)) + "\n"


@pytest.mark.parametrize("tree", [tall(1001), flat(3000)], ids=["tall", "flat"])
def test_long_sentences_are_refused_before_anything_is_made_of_them(
    model: RealizerModel, tmp_path: Path, tree: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    treebank = bank(tmp_path, toy_content(3, 1) + tree)
    monkeypatch.setattr(slot_features, "_sisters", None)
    words = int(treebank.offsets[-1] - treebank.offsets[-2])
    message = rf"line 2\d: {words:,} words: expected at most 1,000 in a sentence"
    with pytest.raises(InputError, match=message):
        realize_trees(model, treebank, inputs="all", complete=BOTH)
    with pytest.raises(InputError, match=rf"{words:,} words: expected at most 1,000"):
        explain_tree(model, treebank, 3, inputs="all", complete=BOTH)


@pytest.mark.parametrize("tree", [tall(900), flat(520)], ids=["tall", "flat"])
def test_inserted_words_do_not_count_in_the_length_of_a_sentence(
    model: RealizerModel, tmp_path: Path, tree: str
) -> None:
    treebank = bank(tmp_path, tree)
    sentences = realize_trees(model, treebank, inputs="all", complete=BOTH)
    words = sentences.rows[0].sentence.split(" ")
    # A noun has an article, the verb a mark.
    assert len(words) == 2 * len(treebank.words) > 1000
    nouns = len(treebank.words) - 1
    assert words.count("dog") == sum(word in ("a", "an", "the") for word in words) == nouns


@pytest.mark.parametrize("inputs", ["all", "relations"])
def test_blocks_of_any_size_make_the_same_sentences(
    model: RealizerModel, tmp_path: Path, inputs: str
) -> None:
    treebank = bank(tmp_path, toy_content(11, 9))
    realizer = ContentRealizer(model, inputs, completed_slots(BOTH))
    message: list[tuple[int, int, str]] = []

    def realized_rows(most: int) -> list[tuple[str, float]]:
        rows_found, ends = [], 0
        for first, part in realizer.realize_all(treebank, 2, most=most, progress=report):
            assert first == ends
            ends += len(part.content)
            scores = [order.score for sample in part.orders for order in sample]
            rows_found += zip(part.texts(), scores, strict=True)
        return rows_found

    def report(*args: object) -> None:
        message.append(args)  # type: ignore[arg-type]

    full_result = realized_rows(11)
    assert message == [(0, 11, "completing"), (11, 11, "completing")]
    message.clear()
    assert realized_rows(4) == full_result
    assert [done for done, *_ in message] == [0, 4, 8, 11]
    assert realized_rows(1) == full_result
    rows = realize_trees(model, treebank, 2, inputs=inputs, complete=BOTH).rows
    assert [(row.sentence, row.score) for row in rows] == full_result
    assert [row.tree for row in rows if row.rank == 1] == [*range(1, 12)]


def test_blocks_hold_few_sentences_and_few_pairs_of_sisters(tmp_path: Path) -> None:
    treebank = bank(tmp_path, toy_content(600, 9) + flat(600) * 3 + toy_content(1, 1))
    listed = list(split_into_blocks(treebank))
    assert [first for first, _ in listed] == [0, 256, 512, 600, 601, 602, 603]
    assert [len(part) for _, part in listed] == [256, 256, 88, 1, 1, 1, 1]
    assert [word for _, part in listed for word in part.words] == treebank.words
    assert [line for _, part in listed for line in part.lines.tolist()] == treebank.lines.tolist()


def test_evaluation_in_blocks_is_the_same(
    model: RealizerModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    treebank = bank(tmp_path, toy_content(10, 7))
    full_result = evaluate_realizer(model, treebank, "relations")
    monkeypatch.setattr(
        evaluation, "split_into_blocks", partial(split_into_blocks, max_sentences=3)
    )
    parts = evaluate_realizer(model, treebank, "relations")
    assert [row._replace(speed=0) for row in parts.rows] == [
        row._replace(speed=0) for row in full_result.rows
    ]
    assert parts.slots == full_result.slots


def test_an_evaluation_of_one_input_has_its_completion(
    model: RealizerModel, tmp_path: Path
) -> None:
    treebank = bank(tmp_path, toy_content(5, 7))

    def inputs(*names: str) -> list[str]:
        rows = evaluate_realizer(model, treebank, *names).rows
        return list(dict.fromkeys(row.inputs for row in rows))

    assert inputs("all") == ["all", "all, content words"]
    assert inputs("relations") == ["relations, content words"]
    all_values = ["all", "all, content words", "relations, content words"]
    assert inputs() == inputs("every") == inputs("relations, all") == all_values
    without = replace(model, completion={"all": model.completion["all"]})
    with pytest.raises(InputError, match="train it with --complete-from relations"):
        evaluate_realizer(without, treebank, "relations")
    with pytest.raises(InputError, match="expected one of words, all, relations, lemmas, every"):
        evaluate_realizer(model, treebank, "all,lemon")


def test_an_explanation_tells_what_else_was_possible(model: RealizerModel, tmp_path: Path) -> None:
    treebank = bank(tmp_path, toy_content(20, 8))
    bare = replace(treebank, relations=["dep" if r == "det" else r for r in treebank.relations])
    explanation = explain_tree(model, bare, 0, 2, inputs="relations", complete=BOTH)
    assert explanation.completion is not None
    slots = groupby(explanation.completion.fillings, key=lambda item: (item.word, item.slot))
    for chances in ([item.probability for item in group] for _, group in slots):
        assert chances[:3] == sorted(chances[:3], reverse=True)
    assert [(row.model, row.exact) for row in explanation.rows] == [("completion", None)]
    notes = [note for table in explanation.document("").tables for note in table.notes]
    assert "Relations were given, categories and tags guessed." in notes
    optional = explanation.completion.optional
    words = [word for item in optional for word in item.word.split()]
    assert words == explanation.rows[0].sentence.split()
    assert any(item.alternatives for item in optional)
    assert all(item.alternatives for item in optional if not item.word)
    blank = replace(treebank, upos=["_"] * len(treebank.words))
    with pytest.raises(InputError, match=r"no tags \(UPOS\)"):
        explain_tree(model, blank, 0, inputs="all", complete=BOTH)
    with pytest.raises(InputError, match=r"no tree 21; the last is tree 20"):
        explain_tree(model, treebank, 20, inputs="all", complete=BOTH)


def test_an_explanation_has_a_filling_its_probability_and_the_runner_up(
    model: RealizerModel, tmp_path: Path
) -> None:
    noun = "1\towl\towl\tNOUN\tNOUN\tNumber=Sing\t2\tnsubj\t_\t_\n"
    verb = "2\tsleeps\tsleep\tVERB\tVERB\tMood=Ind\t0\troot\t_\t_\n\n"
    trees = bank(tmp_path, noun + verb)
    explanation = explain_tree(model, trees, 0, inputs="relations", complete=BOTH)
    assert explanation.completion is not None
    rows = [filling for filling in explanation.completion.fillings if filling.slot == "article"]
    best, second, third = (filling[:5] for filling in rows)
    assert explanation.rows[0].sentence.startswith("the owl sleeps")
    # An owl has one article as often as the other, and `a` never.
    assert best == ("owl", "article", "the", pytest.approx(0.5, abs=0.05), True)
    assert second == ("owl", "article", "an", pytest.approx(0.5, abs=0.05), False)
    assert third == ("owl", "article", "a", pytest.approx(0, abs=0.05), False)
    assert explanation.completion.optional[0] == ("the", best[3], (("an", second[3]),))


def test_an_explanation_tells_what_decided(model: RealizerModel, tmp_path: Path) -> None:
    treebank = bank(tmp_path, toy_content(30, 8))
    without = replace(treebank, features=["" for _ in treebank.words])
    trees = content_trees(without, model.completer("all").final_marks).without(
        completed_slots(BOTH)
    )
    realized = realize_content(
        model.completer("all"), model.ordering["all"], trees, completed_slots(BOTH)
    )
    assert realized.scores
    weights = WEIGHTS["all"]
    for (slot, node), scores in realized.scores.items():
        best = max(scores, key=lambda filling: scores[filling].total)
        assert realized.fillings[slot][node] == best
        for filling, score in scores.items():
            *parts, total = score
            assert sum(parts) == pytest.approx(total)
            assert score.bonus == pytest.approx(weights[slot].word * sum(map(len, filling)))
            assert bool(score.language_model) == bool(weights[slot].words)
            assert bool(score.class_model) == bool(weights[slot].classes)
    fillings = explain_completion(realized, trees.words).fillings
    assert all(item.total == 0.0 for item in fillings if item.chosen and item.total is not None)
    compared = [item for item in fillings if not item.chosen and item.total is not None]
    assert compared
    for item in compared:
        parts = item.log_p, item.language_model, item.class_model, item.bonus
        assert sum(part for part in parts if part is not None) == pytest.approx(item.total)
        assert item.total is not None
        assert item.total <= 0


def test_an_empty_slot_is_told_from_the_word_nothing(model: RealizerModel, tmp_path: Path) -> None:
    trees = bank(tmp_path, toy_content(1, 8))
    explanation = explain_tree(model, trees, 0, inputs="all", complete=BOTH)
    assert explanation.completion is not None
    rows = [SlotFilling("owl", "case", text, 0.5, not text) for text in ("", "nothing")]
    other = replace(explanation, completion=explanation.completion._replace(fillings=tuple(rows)))
    document = other.document("")
    slots = json.loads("".join(render_json(document)))["slots"]
    assert [(row["filling"], row["chosen"]) for row in slots] == [("", True), ("nothing", False)]
    (table,) = [block for block in document.blocks if block.title == "Words inserted"]
    assert [table.column("said").cell(row) for row in table.rows] == ["nothing", "nothing"]


def test_odd_trees_are_completed(model: RealizerModel, tmp_path: Path) -> None:
    alone = "1\tto\tto\tPART\tTO\t_\t0\troot\t_\t_\n2\tof\tof\tADP\tIN\t_\t1\tcase\t_\t_\n\n"
    unseen = (
        "1\tqq\tqq\tZZ\tZZ\tNew=Yes\t0\troot\t_\t_\n2\tq\tq\tYY\tYY\tOld=No\t1\tnew:one\t_\t_\n\n"
    )
    for text in (alone, unseen):
        for inputs in ("all", "relations"):
            rows = realize_trees(model, bank(tmp_path, text), inputs=inputs, complete=BOTH).rows
            assert [bool(row.sentence) for row in rows] == [True]


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        (
            {"complete": ("verbs",)},
            "complete='verbs': expected some of function-words, punctuation",
        ),
        ({"complete": BOTH, "keep": ("verb",)}, "keep='verb': expected some of aux, mark"),
        ({"keep": ("aux",)}, "--keep is for --complete"),
        ({"inputs": "relations"}, "--inputs relations is for --complete"),
        (
            {"inputs": "words", "complete": BOTH},
            "where to insert function words and punctuation: give",
        ),
    ],
)
def test_wrong_requests_are_refused(
    model: RealizerModel, tmp_path: Path, expected: dict, message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        realize_trees(model, bank(tmp_path, toy_content(2, 1)), **({"inputs": "all"} | expected))


def test_a_model_without_the_part_says_what_to_train(model: RealizerModel, tmp_path: Path) -> None:
    treebank = bank(tmp_path, toy_content(2, 1))
    without = replace(model, completion={})
    with pytest.raises(InputError, match="train it with --complete-from relations"):
        realize_trees(without, treebank, inputs="relations", complete=BOTH)
    with pytest.raises(InputError, match="--complete-from needs a realizer for words with tags"):
        train_realizer(treebank, "ordering", complete_from=["all"])
    plain = replace(treebank, features=[""] * len(treebank.words))
    with pytest.raises(InputError, match=r"no features \(FEATS\)"):
        train_realizer(plain, "ordering", inputs="all", complete_from=["all"])
    with pytest.raises(InputError, match="complete_from='words': expected some of all, relations"):
        train_realizer(treebank, "ordering", inputs="all", complete_from=["all", "words"])


def run(*arguments: object) -> str:
    """Return what a command prints, or its error."""
    done = CliRunner().invoke(command, [*map(str, arguments)], standalone_mode=False)
    return str(done.exception) if done.exception else done.output


def test_commands_complete_trees_in_brackets(model: RealizerModel, tmp_path: Path) -> None:
    model.save(tmp_path / "m.npz")
    path = tmp_path / "trees.txt"
    path.write_text("(sleeps root VERB VBZ Mood=Ind (dog nsubj NOUN NN Definite=Def|Number=Sing))")
    arguments = (
        path,
        "--model",
        tmp_path / "m.npz",
        "--inputs",
        "all",
        "--complete",
        ",".join(BOTH),
    )
    assert run("generate", *arguments) == "the dog sleeps .\n"
    assert run("generate", *arguments, "--keep", "article") == "dog sleeps .\n"
    explained = json.loads(run("explain", *arguments, "--keep", "article", "-f", "json"))
    assert explained["results"][0]["sentence"] == "dog sleeps ."
    chosen = {row["slot"]: row["filling"] for row in explained["slots"] if row["chosen"] is True}
    assert chosen["final"] == "."
    assert "article" not in chosen
    assert "--keep is for --complete" in run("explain", *arguments[:-2], "--keep", "aux")


def test_every_input_is_evaluated_without_a_note(model: RealizerModel, tmp_path: Path) -> None:
    model.save(tmp_path / "m.npz")
    bank(tmp_path, toy_content(2, 1))
    arguments = [
        "evaluate",
        str(tmp_path / "toy.conllu"),
        "--model",
        str(tmp_path / "m.npz"),
        "-f",
        "tsv",
    ]

    done = CliRunner().invoke(command, arguments, standalone_mode=False)
    assert (done.exception, done.stderr) == (None, "")
    assert "expected one of" in run(*arguments, "--inputs", "both")
    assert "trained for inputs=words" in run(*arguments, "--inputs", "words")


@pytest.mark.parametrize("inputs", ["words", "all", "lemmas"])
def test_generate_names_what_it_does_not_know(tmp_path: Path, inputs: str) -> None:
    arguments = (
        "generate",
        tmp_path / "t.conllu",
        "--model",
        tmp_path / "m.npz",
        "--inputs",
        inputs,
    )
    message = "expected some of function-words, punctuation"
    assert run(*arguments, "--complete", "verbs") == f"complete='verbs': {message}"


def test_train_names_the_inputs_that_it_does_not_know(tmp_path: Path) -> None:
    bank(tmp_path, toy_content(2, 1))
    arguments = ("train", tmp_path / "toy.conllu", "-o", tmp_path / "m.npz", "--inputs", "all")
    completed = run(*arguments, "--complete-from", "all,words")
    assert completed == "complete_from='words': expected some of all, relations"
    assert not (tmp_path / "m.npz").exists()
