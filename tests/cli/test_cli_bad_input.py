"""Bad input: exit code 2, one clear sentence, no traceback, no output, no file left behind."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Karat = Callable[..., Any]

BAD_FILES = {
    "short.txt": b"one\ntwo\nthree\n",
    "latin1.txt": b"one\ntwo\nthe caf\xe9 here\nfour\n",
    "cut.txt": b"one\ntwo\nthree\nfour \xe2\x82",
    "utf16le.txt": "one\ntwo\nthree\nfour\n".encode("utf-16"),
    "utf16be.txt": b"\xfe\xff" + "one\ntwo\n".encode("utf-16-be"),
    "surrogate.txt": b"\xed\xa0\x80\n\n\n\n",
    "empty.txt": b"",
    "bom.txt": b"\xef\xbb\xbf",
    "plain.gz": b"one\ntwo\nthree\nfour\n",
    "cut.gz": gzip.compress(b"one\ntwo\nthree\nfour\n" * 99)[:-12],
    "corrupt.gz": gzip.compress(os.urandom(999))[:500] + b"x" * 600,
    "empty.gz": gzip.compress(b""),
    "nothing.gz": b"",
    "words.bin": b"\xff\xfe\xfa\n",
}
R = ("-r", "ref1.txt")

FILES = [
    (
        "short.txt",
        r"short\.txt has 3 segments and ref1\.txt has 4 segments: .*segment 4 of ref1\.txt .*",
    ),
    ("latin1.txt", r"latin1\.txt, line 3, byte 8: not valid UTF-8; .*"),
    ("cut.txt", r"cut\.txt, line 4, byte 6: not valid UTF-8; .*"),
    ("surrogate.txt", r"surrogate\.txt, line 1, byte 1: not valid UTF-8; .*"),
    ("utf16le.txt", r"utf16le\.txt, line 1, byte 1: .*looks like UTF-16; convert it to UTF-8 .*"),
    ("utf16be.txt", r"utf16be\.txt, line 1, byte 1: .*looks like UTF-16; convert it to UTF-8 .*"),
    ("missing.txt", r"missing\.txt: No such file or directory.*"),
    ("folder", r"folder is a directory: expected a text file, one segment a line"),
    ("a.txt/x", r"a\.txt/x: Not a directory.*"),
    ("empty.txt", r"empty\.txt is empty: expected one segment a line"),
    ("bom.txt", r"bom\.txt is empty: expected one segment a line"),
    ("/dev/null", r"/dev/null is empty: expected one segment a line"),
    ("plain.gz", r"plain\.gz: not a complete gzip file .*"),
    ("cut.gz", r"cut\.gz: not a complete gzip file .*"),
    ("corrupt.gz", r"corrupt\.gz: not a complete gzip file .*"),
    ("empty.gz", r"empty\.gz is empty: expected one segment a line"),
    ("nothing.gz", r"nothing\.gz is empty: expected one segment a line"),
    ("missing.gz", r"missing\.gz: No such file or directory.*"),
    ("x" * 300, r"x{300}: File name too long.*"),
]

METRICS = [
    ("blue", r"unknown metric 'blue'; did you mean bleu\? .*"),
    ("rogue2", r"unknown metric 'rogue2'; did you mean rouge2\? .*"),
    (
        "qqqqqq",
        r"unknown metric 'qqqqqq' \(karat metrics lists them all; .* given:column=qqqqqq\)",
    ),
    ("", r"unknown metric '' .*"),
    ("bleu:tk=zh", r"bleu has no setting 'tk'; did you mean tok\? .*"),
    ("aev:alhpa=1", r"aev has no setting 'alhpa'; did you mean alpha\? .*"),
    ("bleu:tok=z", r"bleu: tok=z is not one of 13a, .*; did you mean zh\?"),
    ("rougeL:stem=poter", r"rougeL: stem=poter is not one of .*; did you mean porter\?"),
    ("aev:alpha=1.5", r"aev: alpha=1\.5 is out of range: expected at least 0 and at most 1"),
    ("aev:alpha=-0.1", r"aev: alpha=-0\.1 is out of range: .*"),
    ("aev:alpha=nan", r"aev: alpha=nan: expected a number"),
    ("bleu:n=0", r"bleu: n=0 is out of range: expected at least 1 .*"),
    ("bleu:n=1000000", r"bleu: n=1000000 is out of range: .*"),
    ("bleu:n=2.5", r"bleu: n=2\.5: expected a whole number"),
    ("bleu:n=", r"bleu: 'n=' is no setting; expected setting=value"),
    ("bleu:n", r"bleu: 'n' is no setting; expected setting=value"),
    ("bleu:", r"bleu: '' is no setting; expected setting=value"),
    ("bleu:eff=maybe", r"bleu: eff=maybe: expected yes or no"),
    ("bleu:n=2,n=3", r"bleu:n=2,n=3: n is given twice"),
    ("aev:preset=papper", r"aev: no preset 'papper'; .*paper.*"),
    ("aev:weights=1/x", r"aev: weights=1/x: expected numbers as in 0\.5/0\.5"),
    ("rouge0", r"rouge.*0 .*"),
    ("rouge999", r"rouge.*999 is out of range: .*"),
    ("aev:stop=no-such-list.txt", r"stop list no-such-list\.txt: No such file or directory; .*"),
    ("aev:stop=words.bin", r"stop list words\.bin: not valid UTF-8; .*"),
    ("aev:stop=folder", r"stop list folder: .*"),
    ("aev:stop=iso-xx", r"stop list iso-xx: (no such language; there are .*de.*|needs the .*)"),
]

COMMANDS = [
    (("score", "a.txt"), r"no reference was given: add -r FILE"),
    (("compare", "a.txt", "b.txt"), r"no reference was given: add -r FILE"),
    (("score", *R), r"Missing argument 'CANDIDATE\.\.\.'.*"),
    (("scroe", "a.txt", *R), r"no command 'scroe'; did you mean score\?"),
    (("qqqqqq",), r"no command 'qqqqqq' \(there are score, compare, .*\)"),
    (("score", "a.txt", *R, "--segmets"), r"No such option '?--segmets'?.*--segments.*"),
    (("score", "a.txt", *R, "--wrong"), r"No such option '?--wrong'?.*"),
    (("score", "a.txt", "a.txt", *R), r"two systems are called 'a' .*NAME=a\.txt"),
    (("score", "a.txt", "folder/../a.txt", *R), r"two systems are called 'a' .*NAME=.*"),
    (("score", "a=b.txt", "a.txt", *R), r"two systems are called 'a' \(b\.txt and a\.txt\).*"),
    (("score", "-", "x=-", *R), r"standard input \(-\) is given twice: .*"),
    (("score", "-", "-r", "-"), r"standard input \(-\) is given twice: .*"),
    (("compare", "a.txt", "b.txt", *R, "--baseline", "A"), r"baseline 'A' .*did you mean a\?"),
    (("compare", "a.txt", "b.txt", *R, "--baseline", "zzz"), r"baseline 'zzz' .*: a, b"),
    (("compare", "a.txt", *R), r"one system was given: a comparison needs at least two"),
    (("compare", "a.txt", "b.txt", *R, "--trials", "0"), r".*'--trials': 0 .*"),
    (("compare", "a.txt", "b.txt", *R, "--trials", "9"), r".*test jackknife has no trials.*"),
    (("compare", "a.txt", "b.txt", *R, "--test", "t"), r".*'--test': 't' .*sacrebleu-bootstrap.*"),
    (("compare", "a.txt", "b.txt", *R, "--examples", "-1"), r".*'--examples': -1 .*"),
    (("compare", "a.txt", "short.txt", *R), r"a\.txt has 4 .* and short\.txt has 3 segments: .*"),
    (("score", "a.txt", *R, "-r", "short.txt"), r"a\.txt has 4 .* short\.txt has 3 segments: .*"),
    (("score", "a.txt", *R, "--threads", "0"), r".*'--threads': 0 .*"),
    (("score", "a.txt", *R, "--threads", "two"), r".*'--threads': found 'two', expected a number."),
    (("score", "a.txt", *R, "--buckets", "-1"), r".*'--buckets': -1 .*"),
    (("compare", "a.txt", "b.txt", *R, "--seed", "-1"), r".*'--seed': -1 .*"),
    (("score", "a.txt", *R, "--format", "yaml"), r".*'--format': 'yaml' .*text.*latex.*"),
    (("score", "a.txt", *R, "-m"), r"Option '-m' requires an argument.*"),
    (("score", "a.txt", *R, "-o", "none/x.txt"), r"cannot write none/x\.txt: there is no dir.*"),
    (("score", "a.txt", *R, "-o", "folder"), r"cannot write folder: it is a directory; .*"),
    (("score", "a.txt", *R, "-o", "a.txt/x"), r"cannot write a\.txt/x: .*"),
    (("score", "a.txt", *R, "-o", "/dev/full"), r"cannot write /dev/full: No space left .*"),
    (("score", "a.txt", *R, "-o", "/proc/karat.txt"), r"cannot write /proc/karat\.txt: .*"),
    (("metrics", "blue"), r"unknown metric 'blue'; did you mean bleu\? .*"),
    (("metrics", "-o", "folder"), r"cannot write folder: it is a directory; .*"),
    (("demo", "-o", "folder"), r"cannot write folder: it is a directory; .*"),
    (("completion", "tcsh"), r".*'tcsh' .*bash.*"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _bad_files(folder: Path) -> None:
    for name, data in BAD_FILES.items():
        (folder / name).write_bytes(data)
    (folder / "folder").mkdir()


@pytest.fixture
def refused(folder: Path, run_karat: Karat) -> Callable[..., None]:
    """Check that a command is refused with one sentence that matches, and leaves no trace."""

    def check(*args: str, sentence: str) -> None:
        before = snapshot(folder)
        done = run_karat(*args)
        assert (done.returncode, done.stdout) == (2, "")
        assert_one_line(done.stderr, sentence)
        assert snapshot(folder) == before

    return check


@pytest.fixture
def refused_process(folder: Path, karat: Karat) -> Callable[..., None]:
    """The same with a process of its own, which can be given other standard streams."""

    def check(*args: str, sentence: str, **more: Any) -> None:
        before = snapshot(folder)
        done = karat(*args, **more)
        assert (done.returncode, done.stdout) == (2, b"")
        assert_one_line(done.stderr.decode("utf-8"), sentence)
        assert snapshot(folder) == before

    return check


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """All files below a folder with their content."""
    files = {str(path): path for path in folder.rglob("*")}
    return {name: path.read_bytes() if path.is_file() else None for name, path in files.items()}


def assert_one_line(text: str, sentence: str) -> None:
    """One line, `karat: ` and then a sentence that matches as a whole."""
    assert text.startswith("karat: ")
    assert text.endswith("\n")
    assert text.count("\n") == 1
    assert re.fullmatch(sentence, text.removeprefix("karat: ").removesuffix("\n"))


@pytest.mark.parametrize(("name", "sentence"), FILES, ids=[name[:20] for name, _ in FILES])
def test_a_bad_candidate(refused: Callable[..., None], name: str, sentence: str) -> None:
    refused("score", name, *R, "-o", "report.txt", sentence=sentence)


@pytest.mark.parametrize("name", ["latin1.txt", "missing.txt", "folder", "empty.txt", "cut.gz"])
def test_a_bad_reference(refused: Callable[..., None], name: str) -> None:
    sentence = dict(FILES)[name]
    refused("compare", "a.txt", "b.txt", *R, "-r", name, "-o", "report.txt", sentence=sentence)


def test_unequal_lengths_name_the_first_line_without_a_partner(
    refused: Callable[..., None],
) -> None:
    sentence = (
        r"a\.txt has 4 segments and short\.txt has 3 segments: they must be equal; "
        r"segment 4 of a\.txt is the first without a partner in short\.txt"
    )
    refused("score", "a.txt", "-r", "short.txt", sentence=sentence)


@pytest.mark.parametrize(("metric", "sentence"), METRICS, ids=[name or "-" for name, _ in METRICS])
def test_a_bad_metric(refused: Callable[..., None], metric: str, sentence: str) -> None:
    refused("score", "a.txt", *R, "-m", "bleu", "-m", metric, "-o", "report.txt", sentence=sentence)


@pytest.mark.parametrize(
    ("args", "sentence"), COMMANDS, ids=["-".join(args).replace("/", "") for args, _ in COMMANDS]
)
def test_a_bad_command(refused: Callable[..., None], args: tuple[str, ...], sentence: str) -> None:
    refused(*args, sentence=sentence)


def test_empty_standard_input(refused_process: Callable[..., None]) -> None:
    refused_process("score", "-", *R, input=b"", sentence=r"standard input is empty: .*")


def test_standard_input_that_is_not_utf8(refused_process: Callable[..., None]) -> None:
    sentence = r"standard input, line 2, byte 1: not valid UTF-8; .*"
    refused_process("score", "-", *R, input=b"one\n\xff\n", sentence=sentence)


def test_standard_input_that_is_closed(refused_process: Callable[..., None]) -> None:
    refused_process("score", "-", *R, preexec_fn=lambda: os.close(0), sentence=r"standard input.*")


def test_the_first_bad_byte_is_named_far_into_a_large_file(
    folder: Path, refused: Callable[..., None]
) -> None:
    lines = [b"a line of quite ordinary text"] * 2_500_000  # more than is read at a time
    lines[2_345_677] = b"na\xefve"
    (folder / "large.txt").write_bytes(b"\n".join(lines))
    sentence = r"large\.txt, line 2,?345,?678, byte 3: not valid UTF-8; .*"
    refused("score", "large.txt", *R, sentence=sentence)


@pytest.mark.parametrize("character", ["\n", "\r", "\x1b", "\u202e"])
def test_no_file_name_can_write_to_the_terminal(
    folder: Path, refused: Callable[..., None], character: str
) -> None:
    name = f"odd{character}name.txt"
    refused("score", name, *R, sentence=r"odd\\\S+name\.txt: No such file or directory.*")
    (folder / name).write_bytes(b"one\n")
    refused("score", name, *R, sentence=r"odd\\\S+name\.txt has 1 segments? and .*")


def test_an_empty_name_is_no_file(refused: Callable[..., None]) -> None:
    refused("score", "", *R, sentence=r"['\"]{2}.*")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_outputs_without_permission(folder: Path, refused: Callable[..., None]) -> None:
    (folder / "fixed.txt").write_bytes(b"one\n")
    (folder / "fixed.txt").chmod(0o444)
    (folder / "folder").chmod(0o555)
    refused("score", "a.txt", *R, "-o", "fixed.txt", sentence=r"cannot write fixed\.txt: no perm.*")
    refused("score", "a.txt", *R, "-o", "folder/x", sentence=r"cannot write folder/x: no perm.*")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_an_unreadable_file(folder: Path, karat: Karat) -> None:
    (folder / "secret.txt").write_bytes(b"one\n")
    (folder / "secret.txt").chmod(0)
    done = karat("score", "secret.txt", *R)
    assert (done.returncode, done.stdout) == (2, b"")
    assert_one_line(done.stderr.decode("utf-8"), r"secret\.txt: Permission denied.*")


def test_a_bad_input_keeps_the_old_output(folder: Path, refused: Callable[..., None]) -> None:
    (folder / "report.txt").write_text("the report of yesterday\n")
    refused("score", "missing.txt", *R, "-o", "report.txt", sentence=dict(FILES)["missing.txt"])
    refused("score", "a.txt", *R, "-m", "blue", "-o", "report.txt", sentence=METRICS[0][1])
    assert (folder / "report.txt").read_text() == "the report of yesterday\n"


PROCESSES = [
    (("score", "missing.txt", *R), dict(FILES)["missing.txt"]),
    (("score", "latin1.txt", *R, "-f", "html", "-o", "x.html"), dict(FILES)["latin1.txt"]),
    (("score", "a.txt", *R, "-m", "blue"), dict(METRICS)["blue"]),
    (
        ("compare", "a.txt", "short.txt", *R),
        r"a\.txt has 4 .* and short\.txt has 3 segments: .*",
    ),
    (("scroe",), r"no command 'scroe'; did you mean score\?"),
    (("score", "a.txt", *R, "--threads", "0"), r".*'--threads': 0 .*"),
    (("score", "a.txt", *R, "-o", "folder"), r"cannot write folder: it is a directory; .*"),
]


@pytest.mark.parametrize(("args", "sentence"), PROCESSES, ids=[" ".join(a) for a, _ in PROCESSES])
def test_a_process_of_its_own_ends_the_same_way(
    refused_process: Callable[..., None], args: tuple[str, ...], sentence: str
) -> None:
    refused_process(*args, sentence=sentence)


def test_no_arguments_show_the_help(karat: Karat) -> None:
    done = karat()
    assert (done.stdout + done.stderr).startswith(b"Usage: karat ")
