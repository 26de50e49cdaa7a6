"""`karat paraphrase`: the group of its commands, each loaded when it is called."""

from __future__ import annotations

import click

from karat.cli.commands import Commands

COMMANDS: dict[str, tuple[str, str]] = {
    "explain": ("karat.cli.paraphrase_explain", "Show why a paraphrase has its pivot F1."),
}
"""Name -> module (with a `command`) and the line that `karat paraphrase --help` shows."""


@click.group(name="paraphrase", cls=Commands, listed=COMMANDS, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Score paraphrases, and make some.

    \b
    karat paraphrase score paraphrases.txt --originals originals.txt
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
