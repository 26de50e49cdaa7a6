"""Signatures on the command line: read whole or refused, and written in two forms."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from karat import __version__

Called = Callable[..., Any]
FILES = ("a.txt", "-r", "ref1.txt")


def score(output: Callable[..., str], *args: str) -> float:
    rows = json.loads(output("score", *FILES, *args, "-f", "json"))["rows"]
    return float(rows[0]["score"])


def test_a_signature_of_sacrebleu_is_what_it_says(output: Callable[..., str]) -> None:
    signature = "bleu|nrefs:1|case:lc|tok:char|smooth:none|version:2.4.0"
    expected = score(output, "-m", "bleu:case=lower,tok=char,smooth=none")
    assert score(output, "-m", signature) == expected != score(output, "-m", "bleu")


@pytest.mark.parametrize("command", ["score", "grid", "meta", "plane"])
def test_what_a_signature_says_besides_is_checked(run_karat: Called, command: str) -> None:
    settings = {
        "score": [*FILES, "-m", "bleu|nrefs=4"],
        "grid": ["a.txt", "-r", "ref1.txt", "-m", "gtm|nrefs=4"],
        "meta": ["demo", "-m", "bleu|nrefs=4"],
        "plane": ["fit", "demo", "-m", "aev|nrefs=4"],
    }
    done = run_karat(command, *settings[command])
    assert done.returncode == 2
    assert "its signature says nrefs=4, but" in done.stderr


def test_signatures_are_checked_before_they_are_printed(run_karat: Called) -> None:
    done = run_karat("score", *FILES, "-m", "bleu|nrefs=2", "--signature-only")
    assert done.returncode == 2
    assert "says nrefs=2, but every segment has 1 reference" in done.stderr


def test_the_form_of_sacrebleu(output: Callable[..., str]) -> None:
    metrics = ("-m", "bleu", "-m", "chrf++", "-m", "ter", "--signature", "sacrebleu")
    expected = [
        f"BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:karat-{__version__}",
        f"chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:karat-{__version__}",
        f"TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:karat-{__version__}",
    ]
    assert output("score", *FILES, *metrics, "--signature-only").splitlines() == expected
    report = json.loads(output("score", *FILES, *metrics, "-f", "json"))
    assert list(report["signature"].values()) == expected
    assert report["notes"] == []
    compared = json.loads(output("compare", "b.txt", *FILES, *metrics, "-f", "json"))
    assert compared["signature"]["bleu"] == expected[0]
    test = ("--test", "sacrebleu-bootstrap")
    compared = json.loads(output("compare", "b.txt", *FILES, *metrics, *test, "-f", "json"))
    assert compared["signature"]["bleu"] == expected[0].replace("|case", "|bs:1000|seed:12345|case")


def test_other_metrics_keep_karats_form_with_a_note(output: Callable[..., str]) -> None:
    args = ("-m", "bleu", "-m", "rouge1", "--signature", "sacrebleu", "-f", "json")
    report = json.loads(output("score", *FILES, *args))
    assert report["signature"]["rouge1"].startswith("rouge1:alpha=0.5,")
    assert report["notes"] == [
        "sacreBLEU's form of signatures cannot express rouge1: signed in Karat's."
    ]
