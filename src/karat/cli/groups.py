"""A group of commands, each imported when it is called: the help of all costs none of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from karat.cli.command import WIDTH, Group
from karat.cli.usage import refuse_numbers_after_flags
from karat.errors import quoted

TYPED = "karat.typed"
"""The key under which a context keeps the words typed after the command, in their order."""

Listed = Mapping[str, tuple[str, str]]
"""Name, of one word or two -> module (with a `command`) or module:name, and its line of help."""


def load_command(target: str) -> click.Command:
    """Import the command of `module:name`; the name is `command` if it is left out."""
    module, _, name = target.partition(":")
    command: click.Command = getattr(import_module(module), name or "command")
    return command


class Commands(Group):
    """A group that imports a command only to run it."""

    def __init__(self, *args: Any, listed: Listed, **kwargs: Any) -> None:
        shown = {"help_option_names": ["-h", "--help"], "max_content_width": WIDTH}
        super().__init__(*args, context_settings=shown, **kwargs)
        self.listed = listed

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.listed)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.listed:
            return None
        return load_command(self.listed[cmd_name][0])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer words: the second one of a name is offered after the first (`second_words`)."""
        return [item for item in super().shell_complete(ctx, incomplete) if " " not in item.value]

    def called(self, typed: Sequence[str]) -> click.Command:
        """The command that some words call: this group, one of its commands, or one of theirs."""
        name, rest = self._split(typed)
        if name not in self.listed:
            return self
        found = load_command(self.listed[name][0])
        if isinstance(found, Commands):
            return found.called(rest)
        below = found.commands if isinstance(found, click.Group) else {}
        return below.get(rest[0], found) if rest else found

    def _split(self, typed: Sequence[str]) -> tuple[str, list[str]]:
        """Return the name of the command, of two words where there is such a one, and the rest."""
        size = 2 if " ".join(typed[:2]) in self.listed else 1
        return " ".join(typed[:size]), list(typed[size:])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.listed and not args[0].startswith("-"):
            from karat.settings import nearest

            hint = nearest(args[0], self.listed) or f" (there are {', '.join(self.listed)})"
            raise click.UsageError(f"no command {quoted(args[0])}{hint}")
        called, rest = self._split(args)
        name, command, rest = super().resolve_command(ctx, [called, *rest])
        if command is not None and not isinstance(command, click.Group):
            ctx.meta[TYPED] = tuple(rest)
            refuse_numbers_after_flags(command, rest)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.listed.items()])


def second_words(ctx: click.Context, incomplete: str) -> list[str]:
    """Return the words that make a name of two words: `fit` after `karat meta`."""
    group, first = ctx.parent and ctx.parent.command, f"{ctx.info_name} "
    if not isinstance(group, Commands) or ctx.meta.get(TYPED):
        return []
    longer = [name for name in group.listed if name.startswith(first + incomplete)]
    return [name.removeprefix(first) for name in longer]


def command_group(name: str, listed: Listed, help: str) -> Commands:
    """The group `karat NAME`; called without a command it shows its help."""

    @click.group(name=name, cls=Commands, listed=listed, invoke_without_command=True, help=help)
    @click.pass_context
    def group(context: click.Context) -> None:
        if context.invoked_subcommand is None:
            click.echo(context.get_help())

    return group
