"""Reference pages of the commands: one page each, a list, and a list of all options."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import click

from karat.cli.main import cli
from tools.docs.markdown import block, code, escaped, table

FOLDER = "reference/commands"
_COMMON = "Options"
"""The first heading of options."""


class CommandPage(NamedTuple):
    """A command with its full name and the context that its help needs."""

    name: str
    command: click.Command
    context: click.Context

    @property
    def file(self) -> str:
        """The name of its page."""
        return f"{self.name.removeprefix('karat ').replace(' ', '-')}.md"

    @property
    def summary(self) -> str:
        """The first sentence of its help."""
        return inspect.cleandoc(self.command.help or "").partition("\n\n")[0].replace("\n", " ")


def all_commands() -> Iterator[CommandPage]:
    """Yield every command and group below `karat`, a group before its commands."""
    yield from _below(CommandPage("karat", cli, _context(cli, "karat", None)))


def _below(page: CommandPage) -> Iterator[CommandPage]:
    if not isinstance(page.command, click.Group):
        return
    for name in page.command.list_commands(page.context):
        command = page.command.get_command(page.context, name)
        if command is not None and not command.hidden:
            inner = CommandPage(
                f"{page.name} {name}", command, _context(command, name, page.context)
            )
            yield inner
            yield from _below(inner)


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(command, info_name=name, parent=parent, **command.context_settings)


def command_pages() -> Iterator[tuple[str, str]]:
    """Yield the path and text of every page."""
    pages = list(all_commands())
    for page in pages:
        yield f"{FOLDER}/{page.file}", command_page(page)
    yield f"{FOLDER}/index.md", _index(pages)
    yield "reference/options.md", _options(pages)


def command_page(page: CommandPage) -> str:
    """Return the page of one command: usage, description, examples, arguments and options."""
    usage = page.command.get_usage(page.context).removeprefix("Usage: ")
    parts = [f"# {page.name}", block(usage), *_help(page.command.help or "")]
    inner = [
        subpage for subpage in _below(page) if " ".join(subpage.name.split()[:-1]) == page.name
    ]
    if inner:
        parts += ["## Commands", _listed(inner)]
    parts += [*_option_tables(page), *_epilog(page)]
    return "\n\n".join(parts) + "\n"


def _option_tables(page: CommandPage) -> Iterator[str]:
    """Yield a table of options under each heading of the help; click's own have none."""
    records_by_heading: dict[str, list[tuple[str, str]]] = {_COMMON: []}
    for param, record in _records(page):
        records_by_heading.setdefault(getattr(param, "heading", _COMMON), []).append(record)
    for heading, records in records_by_heading.items():
        yield f"{'##' if heading == _COMMON else '###'} {heading}"
        yield table(
            ["Option", "Meaning"], ([code(names), escaped(meaning)] for names, meaning in records)
        )


def _records(page: CommandPage) -> Iterator[tuple[click.Option, tuple[str, str]]]:
    """Yield every option with its spellings and its help."""
    for param in page.command.get_params(page.context):
        record = param.get_help_record(page.context)
        if record and isinstance(param, click.Option):
            yield param, record


def _epilog(page: CommandPage) -> Iterator[str]:
    """Yield the parts of the help after the options, such as settings, without the examples."""
    formatter = page.context.make_formatter()
    page.command.format_epilog(page.context, formatter)
    parts = formatter.getvalue().strip("\n").split("\n\n")
    text = "\n\n".join(part for part in parts if not part.startswith("Examples:"))
    if text:
        yield from ("## Settings", block(text))


def _help(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text; unwrapped paragraphs (\\b) are examples."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if not paragraph.startswith("\b"):
            yield escaped(" ".join(paragraph.split()))
            continue
        lines = paragraph.removeprefix("\b").strip("\n")
        if lines.startswith("karat"):
            yield "## Examples"
        yield block(lines, "sh" if lines.startswith("karat") else "text")


def _listed(pages: list[CommandPage], folder: str = "") -> str:
    rows = ([f"[`{page.name}`]({folder}{page.file})", escaped(page.summary)] for page in pages)
    return table(["Command", "What it does"], rows)


def _index(pages: list[CommandPage]) -> str:
    about = "Every command, with all its options. `karat COMMAND --help` prints the same."
    return f"# Commands\n\n{about}\n\n{_listed(pages)}\n"


def _options(pages: list[CommandPage]) -> str:
    """Return the page of all options: each with the commands that have it."""
    pages_by_option: dict[str, list[CommandPage]] = defaultdict(list)
    for page in pages:
        for _, (names, _) in _records(page):
            pages_by_option[_bare(names)].append(page)
    rows = (
        [code(name), ", ".join(f"[{_short(page)}](commands/{page.file})" for page in having)]
        for name, having in sorted(pages_by_option.items(), key=lambda item: item[0].lstrip("-"))
        if name != "-h, --help"
    )
    about = "Every option of the command line, and the commands that have it. "
    about += "The page of the command says what the option means there."
    return f"# Options\n\n{about}\n\n{table(['Option', 'Commands'], rows)}\n"


def _bare(names: str) -> str:
    """Return the spellings of an option without its value."""
    return ", ".join(re.findall(r"(?<![\w-])--?[\w-]+", names.partition(" [")[0]))


def _short(page: CommandPage) -> str:
    return page.name.removeprefix("karat ")
