"""`karat realize`: train, generate, evaluate, explain, grammar, demo; and what is refused."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from karat.realize import labelling, ordering_training
from karat.realize.model import open_realizer

DEMO = resources.files("karat") / "data" / "treebank" / "demo.conllu"
EXAMPLE = "there was no cost estimate for the second phase ."
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the bundled treebank and a model that was trained on it."""
    folder = tmp_path_factory.mktemp("realize")
    (folder / "bank.conllu").write_text(DEMO.read_text("utf-8"), "utf-8")
    done = run("train", folder / "bank.conllu", "-o", folder / "model.npz")
    assert done.output.endswith("MB\n"), done.output
    return folder


def run(*arguments: object) -> Result:
    """The command in this process; its exit code is what the shell would see."""
    from karat.cli.realize import command

    return CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)


def output(*arguments: object) -> str:
    done = run(*arguments)
    assert done.exception is None, done.exception
    return done.output


def test_generate_writes_a_sentence_a_line(place: Path) -> None:
    shown = output("generate", place / "model.npz", place / "bank.conllu").splitlines()
    assert len(shown) == 182
    assert shown[0] == EXAMPLE


def test_generate_with_several_sentences_is_a_table(place: Path) -> None:
    shown = output(
        "generate", place / "model.npz", place / "bank.conllu", "--n-best", 2, "-f", "json"
    )
    rows = json.loads(shown)["rows"]
    assert [(row["tree"], row["rank"]) for row in rows[:3]] == [(1, 1), (1, 2), (2, 1)]
    assert rows[0]["sentence"] == EXAMPLE
    assert rows[0]["score"] > rows[1]["score"]


