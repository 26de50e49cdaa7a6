"""`karat completion`: the script that makes a shell complete Karat's commands."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from karat.cli.command import Command

_CLASSES = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command(name="completion", cls=Command)
@click.argument("shell", type=click.Choice(list(_CLASSES)))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    \b
    eval "$(karat completion bash)"        # in ~/.bashrc
    eval "$(karat completion zsh)"         # in ~/.zshrc
    karat completion fish > ~/.config/fish/completions/karat.fish
    """
    from karat.cli.main import cli

    complete = _CLASSES[shell](cli, {}, "karat", "_KARAT_COMPLETE")
    click.echo(complete.source())
