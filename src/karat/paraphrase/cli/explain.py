"""`karat paraphrase explain`: the steps to the scores of a paraphrase."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.inputs import system_name
from karat.cli.parameters import option, path
from karat.cli.show import check_output, show
from karat.errors import InputError
from karat.paraphrase.cli import group


@click.command(name="explain")
@click.argument("paraphrases", type=click.Path())
@group.originals
@option(
    "--model",
    "A model of karat paraphrase train. Default: the small bundled one, for trying out only.",
    metavar="FILE",
)
@option("--pivot", "Which pivot of the model. Default: its first.", metavar="NAME")
@option("-t --table", "A phrase table instead of a model.", path, metavar="FILE")
@options.segment_options("pair")
@option("--order", "The longest n-grams. Default: the model's, or 4.", int)
@option(
    "--edge",
    "Translations must be more probable than this; the best is always kept. Default: 0.1.",
    float,
)
@option("--ngram", "N-grams must weigh more than this. Default: 0.01.", float)
@click.option(
    "--renormalise/--no-renormalise",
    default=None,  # neither: a flag of `option` would be False
    help="Whether kept translations share the whole probability. Default: the model's, or no.",
)
@options.as_text
@options.output
def command(
    paraphrases: str, originals: str, as_text: bool, format: str, output: Any, **settings: Any
) -> None:
    """Show how paraphrases come by their scores.

    For each pair: PEM and its parts, how both sentences are segmented into phrases, what the
    phrases become in the pivot language, and which pivot n-grams the two share.

    \b
    karat paraphrase explain out.txt --originals in.txt
    karat paraphrase explain out.txt --originals in.txt --model my-model.npz --worst 3
    karat paraphrase explain out.txt --originals in.txt --table en-fr.npz
    """
    from karat.paraphrase.pem.explanation import explain_paraphrases
    from karat.text.segments import Lines

    if settings["segments"] and settings["worst"]:
        raise InputError("--segment and --worst both choose pairs: leave one out")
    read = [path for part in ("model", "table") if (path := settings[part])]
    check_output(output, [paraphrases, originals, *read])
    with Bar() as progress:
        mine, theirs = (Lines(path, progress, as_text=as_text) for path in (paraphrases, originals))
        name = system_name(paraphrases)
        result = explain_paraphrases(mine, theirs, name=name, **settings)
    show(result.document(options.command_line()), format, output)
