"""`karat lm train` and `karat lm score`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import karat as kt

Called = Callable[..., Any]
Output = Callable[..., str]
FORMATS = ("text", "json", "tsv", "md", "latex", "html")
TRAIN = ("lm", "train", "ref1.txt", "ref2.txt", "--order", "3", "--case", "lower", "-o")


@pytest.fixture
def model(output: Output, folder: Path) -> str:
    output(*TRAIN, "model.lm")
    return "model.lm"


def test_training_says_what_was_made(output: Output, folder: Path) -> None:
    report = json.loads(output(*TRAIN, "model.lm", "-f", "json"))
    model = kt.LanguageModel.open(folder / "model.lm")
    assert [row["ngrams"] for row in report["rows"]] == model.counts
    assert report["signature"] == {"lm": model.signature}
    assert report["notes"] == list(model.notes)
    assert "case=lower" in model.signature


@pytest.mark.parametrize("name", ["model.arpa", "model.arpa.gz", "model.txt"])
def test_arpa_is_written(output: Output, folder: Path, model: str, name: str) -> None:
    output(*TRAIN, name, *(["--arpa"] if name == "model.txt" else []))
    arguments = ("lm", "score", "a.txt", "--format", "tsv", "--model")
    recipe = ("--tok", "13a", "--case", "lower")
    assert output(*arguments, name, *recipe) == output(*arguments, model)


def test_settings_reach_the_model(output: Output, folder: Path) -> None:
    output(
        *(*TRAIN, "m.lm", "--smoothing", "katz", "--vocabulary", "9", "--min-count", "2"),
        *("--min-counts", "1,2,2", "--stem", "english", "--tok", "none", "--memory", "1"),
    )
    signature = kt.LanguageModel.open(folder / "m.lm").signature
    assert "smoothing=katz,tok=none,case=lower,stem=english,vocabulary=9,min_count=2," in signature
    assert "min_counts=1/2/2" in signature


def test_perplexity_of_several_texts(output: Output, folder: Path, model: str) -> None:
    report = json.loads(output("lm", "score", "a.txt", "c.txt", "--model", model, "-f", "json"))
    stored = kt.LanguageModel.open(folder / model)
    for row, name in zip(report["rows"], ("a.txt", "c.txt"), strict=True):
        expected = stored.perplexity(kt.Lines(folder / name))
        assert row["text"] == name
        assert (row["sentences"], row["words"], row["oov"]) == expected[:3]
        assert row["perplexity"] == expected.perplexity
        assert row["perplexity_known"] == expected.perplexity_known
    assert report["signature"] == {"lm": stored.signature}


def test_every_sentence(output: Output, folder: Path, model: str) -> None:
    args = ("lm", "score", "a.txt", "b.txt", "--model", model, "--segments", "-f", "json")
    rows = json.loads(output(*args))["rows"]
    assert [(row["text"], row["segment"]) for row in rows[3:5]] == [("a.txt", 4), ("b.txt", 1)]
    scores = kt.LanguageModel.open(folder / model).score(kt.Lines(folder / "a.txt"))
    assert [row["log10_p"] for row in rows[:4]] == scores.tolist()
    assert rows[2]["words"] == 0
    assert rows[2]["per_word"] is None
    assert rows[0]["per_word"] == rows[0]["log10_p"] / rows[0]["words"]


def test_every_word(output: Output, folder: Path, model: str) -> None:
    args = ("lm", "score", "a.txt", "c.txt", "--model", model, "--words", "-f", "json")
    rows = json.loads(output(*args))["rows"]
    stored = kt.LanguageModel.open(folder / model)
    for name in ("a.txt", "c.txt"):
        lines = (folder / name).read_text("utf-8").splitlines()
        expected = [(i, *row) for i, line in enumerate(lines, 1) for row in stored.words(line)]
        report = [tuple(row.values())[1:] for row in rows if row["text"] == name]
        assert report == expected


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("more", [(), ("--segments",), ("--words",)], ids=str)
def test_every_format(output: Output, model: str, format: str, more: tuple[str, ...]) -> None:
    text = output("lm", "score", "a.txt", "--model", model, "-f", format, *more)
    assert "a.txt" in text.replace(r"\_", "_")


def test_threads_change_nothing(output: Output, folder: Path, model: str) -> None:
    output(*TRAIN, "one.lm", "--threads", "1")
    output(*TRAIN, "two.lm", "--threads", "2")
    assert (folder / "one.lm").read_bytes() == (folder / "two.lm").read_bytes()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("train", "none.txt", "-o", "m"), "none.txt"),
        (("train", "empty.txt", "-o", "m"), "empty.txt is empty"),
        (("train", "latin.txt", "-o", "m"), "not valid UTF-8"),
        (("train", "ref1.txt", "-o", "ref1.txt"), "one of the inputs"),
        (("train", "ref1.txt", "-o", "no/m"), "no directory"),
        (("train", "ref1.txt", "-o", "m", "--min-counts", "1,x"), "expected whole numbers such as"),
        (("train", "ref1.txt", "-o", "m", "--min-counts", "1,2"), "expected 5 numbers"),
        (("train", "ref1.txt", "-o", "m", "--tok", "x"), "tok=x: expected one of"),
        (("train", "ref1.txt", "-o", "m", "--memory", "1e-9"), "expected at least"),
        (("train", "ref1.txt", "-o", "m", "--order", "9"), "order"),
        (("score", "a.txt", "--model", "none"), "none: No such file"),
        (("score", "a.txt", "--model", "a.txt"), "a.txt, line 4: expected a line"),
        (("score", "none.txt", "--model", "model.lm"), "none.txt"),
        (("score", "a.txt", "--model", "model.lm", "--case", "mixed"), "was trained with"),
        (
            ("score", "a.txt", "--model", "model.lm", "--words", "--segments"),
            "exclude each other: give one",
        ),
        (("score", "-", "-", "--model", "model.lm"), "given twice"),
        (("score", "a.txt", "--model", "model.lm", "-o", "a.txt"), "one of the inputs"),
        (("score", "a.txt", "--model", "cut.lm"), "cut.lm"),
    ],
)
def test_bad_input(
    run_karat: Called, folder: Path, model: str, args: tuple[str, ...], words: str
) -> None:
    (folder / "empty.txt").write_text("")
    (folder / "latin.txt").write_bytes(b"caf\xe9\n")
    (folder / "cut.lm").write_bytes((folder / model).read_bytes()[:-30])
    done = run_karat("lm", *args)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "m").exists()


def test_help_names_the_commands(output: Output) -> None:
    assert output("lm") == output("lm", "--help")
    assert "train" in output("lm")
    for name in ("train", "score"):
        text = output("lm", name, "--help")
        assert max(map(len, text.splitlines())) <= 80
        assert text.count(f"karat lm {name}") >= 3


def test_memory_changes_nothing(output: Output, folder: Path) -> None:
    for name in ("m.lm", "m.arpa"):
        output(*TRAIN, name)
        output(*TRAIN, f"little-{name}", "--memory", "0.04")
        assert (folder / f"little-{name}").read_bytes() == (folder / name).read_bytes()
