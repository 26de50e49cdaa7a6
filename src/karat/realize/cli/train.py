"""`karat realize train`: a model from a treebank."""

from __future__ import annotations

import click

from karat.cli.bar import Bar
from karat.cli.parameters import choice, option, path, whole
from karat.cli.show import check_output

LM_ORDER = 3  # the paper's trigrams


@click.command(name="train")
@click.argument("treebank", metavar="TREEBANK", type=click.Path())
@option("-o --output", "Where to write the model.", path, required=True)
@option(
    "--model",
    "fergus: the paper's supertags and its baselines; ordering: the discriminative model.",
    choice("fergus", "ordering", "all"),
    "all",
)
@option(
    "--inputs",
    "What the ordering model will be given; all: words, tags, relations; both: a model each.",
    choice("words", "all", "both"),
    "words",
)
@option(
    "--lm-order",
    "The longest n-grams of the LP Chooser's language model; the paper's is of trigrams.",
    whole(min=1, max=6),
    LM_ORDER,
)
def command(treebank: str, output: str, model: str, inputs: str, lm_order: int) -> None:
    """Train a realiser on a treebank.

    TREEBANK is a CoNLL-U file with words, UPOS, heads and relations. All models are trained, to be
    set side by side by karat realize evaluate. The paper's take seconds; the ordering model orders
    better and takes minutes.

    \b
    karat realize train treebank.conllu -o model.npz
    karat realize train treebank.conllu -o model.npz --inputs both
    karat realize train treebank.conllu -o model.npz --model fergus --lm-order 4
    """
    from karat.realize import train_realizer_file
    from karat.report.model.cells import several

    if model == "ordering" and lm_order != LM_ORDER:
        raise click.UsageError(
            "--lm-order is for the LP Chooser, which --model ordering does not train: leave out "
            "one of them"
        )
    if model == "fergus" and inputs != "words":
        raise click.UsageError(
            "--inputs is for the ordering model, which --model fergus does not train: leave out "
            "one of them (the paper's models serve all kinds of input)"
        )
    check_output(output, [treebank])
    with Bar() as progress:
        (made,) = train_realizer_file(
            treebank, output, model, inputs=inputs, lm_order=lm_order, progress=progress
        ).rows
    click.echo(
        f"{made.output}: {made.models}, trained on {several(made.sentences, 'sentence')} in "
        f"{made.seconds:.0f} s of processor time, {made.megabytes:.1f} MB"
    )
