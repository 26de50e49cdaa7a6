"""`karat realize train`: a model from a treebank."""

from __future__ import annotations

import click

from karat.cli.command import Command
from karat.cli.parameters import choice, named, option, path, whole
from karat.cli.show import check_output
from karat.progress import Bar
from karat.realize.cli import group

LM_ORDER = 3  # the paper's trigrams


@click.command(name="train", cls=Command)
@click.argument("treebank", metavar="TREEBANK", type=click.Path())
@option("-o --output", "Write the model to FILE (atomic).", path, required=True)
@option(
    "--realizer",
    "Realiser to train: the paper's supertags and baselines (fergus), or the discriminative model "
    "(ordering).",
    choice("fergus", "ordering", "all"),
    "all",
    old="--model",
)
@named(
    "--inputs",
    "Inputs of the ordering model, comma-separated: words; words with UPOS tags and relations "
    "(all); both of these (both); lemmas with UPOS and XPOS tags, features and relations (lemmas), "
    "with inflection.",
    default="words",
    metavar="LIST",
)
@named(
    "--complete-from",
    "Also train the insertion of function words and punctuation, for generate --complete: from "
    "words with tags, features and relations (all), from words with relations (relations), or "
    "both, comma-separated.",
    metavar="INPUTS",
)
@option(
    "--lm-order",
    "Order of the LP Chooser's language model. The paper uses trigrams.",
    whole(min=1, max=6),
    LM_ORDER,
)
def command(
    treebank: str, output: str, realizer: str, inputs: str, complete_from: str | None, lm_order: int
) -> None:
    """Train a realiser on a treebank.

    TREEBANK is a CoNLL-U file with words, UPOS tags, heads and relations. The paper's models take
    seconds to train. The ordering model takes minutes and is more accurate. `karat realize
    evaluate` compares them.

    \b
    karat realize train treebank.conllu -o model.npz
    karat realize train treebank.conllu -o model.npz --inputs both
    karat realize train treebank.conllu -o model.npz --inputs all,lemmas
    karat realize train treebank.conllu -o m.npz --inputs all --complete-from all
    karat realize train treebank.conllu -o m.npz --realizer fergus --lm-order 4
    karat realize train t.conllu -o m.npz --realizer fergus --complete-from all
    """
    from karat.realize import train_realizer_file
    from karat.realize.model import check_complete_from, input_kinds
    from karat.report.model.cells import several

    if realizer == "ordering" and lm_order != LM_ORDER:
        raise click.UsageError(
            "--lm-order is for the LP Chooser, which --realizer ordering does not train: leave out "
            "one of them"
        )
    if realizer == "fergus" and inputs != "words":
        raise click.UsageError(
            "--inputs is for the ordering model, which --realizer fergus does not train: leave out "
            "one of them (the paper's models work with all inputs)"
        )
    input_kinds(inputs)  # an error before anything is read
    kinds = group.names(complete_from)
    if kinds:
        check_complete_from(kinds, realizer, inputs)
    check_output(output, [treebank])
    with Bar() as progress:
        found = train_realizer_file(
            treebank,
            output,
            realizer,
            inputs=inputs,
            complete_from=kinds,
            lm_order=lm_order,
            progress=progress,
        )
    (made,) = found.rows
    click.echo(
        f"{made.output}: {made.models}, trained on {several(made.sentences, 'sentence')} in "
        f"{made.seconds:.0f} s of processor time, {made.megabytes:.1f} MB"
    )
    for note in found.notes:
        click.echo(f"karat: note: {note[0].lower()}{note[1:]}", err=True)
