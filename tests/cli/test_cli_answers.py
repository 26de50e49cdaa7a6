"""Metrics of right and wrong answers on the command line: quotes, gates, bad input."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PATTERN = r'regex:pattern="\d{1,2}|""a=b"", c@d:"'
"""A metric whose setting has every sign that means something elsewhere."""


@pytest.fixture
def answers(folder: Path) -> Path:
    for name, lines in {
        "old": ["12", '"a=b", c@d:', "the cat", '{"a": 1}', "x", "5 dogs"],
        "new": ["none", "7", "cat", "{a: 1}", "y", "dogs"],
        "right": ["12", "7", "Cat!", "x", "y", "5"],
    }.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    return folder


def scores(text: str) -> dict[tuple[str, str], float]:
    return {(row["system"], row["metric"]): row["score"] for row in json.loads(text)["rows"]}


def test_no_references_are_needed(answers: Path, output: Callable[..., str]) -> None:
    printed = output("score", "old.txt", "new.txt", "-m", PATTERN, "-m", "json", "-f", "json")
    assert scores(printed) == {
        ("old", PATTERN): 4 / 6,
        ("new", PATTERN): 2 / 6,
        ("old", "json"): 2 / 6,
        ("new", "json"): 1 / 6,
    }
    assert json.loads(printed)["signature"][PATTERN].startswith(f"{PATTERN},full=no|nrefs=0|")


@pytest.mark.parametrize("format", ["text", "tsv", "csv", "md", "latex", "html"])
def test_every_format_takes_quotes(answers: Path, output: Callable[..., str], format: str) -> None:
    args = ("old.txt", "new.txt", "-r", "right.txt", "-m", PATTERN, "-m", "em", "-f", format)
    assert "em" in output("compare", *args)


def test_signatures_are_metrics(answers: Path, output: Callable[..., str]) -> None:
    args = ("score", "old.txt", "-r", "right.txt", "-f", "json")
    signature = json.loads(output(*args, "-m", PATTERN))["signature"][PATTERN]
    assert scores(output(*args, "-m", signature)) == scores(output(*args, "-m", PATTERN))


def test_a_gate_has_limits_of_quoted_metrics(answers: Path, run_karat: Callable[..., Any]) -> None:
    baseline = ("-r", "right.txt", "-b", "gate.tsv")
    written = run_karat("gate", "old.txt", *baseline, "-m", PATTERN, "-m", "em", "--update")
    assert (written.returncode, written.stderr) == (0, "")
    for limit in (f"{PATTERN}=1", "regex=1"):
        limits = ("--max-drop", limit, "--max-drop", "em=1", "--correction", "none")
        done = run_karat("gate", "new.txt", *baseline, *limits)
        assert (done.returncode, done.stderr) == (0, "")
        assert f"Pass: {PATTERN} went from 0.6667 to 0.3333" in done.stdout.replace("\n", " ")
    other = PATTERN.replace("{1,2}", "{1,3}")
    done = run_karat("gate", "new.txt", *baseline, "-m", other)
    assert done.returncode == 2
    assert r'pattern="\d{1,2}|""a=b"", c@d:", now pattern="\d{1,3}|' in done.stderr


def test_experiments_are_saved_with_quotes(folder: Path, output: Callable[..., str]) -> None:
    metric = r'regex:pattern="th|\bof, \."'
    few = ("--resamples", "10", "--trials", "10", "-l", "segment", "-f", "tsv")
    first = output(
        "meta", "demo", "-m", metric, "-m", "f1", "-d", "fluency", *few, "--save", "e.toml"
    )
    assert output("meta", "--experiment", "e.toml", "-f", "tsv") == first


REFUSED = {
    ("-m", "regex"): 'regex needs a pattern: write regex:pattern="PATTERN"',
    ("-m", "regex:pattern=("): "is no regular expression of Python: missing ), unterminated",
    ("-m", "regex:pattern=a{1,2}"): "a value with a comma needs quotes",
    ("-m", 'regex:pattern="a'): 'pattern="a is not closed by a quote',
    ("-m", "em"): "no reference was given: add -r FILE",
    ("-m", "json:keys=a..b"): "json: keys=a..b has an empty key",
    ("-m", "em:lang=xx", "-r", "right.txt"): "lang=xx is not one of en, ar, de, es, hi, vi, zh",
    ("-m", "number", "-r", "right.txt"): "segment 3: the reference 'Cat!' has no number",
}


@pytest.mark.parametrize(("options", "sentence"), REFUSED.items())
def test_bad_input_is_one_sentence(
    answers: Path, run_karat: Callable[..., Any], options: tuple[str, ...], sentence: str
) -> None:
    done = run_karat("score", "old.txt", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_pattern_that_never_ends_is_one_sentence(
    answers: Path, karat: Callable[..., Any]
) -> None:
    (answers / "old.txt").write_text("aa\n" + "a" * 50 + "!\naa\n")
    done = karat("score", "old.txt", "-m", "regex:pattern=(a+)+$")
    assert (done.returncode, done.stdout) == (2, b"")
    sentence = "segment 2: the pattern (a+)+$ takes more than 2 seconds on this text"
    assert done.stderr.decode().startswith(f"karat: {sentence}")
    assert done.stderr.count(b"\n") == 1


def test_no_process_is_left(answers: Path, karat: Callable[..., Any]) -> None:
    """The matching process ends with the command."""
    processes = Path("/proc")
    if not processes.is_dir():
        pytest.skip("there is no /proc to look for processes in")

    def matching() -> set[str]:
        lines = (path / "cmdline" for path in processes.glob("[0-9]*"))
        return {str(path) for path in lines if b"regex_worker.py" in _read(path)}

    before = matching()
    assert karat("score", "old.txt", "-m", "regex:pattern=a").returncode == 0
    for _ in range(50):  # other tests may run theirs at the same time
        if matching() <= before:
            return
        time.sleep(0.1)
    assert matching() <= before


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""
