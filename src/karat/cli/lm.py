"""`karat lm`: the group of its commands, each loaded when it is called."""

from __future__ import annotations

import click

from karat.cli.commands import Commands

COMMANDS: dict[str, tuple[str, str]] = {
    "train": ("karat.cli.lm_train", "Train a model on text."),
    "score": ("karat.cli.lm_score", "Perplexity of text, or log10 Pr of sentences and words."),
}
"""Name -> module (with a `command`) and the line that `karat lm --help` shows."""


@click.group(name="lm", cls=Commands, listed=COMMANDS, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """Train n-gram language models and score text with them.

    \b
    karat lm train text.txt -o model.lm
    karat lm score other.txt --model model.lm
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
