"""`karat realize demo`: train on the bundled treebank and realise the paper's example."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.show import check_output, show
from karat.progress import Bar


@click.command(name="demo", cls=Command)
@options.output
def command(format: str, output: str | None) -> None:
    """Train on a bundled treebank and explain the paper's example sentence.

    The example is left out of the training text. Training takes some seconds. The treebank is tiny
    and was written for this demonstration, so the results do not show how good the models can be.

    \b
    karat realize demo
    karat realize demo -o demo.html
    """
    from karat.realize import explain_demo

    check_output(output)
    with Bar() as progress:
        found = explain_demo(progress=progress)
    show(found.document(options.command_line()), format, output)
