"""`--read-as gtm-sgml`: the original tool's files on the command line, good and bad."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import karat as kt

Called = Callable[..., Any]
Output = Callable[..., str]
READ = ("--read-as", "gtm-sgml")


def sgml(**documents: dict[int, str]) -> str:
    """A file with segments by document and number."""
    return "".join(
        f'<doc docid="{name}" sysid="x">\n'
        + "".join(f"<seg id={number}> {text} </seg>\n" for number, text in segments.items())
        + "</doc>\n"
        for name, segments in documents.items()
    )


@pytest.fixture
def files(folder: Path) -> Path:
    texts = {
        "sys1": sgml(d={1: "the cat sat", 2: "a dog"}, e={1: "it ran"}),
        "sys2": sgml(e={1: "it ran away"}, d={2: "dog a", 1: "cat the sat"}),  # another order
        "ref1": sgml(d={1: "the cat sat down", 2: "a dog"}, e={1: "it ran away"}),
        "ref2": sgml(d={1: "the cat sat", 2: "one dog"}, e={1: "it was running"}),
    }
    for name, text in texts.items():
        (folder / f"{name}.sgm").write_text(text, encoding="utf-8")
    lines = {
        "p1": ["the cat sat", "a dog", "it ran"],
        "p2": ["cat the sat", "dog a", "it ran away"],
        "q1": ["the cat sat down", "a dog", "it ran away"],
        "q2": ["the cat sat", "one dog", "it was running"],
    }
    for name, texts_of in lines.items():
        (folder / f"{name}.txt").write_text("\n".join(texts_of) + "\n", encoding="utf-8")
    return folder


SGML = ("A=sys1.sgm", "B=sys2.sgm", "-r", "ref1.sgm", "-r", "ref2.sgm", *READ)
LINES = ("A=p1.txt", "B=p2.txt", "-r", "q1.txt", "-r", "q2.txt")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "command",
    [
        ("score", "-m", "gtm:preset=paper", "-m", "bleu", "--intervals"),
        ("score", "-m", "gtm", "--segments"),
        ("compare", "-m", "gtm:e=2", "-m", "chrf"),
    ],
)
def test_texts_are_those_of_plain_files(output: Output, command: tuple[str, ...]) -> None:
    first, two = (
        json.loads(output(command[0], *inputs, *command[1:], "-f", "json"))
        for inputs in (SGML, LINES)
    )
    assert first["rows"]
    for json_report in (first, two):
        json_report.pop("command")
    few = [note for note in first["notes"] if note not in two["notes"]]
    assert len(few) == (command[-1] != "--segments")
    for note in few:  # only these files know their documents
        assert note.startswith("Intervals and verdicts describe the segments of these 2 documents")
        first["notes"].remove(note)
    assert first == two


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("command", ["grid", "explain"])
def test_a_grid_is_that_of_plain_files(output: Output, command: str) -> None:
    options = ("-m", "gtm:preset=paper", "--segment", "1", "-f", "json")
    single = json.loads(
        output(command, "A=sys1.sgm", "-r", "ref1.sgm", "-r", "ref2.sgm", *READ, *options)
    )
    two = json.loads(output(command, "A=p1.txt", "-r", "q1.txt", "-r", "q2.txt", *options))
    for json_report in (single, two):
        json_report.pop("command")
    assert single == two


def test_from_python(files: Path) -> None:
    names = {"A": files / "sys1.sgm", "B": files / "sys2.sgm"}
    reference_texts = kt.load_texts(names, [files / "ref1.sgm"])
    assert reference_texts.systems["B"] == ("cat the sat", "dog a", "it ran away")
    assert reference_texts.references == [("the cat sat down",), ("a dog",), ("it ran away",)]
    assert reference_texts.documents == ("d", "d", "e")
    assert (
        kt.score(reference_texts.systems, reference_texts.references, "gtm")["A", "gtm"].score.value
        > 0.8
    )


def test_gold_values_of_the_tools_samples(karat_data: Path, output: Output) -> None:
    folder = karat_data / "gtm-samples"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there: no samples of the original tool")
    files = (str(folder / "ara-sys1.txt"), "-r", str(folder / "ara-ref2.txt"))
    options = ("-m", "gtm:preset=gtm-1.4", "--segments", "-f", "json")
    rows = json.loads(output("score", *files, *READ, *options))["rows"]
    gold = [0.13333, 0.45217, 0.57143, 0.28571, 0.37778, 0.35052]
    assert [row["score"] for row in rows] == pytest.approx(gold, abs=5e-6)


BAD = [
    (("sys1.sgm", "-r", "ref1.sgm"), "sys1.sgm is SGML (<doc docid=…>, <seg id=…>)"),
    (("p1.txt", "-r", "ref1.sgm"), "ref1.sgm is SGML"),
    (("p1.txt", "-r", "ref1.sgm", *READ), "p1.txt, line 1: text outside a segment"),
    (("sys1.sgm", "-r", "short.sgm", *READ), "segment 2 of document d is not in short.sgm"),
    (("short.sgm", "-r", "ref1.sgm", *READ), "segment 2 of document d is not in short.sgm"),
    (("sys1.sgm", "short.sgm", "-r", "ref1.sgm", *READ), "is not in short.sgm"),
    (("sys1.sgm", "-r", "twice.sgm", *READ), "twice.sgm, line 4: document d again"),
    (("sys1.sgm", "-r", "open.sgm", *READ), "open.sgm, line 2: segment 1 has no </seg>"),
    (("sys1.sgm", "-r", "nothing.sgm", *READ), "nothing.sgm"),
    (("sys1.sgm", "-r", "empty.sgm", *READ), "empty.sgm: no document"),
    (("hollow.sgm", "-r", "hollow2.sgm", *READ), "hollow.sgm: no segment"),
    (("sys1.sgm", "-r", "latin.sgm", *READ), "latin.sgm"),
    (("-", "-r", "ref1.sgm", *READ), "standard input (-) is not read as gtm-sgml: name a file"),
    (("sys1.sgm", *READ), "no reference was given"),
    (("sys1.sgm", "-r", "ref1.sgm", *READ, "--optional-references"), "leave it out"),
    (("sys1.sgm", "-r", "ref1.sgm", "--read-as", "gtm"), "files are read as text, gtm-sgml"),
    (("sys1.sgm", "sys1.sgm", "-r", "ref1.sgm", *READ), "two systems are called"),
    (("sys1.sgm", "ref2.sgm", "-r", "ref1.sgm", *READ), "looks like a reference"),
    (("--set", "demo", *READ), "demo is a known set"),
]


@pytest.mark.parametrize(("args", "message"), BAD)
def test_bad_input_is_one_sentence(
    files: Path, run_karat: Called, args: tuple[str, ...], message: str
) -> None:
    (files / "short.sgm").write_text(sgml(d={1: "a"}, e={1: "b"}), encoding="utf-8")
    (files / "twice.sgm").write_text(sgml(d={1: "a"}) * 2, encoding="utf-8")
    (files / "open.sgm").write_text("<doc docid=d>\n<seg id=1>a\n</doc>\n", encoding="utf-8")
    (files / "empty.sgm").write_text("", encoding="utf-8")
    (files / "hollow.sgm").write_text("<doc docid=d>\n</doc>\n", encoding="utf-8")
    (files / "hollow2.sgm").write_text("<doc docid=d>\n\n</doc>\n", encoding="utf-8")
    (files / "latin.sgm").write_bytes(sgml(d={1: "é"}).encode("latin-1"))
    before = sorted(os.listdir(files))
    done = run_karat("score", "-m", "gtm", *args, "-o", "report.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(os.listdir(files)) == before


@pytest.mark.usefixtures("files")
def test_tags_may_be_the_text(output: Output) -> None:
    files = ("sys1.sgm", "-r", "ref1.sgm", "--read-as", "text", "-m", "gtm", "-f", "json")
    (row,) = json.loads(output("score", *files))["rows"]
    assert 0 < row["score"] < 1


@pytest.mark.parametrize(
    "text",
    [
        "<doc>\n<seg>plain tags\n",  # no ids
        "about <doc docid=1> tags\n<seg id=1>\n",  # does not begin with one
        "<b>bold</b>\n<seg id=2> text\n",
    ],
)
def test_other_tags_are_text(folder: Path, output: Output, text: str) -> None:
    for name in ("x.txt", "y.txt"):
        (folder / name).write_text(text + name + "\n", encoding="utf-8")
    assert "gtm" in output("score", "x.txt", "-r", "y.txt", "-m", "gtm")


# ----------------------------------------------------------------------------- scores of documents


@pytest.mark.parametrize(
    ("system", "gold"), [("sys1", (0.517413, 0.508393)), ("sys2", (0.558824, 0.575835))]
)
def test_gold_values_of_documents(
    karat_data: Path, output: Output, system: str, gold: tuple[float, float]
) -> None:
    folder = karat_data / "gtm-samples"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there: no samples of the original tool")
    references = [("-r", str(folder / f"ara-{name}.txt")) for name in ("ref1", "ref2")]
    files = (str(folder / f"ara-{system}.txt"), *references[0], *references[1])
    options = ("-m", "gtm:preset=gtm-1.4", "--level", "document", "-f", "json")
    rows = json.loads(output("score", *files, *READ, *options))["rows"]
    assert [(row["document"], row["segments"]) for row in rows] == [
        *(("sampledoc-0", 3), ("sampledoc-1", 3)),
    ]
    assert [row["score"] for row in rows] == pytest.approx(gold, abs=5e-7)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("metric", ["gtm:e=2", "bleu", "chrf", "rougeL", "ter", "aev"])
def test_a_document_scores_as_a_corpus_of_its_segments(output: Output, metric: str) -> None:
    report = json.loads(output("score", *SGML, "-m", metric, "--level", "document", "-f", "json"))
    rows_read = {(row["system"], row["document"]): row["score"] for row in report["rows"]}
    assert list(rows_read) == [("A", "d"), ("A", "e"), ("B", "d"), ("B", "e")]
    lines = {
        name: Path(f"{name}.txt").read_text().splitlines() for name in ("p1", "p2", "q1", "q2")
    }
    for (system, document), score in rows_read.items():
        part = slice(0, 2) if document == "d" else slice(2, 3)
        texts = lines["p1" if system == "A" else "p2"][part]
        references = list(zip(lines["q1"][part], lines["q2"][part], strict=True))
        assert score == kt.score({system: texts}, references, metric).rows[0].score.value


@pytest.mark.usefixtures("files")
def test_documents_in_every_format(output: Output) -> None:
    options = ("-m", "gtm", "-m", "bleu", "--level", "document")
    text, table = output("score", *SGML, *options), output("score", *SGML, *options, "-f", "csv")
    assert text.startswith("Document scores\n")
    assert text.count("\n  A ") == text.count("\n  B ") == 4
    assert table.splitlines()[0].startswith("metric,system,document,segments,score,")
    assert len(table.splitlines()) == 1 + 2 * 2 * 2
    page = output("score", *SGML, *options, "-f", "html")
    assert "Document scores" in page


def test_documents_from_python(files: Path) -> None:
    names = {"A": files / "sys1.sgm", "B": files / "sys2.sgm"}
    texts = kt.load_texts(names, [files / "ref1.sgm"])
    scored = kt.score(texts, metrics=["gtm", "bleu"], level="document")
    assert scored["A", "gtm"] == kt.score(texts.systems, texts.references, "gtm").rows[0]
    document_rows = [
        (row.system, row.metric, row.document, row.segments) for row in scored.documents
    ]
    metrics = kt.metric("gtm"), kt.metric("bleu")
    assert document_rows == [
        (s, m, d, n) for s in "AB" for m in metrics for d, n in (("d", 2), ("e", 1))
    ]
    assert len(scored.to_pandas()) == 8
    assert scored.settings["level"] == "document"
    of_set = kt.score("demo", metrics="chrf", level="document")
    assert {row.document for row in of_set.documents} == {"page-1", "page-2", "page-3"}
    assert not kt.score(texts, metrics="gtm").documents


def test_levels_that_cannot_be(files: Path, run_karat: Called) -> None:
    expected_message = "the segments have no documents, which level document needs"
    for inputs in (LINES, ("p1.txt", "-r", "q1.txt")):
        done = run_karat("score", *inputs, "--level", "document")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"karat: {expected_message}: give an evaluation set")
        assert done.stderr.count("\n") == 1
    with pytest.raises(kt.InputError, match=expected_message):
        kt.score(["a"], ["a"], "gtm", level="document")
    with pytest.raises(kt.InputError, match=r"^level 'page': expected one of system, segment"):
        kt.score(["a"], ["a"], "gtm", level="page")
    with pytest.raises(kt.InputError, match="a table has no documents"):
        kt.score([{"output": "a", "reference": "a"}], metrics="gtm", level="document")
    with pytest.raises(kt.InputError, match="have their own references"):
        kt.score(kt.load_texts({"A": files / "sys1.sgm"}, [files / "ref1.sgm"]), ["a"], "gtm")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("more", "name"),
    [
        (("--segments",), "--segments"),
        (("--intervals",), "--intervals"),
        (("--worst", "1"), "--worst, --best and --sort"),
        (("--wide",), "--wide"),
    ],
)
def test_options_that_documents_do_not_have(
    run_karat: Called, more: tuple[str, ...], name: str
) -> None:
    done = run_karat("score", *SGML, "-m", "gtm", "--level", "document", *more)
    assert done.returncode == 2
    expected_message = f"--level document shows the scores of documents: leave out {name}\n"
    assert done.stderr == f"karat: {expected_message}"


@pytest.mark.usefixtures("files")
def test_the_level_of_segments_is_that_of_the_option(output: Output) -> None:
    options = ("-m", "gtm", "-f", "csv")
    assert output("score", *SGML, *options, "--level", "segment") == output(
        "score", *SGML, *options, "--segments"
    )
