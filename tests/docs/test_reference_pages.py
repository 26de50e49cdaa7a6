"""The generated reference: everything that users can name is in it, found from the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

import karat as kt
from karat.cli.main import cli
from karat.metrics.names import METRICS
from karat.registry import KINDS, declared, registry_of
from tools.docs import names
from tools.docs.python_names import APPS


def walk(
    command: click.Command, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command below one, with the words that call it."""
    yield words, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from walk(subcommand, (*words, *name.split()))


@pytest.fixture(scope="module")
def commands() -> dict[str, click.Command]:
    """All commands by name."""
    return {" ".join(words): command for words, command in walk(cli, ()) if words}


def spellings(command: click.Command) -> list[str]:
    """The spellings of all options that the help of a command shows."""
    options = [
        option
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden
    ]
    return [name for option in options for name in (*option.opts, *option.secondary_opts)]


def test_a_command_has_a_page_with_every_option(
    commands: dict[str, click.Command], site_pages: Path
) -> None:
    assert len(commands) > 40
    for name, command in commands.items():
        page = site_pages / "reference/commands" / f"{name.replace(' ', '-')}.md"
        text = page.read_text("utf-8")
        assert text.startswith(f"# karat {name}\n")
        cells = " ".join(re.findall(r"^\| `+ ?(.*?) ?`+ \|", text, re.M))
        documented = re.split(r"[\s,]+", cells)
        assert [spelling for spelling in spellings(command) if spelling not in documented] == [], (
            name
        )


def test_the_list_of_commands_and_that_of_options_are_complete(
    commands: dict[str, click.Command], site_pages: Path
) -> None:
    listed = (site_pages / "reference/commands/index.md").read_text("utf-8")
    assert [name for name in commands if f"[`karat {name}`]" not in listed] == []
    options = (site_pages / "reference/options.md").read_text("utf-8")
    spelled = {spelling for command in commands.values() for spelling in spellings(command)}
    assert len(spelled) > 100
    assert [name for name in spelled if not re.search(rf"[` ]{name}[`,]", options)] == []


def test_every_metric_is_there_with_every_setting(site_pages: Path) -> None:
    text = (site_pages / "reference/metrics.md").read_text("utf-8")
    sections = {part.partition("`")[0]: part for part in text.split("\n## `")[1:]}
    for name in METRICS.entries():
        metric = METRICS[name]
        section = sections[metric.name]
        settings = [f.name for f in metric.settings()]
        assert [setting for setting in settings if f"\n| `{setting}` |" not in section] == []
        assert [preset for preset in metric.presets if preset not in section] == []


@pytest.mark.parametrize("kind", sorted({*KINDS, *declared("kinds")} - {"metrics"}))
def test_every_registered_name_is_there(kind: str, site_pages: Path) -> None:
    page = "formats.md" if kind in names.FORMATS else "names.md"
    heading, _ = {**names.FORMATS, **names.NAMES}[kind]
    text = (site_pages / "reference" / page).read_text("utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    entries = registry_of(kind).entries()
    assert entries
    assert [name for name in entries if f"`{name}`" not in section] == []
    assert "|  |" not in section, "a name without a meaning"


def test_every_public_name_of_python_is_there(site_pages: Path) -> None:
    text = (site_pages / "reference/python.md").read_text("utf-8")
    assert [name for name in kt.__all__ if f"### `karat.{name}` " not in text] == []
    for place in APPS:
        module_names = [name for name in import_module(place).__all__ if name not in kt.__all__]
        assert [name for name in module_names if f"### `{place}.{name}` " not in text] == []


def test_signatures_and_docstrings_are_shown(site_pages: Path) -> None:
    text = (site_pages / "reference/python.md").read_text("utf-8")
    entry = text.partition("### `karat.compare` ")[2].partition("\n### ")[0]
    assert "    baseline: str | None = None,\n" in entry
    assert ") -> Comparison\n```" in entry
    assert "Compare systems with a baseline" in entry
    assert " at 0x" not in text, "a value that is different in every run"
