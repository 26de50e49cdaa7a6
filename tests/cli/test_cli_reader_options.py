"""A set that needs options to be read is read by every command that takes a set."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Called = Callable[..., Any]
Output = Callable[..., str]
WORDS = ["the", "cat", "sat", "on", "the", "mat", "today", "and", "slept"]
SYSTEMS = ("A", "B", "C", "D")
READ = ("--option", "pair=xx-en")


@pytest.fixture
def several(folder: Path) -> Path:
    """A folder of mt-metrics-eval with two language pairs and two references."""
    for pair in ("xx-en", "yy-en"):
        (folder / "set" / "system-outputs" / pair).mkdir(parents=True)
    files = {"sources/yy-en.txt": "s\n" * 3, "sources/xx-en.txt": "s\n" * 3}
    for name, text in (("refA", " ".join(WORDS)), ("refB", "a cat sat on a mat now")):
        files[f"references/xx-en.{name}.txt"] = f"{text}\n" * 3
    scores = ""
    for k, name in enumerate(SYSTEMS):
        lines = [" ".join(WORDS[: 8 - k - j]) for j in range(3)]
        files[f"system-outputs/xx-en/{name}.txt"] = "\n".join(lines) + "\n"
        scores += "".join(f"{name}\t{-k - j / 2}\n" for j in range(3))
    files["human-scores/xx-en.mqm.seg.score"] = scores
    for name, text in files.items():
        path = folder / "set" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "set"


COMMANDS = (
    ("meta", "set", "-m", "bleu", "--resamples", "0", "--trials", "0"),
    ("plane", "fit", "set", "--resamples", "0", "--splits", "0"),
    ("score", "--set", "set", "-m", "bleu"),
    ("compare", "--set", "set", "-m", "bleu"),
    ("data", "judges", "set"),
    ("data", "check", "set"),
)


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
def test_every_command_takes_the_options_of_the_reader(
    run_karat: Called, command: tuple[str, ...]
) -> None:
    dead_end = run_karat(*command)
    assert dead_end.returncode == 2
    expected_message = " ".join((dead_end.stdout + dead_end.stderr).split())
    assert (
        "choose one of xx-en, yy-en; on the command line, --option pair=xx-en" in expected_message
    )
    done = run_karat(*command, *READ)
    assert done.returncode == 0, done.stderr
    assert "Reference: refA, the first of the standard names" in " ".join(done.stdout.split())
    other = run_karat(*command, *READ, "--option", "references=refB")
    assert (other.returncode, "Reference: refA" in other.stdout + other.stderr) == (0, False)
    assert run_karat(*command, *READ, "--read-as", "mt-metrics-eval").stdout
    assert run_karat(*command, *READ, "--read-as", "nothing").returncode == 2


def values(text: str) -> list[float]:
    return [row["value"] for row in json.loads(text)["rows"]]


@pytest.mark.usefixtures("several")
def test_a_reference_is_chosen_by_its_name_and_saved_with_the_experiment(
    output: Output, folder: Path
) -> None:
    arguments = (
        "meta",
        "set",
        *READ,
        "-m",
        "bleu",
        "--trials",
        "0",
        "--resamples",
        "0",
        "-f",
        "json",
    )
    default, chosen = (
        output(*arguments),
        output(*arguments, "--reference", "refB", "--save", "e.toml"),
    )
    assert (
        values(chosen)
        == values(output(*arguments, "--option", "references=refB"))
        != values(default)
    )
    assert 'reader_options = ["pair=xx-en", "references=refB"]' in (folder / "e.toml").read_text()
    assert values(output("meta", "--experiment", "e.toml", "-f", "json")) == values(chosen)
    both = ("--option", "references=refA,refB")
    assert values(output(*arguments, *both, "--reference", "2")) == values(chosen)


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("meta", "set", *READ, "--reference", "refB", "--reference", "1"), "not both"),
        (("meta", "set", *READ, "--reference", "refZ"), "has no reference 'refZ'; did you mean"),
        (("meta", "demo", "--reference", "refA"), "format dir has no option 'references'"),
        (("meta", "set", *READ, *READ), "--option pair=xx-en: pair is given twice"),
        (("meta", "set", "--option", "pair"), "--option pair: expected NAME=VALUE"),
        (
            ("score", "a.txt", "-r", "ref1.txt", *READ),
            "--option is only for evaluation sets: name the set with --set",
        ),
        (
            ("compare", "a.txt", "b.txt", "-r", "ref1.txt", "--read-as", "dir"),
            "name the set with --set",
        ),
    ],
)
def test_bad_reader_options_are_one_sentence(
    run_karat: Called, args: tuple[str, ...], message: str
) -> None:
    done = run_karat(*args)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr
