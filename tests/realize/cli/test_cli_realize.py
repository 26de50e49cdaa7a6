"""`karat realize`: train, generate, evaluate, explain, grammar, demo; and what is refused."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from karat.realize import labelling
from karat.realize import ordering as ordering_training
from karat.realize.model import KIND, VERSION, RealizerModel, open_realizer
from karat.storage.store import read_store, write_store

DEMO = resources.files("karat") / "data" / "treebank" / "demo.conllu"
EXAMPLE = "there was no cost estimate for the second phase ."
Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the bundled treebank and a model that was trained on it."""
    folder = tmp_path_factory.mktemp("realize")
    (folder / "bank.conllu").write_text(DEMO.read_text("utf-8"), "utf-8")
    done = run("train", folder / "bank.conllu", "-o", folder / "model.npz", "--realizer", "fergus")
    assert "baselines, supertags, trained on 182 sentences in" in done.output
    assert done.output.endswith("MB\n")
    return folder


@pytest.fixture(scope="module")
def full_model(place: Path) -> Path:
    """A model with all realisers, as it is trained by default, but of small tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordering_training, "BITS", 16)
        patch.setattr(labelling, "BITS", 16)
        done = run("train", place / "bank.conllu", "-o", place / "whole.npz")
        output("train", place / "bank.conllu", "-o", place / "alone.npz", "--realizer", "ordering")
    assert "baselines, supertags, ordering model (words), trained on" in done.output
    return place / "whole.npz"


def run(*arguments: object) -> Result:
    """The command in this process; its exit code is what the shell would see."""
    from karat.realize.cli import command

    return CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)


def output(*arguments: object) -> str:
    done = run(*arguments)
    assert done.exception is None, done.exception
    return done.output


def test_generate_writes_a_sentence_a_line(place: Path) -> None:
    expected_output = output(
        "generate", place / "bank.conllu", "--model", place / "model.npz"
    ).splitlines()
    assert len(expected_output) == 182
    assert expected_output[0] == EXAMPLE


def test_generate_with_several_sentences_is_a_table(place: Path) -> None:
    expected_output = output(
        "generate",
        place / "bank.conllu",
        "--model",
        place / "model.npz",
        "--n-best",
        2,
        "-f",
        "json",
    )
    rows = json.loads(expected_output)["rows"]
    assert [(row["tree"], row["rank"]) for row in rows[:3]] == [(1, 1), (1, 2), (2, 1)]
    assert rows[0]["sentence"] == EXAMPLE
    assert rows[0]["score"] > rows[1]["score"]


def test_generate_puts_in_punctuation(place: Path) -> None:
    bare = place / "bare.conllu"
    bare.write_text(
        "1\tshe\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tsleeps\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    )
    assert output("generate", bare, "--model", place / "model.npz") == "she sleeps\n"
    arguments = ("generate", bare, "--model", place / "model.npz")
    assert output(*arguments, "--complete", "punctuation") == "she sleeps .\n"


def test_evaluate_sets_the_realisers_beside_the_paper(place: Path, full_model: Path) -> None:
    parsed = json.loads(
        output("evaluate", place / "bank.conllu", "--model", full_model, "-f", "json")
    )
    names = [(row["model"], row["inputs"]) for row in parsed["rows"]]
    assert names == [
        ("LR, random trees", "words"),
        ("LR, real trees", "words"),
        ("supertags", "words"),
        ("ordering model", "words"),
        ("supertags", "all"),
    ]
    assert [row["simple"] for row in parsed["paper"]] == [0.412, 0.589]
    assert "gtm" in parsed["signature"]
    for row in parsed["rows"]:
        assert row["simple"] <= row["generation"] <= 1
        assert 0 <= row["gtm"] <= 1
        assert 0 <= row["exact"] <= 1
        assert row["speed"] > 0
    assert "no ordering model for words with tags and relations" in " ".join(parsed["notes"])


@pytest.mark.parametrize("format", ["text", "html", "md", "latex"])
def test_evaluate_has_everything_in_every_format(place: Path, format: str) -> None:
    expected_output = output(
        "evaluate", place / "bank.conllu", "--model", place / "model.npz", "-f", format
    )
    for word in ("GTM F", "Exact", "Sent./s", "Gen. tree", "0.762", "Table 1"):
        assert word in expected_output
    assert "these figures say nothing about other text" in " ".join(expected_output.split())


def test_evaluate_tells_how_much_was_trained_on(place: Path, tmp_path: Path) -> None:
    trained = output(
        "evaluate", place / "bank.conllu", "--model", place / "model.npz", "-f", "json"
    )
    assert json.loads(trained)["training"] == [{"sentences": 182, "seen": 182, "share": 1.0}]
    first, *_ = DEMO.read_text("utf-8").split("\n\n")
    other = "1\tOh\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "a.conllu").write_text(first + "\n\n" + 3 * other, "utf-8")
    parsed = json.loads(
        output("evaluate", tmp_path / "a.conllu", "--model", place / "model.npz", "-f", "json")
    )
    assert parsed["training"] == [{"sentences": 4, "seen": 1, "share": 0.25}]
    assert "1 of 4 sentences (25.0%) occur in what the model was trained on too." in parsed["notes"]
    (tmp_path / "b.conllu").write_text(other)
    none = output("evaluate", tmp_path / "b.conllu", "--model", place / "model.npz")
    assert "The model was trained on none of these sentences." in none
    listed = output("evaluate", tmp_path / "b.conllu", "--model", place / "model.npz", "-f", "tsv")
    assert listed.endswith("sentences\tseen\tshare\n1\t0\t0.0\n")


@pytest.mark.parametrize("order", [1, 2, 4, 6])
def test_the_language_model_has_the_order_asked_for(place: Path, order: int) -> None:
    model = place / "order.npz"
    arguments = ("--realizer", "fergus", "--lm-order", order)
    output("train", place / "bank.conllu", "-o", model, *arguments)
    assert open_realizer(model).require_fergus().lm.order == order
    assert len(output("generate", place / "bank.conllu", "--model", model).splitlines()) == 182


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--realizer", "ordering", "--lm-order", 4), "--lm-order is for the LP Chooser, which"),
        (("--realizer", "fergus", "--inputs", "both"), "--inputs is for the ordering model, which"),
    ],
)
def test_options_of_a_model_that_is_not_trained_are_refused(
    place: Path, options: tuple[object, ...], sentence: str
) -> None:
    done = run("train", place / "bank.conllu", "-o", place / "never.npz", *options)
    assert isinstance(done.exception, click.UsageError)
    assert done.exception.message.startswith(sentence)
    assert not (place / "never.npz").exists()


def test_explain_shows_assignments_lattice_and_paths(place: Path) -> None:
    expected_output = output("explain", place / "bank.conllu", "--model", place / "model.npz")
    assert "expl * nsubj" in expected_output
    assert "word sequences" in expected_output
    assert EXAMPLE in expected_output
    assert "phase: obl instead of nmod" in expected_output
    drawing = output("explain", place / "bank.conllu", "--model", place / "model.npz", "-f", "svg")
    assert drawing.startswith("<svg")
    assert "estimate" in drawing


def test_explain_marks_the_best_path_in_plain_text(place: Path, full_model: Path) -> None:
    expected_output = output("explain", place / "bank.conllu", "--model", full_model)
    assert "stressed" not in expected_output
    assert "5 orders, the best marked." in expected_output
    best = [line for line in expected_output.splitlines() if "▸ there" in line]
    assert len(best) == 2  # of the lattice and of the orders


def test_explain_lists_every_supertag_of_every_assignment(place: Path) -> None:
    message = output("explain", place / "bank.conllu", "--model", place / "model.npz", "-f", "json")
    parsed = json.loads(message)
    assert [row["rank"] for row in parsed["assignments"]] == [1, 2, 3, 4, 5]
    scores = [row["score"] for row in parsed["assignments"]]
    assert scores == sorted(scores, reverse=True)
    assert len(parsed["assigned"]) == 5 * len(parsed["nodes"])
    for rank in range(2, 6):
        rows = [row for row in parsed["assigned"] if row["rank"] == rank]
        pairs = zip(rows, parsed["nodes"], strict=True)
        other = [a["word"] for a, b in pairs if any(a[key] != b[key] for key in b)]
        assert other == [row["word"] for row in rows if row["differs"]]
        assert all(f"{word}: " in parsed["assignments"][rank - 1]["changes"] for word in other)
    assert {"head", "start", "end", "word", "score"} <= set(parsed["arcs"][0])


def test_a_tree_of_one_word_is_explained(place: Path) -> None:
    item = place / "one.conllu"
    item.write_text("1\tYes\t_\tINTJ\t_\t_\t0\troot\t_\t_\n\n")
    expected_output = output("explain", item, "--model", place / "model.npz")
    assert "yes → 1" in expected_output
    assert output("explain", item, "--model", place / "model.npz", "-f", "svg").startswith("<svg")
    assert "1 word sequence." in output(
        "explain", item, "--model", place / "model.npz", "--unpruned"
    )


def test_all_orders_are_drawn_without_costs(place: Path) -> None:
    arguments = ("explain", place / "bank.conllu", "--model", place / "model.npz")
    message = "Word lattice, unpruned and unweighted"
    assert message not in output(*arguments)
    assert message in output(*arguments, "--unpruned")
    assert output(*arguments, "-f", "json") in output(
        *arguments, "--unpruned", "-f", "json"
    ).replace(" --unpruned", "")
    for form in ("svg", "html"):
        assert message in output(*arguments, "--unpruned", "-f", form)


@pytest.mark.parametrize("model", ["whole.npz", "alone.npz"])
def test_what_the_ordering_model_generates_is_explained(
    place: Path, full_model: Path, model: str
) -> None:
    path = place / model
    parsed = json.loads(output("explain", place / "bank.conllu", "--model", path, "-f", "json"))
    assert ("nodes" in parsed) == (path == full_model)
    assert {"treelet", "side", "pair", "neighbour", "triple"} <= set(parsed["ordered"][0])
    written = output("generate", place / "bank.conllu", "--model", path).splitlines()[0]
    assert parsed["orders"][0]["sentence"] == parsed["results"][-2]["sentence"] == written
    assert parsed["results"][-1]["sentence"] == EXAMPLE
    for row in parsed["orders"]:
        assert row["features"] + row["lm"] == pytest.approx(row["score"])
    total = sum(row["sum"] for row in parsed["ordered"])
    assert total == pytest.approx(parsed["orders"][0]["features"])
    assert parsed["labels"][0]["word"] == "was"
    for form in ("svg", "html"):
        assert "<svg" in output("explain", place / "bank.conllu", "--model", path, "-f", form)


def test_an_order_loses_by_its_treelets_and_the_language_model(
    place: Path, full_model: Path
) -> None:
    parsed = json.loads(
        output("explain", place / "bank.conllu", "--model", full_model, "-f", "json")
    )
    best = parsed["orders"][0]
    for order in parsed["orders"][1:]:
        rows = [row for row in parsed["other_treelets"] if row["rank"] == order["rank"]]
        lost = sum(row["less"] for row in rows)
        assert order["features"] == pytest.approx(best["features"] + lost, abs=1e-4)


@pytest.mark.parametrize("model", ["model.npz", "alone.npz"])
def test_both_realisers_list_the_best_and_punctuate(
    place: Path, full_model: Path, model: str
) -> None:
    bare = place / "bare.conllu"
    bare.write_text(
        "1\tshe\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tsleeps\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
        "3\twell\t_\tADV\t_\t_\t2\tadvmod\t_\t_\n\n"
    )
    arguments = ("generate", bare, "--model", place / model, "--n-best", 3, "-f", "json")
    rows = json.loads(output(*arguments, "--complete", "punctuation"))["rows"]
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert len({row["sentence"] for row in rows}) == 3
    for row in rows:
        assert row["sentence"].split()[-1] in {".", "?", "!"}
        assert {"she", "sleeps", "well"} <= set(row["sentence"].split())


@pytest.mark.parametrize("source", ["model.npz", "bank.conllu"])
def test_the_grammar_of_a_model_is_that_of_its_treebank(place: Path, source: str) -> None:
    expected_output = output("grammar", place / source, "--most", 500)
    assert "nsubj * obj" in expected_output
    assert "nsubj↓" in expected_output
    assert output("grammar", place / source, "-f", "svg").startswith("<svg")


def test_the_demonstration_realises_the_papers_example() -> None:
    parsed = json.loads(output("demo", "-f", "json"))
    written = {row["model"]: row["sentence"] for row in parsed["results"]}
    assert written == {"supertags": EXAMPLE, "ordering model": EXAMPLE, "the file": EXAMPLE}


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
    "empty": ("", "is empty: expected CoNLL-U, "),
    "latin": (
        "1\tcaf\udce9\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n",
        "line 1: not valid UTF-8; convert the file",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_trees_are_refused_by_every_command(place: Path, karat: Run, name: str) -> None:
    text, message = BAD[name]
    path = place / f"{name}.conllu"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    refused(karat("realize", "generate", str(path), "--model", str(place / "model.npz")), message)
    for command in ("generate", "evaluate", "explain"):
        assert message in str(run(command, path, "--model", place / "model.npz").exception)
    assert message in str(run("grammar", path).exception)
    assert message in str(run("train", path, "-o", place / "never.npz").exception)
    assert not (place / "never.npz").exists()


@pytest.mark.parametrize(("tag", "lacking"), [("_", "tags (UPOS)"), ("X", "relations")])
def test_labels_that_are_not_there_are_not_taken_as_given(
    place: Path, tag: str, lacking: str
) -> None:
    path = place / f"unlabelled-{tag}.conllu"
    path.write_text(f"1\tthe\t_\t{tag}\t_\t_\t2\t_\t_\t_\n2\tcost\t_\t{tag}\t_\t_\t0\t_\t_\t_\n\n")
    for command in ("generate", "evaluate", "explain"):
        done = run(command, path, "--model", place / "model.npz", "--inputs", "all")
        assert f"no {lacking}: give --inputs words" in str(done.exception)
        assert (
            run(command, path, "--model", place / "model.npz", "--inputs", "words").exit_code == 0
        )


def refused(done: subprocess.CompletedProcess[bytes], message: str) -> None:
    """One sentence, exit code 2."""
    expected_message = done.stderr.decode()
    assert done.returncode == 2
    assert message in expected_message
    assert expected_message.startswith("karat: ")
    assert expected_message.count("\n") == 1
    assert not done.stdout


def test_folders_are_refused(place: Path, karat: Run) -> None:
    bank, folder = str(place / "bank.conllu"), str(place)
    for arguments in (
        ("train", folder, "-o", "x.npz"),
        ("generate", folder, "--model", place / "model.npz"),
    ):
        done = karat("realize", *map(str, arguments))
        refused(done, "is a directory: expected a text file, CoNLL-U, ")
    refused(karat("realize", "grammar", folder), "expected a file, found a directory")
    message = "expected a realiser of Karat, found a directory"
    refused(karat("realize", "generate", bank, "--model", folder), message)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9, 0.999])
def test_a_truncated_model_is_refused(place: Path, karat: Run, share: float) -> None:
    full_result = (place / "model.npz").read_bytes()
    cut = place / "cut.npz"
    cut.write_bytes(full_result[: int(share * len(full_result))])
    done = karat("realize", "generate", str(place / "bank.conllu"), "--model", str(cut))
    refused(done, "expected a realiser of Karat, found a damaged or truncated one")
    for command in ("evaluate", "explain"):
        assert "truncated" in str(run(command, place / "bank.conllu", "--model", cut).exception)
    assert "truncated" in str(run("grammar", cut).exception)


def test_a_model_of_another_version_is_refused(place: Path, karat: Run) -> None:
    store = read_store(place / "model.npz", KIND, VERSION)
    about = {k: v for k, v in store.about.items() if k not in ("kind", "version")}
    write_store(place / "old.npz", KIND, VERSION - 1, about, store.arrays)
    done = karat(
        "realize", "generate", str(place / "bank.conllu"), "--model", str(place / "old.npz")
    )
    message = f"a realiser of version {VERSION - 1}, and this Karat reads version {VERSION}"
    refused(done, message)


def star(daughters: int) -> str:
    """A head with many daughters."""
    rows = [f"{i}\tw{i}\t_\tNOUN\t_\t_\t1\tobl\t_\t_\n" for i in range(2, 2 + daughters)]
    return "".join(["1\tis\t_\tVERB\t_\t_\t0\troot\t_\t_\n", *rows])


LONG = "a head with 60 daughters"  # drawing its lattice takes long: 12 are the short form
ODD = {
    "a head with 12 daughters": star(12),
    LONG: star(60),
    "one word": "1\tYes\t_\tINTJ\t_\t_\t0\troot\t_\t_\n",
    "words never seen": "1\tqwxz\t_\tQQ\t_\t_\t2\tzz\t_\t_\n2\t日本\t_\t_\t_\t_\t0\troot\t_\t_\n",
    "not projective": "1\ta\t_\tX\t_\t_\t3\tdet\t_\t_\n2\tb\t_\tX\t_\t_\t4\tdet\t_\t_\n"
    "3\tc\t_\tX\t_\t_\t0\troot\t_\t_\n4\td\t_\tX\t_\t_\t3\tobj\t_\t_\n",
}


@pytest.mark.parametrize(
    "name", [pytest.param(LONG, marks=pytest.mark.long), *(name for name in ODD if name != LONG)]
)
@pytest.mark.parametrize("model", ["model.npz", "alone.npz"])
def test_odd_trees_are_realised_and_explained(
    place: Path, full_model: Path, model: str, name: str
) -> None:
    path = place / "odd.conllu"
    path.write_text(ODD[name] + "\n", "utf-8")
    words = sorted(line.split("\t")[1].lower() for line in ODD[name].splitlines())
    assert sorted(output("generate", path, "--model", place / model).split()) == words
    parsed = json.loads(output("explain", path, "--model", place / model, "-f", "json"))
    assert sorted(parsed["results"][0]["sentence"].split()) == words
    assert output("explain", path, "--model", place / model, "-f", "svg").startswith("<svg")
    row = json.loads(output("evaluate", path, "--model", place / model, "-f", "json"))["rows"][-1]
    assert row["exact"] in {0, 1}


def test_a_treebank_without_projective_trees_trains_every_model(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordering_training, "BITS", 16)
    monkeypatch.setattr(labelling, "BITS", 16)
    bank = place / "crossed.conllu"
    bank.write_text(3 * (ODD["not projective"] + "\n"))
    output("train", bank, "-o", place / "crossed.npz", "--inputs", "both")
    rows = json.loads(output("evaluate", bank, "--model", place / "crossed.npz", "-f", "json"))[
        "rows"
    ]
    assert [row["model"] for row in rows][-2:] == ["supertags", "ordering model"]
    assert {row["exact"] for row in rows} == {0}  # subtrees are kept together
    assert output("generate", bank, "--model", place / "crossed.npz") == 3 * "a c b d\n"


SURFACE = """\
# sent_id = sr-1
1\tphase\t_\tNOUN\tNN\tNumber=Sing|original_id=9\t5\tnmod\t_\t_
2\tno\t_\tDET\tDT\toriginal_id=3\t5\tdet\t_\t_
3\tThere\t_\tPRON\tEX\toriginal_id=1\t7\texpl\t_\t_
4\tsecond\t_\tADJ\tJJ\tDegree=Pos|NumType=Ord|original_id=8\t1\tamod\t_\t_
5\testimate\t_\tNOUN\tNN\tNumber=Sing|original_id=5\t7\tnsubj\t_\t_
6\tthe\t_\tDET\tDT\tlin=-1|original_id=7\t1\tdet\t_\t_
7\twas\t_\tVERB\tVBD\toriginal_id=2\t0\troot\t_\t_
8\tcost\t_\tNOUN\tNN\toriginal_id=4\t5\tcompound\t_\t_
9\tfor\t_\tADP\tIN\toriginal_id=6\t1\tcase\t_\t_
10\t.\t_\tPUNCT\t.\toriginal_id=10\t7\tpunct\t_\t_

