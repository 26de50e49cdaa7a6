"""`karat realize train`: a model from a treebank."""

from __future__ import annotations

import os

import click

from karat.cli.bar import Bar
from karat.cli.show import check_output


@click.command(name="train")
@click.argument("treebank", metavar="TREEBANK", type=click.Path())
@click.option("-o", "--output", type=click.Path(), required=True, help="Where to write the model.")
@click.option(
    "--model",
    type=click.Choice(["fergus", "ordering", "all"]),
    default="fergus",
    show_default=True,
    help="fergus: the paper's supertags and its baselines; ordering: the discriminative model.",
)
@click.option(
    "--inputs",
    type=click.Choice(["words", "all", "both"]),
    default="words",
    show_default=True,
    help="What the ordering model will be given; all: words, tags, relations; both: a model each.",
)
def command(treebank: str, output: str, model: str, inputs: str) -> None:
    """Train a realiser on a treebank.

    TREEBANK is a CoNLL-U file with words, UPOS, heads and relations. The paper's models take
    seconds; the ordering model orders better and takes minutes (--model all trains everything, to
    be set side by side by karat realize evaluate).

    \b
    karat realize train treebank.conllu -o model.npz
    karat realize train treebank.conllu -o model.npz --model all --inputs both
    """
    from karat.realize.model import train_realizer
    from karat.realize.treebank import read_treebank

    check_output(output, [treebank])
    with Bar() as progress:
        bank = read_treebank(treebank)
        train_realizer(bank, model, inputs=inputs, progress=progress).save(output)
    size = os.path.getsize(output) / 1e6 if os.path.isfile(output) else 0.0
    click.echo(f"{output}: trained on {len(bank):,} sentences, {size:.1f} MB")
