"""Names of the last release: they still work, with one note on standard error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import karat as kt

Called = Callable[..., Any]
TREE = "1\tit\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\trains\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
TRAIN = ("realize", "train", "t.conllu", "-o", "m.npz")


def test_the_model_of_a_realiser_was_an_argument(folder: Path, called: Called) -> None:
    (folder / "t.conllu").write_text(TREE)
    assert called(*TRAIN, "--realizer", "fergus").returncode == 0
    done = called("realize", "generate", "m.npz", "t.conllu")
    note = "karat: note: MODEL TREES is now TREES --model MODEL\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, "it rains\n", note)
    assert called("realize", "generate", "t.conllu", "--model", "m.npz").stdout == "it rains\n"
    done = called("realize", "generate", "t.conllu")
    assert done.stderr.startswith("karat: Missing option '--model'. For example: karat realize ")
    done = called("realize", "generate", "m.npz", "t.conllu", "more")
    assert done.stderr.endswith("karat: Got unexpected extra argument (more)\n")
    assert done.returncode == 2


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