"""


@pytest.mark.parametrize("inputs", ["words", "all"])
def test_the_format_of_the_surface_realization_tasks(place: Path, inputs: str) -> None:
    path = place / "sr.conllu"
    path.write_text(SURFACE)
    assert (
        output("generate", path, "--model", place / "model.npz", "--inputs", inputs)
        == EXAMPLE + "\n"
    )
    arguments = ("explain", path, "--model", place / "model.npz", "--inputs", inputs, "-f", "json")
    results = json.loads(output(*arguments))["results"]
    assert results[-1] == {"model": "the file", "exact": None, "sentence": EXAMPLE}
    arguments = ("evaluate", path, "--model", place / "model.npz", "--inputs", inputs, "-f", "json")
    parsed = json.loads(output(*arguments))
    assert parsed["rows"][-1]["exact"] == 1
    assert parsed["training"] == [{"sentences": 1, "seen": 1, "share": 1.0}]
    path.write_text(SURFACE.replace("|original_id=9", ""))
    done = run("generate", path, "--model", place / "model.npz")
    assert "original_id is given for some words, expected it for all" in str(done.exception)


def test_trees_are_read_from_a_pipe_and_from_gzip(place: Path, karat: Run) -> None:
    text = SURFACE.encode()
    done = karat("realize", "generate", "-", "--model", str(place / "model.npz"), input=text)
    assert done.stdout.decode() == EXAMPLE + "\n"
    (place / "sr.conllu.gz").write_bytes(gzip.compress(text))
    assert (
        output("generate", place / "sr.conllu.gz", "--model", place / "model.npz") == EXAMPLE + "\n"
    )


def test_an_ordering_model_for_words_has_no_other(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordering_training, "BITS", 16)
    monkeypatch.setattr(labelling, "BITS", 16)
    model, bank = place / "words.npz", place / "bank.conllu"
    output("train", bank, "-o", model, "--realizer", "ordering", "--inputs", "words")
    assert len(output("generate", bank, "--model", model).splitlines()) == 182
    for command in ("generate", "evaluate"):
        done = run(command, bank, "--model", model, "--inputs", "all")
        assert "was not trained for inputs=all: train it with --inputs all" in str(done.exception)


FALLBACK = (
    "he supertags write the sentences, because the ordering model is for words alone and not for "
    "words with tags and relations: train with --inputs both, or give --inputs words."
)


def test_generate_says_why_it_does_without_the_ordering_model(
    place: Path, full_model: Path, karat: Run
) -> None:
    arguments = ("realize", "generate", str(place / "bank.conllu"), "--model", str(full_model))
    done = karat(*arguments, "--inputs", "all")
    assert done.stderr.decode() == f"karat: note: t{FALLBACK}\n"
    assert done.stdout.decode().splitlines()[0] == EXAMPLE
    assert not karat(*arguments).stderr
    listed = json.loads(karat(*arguments, "--inputs", "all", "-f", "json").stdout)
    assert listed["notes"] == [f"T{FALLBACK}"]
    by_choice = (
        "realize",
        "generate",
        str(place / "bank.conllu"),
        "--model",
        str(place / "model.npz"),
    )
    assert not karat(*by_choice, "--inputs", "all").stderr


def test_a_model_that_has_lemmas_says_so() -> None:
    both = RealizerModel(None, {"all": None, "lemmas": None})
    message = (
        "give --inputs all. The model also has lemmas: if the trees have lemmas, give --inputs "
    )
    assert both.fallback_notes("words", None)[0].endswith(f"{message}lemmas.")
    assert both.fallback_notes("lemmas", None) == ()
    (item,) = RealizerModel(None, {"lemmas": None}).fallback_notes("words", None)
    assert item.endswith("or give --inputs lemmas.")
    assert "also" not in item


def test_explain_says_why_it_does_without_the_ordering_model(place: Path, full_model: Path) -> None:
    arguments = ("explain", place / "bank.conllu", "--model", full_model, "-f", "json")
    assert f"T{FALLBACK}" in json.loads(output(*arguments, "--inputs", "all"))["notes"]
    assert f"T{FALLBACK}" not in json.loads(output(*arguments)).get("notes", ())


def test_a_model_for_both_inputs_has_two(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordering_training, "BITS", 16)
    monkeypatch.setattr(labelling, "BITS", 16)
    model = place / "both.npz"
    output(
        "train", place / "bank.conllu", "-o", model, "--realizer", "ordering", "--inputs", "both"
    )
    assert set(open_realizer(model).ordering) == {"words", "all"}


def test_what_is_no_model_is_refused(place: Path, karat: Run) -> None:
    done = karat(
        "realize", "generate", str(place / "bank.conllu"), "--model", str(place / "bank.conllu")
    )
    assert done.returncode == 2
    assert "expected a realiser of Karat" in done.stderr.decode()
    missing = karat("realize", "grammar", "nowhere.npz")
    assert missing.returncode == 2
    assert "nowhere.npz: No such file" in missing.stderr.decode()


def test_a_tree_that_is_not_there_is_refused(place: Path) -> None:
    done = run("explain", place / "bank.conllu", "--model", place / "model.npz", "--segment", 183)
    assert "there is no tree 183; the last is tree 182" in str(done.exception)


def test_the_group_lists_its_commands() -> None:
    expected_output = output()
    assert all(
        name in expected_output for name in ("train", "generate", "evaluate", "explain", "grammar")
    )
