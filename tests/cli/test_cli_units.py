"""`--unit` and `--units`: the units of intervals and tests on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import karat as kt

Called = Callable[..., Any]
Output = Callable[..., str]

REFERENCES = [f"the cat number {i} sat on the mat of house {i % 7}" for i in range(24)]
OUTPUTS = {
    "old": [text if i % 3 else f"a cat {i}" for i, text in enumerate(REFERENCES)],
    "new": [text if i % 4 else text.replace("cat", "dog") for i, text in enumerate(REFERENCES)],
}
LABELS = [f"house {i // 3}" for i in range(24)]
FILES = ("old.txt", "new.txt", "-r", "ref.txt", "-m", "chrf", "-m", "bleu")


@pytest.fixture
def texts(folder: Path) -> Path:
    columns = {**OUTPUTS, "ref": REFERENCES, "units": LABELS}
    for name, lines in columns.items():
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.mark.usefixtures("texts")
def test_labels_of_a_file_are_those_of_python(output: Output) -> None:
    report = json.loads(output("compare", *FILES, "--units", "units.txt", "-f", "json"))
    expected = kt.compare(OUTPUTS, REFERENCES, ["chrf", "bleu"], units=LABELS)
    assert report["signature"].items() >= expected.signatures.items()
    for row, other in zip(report["rows"], expected.rows, strict=True):
        assert (row["low"], row["p"], row["units"]) == (other.low, other.p, other.units)
    scores = json.loads(
        output("score", *FILES, "--intervals", "--units", "units.txt", "-f", "json")
    )
    intervals = kt.score(OUTPUTS, REFERENCES, ["chrf", "bleu"], intervals=True, units=LABELS)
    for row in scores["rows"]:
        assert row["high"] == intervals[row["system"], row["metric"]].high
    assert "24 segments in 8 units" in output("compare", *FILES, "--units", "units.txt")


@pytest.mark.usefixtures("texts")
def test_segments_may_be_chosen(output: Output) -> None:
    plain = json.loads(output("compare", *FILES, "-f", "json"))["rows"]
    named = json.loads(output("compare", *FILES, "--unit", "segment", "-f", "json"))["rows"]
    assert plain == named


@pytest.mark.usefixtures("texts")
def test_labels_of_a_set(folder: Path, output: Output) -> None:
    (folder / "halves.txt").write_text("a\n" * 6 + "b\n" * 6)
    text = output("compare", "--set", "demo", "-m", "chrf", "--units", "halves.txt")
    assert "12 segments in 2 units" in text


@pytest.mark.usefixtures("texts")
def test_a_gate_has_units(output: Output, run_karat: Called) -> None:
    output("gate", "old.txt", "-r", "ref.txt", "-m", "chrf", "-b", "g.tsv", "--update")
    run = ("gate", "new.txt", "-r", "ref.txt", "-b", "g.tsv", "-f", "json")
    report = json.loads(run_karat(*run, "--units", "units.txt").stdout)
    compared = kt.compare(OUTPUTS, REFERENCES, "chrf", units=LABELS)["new", "chrf"]
    row = report["rows"][0]
    assert (row["low"], row["high"]) == (compared.delta_low, compared.delta_high)
    assert report["signature"]["chrf"].endswith("|ci=jackknife|unit=unit")
    plain = json.loads(run_karat(*run).stdout)["rows"][0]
    assert (plain["low"], plain["high"]) != (row["low"], row["high"])
    segment = json.loads(run_karat(*run, "--unit", "segment").stdout)["rows"][0]
    assert segment == plain


def test_a_gate_of_a_set_has_its_documents(output: Output, folder: Path) -> None:
    lines = [
        {"id": str(i), "references": [text], "group": LABELS[i], "outputs": {"run": text}}
        for i, text in enumerate(REFERENCES)
    ]
    (folder / "set.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    output("gate", "run", "--set", "set.jsonl", "-m", "chrf", "-b", "g.tsv", "--update")
    run = ("gate", "run", "--set", "set.jsonl", "-b", "g.tsv")
    assert "|unit=document" in output(*run)
    assert "|unit=" not in output(*run, "--unit", "segment")
    notes = output("gate", "atlas", "--set", "demo", "-m", "chrf", "-b", "d.tsv", "--update")
    assert notes == "d.tsv: 12 items of atlas by chrf\n"
    assert "the segments of these 3 documents" in " ".join(
        output("gate", "atlas", "--set", "demo", "-b", "d.tsv").split()
    )


COMPARE = ("compare", *FILES)
SCORE = ("score", *FILES)
GATE = ("gate", "new.txt", "-r", "ref.txt", "-b", "g.tsv")
TABLE = ("t.csv", "--candidate", "x", "-r", "y", "-m", "chrf")
BAD = [
    ((*COMPARE, "--units", "none.txt"), "none.txt: "),
    ((*COMPARE, "--units", "short.txt"), "short.txt: found 23 lines, expected 24: the label of a"),
    ((*COMPARE, "--units", "one.txt"), "one.txt: found 1 line, expected 24"),
    ((*COMPARE, "--units", "gap.txt"), "gap.txt, line 3: found an empty line, expected the label"),
    ((*COMPARE, "--units", "units.txt", "--unit", "segment"), "--unit and --units exclude each"),
    ((*COMPARE, "--unit", "document"), "unit 'document': the document of each segment is unknown"),
    ((*COMPARE, "--units", "units.txt", "-o", "units.txt"), "units.txt is one of the inputs"),
    (("compare", "-", "old.txt", "-r", "ref.txt", "--units", "-"), "standard input (-) is given"),
    (("compare", "--set", "demo", "--units", "units.txt"), "found 24 lines, expected 12"),
    (("compare", "--set", "demo", "--unit", "topic"), "unit 'topic': expected segment, document"),
    ((*SCORE, "--units", "units.txt"), "--unit and --units change only intervals: add --interval"),
    ((*SCORE, "--unit", "segment"), "--unit and --units change only intervals: add --intervals"),
    ((*SCORE, "--intervals", "--units", "gap.txt"), "gap.txt, line 3: found an empty line"),
    ((*SCORE, "--intervals", "--units", "gap.txt", "--signature-only"), "gap.txt, line 3: found"),
    ((*GATE, "--units", "gap.txt"), "gap.txt, line 3: found an empty line"),
    ((*GATE, "--units", "short.txt"), "short.txt: found 23 lines, expected 24"),
    ((*GATE, "--unit", "document"), "unit 'document': the document of each segment is unknown"),
    ((*GATE, "--unit", "document", "--units", "units.txt"), "--unit and --units exclude each"),
    ((*GATE, "--units", "units.txt", "-o", "units.txt"), "units.txt is one of the inputs"),
    (("score", *TABLE, "--intervals", "--units", "u.txt"), "--units does not work with tables: na"),
    (("compare", *TABLE, "--by", "s", "--id", "i", "--units", "u.txt"), "--units does not work wi"),
    (
        ("gate", *TABLE, "--id", "i", "-b", "g.tsv", "--units", "u.txt"),
        "--units does not work with tables",
    ),
    (
        ("gate", "t.csv", "--candidate", "x", "-r", "y", "--id", "i", "-b", "g.tsv", "--unit", "s"),
        "unit 's': the s of each segment is unknown",
    ),
    (
        ("gate", "heron", "--key", "demo-nuggets", "-b", "g.tsv", "--unit", "question"),
        "runs with --key are compared question by question: leave out --unit",
    ),
]


@pytest.mark.parametrize(("args", "message"), BAD, ids=lambda value: str(value)[:40])
def test_bad_units_get_one_sentence(
    texts: Path, run_karat: Called, args: tuple[str, ...], message: str
) -> None:
    (texts / "short.txt").write_text("\n".join(LABELS[1:]) + "\n")
    (texts / "one.txt").write_text("house\n")
    (texts / "gap.txt").write_text("\n".join(["a", "b", " ", *LABELS[3:]]) + "\n")
    (texts / "t.csv").write_text("x,y,s,i\na,b,c,d\n")
    kt.write_baseline(OUTPUTS["old"], REFERENCES, ["chrf"], baseline=texts / "g.tsv")
    done = run_karat(*args)
    assert done.returncode == 2, done.stdout
    assert message in " ".join(done.stderr.split())
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_systems_are_not_pooled_silently(
    folder: Path, run_karat: Called, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        {"id": i, "model": name, "candidate": text, "reference": reference}
        for name, texts in OUTPUTS.items()
        for i, (text, reference) in enumerate(zip(texts, REFERENCES, strict=True))
    ]
    path = folder / "mine.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    args = ("score", "mine.jsonl", "-m", "chrf", "--intervals")
    by_system = output("score", "mine.jsonl", "-m", "chrf", "--intervals", "-f", "json")
    assert [row["system"] for row in json.loads(by_system)["rows"]] == [*OUTPUTS]
    monkeypatch.setattr("karat.tables.streams.LARGE", 1)
    found = run_karat(*args, "--id", "id")
    assert (found.returncode, found.stdout, found.stderr.count("\n")) == (2, "", 1)
    assert "add --by model (in Python by=)" in found.stderr
    assert "repeated answers of one system, add --unit id" in found.stderr
    remark = "All rows are one system, and column 'model' has several values"
    named = ("--candidate", "candidate", "-r", "reference")
    assert remark in " ".join(output(*args, *named).split())
    for more in (("--by", "model", "--id", "id"), ("--id", "id", "--unit", "id")):
        assert "All rows are one system" not in " ".join(output(*args, *more).split())
    one = [{**line, "model": "old"} for line in lines]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in one))
    assert "48 answers to 24 ids" in " ".join(output(*args, "--id", "id").split())
