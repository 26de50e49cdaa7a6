"""`karat paraphrase align`: links as text, and what it says of bad input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Called = Callable[..., Any]

ENGLISH = ["the house", "the book", "a book", "a house", "", "the the the"]
GERMAN = ["das haus", "das buch", "ein buch", "ein haus", "nichts", "das das das"]


@pytest.fixture(autouse=True)
def _texts(folder: Path) -> None:
    (folder / "en.txt").write_text("\n".join(ENGLISH) + "\n")
    (folder / "de.txt").write_text("\n".join(GERMAN) + "\n")
    rows = zip(ENGLISH, GERMAN, strict=True)
    (folder / "both.tsv").write_text("".join(f"{e}\t{d}\n" for e, d in rows))


def test_links_on_standard_output(run_karat: Called) -> None:
    done = run_karat("paraphrase", "align", "en.txt", "de.txt")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[:5] == ["0-0 1-1"] * 4 + [""]
    assert done.stderr == "no links for 1 sentence pair with an empty side\n"


def test_links_in_a_file(run_karat: Called, folder: Path) -> None:
    done = run_karat("paraphrase", "align", "both.tsv", "-o", "links.txt", "--longest", "2")
    assert done.returncode == 0
    assert done.stdout.startswith(
        "links.txt: 8 links in 6 sentence pairs (fertility-joint:model1=4,"
    )
    assert "1 sentence pair with more than 2 words on a side" in done.stderr
    assert (folder / "links.txt").read_text() == "0-0 1-1\n" * 4 + "\n\n"


@pytest.mark.parametrize(
    ("options", "signature"),
    [
        ((), "fertility-joint:model1=4,hmm=4,min,posterior>=0.4,longest=200,prefix=4"),
        (
            ("--decoding", "grow-diag-final-and"),
            "fertility-joint:model1=4,hmm=4,min,grow-diag-final-and,longest=200,prefix=4",
        ),
        (
            ("--agreement", "product", "--hmm", "0", "--model1", "2"),
            "fertility-joint:model1=2,hmm=0,product,posterior>=0.4,longest=200,prefix=4",
        ),
        (("--aligner", "hmm"), "hmm-joint:model1=5,hmm=5,root,posterior>=0.5,longest=200"),
        (
            ("--aligner", "hmm", "--threshold", "0.3", "--longest", "9", "--prefix", "3"),
            "hmm-joint:model1=5,hmm=5,root,posterior>=0.3,longest=9,prefix=3",
        ),
        (
            ("--prefix", "0", "--agreement", "root"),
            "fertility-joint:model1=4,hmm=4,root,posterior>=0.4,longest=200",
        ),
        (
            ("--stem", "porter", "--tok", "13a", "--threads", "2"),
            "fertility-joint:model1=4,hmm=4,min,posterior>=0.4,longest=200,prefix=4",
        ),
    ],
)
def test_other_ways(
    run_karat: Called, folder: Path, options: tuple[str, ...], signature: str
) -> None:
    """On a text as easy as this one all have the same links, so the signature must tell."""
    done = run_karat("paraphrase", "align", "both.tsv", *options, "-o", "links.txt")
    assert done.returncode == 0
    assert done.stdout.endswith(f" in 6 sentence pairs ({signature})\n")
    assert (folder / "links.txt").read_text().startswith("0-0 1-1\n" * 4)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("en.txt",), "en.txt, line 1: found 1 column, expected two with a tab between"),
        (("en.txt", "a.txt"), "en.txt has 6 segments and a.txt has 4 segments: "),
        (("en.txt", "no.txt"), "no.txt: No such file or directory"),
        (("both.tsv", "-o", "both.tsv"), "both.tsv is one of the inputs"),
        (("both.tsv", "-o", "no/links"), "cannot write no/links: there is no directory"),
        (("both.tsv", "--tok", "x"), "tok=x: expected one of 13a, "),
        (("both.tsv", "--pivot-stem", "x"), "stem=x: expected one of "),
        (("both.tsv", "--threshold", "2"), "threshold=2.0: expected more than 0 and at most 1"),
        (("both.tsv", "--hmm", "-1"), "Invalid value for '--hmm'"),
        (("both.tsv", "--hmm", "1001"), "Invalid value for '--hmm'"),
        (("both.tsv", "--model1", "1000000000"), "Invalid value for '--model1'"),
        (("both.tsv", "--model1", "0", "--hmm", "0"), "model1=0 and hmm=0: expected at least one"),
        (
            ("both.tsv", "--decoding", "union", "--threshold", "0.4"),
            "threshold=0.4: decoding=union has no threshold; leave it out, or use",
        ),
    ],
)
def test_bad_input(run_karat: Called, folder: Path, args: tuple[str, ...], sentence: str) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = run_karat("paraphrase", "align", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
