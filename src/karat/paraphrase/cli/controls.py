"""`karat paraphrase controls`: the paper's three artificial systems, added to a judged set."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.parameters import option


@click.command(name="controls")
@click.argument("name", metavar="SET", shell_complete=options.complete_set)
@click.argument("target", metavar="DIR", type=click.Path())
@option("-d --dimension", "Which dimension is overall quality.")
@options.seed
def command(name: str, target: str, dimension: str | None, seed: int) -> None:
    """Add three controls to a set of judged paraphrases: scores known without judges.

    The original itself (overall 2 of 5), a random other original (1), and words drawn from a
    unigram model (1). DIR must not exist yet.

    \b
    karat paraphrase controls demo-paraphrases with-controls
    """
    from karat.paraphrase.written_files import write_controls

    with Bar() as progress:
        result = write_controls(name, target, dimension, seed, progress=progress)
    click.echo(": ".join(result.rows[0]))
