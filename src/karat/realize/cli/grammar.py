"""`karat realize grammar`: the supertags of a model or a treebank."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.parameters import integer, option
from karat.cli.show import check_output, show


@click.command(name="grammar", cls=Command)
@click.argument("source", metavar="MODEL|TREEBANK", type=click.Path())
@option("--most", "Number of supertags to list, the most frequent first.", integer(min=1), 30)
@options.output
def command(source: str, most: int, format: str, output: str | None) -> None:
    """List the supertags of a model or a treebank, and draw elementary trees.

    \b
    karat realize grammar treebank.conllu
    karat realize grammar model.npz -o trees.svg
    """
    from karat.realize import list_supertags

    check_output(output, [source])
    show(list_supertags(source, most).document(options.command_line()), format, output)
