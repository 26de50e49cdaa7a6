"""`python -m karat.compat.sacrebleu` prints what sacreBLEU prints, byte by byte."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from oracles.forked_commands import Run, run_commands

import karat

THREE = "ref1.txt ref2.txt ref3.txt"
HEAVY = "--paired-bs-n 200 --paired-ar-n 300"

ARGUMENTS = f"""
ref1.txt -i atlas.txt
ref1.txt --input atlas.txt -m bleu
ref1.txt -i atlas.txt -m chrf
ref1.txt -i atlas.txt -m ter
ref1.txt -i atlas.txt -m ter bleu chrf
{THREE} -i beacon.txt -m bleu chrf ter
ref1.txt -i atlas.txt -m bleu bleu
ref1.txt -i atlas.txt -f text
{THREE} -i atlas.txt -m chrf ter bleu -f text
ref1.txt -i atlas.txt -f latex
ref1.txt -i atlas.txt -m bleu ter -b
ref1.txt -i atlas.txt -m bleu ter -b -f text
ref1.txt -i atlas.txt -b -w 4
ref1.txt -i atlas.txt -w 0
ref1.txt -i atlas.txt -m chrf bleu --width 9 -f text
ref1.txt -i atlas.txt --tokenize none
ref1.txt -i atlas.txt -tok char -f text
ref1.txt -i atlas.txt -tok intl
ref1.txt -i atlas.txt -tok 13a --force
zh-ref.txt -i zh.txt -tok zh
zh-ref.txt -i zh.txt -l en-zh -m bleu chrf
zh-ref.txt -i zh.txt -m ter --ter-normalized --ter-asian-support --ter-no-punct
zh-ref.txt -i zh.txt -l ja-en -sl -m bleu
zh-ref.txt -i zh.txt --tokenize ja-mecab
zh-ref.txt -i zh.txt -l en-ja
ref1.txt -i atlas.txt -lc
ref1.txt -i atlas.txt -s floor
ref1.txt -i atlas.txt --smooth-method floor --smooth-value 0.01 -f text
ref1.txt -i atlas.txt -s add-k -sv 2
zh-ref.txt -i zh.txt --smooth-method none
zh-ref.txt -i zh.txt --smooth-method exp -sl
ref1.txt -i atlas.txt -sl
ref1.txt -i atlas.txt --sentence-level -b -w 3
{THREE} -i atlas.txt -sl -m chrf --short
ref1.txt -i atlas.txt -sl -m ter --chrf-beta 3
ref1.txt -i atlas.txt -sl -s add-k
tabs.txt -nr 3 -i atlas.txt -m bleu chrf ter
tabs.txt --num-refs 2 -i atlas.txt
tabs.txt -i atlas.txt -nr 4
tabs.txt -i atlas.txt -nr 0
ref1.txt ref2.txt -nr 2 -i atlas.txt
{THREE} -i atlas.txt --confidence
ref1.txt -i atlas.txt -m bleu chrf ter --confidence --confidence-n 100 -f text
{THREE} -i atlas.txt -m ter chrf -ci -cin 73 -w 8
ref1.txt -i atlas.txt -ci -cin 1
ref1.txt -i atlas.txt -ci -b -f text
{THREE} -i atlas.txt beacon.txt cinder.txt
{THREE} -i atlas.txt beacon.txt cinder.txt -m bleu chrf ter -f text
{THREE} -i atlas.txt beacon.txt -m ter chrf -f latex
{THREE} -i atlas.txt beacon.txt -w 3 -f text --short
ref1.txt -i _a%&.txt größe.txt -f latex
ref1.txt -i _a%&.txt größe.txt -f json
{THREE} -i atlas.txt beacon.txt cinder.txt --paired-bs
{THREE} -i atlas.txt beacon.txt -m bleu chrf ter --paired-bs -f json
{THREE} -i atlas.txt beacon.txt drift.txt -m chrf ter bleu --paired-bs -f text
ref1.txt -i atlas.txt beacon.txt -m ter bleu --paired-bs --paired-bs-n 101 -f latex -w 3
ref2.txt -i atlas.txt beacon.txt -m bleu ter {HEAVY} -pbs -f text -sh
ref1.txt -i atlas.txt copy.txt few.txt -m bleu chrf ter {HEAVY} --paired-bs
{THREE} -i atlas.txt copy.txt few.txt -m bleu chrf ter {HEAVY} --paired-bs -w 6 -f text
{THREE} -i atlas.txt atlas.txt beacon.txt {HEAVY} --paired-bs -f text
{THREE} -i atlas.txt beacon.txt -m bleu chrf ter --paired-ar
{THREE} -i atlas.txt copy.txt few.txt drift.txt -m bleu chrf ter {HEAVY} --paired-ar -f text
ref1.txt -i atlas.txt few.txt -m ter chrf bleu {HEAVY} -par -f latex
ref1.txt -i atlas.txt beacon.txt {HEAVY} --paired-ar -s add-k -sv 0.5
ref1.txt -i atlas.txt beacon.txt {HEAVY} --paired-bs -s add-k -sv 0.5
ref1.txt -i zh3.txt zh4.txt {HEAVY} --paired-ar -s floor
{THREE} -i atlas.txt beacon.txt -m chrf {HEAVY} --paired-bs --chrf-word-order 2 --chrf-beta 3
{THREE} -i atlas.txt beacon.txt -m chrf {HEAVY} --paired-bs --chrf-eps-smoothing
{THREE} -i atlas.txt beacon.txt {HEAVY} --paired-bs --paired-jobs 2
{THREE} -i atlas.txt beacon.txt --paired-bs --paired-bs-n 0 -f text
ref1.txt -i atlas.txt -q
ref1.txt -i atlas.txt --short -f text
ref1.txt -i atlas.txt --short
ref1.txt -i atlas.txt -m chrf --chrf-word-order 2 --chrf-char-order 4 -f text
ref1.txt -i atlas.txt -m chrf -cw 2 -cc 3 --chrf-whitespace --chrf-lowercase
ref1.txt -i atlas.txt -m chrf --chrf-beta 1 --chrf-eps-smoothing -f text
ref1.txt -i atlas.txt -m ter --ter-case-sensitive --ter-normalized
ref1.txt -i atlas.txt -m ter --ter-no-punct --ter-asian-support -f text --short
ref1.txt.gz -i atlas.txt.gz
latin.txt -i latin.txt -e latin-1
latin.txt -i latin.txt
crlf.txt -i crlf.txt -f text
ref1.txt -i no-such-file.txt
no-such-file.txt -i atlas.txt
ref1.txt -i short.txt
empty.txt -i empty.txt
ref1.txt empty.txt -i atlas.txt
-i atlas.txt
ref1.txt -i atlas.txt -m bleu chrf -sl
ref1.txt -i atlas.txt beacon.txt -sl
ref1.txt -i atlas.txt --confidence -sl
ref1.txt -i atlas.txt beacon.txt --confidence
ref1.txt -i atlas.txt --paired-bs
ref1.txt -i atlas.txt atlas.txt
ref1.txt -i atlas.txt beacon.txt --paired-bs --paired-ar
ref1.txt -i atlas.txt -m meteor
ref1.txt -i atlas.txt --no-such-option
ref1.txt -i atlas.txt -tok 14a
ref1.txt -i atlas.txt -f yaml
ref1.txt -i atlas.txt -w many
ref1.txt -i atlas.txt -t wmt17
ref1.txt -i atlas.txt -t no-such-set -l en-de
ref1.txt -i atlas.txt --origlang en
ref1.txt -i atlas.txt --subset politics
-t wmt17 --echo src
--citation
ref1.txt -i atlas.txt --no-color -f text
ref1.txt -i atlas.txt --conf --paired-ar-n 5
""".strip().splitlines()

STANDARD_INPUT = {
    "ref1.txt": "atlas.txt",
    "ref1.txt -m bleu chrf -f text": "atlas.txt",
    "ref2.txt -sl -b": "atlas.txt",
    "ref1.txt -f text -m bleu ter": "two.txt",
    f"ref1.txt --paired-bs {HEAVY} -f text": "two.txt",
    f"ref1.txt --paired-ar {HEAVY}": "two.txt",
    "tabs.txt -m bleu": "uneven.txt",
    "ref1.txt -m ter": "empty.txt",
    "ref1.txt -m chrf": "returns.txt",
}
ENVIRONMENT = [
    ({"SACREBLEU_SEED": "7"}, f"{THREE} -i atlas.txt beacon.txt {HEAVY} --paired-bs"),
    ({"SACREBLEU_SEED": "7"}, f"{THREE} -i atlas.txt beacon.txt {HEAVY} --paired-ar -m ter"),
    ({"SACREBLEU_SEED": "99"}, "ref1.txt -i atlas.txt --confidence -m chrf"),
    ({"SACREBLEU_SEED": "x"}, "ref1.txt -i atlas.txt --confidence -m chrf"),
    ({"SACREBLEU_FORMAT": "TEXT"}, "ref1.txt -i atlas.txt -f json"),
    ({"SACREBLEU_FORMAT": "yaml"}, "ref1.txt -i atlas.txt -f text"),
    ({"NO_COLOR": "1"}, "ref1.txt -i atlas.txt -f text"),
]

Case = dict[str, Any]


def cases() -> list[Case]:
    """All argument lists, with standard input and environment."""
    plain = [{"args": line.split(), "stdin": "", "env": {}} for line in ARGUMENTS]
    piped = [
        {"args": args.split(), "stdin": file, "env": {}} for args, file in STANDARD_INPUT.items()
    ]
    seeded = [{"args": args.split(), "stdin": "", "env": env} for env, args in ENVIRONMENT]
    return [*plain, *piped, *seeded]


def write_texts(folder: Path) -> None:
    """Put the texts of the argument lists into a folder."""
    demo = resources.files("karat") / "data" / "demo"
    texts = {
        f"{n}.txt": demo / "systems" / f"{n}.txt" for n in ("atlas", "beacon", "cinder", "drift")
    }
    texts |= {f"ref{k}.txt": demo / f"reference-{k}.txt" for k in (1, 2, 3)}
    lines = {name: path.read_text("utf-8").splitlines()[::2] for name, path in texts.items()}
    references = [lines[f"ref{k}.txt"] for k in (1, 2, 3)]
    chinese = ["他们在公园里 walked 3.5 km 。", "我不知道。", "", "早上好,world!"]
    lines |= {
        "tabs.txt": ["\t".join(row) for row in zip(*references, strict=True)],
        "two.txt": [
            "\t".join(row) for row in zip(lines["atlas.txt"], lines["drift.txt"], strict=True)
        ],
        "uneven.txt": ["a\tb", "a"],
        "copy.txt": lines["atlas.txt"],
        "few.txt": [*lines["beacon.txt"][:3], *lines["atlas.txt"][3:]],
        "_a%&.txt": lines["atlas.txt"],
        "größe.txt": lines["beacon.txt"],
        "zh.txt": chinese,
        "zh-ref.txt": ["他们在公园走了 3.5 km。", "我不知道!", "空", "早上好,world!"],
        "zh3.txt": chinese * 10,
        "zh4.txt": [*lines["atlas.txt"][:20], *chinese * 5],
        "short.txt": lines["atlas.txt"][:5],
        "empty.txt": [],
    }
    for name, rows in lines.items():
        text = "".join(f"{row}\n" for row in rows)
        (folder / name).write_text(text, "utf-8", newline="")
    for name in ("ref1.txt", "atlas.txt"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    (folder / "latin.txt").write_text("größer als\nein Café  \n", "latin-1")
    (folder / "crlf.txt").write_bytes(
        "one two\u2028three\r\nfour\x0cfive six\r\n\tseven \xa0\r\n".encode()
    )
    (folder / "returns.txt").write_bytes("\r\n".join(lines["atlas.txt"]).encode())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with texts."""
    path = tmp_path_factory.mktemp("texts")
    write_texts(path)
    return path


