"""`karat paraphrase train`, `score`, `evaluate` and `controls`, on small texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.tiny_embeddings import write_model2vec

import karat as kt
from karat.paraphrase.align.aligner import Aligner
from karat.paraphrase.align.parallel_text import read_parallel
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.table.phrase_table import PhraseTable
from karat.paraphrase.table.training import train_pivot
from karat.text.tokens import Recipe

PAIRS = """\
I want to buy a car\tje veux acheter une voiture
I want to purchase a car\tje veux acheter une voiture
she bought the house\telle a acheté la maison
a large house\tune grande maison
a big house\tune grande maison
the film begins\tle film commence
the movie starts\tle film commence
I want a house\tje veux une maison
the car starts\tla voiture commence
"""
IN = "I want to buy a big house\nthe film begins\n"
OUT = "I want to purchase a large house\nthe movie starts\n"


@pytest.fixture(autouse=True)
def texts(folder: Path) -> None:
    (folder / "pairs.tsv").write_text(PAIRS, "utf-8")
    (folder / "in.txt").write_text(IN)
    (folder / "out.txt").write_text(OUT)
    (folder / "same.txt").write_text(IN)
    (folder / "odd.txt").write_text("the dog sleeps\nI want a car\n")


def test_the_bundled_model_answers_at_once(output: Callable[..., str]) -> None:
    files = ("out.txt", "same.txt", "odd.txt")
    report = json.loads(
        output(
            *("paraphrase", "score", *files, "--originals", "in.txt", "--segments"),
            *("--copies", "bad", "-f", "json"),
        )
    )
    rows = {row["system"]: row for row in report["rows"]}
    assert rows["out"]["pem"] > rows["same"]["pem"]
    assert rows["out"]["pem"] > rows["odd"]["pem"]
    assert rows["same"]["pivot_f1"] == rows["same"]["target_f1"] == 1
    assert rows["out"]["pivot_f1"] > rows["odd"]["pivot_f1"]
    assert rows["out"]["low"] <= rows["out"]["pem"] <= rows["out"]["high"]
    assert len(report["segments"]) == 6
    assert report["segments"][0]["paraphrase"] == OUT.splitlines()[0]
    assert "small bundled model" in " ".join(report["notes"])


def test_python_gives_the_same(output: Callable[..., str]) -> None:
    report = json.loads(
        output(
            "paraphrase", "score", "out.txt", "--originals", "in.txt", "--segments", "-f", "json"
        )
    )
    scores = PEM.open().score(IN.splitlines(), OUT.splitlines())
    assert [row["pem"] for row in report["segments"]] == scores.pem.tolist()
    assert kt.PEM is PEM


def test_train_then_score(output: Callable[..., str], folder: Path) -> None:
    text = output(
        *("paraphrase", "train", "fr=pairs.tsv", "-o", "my.npz", "--judged", "demo-paraphrases")
    )
    assert re.search(r"my.npz: <PEM unigram: fr \([\d,]+ phrase pairs\)", text)
    report = json.loads(
        output(
            "paraphrase",
            "score",
            "out.txt",
            "--originals",
            "in.txt",
            "--model",
            "my.npz",
            "-f",
            "json",
        )
    )
    assert 1 <= report["rows"][0]["pem"] <= 5
    assert report["notes"] == []
    assert report["signature"]["pem"].startswith("pem:model=my.npz@")
    assert "learned=demo-paraphrases" in PEM.open(folder / "my.npz").description
    first = (folder / "my.npz").read_bytes()
    output(
        *("paraphrase", "train", "fr=pairs.tsv", "-o", "my.npz", "--judged", "demo-paraphrases"),
        *("--threads", "1"),
    )
    assert (folder / "my.npz").read_bytes() == first


def test_controls_are_learned_from_only_when_asked_for(
    output: Callable[..., str], folder: Path
) -> None:
    train = ("paraphrase", "train", "fr=pairs.tsv", "--judged", "demo-paraphrases", "-o")
    plain, controls = output(*train, "plain.npz"), output(*train, "both.npz", "--controls")
    assert "learned from 160 judged, 0 controls" in plain
    assert "learned from 160 judged, 120 controls" in controls
    for name, number in (("plain.npz", 0), ("both.npz", 120)):
        model = PEM.open(folder / name)
        assert model.about["judged"]["paraphrases"] == 160
        assert model.about["judged"]["controls"] == number
        learned = f"|learned=demo-paraphrases,controls={number},copies=good"
        assert model.description.endswith(learned)


def test_controls_of_the_set_itself_are_counted(output: Callable[..., str]) -> None:
    output("paraphrase", "controls", "demo-paraphrases", "with-controls")
    train = ("paraphrase", "train", "fr=pairs.tsv", "-o", "x.npz", "--judged", "with-controls")
    assert "learned from 160 judged, 120 controls" in output(*train)


def test_a_model_that_does_not_say_whether_it_saw_controls(folder: Path) -> None:
    paper = PEM.open("bundled-paper")
    old = {key: value for key, value in paper.about["judged"].items() if key != "controls"}
    replace(paper, about={"judged": old}).save(folder / "old.npz")
    model = PEM.open(folder / "old.npz")
    assert "controls=unrecorded" in model.description
    assert "controls not recorded" in repr(model)


CAUTION = "This is the small bundled model"


@pytest.mark.parametrize("format", ["text", "json", "md", "html", "tsv", "latex"])
@pytest.mark.parametrize("command", ["score", "explain", "generate"])
def test_reports_say_that_the_model_is_the_bundled_one(
    output: Callable[..., str], folder: Path, command: str, format: str
) -> None:
    files = ("in.txt",) if command == "generate" else ("out.txt", "--originals", "in.txt")
    text = output("paraphrase", command, *files, "-f", format)
    assert (CAUTION in " ".join(text.split())) == (format != "tsv")
    PEM.open().save(folder / "own.npz")
    own_text = output("paraphrase", command, *files, "-f", format, "--model", "own.npz")
    assert CAUTION not in " ".join(own_text.split())


def test_several_pivots_and_no_judgements(output: Callable[..., str], folder: Path) -> None:
    for side, name in enumerate(("x.en", "x.fr")):
        text = "".join(line.split("\t")[side] + "\n" for line in PAIRS.splitlines())
        (folder / name).write_text(text, "utf-8")
    output(
        *(
            "paraphrase",
            "train",
            "fr=x.en,x.fr",
            "fr=pairs.tsv",
            "again=pairs.tsv",
            "-o",
            "two.npz",
        ),
        *("--form", "paper", "--pivot-tok", "again=char", "--stem", "none", "--no-generate"),
    )
    model = PEM.open(folder / "two.npz")
    assert list(model.pivots) == ["fr", "again"]
    assert model.pivots["again"].about["pivot"]["tok"] == "char"
    assert model.pivots["fr"].recipe.stem == "none"
    text = output("paraphrase", "score", "out.txt", "--originals", "in.txt", "--model", "two.npz")
    assert "no PEM score: train it with --judged or --combine mean" in " ".join(text.split())
    assert "nan" not in text
    explanation = output(
        "paraphrase", "explain", "out.txt", "--originals", "in.txt", "--model", "two.npz"
    )
    assert "nan" not in explanation


def test_evaluate_has_the_tables_of_the_paper(output: Callable[..., str]) -> None:
    report = json.loads(
        output(
            *("paraphrase", "evaluate", "demo-paraphrases", "--controls", "--folds", "4"),
            *("--resamples", "100", "-f", "json"),
        )
    )
    against = {(row["first"], row["second"]): row for row in report["rows"]}
    assert against["PEM", "human average"]["rows"] == 280
    assert against["PEM", "human average, no controls"]["rows"] == 160
    assert against["PEM", "human average"]["pearson"] > 0.5
    assert len(report["inter_judge"]) == 1
    assert len(report["criteria"]) == 4
    assert {row["second"] for row in report["better"]} == {
        "stemmed unigram F1",
        "ROUGE-1 and chrF++",
        "BLEU",
        "no metrics as features",
        "the model's mean, nothing learned",
    }
    assert any("p: two-sided" in note for note in report["notes"])
    judged = kt.paraphrase.add_controls(kt.load_evalset("demo-paraphrases"))
    learned = f"demo-paraphrases@{judged.digest}"
    signature_part = (
        f"|combine=svr,folds=4,learned={learned},dimension=overall,controls=120|features="
    )
    assert signature_part in report["signature"]["pem"]  # not the mean of the bundled model
    model = f"|model={PEM.open().digest}|karat={kt.__version__}|bootstrap=100|seed=12345"
    assert report["signature"]["pem"].endswith(model)


def test_rivals_of_an_evaluation_have_a_table(output: Callable[..., str]) -> None:
    split = ("--train-first", "27", "--resamples", "20")
    text = output("paraphrase", "evaluate", "demo-paraphrases", *split)
    assert "PEM against its rivals" in text
    assert "Do pivot languages help?" not in text
    letters = "".join(text.split())
    assert "|combine=svr,train_first=27,learned=demo-paraphrases@" in letters
    assert ",dimension=overall,controls=0|" in letters


def test_controls_are_written_as_a_set(output: Callable[..., str], folder: Path) -> None:
    output("paraphrase", "controls", "demo-paraphrases", "with-controls")
    evalset = kt.load_evalset(folder / "with-controls")
    assert len(evalset.systems) == 7
    assert np.nanmean(evalset.human("overall")[4:]) == pytest.approx(4 / 3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("score", "out.txt", "--originals", "ref1.txt"), "out.txt"),
        (("score", "out.txt", "--originals", "none.txt"), "none.txt: No such file"),
        (
            ("score", "out.txt", "--originals", "in.txt", "--model", "in.txt"),
            "expected a paraphrase",
        ),
        (
            ("score", "out.txt", "--originals", "in.txt", "--model", "no.npz"),
            "no.npz: No such file",
        ),
        (("train", "pairs.tsv", "-o", "x.npz"), "expected NAME=FILE"),
        (("train", "fr=a,b,c", "-o", "x.npz"), "3 files; expected one or two"),
        (("train", "fr=in.txt", "-o", "x.npz"), "in.txt, line 1: found 1 column"),
        (("train", "fr=in.txt,ref1.txt", "-o", "x.npz"), "ref1.txt"),
        (("train", "fr=pairs.tsv", "-o", "pairs.tsv"), "one of the inputs"),
        (
            ("train", "fr=pairs.tsv", "-o", "x.npz", "--pivot-tok", "de=13a"),
            "de is not a pivot language; expected fr",
        ),
        (("train", "fr=pairs.tsv", "-o", "x.npz", "--pivot-tok", "fr=best"), "expected one of"),
        (("train", "fr=pairs.tsv", "-o", "x.npz", "--stem", "best"), "expected one of"),
        (("train", "fr=pairs.tsv", "-o", "x.npz", "--judged", "demo"), "--dimension"),
        (("evaluate", "demo-paraphrases", "--folds", "50"), "40 different originals"),
        (("evaluate", "demo", "-d", "fluency"), "no sources"),
        (("controls", "demo-paraphrases", "in.txt"), "in.txt"),
        (("explain", "out.txt", "--originals", "in.txt", "--pivot", "de"), "the model has fr"),
        (
            ("train", "fr=pairs.tsv", "-o", "x.npz", "--links", "de=in.txt"),
            "de is not a pivot language; expected fr",
        ),
        (("train", "fr=pairs.tsv", "-o", "x.npz", "--links", "fr=in.txt"), "expected links as in"),
        (("table", "in.txt", "-o", "x.npz"), "in.txt, line 1"),
        (("table", "none.npz", "-o", "x.npz"), "none.npz: No such file"),
        (
            ("table", "in.txt", "-o", "x.npz", "--aligner", "hmm"),
            "--aligner is only for parallel text: add PIVOT, or leave out --aligner",
        ),
        (("table", "in.txt", "-o", "x.npz", "--prefix", "0"), "--prefix is only for parallel"),
        (("explain", "out.txt", "--originals", "in.txt", "--model", "x", "-t", "y"), "leave out"),
    ],
)
def test_bad_input(
    run_karat: Callable[..., Any], folder: Path, arguments: tuple[str, ...], words: str
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    done = run_karat("paraphrase", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_damaged_model_is_refused(run_karat: Callable[..., Any], folder: Path) -> None:
    model = PEM.open()
    model.save(folder / "whole.npz")
    data = (folder / "whole.npz").read_bytes()
    for cut in (len(data) // 2, len(data) - 100):
        (folder / "cut.npz").write_bytes(data[:cut])
        done = run_karat(
            "paraphrase", "score", "out.txt", "--originals", "in.txt", "--model", "cut.npz"
        )
        assert done.returncode == 2
        assert done.stderr.startswith("karat: cut.npz")


def test_explain_shows_what_score_gives(output: Callable[..., str]) -> None:
    both = ("out.txt", "--originals", "in.txt")
    report = json.loads(output("paraphrase", "explain", *both, "-s", "2", "-f", "json"))
    scored = json.loads(output("paraphrase", "score", *both, "--segments", "-f", "json"))
    for name in ("pem", "pivot_f1", "fluency", "target_f1"):
        assert report["pem"][0][name] == pytest.approx(scored["segments"][1][name])
    assert report["rows"][0]["pivot_f1"] == pytest.approx(report["pem"][0]["pivot_f1"])
    worst = json.loads(output("paraphrase", "explain", *both, "--worst", "1", "-f", "json"))
    lowest = min(scored["segments"], key=lambda row: row["pem"])
    assert worst["pem"][0]["paraphrase"] == lowest["paraphrase"]


def test_links_of_another_aligner(output: Callable[..., str], folder: Path) -> None:
    """Karat's own links, given back to it, make the same tables."""
    output(
        *("paraphrase", "align", "pairs.tsv", "-o", "links.txt"),
        *("--tok", "13a", "--stem", "porter", "--pivot-tok", "13a"),
    )
    output("paraphrase", "train", "fr=pairs.tsv", "-o", "own.npz")
    output("paraphrase", "train", "fr=pairs.tsv", "-o", "given.npz", "--links", "fr=links.txt")
    own_arrays, given_arrays = (
        PEM.open(folder / name).pivots["fr"].arrays for name in ("own.npz", "given.npz")
    )
    for name, array in own_arrays.items():
        np.testing.assert_array_equal(array, given_arrays[name])
    first = (folder / "links.txt").read_text().splitlines()
    (folder / "links.txt").write_text("\n".join(["0-0", *first[1:]]) + "\n")
    output("paraphrase", "train", "fr=pairs.tsv", "-o", "other.npz", "--links", "fr=links.txt")
    other = PEM.open(folder / "other.npz").pivots["fr"].arrays
    assert len(other["edge_pivots"]) != len(own_arrays["edge_pivots"])


