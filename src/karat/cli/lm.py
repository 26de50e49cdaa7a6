"""`karat lm`: the group of its commands, each loaded when it is called."""

from __future__ import annotations

import click

from karat.cli.commands import Commands

COMMANDS: dict[str, tuple[str, str]] = {}
"""Name -> module (with a `command`) and the line that `karat lm --help` shows."""


@click.group(name="lm", cls=Commands, listed=COMMANDS, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Train n-gram language models and score text with them.

    \b
    karat lm train text.txt -o model.arpa
    karat lm score text.txt --model model.arpa
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
