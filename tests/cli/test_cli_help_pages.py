"""The help of every command: it fits a screen, names every option, and its examples can be run."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import karat as kt
from karat.cli.command import MAX_HELP_LINES, WIDTH, Command, Helpful
from karat.cli.main import cli, main
from karat.cli.parameters import Option
from karat.headings import HEADINGS

Output = Callable[..., str]


def walk(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Yield a command and all that are under it, each with its path."""
    yield context.command_path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from walk(below, click.Context(below, info_name=name, parent=context))


ALL = dict(walk(cli, click.Context(cli, info_name="karat", **cli.context_settings)))
COMMANDS = {path: command for path, command in ALL.items() if not isinstance(command, click.Group)}
OPTIONS = [
    (path, param)
    for path, command in COMMANDS.items()
    for param in command.params
    if isinstance(param, click.Option) and not param.hidden
]
EXAMPLES = [
    (line, path)
    for path, command in ALL.items()
    if isinstance(command, Helpful)
    for line in command.examples()
]
every_command = pytest.mark.parametrize("path", COMMANDS)


def help_lines(path: str, argument: str, width: int, monkeypatch: Any, capsys: Any) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    assert main([*path.split()[1:], argument]) == 0
    text: str = capsys.readouterr().out
    return text.splitlines()


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 40
    assert len(EXAMPLES) > 100
    assert all(isinstance(command, Command) for command in COMMANDS.values())


@pytest.mark.parametrize("path", ALL)
def test_help_fits_a_screen(path: str, monkeypatch: Any, capsys: Any) -> None:
    lines = help_lines(path, "--help", WIDTH, monkeypatch, capsys)
    assert len(lines) <= MAX_HELP_LINES
    assert max(map(len, lines)) <= WIDTH
    assert max(map(len, help_lines(path, "--help", 80, monkeypatch, capsys))) <= 80


@every_command
def test_all_help_has_every_option_once(path: str, monkeypatch: Any, capsys: Any) -> None:
    lines = help_lines(path, "--help-all", WIDTH, monkeypatch, capsys)
    below = lines[lines.index("Options:") :]
    first = [line.split()[0].rstrip(",") for line in below if line.startswith("  -")]
    assert sorted(first) == sorted(["-h", *(p.opts[0] for at, p in OPTIONS if at == path)])
    headings = [line[:-1] for line in lines if line[:-1] in HEADINGS and line.endswith(":")]
    assert headings == [name for name in HEADINGS if name in headings]
    assert headings[0] == "Options"


@every_command
def test_help_that_leaves_options_out_says_so(path: str, monkeypatch: Any, capsys: Any) -> None:
    short = help_lines(path, "--help", WIDTH, monkeypatch, capsys)
    full_help = help_lines(path, "--help-all", WIDTH, monkeypatch, capsys)
    help_text = " ".join(short)
    assert (short != full_help) == (f"Run `{path} --help-all` for more options: " in help_text)
    if short != full_help:
        assert len(full_help) > MAX_HELP_LINES


@pytest.mark.parametrize(("path", "param"), OPTIONS, ids=str)
def test_an_option_is_described_in_sentences(path: str, param: click.Option) -> None:
    assert isinstance(param, Option)
    assert param.help
    assert param.help.endswith(".")
    assert param.help[0].isupper() or param.help[0] == "`"
    assert not {"Which.", "What", "How"} & set(param.help.split()[:1])


def test_one_name_is_one_kind_of_value_everywhere() -> None:
    """`-o` is always `--output`, and so on: a short name has one long name in all commands."""
    long: dict[str, set[str]] = {}
    for _, param in OPTIONS:
        for name in param.opts:
            if not name.startswith("--"):
                long.setdefault(name, set()).update(set(param.opts) - {name})
    several = {name: values for name, values in long.items() if len(values) > 1}
    assert several == {"-s": {"--segment", "--statistic"}}


@pytest.mark.parametrize("path", ALL)
def test_a_command_has_a_description_and_examples(path: str) -> None:
    command = ALL[path]
    first = (command.help or "").strip().splitlines()[0]
    assert first.endswith(".")
    assert isinstance(command, Helpful)
    assert command.examples()


@pytest.mark.parametrize(("line", "path"), EXAMPLES)
def test_an_example_is_parsed(line: str, path: str) -> None:
    """Parse the words as the command does; nothing is read, so that files need not be there."""
    if line.startswith("eval "):
        line = line.partition("$(")[2].partition(")")[0]
    words = shlex.split(line.partition(" > ")[0], comments=True)
    assert words[0] == "karat"
    if path not in ("karat", "karat merge", "karat paraphrase table"):  # which show others, too
        assert line.startswith(path)
    command, rest = cli.command_for(words[1:]), words[1:]
    path_of_command = next(at for at, entry in ALL.items() if entry is command)
    rest = rest[len(path_of_command.split()) - 1 :]
    context = command.make_context(path_of_command, list(rest))
    assert not context.args


BUNDLED = ("demo", "demo-nuggets", "demo-paraphrases", "heron", "--task")
SLOW = (
    "karat meta demo -o report.html",
    "karat realize demo",
    "karat paraphrase evaluate",
    "karat nuggets judge",  # asks
    "karat studio",  # serves until Ctrl-C
    "karat plane fit demo -",
    "karat meta reliability",
)


def is_bundled(line: str) -> bool:
    """Whether an example needs nothing but what comes with Karat."""
    words = {*line.split()}
    files = ("my", "key", "mine", "parsed", "--experiment", "nuggets.tsv")
    return bool(words & {*BUNDLED}) and not line.startswith(SLOW) and not words & {*files}


RUN = [line for line, _ in EXAMPLES if is_bundled(line) and "mine.jsonl" not in line]


@pytest.mark.parametrize("line", sorted(set(RUN)))
def test_an_example_on_bundled_data_runs(line: str, run_karat: Any, folder: Path) -> None:
    quick_options = (
        ["--resamples", "20"] if "plane fit" in line or line.startswith("karat meta demo") else []
    )
    line = line.replace("--texts .", "--texts new")  # the folder has other texts of these names
    done = run_karat(*shlex.split(line)[1:], *quick_options)
    assert (done.returncode, done.stderr) == (0, "")


def test_there_are_examples_on_bundled_data() -> None:
    assert len(set(RUN)) > 20
    assert kt.load_evalset("demo")