def both_runs(folder: Path) -> list[tuple[Run, Run]]:
    """What both commands do with every argument list."""
    inputs = [
        {**case, "stdin": (folder / case["stdin"]).read_bytes().decode() if case["stdin"] else ""}
        for case in cases()
    ]
    modules = "karat.compat.sacrebleu.sacrebleu", "sacrebleu.sacrebleu"
    actual, peers = (run_commands(module, inputs, folder) for module in modules)
    return list(zip(actual, peers, strict=True))


def without_explanation(text: str) -> str:
    """The output without the explanation of a paired test, which is Karat's own."""
    pattern = r"(-+\nPaired .* trials\n-+\n)(?:.*\n)*?(-+\nMetric signatures\n)"
    return re.sub(pattern, r"\1\2", text)


def difference(actual: Run, peer: Run) -> str:
    """How a run differs from sacreBLEU's, or ends badly; "" if it does neither."""
    if without_explanation(actual.stdout) != without_explanation(peer.stdout):
        return f"expected {peer.stdout!r}, printed {actual.stdout!r}, {actual.stderr!r}"
    if actual.code != peer.code:
        return f"exit code {actual.code}, expected {peer.code}: {actual.stderr!r}"
    is_sentence = len(actual.stderr.splitlines()) == 1 and "Traceback" not in actual.stderr
    return "" if actual.code != 1 or is_sentence else f"not one sentence: {actual.stderr!r}"