@pytest.mark.parametrize(
    ("options", "aligner"),
    [
        ((), Aligner()),
        (("--aligner", "hmm"), Aligner(model="hmm")),
        (("--aligner", "hmm", "--agreement", "product"), Aligner(model="hmm", agreement="product")),
        (("--prefix", "0", "--agreement", "root"), Aligner(prefix=0, agreement="root")),
    ],
)
def test_tables_of_every_aligner(
    output: Callable[..., str], folder: Path, options: tuple[str, ...], aligner: Aligner
) -> None:
    for side, name in enumerate(("en.txt", "fr.txt")):
        lines = [line.split("\t")[side] for line in PAIRS.splitlines()]
        (folder / name).write_text("\n".join(lines) + "\n", "utf-8")
    output("paraphrase", "table", "en.txt", "fr.txt", "-o", "t.npz", *options)
    phrase_table = PhraseTable.open(folder / "t.npz")
    assert phrase_table.about["aligner"] == str(aligner)
    text = read_parallel(folder / "en.txt", folder / "fr.txt")
    trained_table = train_pivot(
        [text], Recipe("13a", "lower"), Recipe("13a", "lower"), aligner=aligner
    )
    for name, array in trained_table.arrays.items():
        np.testing.assert_array_equal(phrase_table.arrays[name], array)


