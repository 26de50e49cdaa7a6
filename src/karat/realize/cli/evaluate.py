"""`karat realize evaluate`: the realisers of a model on a treebank."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.parameters import choice, option
from karat.cli.show import check_output, show
from karat.realize.cli import group


@click.command(name="evaluate")
@group.model
@click.argument("treebank", metavar="TREEBANK", type=click.Path())
@option(
    "--inputs",
    "What is given: words alone, words with tags and relations, or first one, then the other.",
    choice("words", "all", "both"),
    "both",
)
@options.output
def command(model: str, treebank: str, inputs: str, format: str, output: str | None) -> None:
    """Compare the realisers of a model on a treebank.

    Each sentence is taken apart and realised from its tree: the paper's four accuracies, BLEU,
    GTM's F, exact matches and speed, with the paper's own table beside them. Sentences that the
    model was trained on are counted.

    \b
    karat realize evaluate model.npz dev.conllu
    """
    from karat.realize import evaluate_realizer, open_realizer, read_treebank

    check_output(output, (model, treebank))
    with Bar() as progress:
        opened = open_realizer(model)
        found = evaluate_realizer(opened, read_treebank(treebank), inputs, progress=progress)
    show(found.document(options.command_line()), format, output)
