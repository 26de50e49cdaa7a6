"""`karat paraphrase controls`: the paper's three artificial systems, added to a judged set."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.command import Command
from karat.paraphrase.cli import group
from karat.progress import Bar


@click.command(name="controls", cls=Command)
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@click.argument("target", metavar="TARGET", type=click.Path())
@group.dimension
@options.seed
def command(name: str, target: str, dimension: str | None, seed: int) -> None:
    """Add three control systems with fixed scores to a set of judged paraphrases.

    The controls are the original itself (score 2 of 5), a random other original (1), and words
    drawn from a unigram model (1). TARGET must not exist yet.

    \b
    karat paraphrase controls demo-paraphrases with-controls
    """
    from karat.paraphrase.written_files import write_controls

    with Bar() as progress:
        result = write_controls(name, target, dimension, seed, progress=progress)
    click.echo(": ".join(result.rows[0]))
