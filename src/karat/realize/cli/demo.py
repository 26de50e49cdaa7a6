"""`karat realize demo`: train on the bundled treebank and realise the paper's example."""

from __future__ import annotations

from importlib import resources

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
    from karat.realize.fergus.explanation import explain_tree
    from karat.realize.input_trees import input_trees
    from karat.realize.model import train_realizer
    from karat.realize.report.explanation import explain_document
    from karat.realize.treebank import read_treebank

    check_output(output)
    place = resources.files("karat") / "data" / "treebank" / "demo.conllu"
    with resources.as_file(place) as path:
        treebank = read_treebank(path)
    with Bar() as progress:
        model = train_realizer(treebank, progress=progress)
        found = explain_tree(model, input_trees(treebank, "words"), 0, progress=progress)
    show(explain_document(found, 1, options.command_line()), format, output)
