"""`karat realize evaluate`: how well a model restores a treebank's sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.show import check_output, show

if TYPE_CHECKING:
    from karat.realize.evaluation import Evaluated


@click.command(name="evaluate")
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("treebank", metavar="TREEBANK", type=click.Path())
@click.option(
    "--inputs",
    type=click.Choice(["words", "all", "both"]),
    default="both",
    show_default=True,
    help="What is given: words alone, words with tags and relations, or first one, then the other.",
)
@options.output
def command(model: str, treebank: str, inputs: str, format: str, output: str | None) -> None:
    """Compare the realisers of a model on a treebank.

    Each sentence is taken apart and realised from its tree: the paper's four accuracies, BLEU,
    GTM's F, exact matches and speed, with the paper's own table beside them.

    \b
    karat realize evaluate model.npz dev.conllu
    """
    from karat.realize.evaluation import evaluate
    from karat.realize.model import open_realizer
    from karat.realize.treebank import read_treebank
    from karat.realize.trees import input_trees
    from karat.report.realize import evaluation_document

    check_output(output, (model, treebank))
    with Bar() as progress:
        opened = open_realizer(model)
        if inputs != "both":
            opened.best(inputs)  # an error if there is none, instead of an empty table
        bank = read_treebank(treebank)
        found: list[Evaluated] = []
        for kind in ("words", "all") if inputs == "both" else (inputs,):
            trees = input_trees(bank, kind)
            seen = {row.name for row in found if row.name.startswith("LR")}
            realizers = [r for r in opened.realizers(kind) if r.name not in seen]
            found += evaluate(realizers, trees, progress=progress)
    show(evaluation_document(found, trees, options.command_line()), format, output)