def test_outputs(folder: Path) -> None:
    runs = both_runs(folder)
    differences = {
        " ".join(case["args"]): difference(*pair) for case, pair in zip(cases(), runs, strict=True)
    }
    assert {args: text for args, text in differences.items() if text} == {}
    assert sum(not peer.code and len(peer.stdout) > 20 for _, peer in runs) >= 75
    explained = [run.stdout for run, _ in runs if "Paired " in run.stdout]
    assert len(explained) >= 8
    for text in explained:
        assert "Every other system is compared with " in text
        assert without_explanation(text) != text


# ------------------------------------------------------------------------------ whole processes

PROCESSES = [
    f"{THREE} -i atlas.txt beacon.txt -m bleu chrf ter -f text",
    "ref1.txt -i atlas.txt -m bleu chrf --confidence",
    "ref1.txt -i atlas.txt --no-such-option",
]


def run_process(
    module: str, args: str, folder: Path, stdin: str | None = None
) -> tuple[int, bytes]:
    """The exit code and standard output of a module that is run by Python."""
    command = [sys.executable, "-m", module, *args.split()]
    with open(folder / stdin if stdin else os.devnull, "rb") as file:
        done = subprocess.run(command, cwd=folder, stdin=file, capture_output=True, check=False)
    return done.returncode, done.stdout


