"""`karat paraphrase generate`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from karat.paraphrase.pem import PEM

Output = Callable[..., str]
Called = Callable[..., Any]
LINES = ["I want to buy a new car.", "", "Xyzzy!", "Could you help me, please?"]


@pytest.fixture(autouse=True)
def originals(folder: Path) -> None:
    (folder / "in.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")


def test_rows_are_what_python_gives(output: Output) -> None:
    found = json.loads(output("paraphrase", "generate", "in.txt", "--n-best", "2", "-f", "json"))
    expected = [
        {"segment": i, "rank": rank, **one._asdict(), "original": LINES[i - 1]}
        for i, each in enumerate(PEM.open().generate(LINES, 2), 1)
        for rank, one in enumerate(each, 1)
    ]
    for row in expected:
        row["paraphrase"] = row.pop("text")
    assert found["rows"] == expected
    assert found["notes"][0] == (
        "2 lines have no other wording in this model: the original stands."
    )
    assert "small bundled model" in found["notes"][1]
    assert found["signature"] == {"pem": PEM.open().signature}


@pytest.mark.parametrize("format", ["text", "tsv", "md", "latex", "html"])
def test_every_format(output: Output, format: str) -> None:
    shown = output("paraphrase", "generate", "in.txt", "-f", format)
    assert "purchase" in shown


def test_plain_text_has_a_line_for_each(output: Output, folder: Path) -> None:
    best = [each[0].text for each in PEM.open().generate(LINES, 1)]
    assert output("paraphrase", "generate", "in.txt", "--plain").splitlines() == best
    assert output("paraphrase", "generate", "in.txt", "--plain", "-o", "out.txt") == ""
    assert (folder / "out.txt").read_text("utf-8").splitlines() == best


def test_standard_input(karat: Called) -> None:
    done = karat("paraphrase", "generate", "-", "--plain", input=b"I want to buy a new car.\n")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 1


def test_a_model_that_only_scores(called: Called, folder: Path) -> None:
    replace(PEM.open(), generator=None).save(folder / "small.npz")
    done = called("paraphrase", "generate", "in.txt", "--model", "small.npz")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "karat paraphrase train --generate" in done.stderr


def test_no_half_written_output(called: Called, folder: Path) -> None:
    (folder / "long.txt").write_text("fine\n" * 50 + "word " * 1001 + "\n", encoding="utf-8")
    done = called("paraphrase", "generate", "long.txt", "--plain", "-o", "out.txt")
    assert done.returncode == 2
    assert "long.txt, line 51: 1,001 words" in done.stderr
    assert not (folder / "out.txt").exists()


def test_training_without_it(output: Output, folder: Path) -> None:
    pairs = (
        "the big dog\tle grand chien\nthe large dog\tle grand chien\nthe big cat\tle grand chat\n"
    )
    (folder / "pairs.tsv").write_text(pairs * 3, encoding="utf-8")
    train = ("paraphrase", "train", "fr=pairs.tsv", "-o")
    output(*train, "with.npz")
    output(*train, "without.npz", "--no-generate")
    assert PEM.open(folder / "with.npz").generator is not None
    assert PEM.open(folder / "without.npz").generator is None
    (folder / "in.txt").write_text("The big cat\n", encoding="utf-8")
    found = output("paraphrase", "generate", "in.txt", "--model", "with.npz", "--plain")
    assert found == "The large cat\n"
