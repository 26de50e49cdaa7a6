"""What people type from habit, and what it would be taken for: one sentence with the right form."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Called = Callable[..., Any]
Output = Callable[..., str]
JSON_LINES = '{"id": 1, "text": "a b"}\n{"id": 2, "text": "c d"}\n'


def refused(run_karat: Called, *args: str) -> str:
    """Run what must fail: one sentence, exit code 2 and nothing shown."""
    done = run_karat(*args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("karat: ")
    assert done.stderr.count("\n") == 1
    sentence: str = done.stderr.removeprefix("karat: ").rstrip("\n")
    return sentence


# ----------------------------------------------------------------------- references as candidates


@pytest.mark.parametrize(
    "args",
    [
        ("a.txt", "-r", "ref1.txt", "ref2.txt"),
        ("-r", "ref1.txt", "ref2.txt", "a.txt"),
        ("a.txt", "ref2.txt", "-r", "ref1.txt"),
        ("a.txt", "--reference=ref1.txt", "ref2.txt"),
    ],
)
@pytest.mark.parametrize("command", ["score", "compare"])
def test_a_second_reference_is_not_a_system(
    run_karat: Called, command: str, args: tuple[str, ...]
) -> None:
    sentence = refused(run_karat, command, *args)
    assert sentence == (
        "ref2.txt would be scored as a system, but looks like a reference: write -r before each "
        "reference (-r ref2.txt); to score it anyway, name it: human=ref2.txt"
    )


@pytest.mark.parametrize("name", ["test.ref.de", "REF.txt", "refA.txt", "gold.txt", "references-b"])
def test_names_of_references(folder: Path, run_karat: Called, name: str) -> None:
    os.rename(folder / "ref2.txt", folder / name)
    assert "looks like a reference" in refused(run_karat, "score", "a.txt", name, "-r", "ref1.txt")


@pytest.mark.parametrize("name", ["reference-free.txt", "no_ref.txt", "refless", "goldfish.txt"])
def test_names_of_systems_without_references(folder: Path, run_karat: Called, name: str) -> None:
    os.rename(folder / "ref2.txt", folder / name)
    assert run_karat("score", "a.txt", name, "-r", "ref1.txt").returncode == 0


def test_files_counted_up_after_r_are_references(folder: Path, run_karat: Called) -> None:
    for i in (1, 2):
        os.rename(folder / f"ref{i}.txt", folder / f"human.{i}")
    args = ("score", "a.txt", "-r", "human.1", "human.2")
    assert "human.2 would be scored as a system" in refused(run_karat, *args)


def test_the_reference_itself_is_no_candidate(folder: Path, run_karat: Called) -> None:
    sentence = refused(run_karat, "score", "ref1.txt", "-r", "ref1.txt")
    assert sentence.startswith("ref1.txt is given as candidate and as reference")
    os.symlink(folder / "ref1.txt", folder / "link.txt")
    assert "is given as candidate and as reference" in refused(
        run_karat, "score", "link.txt", "-r", "./ref1.txt"
    )


@pytest.mark.parametrize("packed", [False, True])
def test_a_copy_of_a_reference_is_no_candidate(
    folder: Path, run_karat: Called, packed: bool
) -> None:
    data = (folder / "ref2.txt").read_bytes()
    name = "copy.gz" if packed else "copy"
    (folder / name).write_bytes(gzip.compress(data) if packed else data)
    sentence = refused(run_karat, "score", name, "-r", "ref1.txt", "-r", "ref2.txt")
    assert sentence == (
        f"{name} has the same text as the reference ref2.txt: use the output of a system; to "
        f"score it anyway, name it: copy={name}"
    )


def test_what_is_meant_is_scored(folder: Path, output: Output) -> None:
    (folder / "refined.txt").write_bytes((folder / "b.txt").read_bytes())
    for i, name in ((1, "a.txt"), (2, "b.txt")):
        (folder / f"{i}.txt").write_bytes((folder / name).read_bytes())
    for args in (
        ("ref2.txt", "-r", "ref1.txt"),  # a person's text, against another's
        ("-r", "ref1.txt", "a.txt"),
        ("-r", "ref1.txt", "a.txt", "b.txt"),
        ("a.txt", "-r", "ref1.txt", "b.txt"),
        ("a.txt", "human=ref2.txt", "-r", "ref1.txt"),
        ("a.txt", "refined.txt", "-r", "ref1.txt"),
        ("same=ref1.txt", "-r", "ref1.txt"),
        ("-r", "ref1.txt", "1.txt", "2.txt"),
        ("1.txt", "2.txt", "-r", "c.txt"),
    ):
        assert output("score", *args, "-m", "bleu", "-f", "tsv")


# ------------------------------------------------------------------------------ JSON as candidates


@pytest.mark.parametrize(
    "args",
    [
        ("score", "d.jsonl", "-r", "a.txt"),
        ("score", "a.txt", "-r", "d.jsonl"),
        ("compare", "a.txt", "x=d.jsonl", "-r", "ref1.txt"),
        ("grid", "d.jsonl", "-r", "a.txt"),
        ("lm", "train", "d.jsonl", "-o", "model.lm"),
        ("paraphrase", "generate", "d.jsonl"),
        ("paraphrase", "score", "d.jsonl", "--originals", "a.txt"),
        ("paraphrase", "explain", "a.txt", "--originals", "d.jsonl"),
        ("paraphrase", "align", "d.jsonl", "a.txt"),
    ],
)
def test_json_lines_are_refused(folder: Path, run_karat: Called, args: tuple[str, ...]) -> None:
    (folder / "d.jsonl").write_text(JSON_LINES)
    assert refused(run_karat, *args).startswith(
        "d.jsonl is JSON lines (fields: text): expected one"
    )


def test_standard_input_is_looked_at_too(karat: Callable[..., Any]) -> None:
    done = karat("score", "-", "-r", "a.txt", input=JSON_LINES.encode())
    assert done.returncode == 2
    assert done.stderr.startswith(b"karat: standard input is JSON lines")


def test_json_is_named_before_a_file_that_is_its_own_reference(
    folder: Path, run_karat: Called
) -> None:
    (folder / "d.jsonl").write_text(JSON_LINES)
    message = "d.jsonl and d.jsonl are tables, and a table has its references in a column"
    for candidate in ("d.jsonl", "x=d.jsonl"):
        assert message in refused(run_karat, "score", candidate, "-r", "d.jsonl")


def test_as_text_scores_json(folder: Path, output: Output, run_karat: Called) -> None:
    (folder / "d.jsonl").write_text(JSON_LINES)
    (folder / "e.jsonl").write_text(JSON_LINES.replace("a b", "a x"))
    args = ("d.jsonl", "-r", "e.jsonl", "-m", "chrf", "--read-as", "text", "-f", "tsv")
    assert output("score", *args).startswith("metric\tsystem\tscore")
    assert output("lm", "train", "d.jsonl", "-o", "model.lm", "--read-as", "text", "--order", "1")
    assert (
        run_karat("paraphrase", "generate", "d.jsonl", "--read-as", "text", "--plain").returncode
        == 0
    )
    assert output("paraphrase", "align", "d.jsonl", "e.jsonl", "--read-as", "text")
    assert "read as dir, not as text" in refused(
        run_karat, "score", "--set", "demo", "--read-as", "text"
    )


# ----------------------------------------------------------------------------------------- options

FILES = ("score", "a.txt", "-r", "ref1.txt")
SLIPS = {
    (*FILES, "-m", "bleu,chrf"): "'bleu,chrf' is several metrics: give them one by one, -m bleu "
    "-m chrf (in Python, a list)",
    (*FILES, "-m", "bleu:n=2,chrf"): "bleu: 'chrf' is no setting; expected setting=value (another "
    "metric is another option: -m chrf)",
    (*FILES, "--segments", "5"): "--segments takes no number: leave out 5; for one segment, "
    "use karat grid --segment N",
    (*FILES, "-b"): "No such option '-b'. Did you mean --best or --buckets or --by? "
    "sacreBLEU's -b, the score alone, is --format tsv or --format json.",
    (*FILES, "-t", "wmt17"): "No such option '-t'. Did you mean --threads? sacreBLEU's -t, the "
    "test set, has no counterpart: give its references as files with -r.",
    (*FILES, "-l", "en-de"): "No such option '-l'. Did you mean --level? sacreBLEU's -l, the "
    "language pair, is not needed: set the tokeniser of the metric, as in -m bleu:tok=zh.",
    (*FILES, "-tok", "zh"): "No such option '-tok'. sacreBLEU's -tok, the "
    "tokeniser, is a setting of the metric, as in -m bleu:tok=zh.",
    (*FILES, "--paired-bs"): "No such option '--paired-bs'. sacreBLEU's --paired-bs, a paired "
    "test, is karat compare --test sacrebleu-bootstrap.",
    ("compare", "a.txt", "b.txt", "-r", "ref1.txt", "-b", "a"): "No such option '-b'. Did you "
    "mean --baseline or --buckets or --by? sacreBLEU's -b, the score alone, is --format tsv or "
    "--format json.",
    ("lm", "score", "a.txt", "-t", "2"): "No such option '-t'. Did you mean --threads or --tok?",
    ("nuggets", "score", "my.run"): "Missing option '-k' / '--key'. For example: karat nuggets "
    "score my.run --key key.txt --judgements judged.txt",
    ("lm", "score", "a.txt"): "Missing option '--model'. For example: karat lm score text.txt "
    "--model model.lm",
    ("score", "-r", "ref1.txt"): "Missing argument 'CANDIDATE...'. For example: karat score "
    "out.txt -r ref.txt; use - for standard input",
    ("score", "a.txt", "-r"): "Option '-r' requires an argument. For example: karat score out.txt "
    "-r ref.txt",
}


@pytest.mark.parametrize(("args", "sentence"), SLIPS.items())
def test_slips_are_told_the_right_form(
    run_karat: Called, args: tuple[str, ...], sentence: str
) -> None:
    assert refused(run_karat, *args) == sentence


def test_a_file_named_by_a_number_may_follow_a_flag(folder: Path, output: Output) -> None:
    (folder / "5").write_bytes((folder / "a.txt").read_bytes())
    assert output("score", "-r", "ref1.txt", "-m", "bleu", "--segments", "5", "-f", "tsv")


# ----------------------------------------------------------------------- options given twice


@pytest.mark.parametrize(
    ("args", "name"),
    [
        (("score", "t.csv", "--by", "system", "--by", "domain"), "--by"),
        (("score", "a.txt", "-r", "ref1.txt", "-f", "json", "--format=csv"), "--format"),
        (("compare", "a.txt", "b.txt", "-r", "ref1.txt", "--seed", "1", "--seed", "2"), "--seed"),
        (("data", "judges", "demo", "-o", "x.txt", "-o", "y.txt"), "--output"),
        (("paraphrase", "explain", "a", "b", "--renormalise", "--no-renormalise"), "--renormalise"),
    ],
)
def test_an_option_with_one_value_is_not_repeated(
    run_karat: Called, args: tuple[str, ...], name: str
) -> None:
    """Without this, the first value would be dropped silently."""
    sentence = refused(run_karat, *args)
    assert sentence == f"{name} is given twice, but takes one value: leave one out"


def test_options_that_may_be_repeated(run_karat: Called) -> None:
    repeated = ("-m", "bleu", "-m", "chrf", "-r", "ref1.txt", "-r", "ref2.txt", "--wide", "--wide")
    done = run_karat("score", "a.txt", *repeated)
    assert (done.returncode, done.stderr) == (0, "")
    assert "bleu" in done.stdout
    assert "chrf" in done.stdout


# ----------------------------------------------------------------------- the demonstration's texts


def test_demo_creates_the_folder_and_says_so(run_karat: Called, folder: Path) -> None:
    names = "atlas.txt beacon.txt cinder.txt drift.txt ref1.txt ref2.txt ref3.txt"
    assert run_karat("demo", "--texts", "new/texts").stdout == f"new/texts (created): {names}\n"
    assert run_karat("demo", "--texts", "new/texts").stdout == f"new/texts: {names}\n"


def test_demo_overwrites_no_other_file(run_karat: Called, folder: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / "ref2.txt").write_text("mine\n")
    sentence = refused(run_karat, "demo", "--texts", "mine")
    assert sentence == (
        "mine/ref2.txt already exists and is not the bundled text: choose another folder, or move "
        "the file"
    )
    assert [path.name for path in (folder / "mine").iterdir()] == ["ref2.txt"]
    assert (folder / "mine" / "ref2.txt").read_text() == "mine\n"


def test_demo_needs_a_folder_that_can_be_created(run_karat: Called, folder: Path) -> None:
    (folder / "file").write_text("")
    sentence = refused(run_karat, "demo", "--texts", "file/new")
    assert sentence == "cannot create the folder file/new: Not a directory"
