"""Slips at the edge: other kinds of sets, options given twice, Ctrl-C before anything runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import karat as kt
from karat import registry
from karat.cli.main import main

NUGGETS = "this is a nugget set: give it to karat nuggets, in Python to load_nuggets"
EVALSET = "this is an evaluation set: give it to karat meta, karat data or --set, in Python to load"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both kinds of sets in all forms."""
    monkeypatch.chdir(tmp_path)
    for format in ("trec", "jsonl"):
        kt.save_nuggets("demo-nuggets", f"nuggets-{format}", format)
    for format in ("dir", "jsonl"):
        kt.save_evalset("demo", f"set-{format}", format)
    Path("nuggets-jsonl").rename("nuggets.jsonl")
    Path("set-jsonl").rename("set.jsonl")


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize("value", ["demo-nuggets", "nuggets-trec", "nuggets.jsonl"])
@pytest.mark.parametrize("command", [("meta",), ("plane", "fit"), ("score", "--set")])
def test_a_nugget_set_is_no_evaluation_set(
    command: tuple[str, ...], value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, value]) == 2
    assert capsys.readouterr().err.startswith(f"karat: {value}: {NUGGETS}")


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize("value", ["demo", "set-dir", "set.jsonl"])
@pytest.mark.parametrize("command", [("tune",), ("score", "x", "-k"), ("convert", "-j", "x")])
def test_an_evaluation_set_is_no_nugget_set(
    command: tuple[str, ...], value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["new"] if command[0] == "convert" else []
    assert main(["nuggets", *command, value, *more]) == 2
    assert capsys.readouterr().err.startswith(f"karat: {value}: {EVALSET}")


@pytest.mark.usefixtures("places")
def test_what_is_wrong_is_in_the_report_of_a_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "check", "demo-nuggets"]) == 2
    assert "this is a nugget set" in capsys.readouterr().out
    assert main(["nuggets", "describe", "demo"]) == 2
    assert "this is an evaluation set" in capsys.readouterr().out


@pytest.mark.parametrize(
    "option", ["path", "format", "given", "name_or_path", "progress", "reading", "filled", "detect"]
)
@pytest.mark.parametrize("command", ["check", "convert", "judges"])
def test_options_of_readers_have_names_of_their_own(
    command: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["new"] if command == "convert" else []
    assert main(["data", command, "demo", *more, "--option", f"{option}=5"]) == 2
    printed = capsys.readouterr()
    expected_message = f"--option {option}=5: {option} is not an option of a reader: leave it out"
    assert (
        expected_message in printed.err
        or f"format dir has no option '{option}'" in printed.out + printed.err
    )


@pytest.mark.parametrize("command", [("score", "heron", "-k"), ("tune",)])
def test_one_classifier_is_given(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    twice = ["--classifier", "paper", "--classifier", "paper:stem=porter"]
    assert main(["nuggets", *command, "demo-nuggets", *twice]) == 2
    assert "--classifier is given 2 times: give it once" in capsys.readouterr().err
    assert main(["nuggets", *command, "demo-nuggets", "--classifier", ""]) == 2
    assert "--classifier is empty" in capsys.readouterr().err


INTERRUPTED = """
import builtins
real = builtins.__import__
def interrupted(name, *more):
    if name == "click":
        raise KeyboardInterrupt
    return real(name, *more)
builtins.__import__ = interrupted
from karat.cli import run
run()
"""


def test_ctrl_c_while_modules_are_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "karat: interrupted; nothing was written\n")


def test_the_entry_point_is_the_one_that_waits_for_ctrl_c() -> None:
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8")
    assert '[project.scripts]\nkarat = "karat.cli:run"\n' in project


# --------------------------------------------------------------------- names of other packages


def test_help_and_completion_list_what_is_registered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = {
        "levels": lambda scored, human: None,
        "statistics": kt.Statistic("mine_statistics", lambda h, m: h[:, 0], "mine"),
        "formats": kt.SetFormat(print),
        "renderers": print,
    }
    for kind, entry_name in entries.items():
        monkeypatch.setitem(registry._DECLARED, kind, {})
        kt.register(entry_name, kind, f"mine_{kind}")
    assert main(["meta", "--help"]) == 0
    printed = "".join(capsys.readouterr().out.split())
    assert "by-system,document,document-joinedormine_levels.Repeatforseveral." in printed
    assert "darr,pdpormine_statistics.Repeatforseveral." in printed
    assert "latex,html,svg,xlsx,parquetormine_renderers." in printed
    typed = {"levels": "--level", "statistics": "-s", "formats": "--read-as", "renderers": "-f"}
    for kind, option in typed.items():
        monkeypatch.setenv("COMP_WORDS", f"karat meta demo {option} mine")
        monkeypatch.setenv("COMP_CWORD", "4")
        monkeypatch.setenv("_KARAT_COMPLETE", "bash_complete")
        assert main([]) == 0
        assert capsys.readouterr().out.split() == [f"plain,mine_{kind}"]
    monkeypatch.setenv("COMP_WORDS", "karat nuggets score --classifier c")
    assert main([]) == 0
    assert capsys.readouterr().out.split() == ["plain,calibrated"]


def test_no_entry_point_is_read_where_no_list_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def never(kind: str) -> None:
        raise AssertionError(kind)

    (tmp_path / "a.txt").write_text("a b c d e\n")
    monkeypatch.setattr(registry, "_entry_points", never)
    text = str(tmp_path / "a.txt")
    assert main(["--version"]) == 0
    assert main(["score", f"A={text}", "-r", text, "-m", "bleu", "-f", "json"]) == 0
    assert main(["meta", "demo", "-m", "bleu", "-l", "system", "--trials", "2", "-f", "tsv"]) == 0
    assert main(["nuggets", "score", "heron", "-k", "demo-nuggets", "--classifier", "paper"]) == 0
    assert capsys.readouterr().err == ""
