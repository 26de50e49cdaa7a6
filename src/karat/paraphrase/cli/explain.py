"""`karat paraphrase explain`: the steps to the scores of a paraphrase."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.inputs import system_name
from karat.cli.parameters import ADVANCED, option, path
from karat.cli.show import check_output, show
from karat.errors import InputError
from karat.paraphrase.cli import group
from karat.progress import Bar


@click.command(name="explain", cls=Command)
@click.argument("paraphrases", type=click.Path())
@group.originals
@option(
    "--model",
    "Model of `karat paraphrase train`. Default: the small bundled model.",
    path,
)
@option("--pivot", "Pivot language of the model. Default: the first.", metavar="NAME")
@option("-t --table", "Phrase table to use instead of a model.", path)
@options.segment_options("pair")
@options.output
@options.as_text
@option(
    "--order",
    "Length of the longest n-grams. Default: that of the model, or 4.",
    int,
    metavar="N",
    heading=ADVANCED,
)
@option(
    "--edge",
    "Drop translations that are not more probable than X, except the best. Default: 0.1.",
    float,
    metavar="X",
    heading=ADVANCED,
)
@option(
    "--ngram",
    "Drop n-grams whose weight is not above X. Default: 0.01.",
    float,
    metavar="X",
    heading=ADVANCED,
)
@option(
    "--renormalise/--no-renormalise",
    "Scale the probabilities of the translations that are left to a sum of 1. Default: as the "
    "model, or no.",
    default=None,  # neither: a flag of `option` would be False
    heading=ADVANCED,
)
def command(
    paraphrases: str, originals: str, as_text: bool, format: str, output: Any, **settings: Any
) -> None:
    """Explain the scores of paraphrases.

    Shows for each pair PEM and its parts, the phrases of both sentences, their translations into
    the pivot language, and the pivot n-grams that the two sentences share.

    \b
    karat paraphrase explain out.txt --originals in.txt
    karat paraphrase explain out.txt --originals in.txt --model m.npz --worst 3
    karat paraphrase explain out.txt --originals in.txt --table en-fr.npz
    """
    from karat.paraphrase.pem.explanation import explain_paraphrases
    from karat.text.segments import Lines

    if settings["segments"] and settings["worst"]:
        raise InputError("--segment and --worst exclude each other: give one")
    read = [path for part in ("model", "table") if (path := settings[part])]
    check_output(output, [paraphrases, originals, *read])
    with Bar() as progress:
        candidate_lines, original_lines = (
            Lines(path, progress, as_text=as_text) for path in (paraphrases, originals)
        )
        name = system_name(paraphrases)
        result = explain_paraphrases(candidate_lines, original_lines, name=name, **settings)
    show(result.document(options.command_line()), format, output)
