"""Help, version and shell completion."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

import karat as kt
from karat.cli.main import COMMANDS
from karat.metrics.names import METRICS

Karat = Callable[..., Any]


def test_version(output: Callable[..., str]) -> None:
    assert output("--version") == f"karat {kt.__version__}\n"


def test_help_lists_every_command(output: Callable[..., str]) -> None:
    printed = output("--help")
    assert printed == output("-h")
    for name, (_, summary) in COMMANDS.items():
        assert f"  {name} " in printed
        assert summary in printed


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(output: Callable[..., str], name: str) -> None:
    printed = output(name, "--help")
    assert printed.startswith(f"Usage: karat {name} ")
    assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.parametrize("name", ["score", "compare", "grid", "data", "metrics", "completion"])
def test_help_has_examples(output: Callable[..., str], name: str) -> None:
    assert output(name, "--help").count(f"karat {name}") >= 3  # the first is the usage


def completed(karat: Karat, *words: str, shell: str = "bash") -> list[str]:
    """What a shell is told when the last of these words is completed."""
    env = {
        "_KARAT_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": " ".join(["karat", *words]),
        "COMP_CWORD": str(len(words)),
    }
    done = karat(env=env)
    assert done.stderr == b""
    text: str = done.stdout.decode("utf-8")
    return text.splitlines()


def test_commands_are_completed(karat: Karat) -> None:
    assert completed(karat, "") == [f"plain,{name}" for name in COMMANDS if " " not in name]
    assert completed(karat, "sc") == ["plain,score"]


def test_second_words_of_commands_are_completed(karat: Karat) -> None:
    """`karat meta` is a command and the first word of others: both are offered."""
    offered = completed(karat, "meta", "")
    words = ["challenge", "fit", "gains", "reliability"]
    assert offered[:4] == [f"plain,{word}" for word in words]
    assert "plain,demo" in offered[4:]
    assert completed(karat, "meta", "rel") == ["plain,reliability"]
    assert "plain,fit" not in completed(karat, "meta", "fit", "")
    assert "plain,fit" not in completed(karat, "meta", "-m", "bleu", "")  # it would be a set
    assert completed(karat, "meta", "fit", "--norm") == ["plain,--normalise"]


def test_options_are_completed(karat: Karat) -> None:
    assert completed(karat, "score", "--s") == [
        f"plain,--{name}"
        for name in (
            *("set", "skip-missing", "sheet", "separator", "schema", "segments", "sort"),
            *("spreadsheet-safe", "shards", "shard", "signature", "signature-only"),
        )
    ]


def test_options_that_help_does_not_show_are_completed(karat: Karat) -> None:
    assert completed(karat, "score", "--eng") == ["plain,--engine", "plain,--engine-option"]
    assert completed(karat, "score", "--boot") == [""]  # an old name
    assert completed(karat, "score", "--uni") == ["plain,--units", "plain,--unit"]
    assert completed(karat, "score", "--help") == ["plain,--help-all", "plain,--help"]


def test_metrics_are_completed(karat: Karat) -> None:
    assert completed(karat, "score", "x", "-m", "ble") == ["plain,bleu"]
    assert completed(karat, "compare", "--metric", "rougeL") == ["plain,rougeL", "plain,rougeLsum"]
    all_names = completed(karat, "score", "-m", "")
    assert {f"plain,{name}" for name in METRICS} <= set(all_names)


def test_formats_and_files_are_completed(karat: Karat) -> None:
    assert completed(karat, "score", "x", "--format", "h") == ["plain,html"]
    assert completed(karat, "score", "x", "-r", "") == ["file,"]
    assert completed(karat, "score", "") == ["file,"]


def test_formats_to_read_are_completed(karat: Karat) -> None:
    offered = completed(karat, "score", "x", "--read-as", "")
    assert offered[:2] == ["plain,text", "plain,gtm-sgml"]
    assert offered[-2:] == ["plain,table", "plain,studio"]
    assert completed(karat, "score", "--set", "x", "--read-as", "")[0] == "plain,dir"
    offered = completed(karat, "grid", "x", "-r", "y", "--read-as", "")
    assert offered[:2] == ["plain,text", "plain,gtm-sgml"]
    assert completed(karat, "lm", "score", "x", "--read-as", "") == ["plain,text"]


def test_metrics_of_the_catalogue_are_completed(karat: Karat) -> None:
    assert completed(karat, "metrics", "ble") == ["plain,bleu"]


def test_zsh_is_told_what_commands_do(karat: Karat) -> None:
    assert completed(karat, "sc", shell="zsh")[:2] == ["plain", "score"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(karat: Karat, shell: str) -> None:
    done = karat("completion", shell)
    assert (done.returncode, done.stderr) == (0, b"")
    assert f"_KARAT_COMPLETE={shell}_complete".encode() in done.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.stdout, check=True)
