"""`karat paraphrase generate`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import karat as kt
from karat.paraphrase.generate import CONFIDENCE
from karat.paraphrase.pem.model import PEM

Output = Callable[..., str]
Called = Callable[..., Any]
CINEMA = "We often go to the cinema with our friends."
LINES = ["I want to buy a new car.", "", "Xyzzy!", CINEMA]


@pytest.fixture(autouse=True)
def originals(folder: Path) -> None:
    (folder / "in.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")


def test_rows_are_what_python_gives(output: Output) -> None:
    report = json.loads(output("paraphrase", "generate", "in.txt", "--n-best", "2", "-f", "json"))
    expected = [
        {
            "segment": i,
            "rank": rank,
            **paraphrase._asdict(),
            "original": LINES[i - 1],
            "reason": None,
        }
        for i, paraphrases in enumerate(PEM.open().generate(LINES, 2), 1)
        for rank, paraphrase in enumerate(paraphrases, 1)
    ]
    for row in expected:
        row["paraphrase"] = row.pop("text")
    assert [row for row in report["rows"] if row["paraphrase"] is not None] == expected
    assert report["notes"][:2] == [
        "2 lines have no paraphrase of confidence 0.6 or more: a lower --confidence gives more "
        "paraphrases, and more bad ones.",
        "1 line is empty, without a paraphrase.",
    ]
    assert "small bundled model" in report["notes"][2]
    model = PEM.open().for_rewriting
    search = "generate:n=2,confidence=0.6,rank_by=confidence,lang=en"
    search += f"|model={model.digest}|karat={kt.__version__}"
    assert report["signature"] == {"pem": model.signature, "generate": search}


def test_lines_without_a_paraphrase_say_so(output: Output) -> None:
    report = json.loads(output("paraphrase", "generate", "in.txt", "-f", "json"))
    rows = {row["segment"]: row for row in report["rows"] if row["paraphrase"] is None}
    assert {i: row["reason"] for i, row in rows.items()} == {
        2: "the line is empty",
        3: "no rewriting reaches confidence 0.6",
        4: "no rewriting reaches confidence 0.6",
    }
    for i, row in rows.items():
        assert row["original"] == LINES[i - 1]
        assert row["rank"] is row["pem"] is row["confidence"] is None
    text = output("paraphrase", "generate", "in.txt")
    assert "(none: no rewriting" in text
    assert f"1 of {len(LINES)} sentences has a paraphrase; 2 have none (no rewriting" in text


def test_a_lower_confidence_gives_more(output: Output) -> None:
    def number(*options: str) -> int:
        text = output("paraphrase", "generate", "in.txt", "--n-best", "64", "-f", "json", *options)
        rows = [row for row in json.loads(text)["rows"] if row["paraphrase"] is not None]
        least = float(options[1]) if options else CONFIDENCE
        assert all(row["confidence"] >= least for row in rows)
        return len(rows)

    assert number() == number("--confidence", str(CONFIDENCE))
    assert number("--confidence", "0.05") > number() > number("--confidence", "1") == 0


@pytest.mark.parametrize("value", ["-0.1", "1.5", "nan", "much"])
def test_a_confidence_out_of_range(run_karat: Called, value: str) -> None:
    done = run_karat("paraphrase", "generate", "in.txt", "--confidence", value)
    assert done.returncode == 2
    assert "confidence" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("format", ["text", "tsv", "md", "latex", "html"])
def test_every_format(output: Output, format: str) -> None:
    text = output("paraphrase", "generate", "in.txt", "-f", format)
    assert "purchase" in text


def test_plain_text_has_a_line_for_each(run_karat: Called, folder: Path) -> None:
    best = [
        paraphrases[0].text if paraphrases else "" for paraphrases in PEM.open().generate(LINES, 1)
    ]
    completed = run_karat("paraphrase", "generate", "in.txt", "--plain")
    assert (completed.returncode, completed.stdout.splitlines()) == (0, best)
    assert completed.stderr.startswith("2 lines have no paraphrase of confidence 0.6 or more")
    stored = run_karat("paraphrase", "generate", "in.txt", "--plain", "-o", "out.txt")
    assert (stored.returncode, stored.stdout) == (0, "")
    assert (folder / "out.txt").read_text("utf-8").splitlines() == best


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-f", "json"), "--plain and --format json exclude each other: give one"),
        (("--n-best", "3"), "--plain and --n-best 3 exclude each other: give one"),
    ],
)
def test_what_plain_text_cannot_have(
    run_karat: Called, options: tuple[str, ...], message: str
) -> None:
    done = run_karat("paraphrase", "generate", "in.txt", "--plain", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_plain_text_may_be_named(run_karat: Called) -> None:
    plain = run_karat("paraphrase", "generate", "in.txt", "--plain")
    completed = run_karat(
        "paraphrase", "generate", "in.txt", "--plain", "-f", "text", "--n-best", "1"
    )
    assert (completed.returncode, completed.stdout) == (0, plain.stdout)


def test_a_lower_confidence_is_advised_only_where_it_helps(run_karat: Called, folder: Path) -> None:
    (folder / "empty.txt").write_text("\n\n")
    done = run_karat("paraphrase", "generate", "empty.txt", "--plain")
    assert (done.returncode, done.stdout) == (0, "\n\n")
    assert done.stderr.startswith("2 lines are empty, without a paraphrase.\n")
    (folder / "odd.txt").write_text("Xyzzy!\n")
    done = run_karat("paraphrase", "generate", "odd.txt", "--plain", "--confidence", "0")
    assert done.stderr.startswith("1 line has no paraphrase: the model knows no other wording.\n")
    for completed in (done, run_karat("paraphrase", "generate", "odd.txt", "--confidence", "0")):
        assert completed.returncode == 0
        assert "lower --confidence" not in completed.stdout + completed.stderr


def test_standard_input(karat: Called) -> None:
    done = karat("paraphrase", "generate", "-", "--plain", input=b"I want to buy a new car.\n")
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 1
    assert b"This is the small bundled model" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_a_model_that_only_scores(run_karat: Called, folder: Path) -> None:
    replace(PEM.open(), generator=None).save(folder / "small.npz")
    done = run_karat("paraphrase", "generate", "in.txt", "--model", "small.npz")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "karat paraphrase train --generate" in done.stderr


def test_no_half_written_output(run_karat: Called, folder: Path) -> None:
    (folder / "long.txt").write_text("fine\n" * 50 + "word " * 1001 + "\n", encoding="utf-8")
    done = run_karat("paraphrase", "generate", "long.txt", "--plain", "-o", "out.txt")
    assert done.returncode == 2
    assert "long.txt, line 51: 1,001 words" in done.stderr
    assert not (folder / "out.txt").exists()


def test_training_without_it(output: Output, run_karat: Called, folder: Path) -> None:
    pairs = (
        "the big dog\tle grand chien\nthe large dog\tle grand chien\nthe big cat\tle grand chat\n"
    )
    (folder / "pairs.tsv").write_text(pairs * 3, encoding="utf-8")
    train = ("paraphrase", "train", "fr=pairs.tsv", "-o")
    output(*train, "with.npz")
    output(*train, "without.npz", "--no-generate")
    assert PEM.open(folder / "with.npz").generator is not None
    assert PEM.open(folder / "without.npz").generator is None
    (folder / "in.txt").write_text("The big dog\n", encoding="utf-8")
    unsure = ("--confidence", "0.1", "--plain")
    done = run_karat("paraphrase", "generate", "in.txt", "--model", "with.npz", *unsure)
    assert (done.returncode, done.stdout) == (0, "The large dog\n")
    assert "there is no PEM to rank by" in done.stderr


def test_too_little_text_of_several_languages(run_karat: Called, folder: Path) -> None:
    for name, pairs in {
        "fr": "big\tgrand\nlarge\tgrand\n",
        "de": "dog\tHund\ncat\tKatze\n",
    }.items():
        (folder / f"{name}.tsv").write_text(pairs, encoding="utf-8")
    done = run_karat("paraphrase", "train", "fr=fr.tsv", "de=de.tsv", "-o", "m.npz")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "translated alike in two ways; train on more text, or with --no-generate" in done.stderr
    assert not (folder / "m.npz").exists()


def test_the_column_that_ranks(output: Output) -> None:
    def column(name: str) -> list[float]:
        arguments = ("--n-best", "9", "--rank-by", name, "-f", "json")
        rows = json.loads(output("paraphrase", "generate", "in.txt", *arguments))["rows"]
        return [row[name] for row in rows if row["segment"] == 1]

    for name in ("confidence", "pem"):
        assert len(column(name)) > 1
        assert column(name) == sorted(column(name), reverse=True)