def test_generate_puts_in_punctuation(place: Path) -> None:
    bare = place / "bare.conllu"
    bare.write_text(
        "1\tshe\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tsleeps\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    )
    assert output("generate", place / "model.npz", bare) == "she sleeps\n"
    assert output("generate", place / "model.npz", bare, "--punctuate") == "she sleeps .\n"


def test_evaluate_sets_the_realisers_beside_the_paper(place: Path) -> None:
    shown = json.loads(output("evaluate", place / "model.npz", place / "bank.conllu", "-f", "json"))
    names = [(row["model"], row["inputs"]) for row in shown["rows"]]
    assert names == [
        ("LR, random trees", "words"),
        ("LR, real trees", "words"),
        ("LR, real trees, trigrams", "words"),
        ("supertags", "words"),
        ("supertags", "all"),
    ]
    assert shown["paper"][1]["simple"] == 0.589
    assert "gtm" in shown["signature"]
    for row in shown["rows"]:
        assert row["simple"] <= row["generation"] <= 1
        assert row["speed"] > 0


def test_explain_shows_supertags_lattice_and_paths(place: Path) -> None:
    shown = output("explain", place / "model.npz", place / "bank.conllu")
    assert "expl * nsubj" in shown
    assert "word sequences" in shown
    assert EXAMPLE in shown
    drawn = output("explain", place / "model.npz", place / "bank.conllu", "-f", "svg")
    assert drawn.startswith("<svg")
    assert "estimate" in drawn


def test_a_tree_of_one_word_is_explained(place: Path) -> None:
    one = place / "one.conllu"
    one.write_text("1\tYes\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n")
    shown = output("explain", place / "model.npz", one)
    assert "yes → 1" in shown
    assert output("explain", place / "model.npz", one, "-f", "svg").startswith("<svg")


def test_what_the_ordering_model_generates_is_explained(place: Path) -> None:
    few = place / "few.conllu"
    few.write_text("\n\n".join(DEMO.read_text("utf-8").split("\n\n")[:12]) + "\n\n", "utf-8")
    output("train", few, "-o", place / "both.npz", "--model", "all")
    said = json.loads(output("explain", place / "both.npz", few, "-f", "json"))
    assert len(said["ordered"]) == len(said["treelets"])
    assert {"treelet", "side", "pair", "neighbour", "triple"} <= set(said["ordered"][0])
    written = output("generate", place / "both.npz", few).splitlines()[0]
    assert f"generate writes: {written} (score" in " ".join(said["notes"])


def test_an_ordering_model_alone_punctuates(place: Path) -> None:
    few, bare = place / "twelve.conllu", place / "bare.conllu"
    few.write_text("\n\n".join(DEMO.read_text("utf-8").split("\n\n")[:12]) + "\n\n", "utf-8")
    bare.write_text(
        "1\tphase\t_\tNOUN\t_\t_\t0\troot\t_\t_\n2\tthe\t_\tDET\t_\t_\t1\tdet\t_\t_\n\n"
    )
    output("train", few, "-o", place / "ordering.npz", "--model", "ordering")
    shown = output("generate", place / "ordering.npz", bare, "--punctuate")
    assert shown.strip() in {"the phase .", "phase the ."}


@pytest.mark.parametrize("source", ["model.npz", "bank.conllu"])
def test_the_grammar_of_a_model_is_that_of_its_treebank(place: Path, source: str) -> None:
    shown = output("grammar", place / source, "--most", 500)
    assert "nsubj * obj" in shown
    assert "nsubj↓" in shown
    assert output("grammar", place / source, "-f", "svg").startswith("<svg")


def test_the_demonstration_realises_the_papers_example() -> None:
    assert EXAMPLE in output("demo")


BAD = {
    "cycle": ("1\ta\t_\tX\t_\t_\t2\tdet\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdet\t_\t_\n\n", "no root"),
    "loop": (
        "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t3\tdet\t_\t_\n"
        "3\tc\t_\tX\t_\t_\t2\tdet\t_\t_\n\n",
        "a cycle",
    ),
    "roots": (
        "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n\n",
        "are both roots",
    ),
    "wordless": ("1\t\t_\tX\t_\t_\t0\troot\t_\t_\n\n", "has no form"),
    "columns": ("1 a _ X\n", "found 1 columns, expected 10"),
    "nothing": ("\n\n", "no sentences"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_trees_are_refused_by_every_command(place: Path, karat: Run, name: str) -> None:
    text, message = BAD[name]
    path = place / f"{name}.conllu"
    path.write_text(text)
    done = karat("realize", "generate", str(place / "model.npz"), str(path))
    said = done.stderr.decode()
    assert done.returncode == 2
    assert message in said
    assert "Traceback" not in said
    trained = run("train", path, "-o", place / "never.npz")
    assert message in str(trained.exception)
    assert not (place / "never.npz").exists()


def test_an_ordering_model_for_words_has_no_other(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordering_training, "BITS", 16)
    monkeypatch.setattr(labelling, "BITS", 16)
    model, bank = place / "words.npz", place / "bank.conllu"
    output("train", bank, "-o", model, "--model", "ordering", "--inputs", "words")
    assert len(output("generate", model, bank).splitlines()) == 182
    for command in ("generate", "evaluate"):
        done = run(command, model, bank, "--inputs", "all")
        assert "was not trained for inputs=all: train it with --inputs all" in str(done.exception)


def test_a_model_for_both_inputs_has_two(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering_training, "BITS", 16)
    monkeypatch.setattr(labelling, "BITS", 16)
    model = place / "both.npz"
    output("train", place / "bank.conllu", "-o", model, "--model", "ordering", "--inputs", "both")
    assert set(open_realizer(model).ordering) == {"words", "all"}


def test_what_is_no_model_is_refused(place: Path, karat: Run) -> None:
    done = karat("realize", "generate", str(place / "bank.conllu"), str(place / "bank.conllu"))
    assert done.returncode == 2
    assert "expected a realiser of Karat" in done.stderr.decode()
    missing = karat("realize", "grammar", "nowhere.npz")
    assert missing.returncode == 2
    assert "nowhere.npz: No such file" in missing.stderr.decode()


def test_a_tree_that_is_not_there_is_refused(place: Path) -> None:
    done = run("explain", place / "model.npz", place / "bank.conllu", "--tree", 183)
    assert "there is no tree 183; the last is tree 182" in str(done.exception)


def test_the_group_lists_its_commands() -> None:
    shown = output()
    assert all(name in shown for name in ("train", "generate", "evaluate", "explain", "grammar"))