@pytest.mark.parametrize("args", PROCESSES)
def test_processes(args: str, folder: Path) -> None:
    assert run_process("karat.compat.sacrebleu", args, folder) == run_process(
        "sacrebleu", args, folder
    )


def test_a_pipe(folder: Path) -> None:
    modules = "karat.compat.sacrebleu", "sacrebleu"
    actual, peer = (run_process(name, "ref1.txt -b", folder, "atlas.txt") for name in modules)
    assert actual == peer
    assert actual[0] == 0


# ------------------------------------------------------------------------------ Karat's own texts


def karat_run(folder: Path, args: str) -> Run:
    case = {"args": args.split(), "stdin": "", "env": {}}
    return run_commands("karat.compat.sacrebleu.sacrebleu", [case], folder)[0]


def test_help_and_version(folder: Path) -> None:
    text = karat_run(folder, "--help")
    assert text.code == 0
    wide = {"args": ["-h"], "stdin": "", "env": {"COLUMNS": "900"}}
    peer = run_commands("sacrebleu.sacrebleu", [wide], folder)[0]
    flags = [{*re.findall(r"^  (?:-\w+, )?(--[a-z-]+)", t.stdout, re.M)} for t in (text, peer)]
    assert len(flags[1]) > 40
    assert flags[0] == flags[1]
    version = karat_run(folder, "--version")
    assert version == Run(0, f"sacrebleu 2.6.0+karat.{karat.__version__}\n", "")


def test_test_sets_are_listed_and_not_downloaded(folder: Path) -> None:
    names = karat_run(folder, "--list").stdout
    assert re.search(r"^wmt17 +: cs-en de-en ", names, re.MULTILINE)
    pair = karat_run(folder, "--list -l en-iu").stdout
    assert pair.splitlines()[0] == "The available test sets for en-iu are:"
    assert "wmt20/dev" in pair
    assert "wmt17" not in pair
    for args in ("-t wmt17 -l en-de -i atlas.txt", "--download wmt17", "-t wmt17 --list"):
        run = karat_run(folder, args)
        assert (run.code, run.stdout) == (1, "")
        assert "sacrebleu: wmt17" in run.stderr
        assert "Karat downloads no test sets; give references as files" in run.stderr


def test_lines_that_do_not_fit_are_named(folder: Path) -> None:
    run = karat_run(folder, "tabs.txt -nr 4 -i atlas.txt")
    assert run.code == 17
    assert "tabs.txt, line 1: 3 references, expected 4 between tabs" in run.stderr
    run = karat_run(folder, "ref1.txt -i")
    assert (run.code, run.stdout) == (1, "")  # sacreBLEU prints []
    assert "no systems: give their files after -i" in run.stderr
    run = karat_run(folder, "ref1.txt -i short.txt")
    assert "the system has 5 segments, the references have 40: they must be equal" in run.stderr
