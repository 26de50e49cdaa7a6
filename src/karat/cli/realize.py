"""`karat realize`: the group of its commands, each loaded when it is called."""

from __future__ import annotations

import click

from karat.cli.commands import Commands

COMMANDS: dict[str, tuple[str, str]] = {}
"""Name -> module (with a `command`) and the line that `karat realize --help` shows."""


@click.group(name="realize", cls=Commands, listed=COMMANDS, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Turn unordered dependency trees into sentences.

    \b
    karat realize train treebank.conllu -o model.npz
    karat realize generate model.npz trees.conllu
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