def test_descriptions_name_another_aligner_than_before(
    output: Callable[..., str], folder: Path
) -> None:
    def description(*options: str) -> str:
        output("paraphrase", "train", "fr=pairs.tsv", "-o", "m.npz", "--no-generate", *options)
        return PEM.open(folder / "m.npz").description

    assert f"|aligner={Aligner()}|" in description()
    assert f"|aligner={Aligner(agreement='product')}|" in description("--agreement", "product")
    product = Aligner(model="hmm", agreement="product")
    hmm = ("--aligner", "hmm")
    assert f"|aligner={product}|" in description(*hmm, "--agreement", "product")
    for model in (PEM.open(), PEM.open("bundled-paper")):  # of version 0.2
        assert "aligner=" not in model.description
    assert "aligner=" not in description(*hmm)
    (folder / "links.txt").write_text("0-0\n" * len(PAIRS.splitlines()))
    assert "aligner=" not in description("--links", "fr=links.txt")


def test_no_output_overwrites_a_model(run_karat: Callable[..., Any], folder: Path) -> None:
    tiny = write_model2vec(folder / "tiny")
    cosine, files = f"cosine:model={tiny}", [folder / "model", tiny / "tokenizer.json"]
    train = ("paraphrase", "train", "fr=pairs.tsv", "--feature", cosine)
    train += ("--judged", "demo-paraphrases", "--no-generate")
    assert run_karat(*train, "-o", "model").returncode == 0
    before = [file.read_bytes() for file in files]
    metrics = ("score", "out.txt", "-r", "in.txt", "-f", "json", "-m")
    score = ("paraphrase", "score", "out.txt", "--originals", "in.txt", "-f", "json")
    score += ("--model", "model")
    commands = [
        ((*metrics, "pem:model=model"), files),
        ((*metrics, "pivot_f1:table=model"), files[:1]),
    ]
    for arguments, inputs in [*commands, (score, files), (train, files[1:])]:
        for file in inputs:
            done = run_karat(*arguments, "-o", str(file))
            assert done.returncode == 2
            assert f"{file} is one of the inputs: choose another output file" in done.stderr
    assert [file.read_bytes() for file in files] == before


def test_tables_from_and_to_moses(output: Callable[..., str], folder: Path) -> None:
    output("paraphrase", "train", "fr=pairs.tsv", "-o", "model.npz", "--no-generate")
    text = output("paraphrase", "table", "model.npz", "-o", "moses.gz")
    assert text.startswith("moses.gz: ")
    output("paraphrase", "table", "moses.gz", "-o", "table.npz", "--stem", "porter")
    metric = kt.metric(f"pivot_f1:table={folder / 'table.npz'}")
    model_metric = kt.metric(f"pivot_f1:table={folder / 'model.npz'}")
    both = OUT.splitlines(), IN.splitlines()
    assert metric.corpus(*both).value == model_metric.corpus(*both).value > 0
