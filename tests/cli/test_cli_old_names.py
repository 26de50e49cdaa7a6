"""Names of the last release: they still work, with one note on standard error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import karat as kt

Called = Callable[..., Any]
TEXTS = ("a.txt", "-r", "ref1.txt", "-m", "bleu")
PLANE = ("plane", "fit", "demo", "-d", "fluency", "--resamples", "2")


RENAMED = [
    (("score", *TEXTS, "--bootstrap", "9"), "--bootstrap", "--resamples"),
    (("score", *TEXTS, "--as", "text"), "--as", "--read-as"),
    (("lm", "train", "a.txt", "--as=text", "-o", "m.lm"), "--as", "--read-as"),
    ((*PLANE, "--halves", "2"), "--halves", "--splits"),
    ((*PLANE, "--splits", "2", "--beside", "bleu"), "--beside", "--compare-with"),
    (("data", "judges", "demo", "--control", "drift"), "--control", "--exclude"),
    (("paraphrase", "align", "two.tsv", "--source-tok", "13a"), "--source-tok", "--tok"),
    (
        ("meta", "reliability", "demo", "-m", "bleu", "--references", "1", "--repeats", "1"),
        "--references",
        "--reference-counts",
    ),
]


@pytest.mark.parametrize(("args", "old", "new"), RENAMED)
def test_an_old_name_works_with_one_note(
    folder: Path, called: Called, args: tuple[str, ...], old: str, new: str
) -> None:
    (folder / "two.tsv").write_text("a house\tein Haus\n")
    done = called(*args)
    assert (done.returncode, done.stderr) == (0, f"karat: note: {old} is now {new}\n")
    fresh = [word.replace(old, new) if word.startswith(old) else word for word in args]
    again = called(*fresh)
    assert (again.returncode, again.stderr) == (0, "")
    if "train" not in args and "-f" not in args:  # which tell how long they took
        assert again.stdout == done.stdout


def test_an_old_name_that_is_repeated_has_one_note(called: Called) -> None:
    done = called(*PLANE, "--splits", "2", "--beside", "bleu", "--beside", "ter")
    assert done.stderr == "karat: note: --beside is now --compare-with\n"


def test_words_after_two_dashes_are_no_options(called: Called) -> None:
    done = called("score", *TEXTS, "--", "--bootstrap")
    assert done.returncode == 2
    assert done.stderr.startswith("karat: --bootstrap: No such file")


def test_references_of_a_grid_were_arguments(called: Called) -> None:
    done = called("grid", "a.txt", "ref1.txt", "ref2.txt")
    note = "karat grid CANDIDATE REFERENCE is now karat grid CANDIDATE -r REFERENCE"
    assert (done.returncode, done.stderr) == (0, f"karat: note: {note}\n")
    assert done.stdout == called("grid", "a.txt", "-r", "ref1.txt", "-r", "ref2.txt").stdout


def test_a_report_was_an_option(folder: Path, called: Called) -> None:
    asked = ("nuggets", "score", "heron", "wren", "-k", "demo-nuggets")
    done = called(*asked, "--report", "old.html")
    assert (done.returncode, done.stderr) == (0, "karat: note: --report is now -o page.html\n")
    assert done.stdout == called(*asked).stdout
    assert called(*asked, "-o", "new.html").stdout == ""
    old, new = ((folder / name).read_text("utf-8") for name in ("old.html", "new.html"))
    assert old.partition("<footer")[0] == new.partition("<footer")[0]
    assert 'href="#answer-' in new


def test_a_bootstrap_test_has_one_number_of_resamples() -> None:
    systems = {"A": ["a b c", "d e"], "B": ["a b d", "d f"]}
    given = (systems, ["a b c", "d e"], "chrf")
    assert kt.compare(*given, resamples=7).trials == 7
    assert kt.compare(*given, trials=7).resamples == 7
    with pytest.raises(kt.InputError, match="set resamples alone"):
        kt.compare(*given, trials=7, resamples=8)
