"""`karat meta reliability` and documents of joined text: what they show, and what they refuse."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import karat as kt

Called = Callable[..., Any]
Output = Callable[..., str]
RUN = ("meta", "reliability", "demo", "-m", "bleu", "-m", "gtm:preset=paper", "--repeats", "3")


@pytest.mark.parametrize("format", ["text", "json", "tsv", "csv", "md", "latex", "html", "svg"])
def test_every_format_is_rendered(output: Output, format: str) -> None:
    text = output(*RUN, "-d", "fluency", "--format", format)
    assert "fluency" in text
    assert "Traceback" not in text


def test_rows_are_those_of_the_call(output: Output) -> None:
    arguments = (
        "-d",
        "adequacy",
        "--lengths",
        "1-2,4",
        "--reference-counts",
        "1,3",
        "-s",
        "spearman",
    )
    report = json.loads(output(*RUN, *arguments, "--documents", "joined", "-f", "json"))
    expected = kt.reliability(
        kt.load_evalset("demo"),
        "adequacy",
        metrics=["bleu", "gtm:preset=paper"],
        lengths=[1, 2, 4],
        reference_counts=[1, 3],
        statistics=["spearman"],
        documents="joined",
        repeats=3,
    )
    assert report["rows"] == [row._asdict() for row in expected.rows]
    assert report["tests"] == [test._asdict() for test in expected.tests]
    assert len(report["rows"]) == 2 * 2 * 3


def test_the_result_does_not_depend_on_threads_and_repeats_with_its_seed(output: Output) -> None:
    arguments = (*RUN, "-d", "adequacy", "--documents", "joined", "-f", "json", "--seed", "7")
    first, two, three = (
        json.loads(output(*arguments, "--threads", str(n)))["rows"] for n in (1, 2, 1)
    )
    assert first == two == three
    assert first != json.loads(output(*arguments[:-1], "8"))["rows"]


def test_a_page_has_the_curves(folder: Path, output: Output) -> None:
    assert output(*RUN, "-d", "fluency", "--reference-counts", "1,2,3", "-o", "page.html") == ""
    page = (folder / "page.html").read_text("utf-8")
    assert "Reliability: fluency, pearson" in page
    assert page.count("<svg") >= 2
    assert "3 refs: gtm:e=2,search=exact,cap=whole" in page


def test_a_system_can_be_left_out(output: Output) -> None:
    arguments = ("-d", "fluency", "--exclude", "drift", "-f", "json")
    rows = json.loads(output(*RUN, *arguments))["rows"]
    assert rows != json.loads(output(*RUN, *arguments[:2], *arguments[4:]))["rows"]


BAD = [
    (("--lengths", "13"), "pseudo-documents of 13 segments: expected 1 to 12"),
    (("--lengths", "0"), "expected numbers from 1, a range in rising order"),
    (("--lengths", "5-2"), "expected numbers from 1, a range in rising order"),
    (("--lengths", "1,two"), "found 'two', expected whole numbers such as 1,2,5 or 1-25"),
    (("--lengths", ""), "expected whole numbers such as 1,2,5"),
    (("--lengths", "1,1"), "lengths=(1, 1) has 1 twice"),
    (("--reference-counts", "4"), "reference counts 4: expected 1 to 3"),
    (("--documents", "glued"), "glued"),
    (("--statistic", "spa"), "spa compares systems"),
    (("-d", "speed"), "demo has no dimension 'speed'"),
    (("--repeats", "0"), "0 is not in the range"),
    (("--read-as", "gtm"), "demo is a known set"),
    (("-o", "report.docx"), "cannot write .docx files"),
]


@pytest.mark.parametrize(("more", "message"), BAD)
def test_bad_input_is_one_sentence(
    folder: Path, run_karat: Called, more: tuple[str, ...], message: str
) -> None:
    before = sorted(os.listdir(folder))
    run = RUN[:-2] if "--repeats" in more else RUN
    done = run_karat(*run, *more)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(os.listdir(folder)) == before


def test_a_set_without_human_scores_is_refused(folder: Path, run_karat: Called) -> None:
    row = {"id": "1", "references": ["a b"], "outputs": {"A": "a b"}}
    (folder / "bare.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    done = run_karat("meta", "reliability", "bare.jsonl", "-m", "bleu")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_joined_documents_are_a_level_of_meta(output: Output) -> None:
    quick_options = ("--resamples", "0", "--trials", "0", "-d", "adequacy", "-f", "json")
    levels = ("-l", "document", "-l", "document-joined")
    rows_read = json.loads(
        output("meta", "demo", "-m", "gtm:preset=paper", *levels, *quick_options)
    )["rows"]
    values = {row["level"]: row["value"] for row in rows_read}
    assert set(values) == {"document", "document-joined"}
    assert values["document"] != values["document-joined"]


def test_ctrl_c_is_clean(
    folder: Path, command: list[str], clean_environment: Callable[..., dict[str, str]]
) -> None:
    long = ("--repeats", "100000", "--documents", "joined", "-o", "report.txt")
    process = subprocess.Popen(
        [*command, *RUN[:-2], *long],
        cwd=folder,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    try:
        time.sleep(3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, error_output = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert error_output.decode().count("\n") == 1
    assert b"interrupted; nothing was written" in error_output
    assert not (folder / "report.txt").exists()
