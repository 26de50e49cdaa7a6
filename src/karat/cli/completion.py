"""`karat completion`: the script that makes a shell complete Karat's commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from karat.errors import InputError


@click.command(name="completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def command(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    eval "$(karat completion bash)"        # in ~/.bashrc
    eval "$(karat completion zsh)"         # in ~/.zshrc
    karat completion fish > ~/.config/fish/completions/karat.fish
    """
    from karat.cli.main import cli

    found = get_completion_class(shell)
    if found is None:
        raise InputError(f"no completion for {shell}")
    complete = found(cli, {}, "karat", "_KARAT_COMPLETE")
    click.echo(complete.source())
