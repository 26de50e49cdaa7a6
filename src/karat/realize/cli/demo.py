"""`karat realize demo`: train on the bundled treebank and realise the paper's example."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.show import check_output, show


@click.command(name="demo")
@options.output
def command(format: str, output: str | None) -> None:
    """Train on a bundled treebank and explain the paper's example sentence.

    All models are trained, which takes some seconds. The treebank was written for Karat and is
    tiny: it shows the tool, not what it can do.
    """
    from karat.realize import explain_demo

    check_output(output)
    with Bar() as progress:
        found = explain_demo(progress=progress)
    show(found.document(options.command_line()), format, output)
