"""`karat gate`: exit codes, formats, JUnit files, GitHub annotations and summaries, bad input."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import karat as kt
from karat.report.gates import MAX_SUMMARY_BYTES, gate_annotations, gate_summary, junit_xml

Called = Callable[..., Any]
TEXTS = {
    "old.txt": [f"the cat number {i} sat on the mat" for i in range(30)],
    "same.txt": [f"the cat number {i} sat on the mat" for i in range(30)],
    "worse.txt": [f"the dog {i} sat" if i % 2 else f"cat {i} on a mat" for i in range(30)],
    "mixed.txt": ["the cat", *(f"the cat number {i} sat on the mat" for i in range(1, 30))],
    "ref.txt": [f"the cat number {i} sat on the mat of {i}" for i in range(30)],
}


@pytest.fixture
def gated(run_karat: Called, folder: Path) -> Called:
    """Run `karat gate` on files with a baseline of `old.txt`."""
    for name, lines in TEXTS.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    done = run_karat("gate", "old.txt", "-r", "ref.txt", "-m", "chrf", "-b", "g.tsv", "--update")
    message = "g.tsv: 30 items of old by chrf\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, message, "")
    return lambda *args: run_karat("gate", *args, "-r", "ref.txt", "-b", "g.tsv")


@pytest.mark.parametrize(
    ("args", "code", "verdict"),
    [
        (("same.txt",), 0, "pass"),
        (("worse.txt",), 1, "fail"),
        (("worse.txt", "--max-drop", "99"), 0, "pass"),
        (("worse.txt", "--max-drop", "chrf=99"), 0, "pass"),
        (("mixed.txt",), 0, "undecided"),
        (("mixed.txt", "--undecided", "fail"), 3, "undecided"),
        (("same.txt", "--min-score", "100"), 1, "fail"),
        (("mixed.txt", "--max-drop", "50", "--max-item-drop", "5"), 1, "fail"),
    ],
)
def test_exit_codes(gated: Called, args: tuple[str, ...], code: int, verdict: str) -> None:
    done = gated(*args)
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.startswith(f"Gate: {verdict}\n")  # the answer first
    report = json.loads(gated(*args, "-f", "json").stdout)
    assert report["answer"] == [{"verdict": verdict}]
    assert report["rows"][0]["metric"] == "chrf"


@pytest.mark.parametrize("format", ["md", "tsv", "csv", "latex", "html"])
def test_every_format(gated: Called, folder: Path, format: str) -> None:
    done = gated("worse.txt", "-f", format, "-o", f"out.{format}")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
    assert "fail" in (folder / f"out.{format}").read_text()


def test_the_baseline_is_whole_or_as_it_was(gated: Called, folder: Path) -> None:
    before = (folder / "g.tsv").read_bytes()
    done = gated("worse.txt", "-m", "nonsense", "--update")
    assert done.returncode == 2
    assert (folder / "g.tsv").read_bytes() == before
    gated("old.txt", "--update")
    assert (folder / "g.tsv").read_bytes() == before
    gated("old.txt", "--update", "--texts")
    assert (
        (folder / "g.tsv")
        .read_text()
        .splitlines()[-1]
        .endswith("\tthe cat number 29 sat on the mat")
    )


def test_junit(gated: Called, folder: Path) -> None:
    gated("worse.txt", "--junit", "gate.xml", "--min-score", "1", "--max-item-drop", "1")
    suite = ElementTree.parse(folder / "gate.xml").getroot()[0]
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "2",
        "errors": "0",
        "skipped": "0",
    }
    cases = [(case.get("name"), [child.tag for child in case]) for case in suite]
    assert cases == [
        ("chrf", ["failure"]),
        ("min-score chrf", ["system-out"]),
        ("max-item-drop chrf", ["failure"]),
    ]
    gated("mixed.txt", "--junit", "gate.xml")
    assert ElementTree.parse(folder / "gate.xml").getroot()[0][0][0].tag == "skipped"
    gated("mixed.txt", "--junit", "gate.xml", "--undecided", "fail")
    assert ElementTree.parse(folder / "gate.xml").getroot()[0][0][0].tag == "failure"


def test_github(gated: Called, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = folder / "summary.md"
    place.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place))
    done = gated("worse.txt", "--github")
    last = done.stderr.splitlines()[-1]
    assert re.fullmatch(
        r"::error title=karat gate%3A fail::chrf went from .* 95%25 interval .*", last
    )
    summary = place.read_text()
    assert summary.startswith("before\n# Gate: fail\n")
    assert summary.count("reference: the cat number") == 10
    assert "::warning" in gated("mixed.txt", "--github").stderr
    assert "::error" in gated("mixed.txt", "--github", "--undecided", "fail").stderr
    assert gated("same.txt", "--github").stderr == ""
    full_output = gated("worse.txt", "--github", "-f", "json").stdout
    assert json.loads(full_output)["answer"] == [{"verdict": "fail"}]
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "no" / "place"))
    assert gated("same.txt", "--github").stderr.startswith("karat: cannot write ")


HOSTILE = "x</failure>]]>\x00\x1b[31m & | <script>\n::error::y %0A \u202e"


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    """In XML, in a workflow command, in Markdown; and a summary is never too long."""
    ids, path = [HOSTILE, "b"], tmp_path / "g.tsv"
    refs = ["a b c " * 9, "d e f"]
    kt.write_baseline(refs, refs, baseline=path, ids=ids, texts=True)
    long = [f"{HOSTILE} {'w|' * 2_000_000}", "d e f"]
    result = kt.gate(long, refs, baseline=path, ids=ids, max_item_drop=1)
    suite = ElementTree.fromstring(junit_xml(result))
    assert len(suite[0]) == 2
    for line in gate_annotations(result):
        assert re.fullmatch(r"::(error|warning) title=karat gate%3A \w+::[^\n\r\x00\x1b]*", line)
    text = gate_summary(result)
    assert len(text.encode("utf-8")) < MAX_SUMMARY_BYTES
    assert "… (4,0" in text
    assert not re.search(r"(?<!\\)<script>|\x00|\x1b", text)


def test_tables_sets_and_nuggets(gated: Called, folder: Path, run_karat: Called) -> None:
    rows = zip(TEXTS["worse.txt"], TEXTS["ref.txt"], strict=True)
    lines = [f"s{i},{out},{ref}\n" for i, (out, ref) in enumerate(rows)]
    (folder / "t.csv").write_text("id,output,reference\n" + "".join(lines))
    table = ("t.csv", "--id", "id", "-b", "t.tsv")
    assert run_karat("gate", *table, "--update").stdout == "t.tsv: 30 items of t by chrf\n"
    assert run_karat("gate", *table, "-r", "reference", "--candidate", "output").returncode == 0
    assert run_karat("gate", "t.csv", "-b", "t.tsv").returncode == 0
    done = run_karat("gate", "t.csv", "--candidate", "output", "-b", "t.tsv")
    assert done.returncode == 0
    assert run_karat("gate", "atlas", "--set", "demo", "-b", "s.tsv", "--update").returncode == 0
    assert run_karat("gate", "drift", "--set", "demo", "-b", "s.tsv").returncode == 1
    nuggets = ("--key", "demo-nuggets", "-b", "n.tsv")
    completed = run_karat("gate", "heron", *nuggets, "--update")
    assert completed.stdout == "n.tsv: 2 items of heron by f\n"
    assert run_karat("gate", "heron", *nuggets, "--no-loss").returncode == 0
    done = run_karat("gate", "kestrel", *nuggets, "--no-loss", "-f", "json")
    assert (done.returncode, json.loads(done.stdout)["guards"][0]["lost"]) == (
        1,
        "marlow: 2; aldis: 2",
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("same.txt", "a.txt"), "2 outputs were given: expected one"),
        (
            ("same.txt", "--max-drop", "much"),
            "expected a number, or METRIC=NUMBER such as chrf=1.0",
        ),
        (("same.txt", "--max-drop", "1", "--max-drop", "2"), "there are two limits for one metric"),
        (("same.txt", "--max-drop", "bleu=1"), "--max-drop bleu: no such metric; there is chrf"),
        (("same.txt", "--max-drop", "-1"), "--max-drop: found -1, expected 0 or more"),
        (("same.txt", "--max-item-drop", "chrf=-1"), "--max-item-drop: found -1, expected 0"),
        (("same.txt", "--max-drop", "1_0"), "--max-drop '1_0': expected a number, or METRIC"),
        (("same.txt", "--max-drop", "0,5"), "--max-drop '0,5': expected a number, or METRIC"),
        (
            ("same.txt", "--max-drop", "chrf=1,bleu=2"),
            "repeat the option for each metric, as in --max-drop chrf=1 --max-drop bleu=2",
        ),
        (("same.txt", "-m", "chrf:beta=1"), "beta=2, now beta=1"),
        (("same.txt", "--correction", "x"), "--correction"),
        (("same.txt", "--texts"), "--texts needs --update"),
        (("same.txt", "--key", "demo-nuggets"), "-r and --set do not work with"),
        (
            ("same.txt", "--no-guess"),
            "--no-guess needs --key KEY: add it",
        ),
        (
            ("same.txt", "-r", "ref.txt", "-j", "log.jsonl"),
            "--judgements is only for evaluation sets: name the set with --set",
        ),
        (("same.txt", "-o", "g.tsv"), "g.tsv is one of the inputs"),
        (("same.txt", "--junit", "ref.txt"), "ref.txt is one of the inputs"),
        (("same.txt", "-o", "x", "--junit", "./x"), "--output and --junit are both"),
        (("a.txt",), "a.txt has 4 segments and ref.txt has 30 segments"),
        ((), "Missing argument"),
    ],
)
def test_bad_input_gets_one_sentence(gated: Called, args: tuple[str, ...], message: str) -> None:
    done = gated(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["same.txt", "ref.txt", "link.txt", "comet.tsv", "t.csv"])
def test_update_replaces_nothing_but_a_baseline(
    run_karat: Called, gated: Called, folder: Path, name: str
) -> None:
    (folder / "link.txt").symlink_to("ref.txt")
    (folder / "comet.tsv").write_text("system\tsegment\tcomet\nsame\t1\t0.5\n")
    (folder / "t.csv").write_text("id,output,reference\n1,a b,a c\n")
    before = (folder / name).read_bytes()
    by = ("-m", "given:file=comet.tsv") if name == "comet.tsv" else ()
    texts = ("x=same.txt", "-r", "ref.txt") if name != "t.csv" else ("t.csv", "--id", "id")
    done = run_karat("gate", *texts, *by, "-b", name, "--update")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    message = "is no baseline of Karat: name another file"
    message = message if by else "is one of the inputs: choose another output file"
    assert f"{name} {message}" in done.stderr
    assert (folder / name).read_bytes() == before


def test_a_limit_for_the_only_metric_of_a_name(run_karat: Called, gated: Called) -> None:
    arguments = ("gate", "worse.txt", "-r", "ref.txt", "-b", "two.tsv")
    by = ("-m", "chrf:case=lower", "-m", "rouge1:stem=porter-nltk")
    assert run_karat(*arguments, *by, "--update").returncode == 0
    done = run_karat(
        *arguments, "--max-drop", "chrf=0.25", "--max-drop", "rouge1=0.5", "-f", "json"
    )
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)["rows"]
    assert {row["metric"]: row["max_drop"] for row in rows} == {
        "chrf:case=lower": 0.25,
        "rouge1:stem=porter-nltk": 0.5,
    }


@pytest.mark.parametrize("option", ["-o", "--junit"])
@pytest.mark.parametrize("by_name", [True, False])
def test_no_output_replaces_a_file_of_a_metric(
    run_karat: Called, gated: Called, folder: Path, option: str, by_name: bool
) -> None:
    scores = "".join(f"same\t{i}\t0.5\n" for i in range(1, 31))
    (folder / "comet.tsv").write_text(f"system\tsegment\tcomet\n{scores}")
    before = (folder / "comet.tsv").read_bytes()
    arguments = ("gate", "same.txt", "-r", "ref.txt", "-b", "by.tsv")
    by = ("-m", "given:file=comet.tsv")
    assert run_karat(*arguments, *by, "--update").returncode == 0
    done = run_karat(*arguments, *(by if by_name else ()), option, "comet.tsv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "comet.tsv is one of the inputs: choose another output file" in done.stderr
    assert (folder / "comet.tsv").read_bytes() == before


def test_a_perfect_system_passes(gated: Called, folder: Path) -> None:
    (folder / "right.txt").write_bytes((folder / "ref.txt").read_bytes())
    done = gated("right.txt")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Gate: pass\n")
    assert "ref.txt is given as candidate and as reference" in gated("ref.txt").stderr


def test_one_item_is_one(gated: Called, folder: Path, run_karat: Called) -> None:
    (folder / "one.txt").write_text("a b c\n")
    (folder / "r1.txt").write_text("a b d\n")
    arguments = ("gate", "one.txt", "-r", "r1.txt", "-b", "one.tsv")
    assert run_karat(*arguments, "--update").stdout == "one.tsv: 1 item of one by chrf\n"
    assert "1 item has a score: a gate needs at least two" in run_karat(*arguments).stderr
    assert "the baseline has 1 item and the run 30" in run_karat(
        "gate", "same.txt", "-r", "ref.txt", "-b", "one.tsv"
    ).stderr.replace("\n", " ")
