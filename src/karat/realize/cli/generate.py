"""`karat realize generate`: sentences for trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.show import check_output, say, show
from karat.realize.cli import options as realize_options

if TYPE_CHECKING:
    from karat.lm.model import LanguageModel


@click.command(name="generate")
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("trees", metavar="TREES", type=click.Path())
@realize_options.inputs
@click.option(
    "--n-best",
    type=click.IntRange(min=1, max=1000),
    default=1,
    show_default=True,
    help="Sentences for each tree, the best first.",
)
@click.option("--punctuate", is_flag=True, help="Put in the punctuation that the input lacks.")
@options.output
def command(
    model: str,
    trees: str,
    inputs: str,
    n_best: int,
    punctuate: bool,
    format: str,
    output: str | None,
) -> None:
    """Write a sentence for every tree.

    TREES is CoNLL-U; the order of its words is not looked at. Text output has one sentence a line;
    with --n-best, and in other formats, it is a table.

    \b
    karat realize generate model.npz trees.conllu
    karat realize generate model.npz trees.conllu --inputs all --n-best 5
    """
    from karat.realize.input_trees import read_trees
    from karat.realize.model import open_realizer
    from karat.realize.report.sentences import sentences_document

    check_output(output, (model, trees))
    with Bar() as progress:
        opened = open_realizer(model)
        given = read_trees(trees, inputs)
        orders = opened.best(inputs).realize(given, n_best, progress=progress)
        texts = [given.sentence(i, o.nodes) for i, found in enumerate(orders) for o in found]
        texts = _punctuated(opened.language_model(inputs), texts) if punctuate else texts
    told = opened.fallback(inputs)
    if format == "text" and n_best == 1:
        say((f"{text}\n" for text in texts), output)
        if told:
            click.echo(f"karat: note: {told[0].lower()}{told[1:]}", err=True)
        return
    notes = (told,) if told else ()
    show(sentences_document(given, orders, texts, options.command_line(), notes), format, output)


def _punctuated(model: LanguageModel, texts: Sequence[str]) -> list[str]:
    from karat.realize.fergus.punctuation import punctuate

    return punctuate(model, texts)
