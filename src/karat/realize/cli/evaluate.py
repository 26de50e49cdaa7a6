"""`karat realize evaluate`: the realisers of a model on a treebank."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.old_names import note
from karat.cli.parameters import named
from karat.cli.show import check_output, show
from karat.progress import Bar
from karat.realize.cli import group


@click.command(name="evaluate", cls=Command)
@group.model_and("treebank")
@named(
    "--inputs",
    "Inputs of the realisers, comma-separated: words; words with UPOS tags and relations (all); "
    "words with relations, for completion (relations); lemmas with UPOS and XPOS tags, features "
    "and relations (lemmas); all that the model was trained for (every).",
    default="every",
    metavar="LIST",
)
@group.only_realizer
@options.output
def command(
    model: str,
    treebank: str,
    inputs: str,
    realizer: str | None,
    format: str,
    output: str | None,
) -> None:
    """Compare the realisers of a model on a treebank.

    Generates each sentence from its tree and shows the paper's four accuracies, BLEU, GTM's F,
    exact matches and speed, with the paper's own table for comparison. Also counts sentences that
    the model was trained on. A model that completes content words is also scored on trees whose
    function words, punctuation or both were taken out.

    \b
    karat realize evaluate dev.conllu --model model.npz
    karat realize evaluate dev.conllu --model model.npz --inputs lemmas
    """
    from karat.realize import evaluate_realizer, open_realizer, read_treebank

    check_output(output, (model, treebank))
    if inputs == "both":
        note("--inputs both is now --inputs every")
    with Bar() as progress:
        opened = open_realizer(model)
        bank = read_treebank(treebank)
        found = evaluate_realizer(opened, bank, inputs, realizer=realizer, progress=progress)
    show(found.document(options.command_line()), format, output)
