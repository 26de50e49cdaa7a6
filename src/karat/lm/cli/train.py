"""`karat lm train`: a language model from text."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.parameters import (
    ADVANCED,
    WORDS,
    Gigabytes,
    Listing,
    choice,
    flag,
    integer,
    option,
    path,
)
from karat.cli.show import check_output, show
from karat.errors import InputError
from karat.lm.cli.group import recipe_options
from karat.progress import Bar


@click.command(name="train", cls=Command)
@click.argument("texts", nargs=-1, required=True, type=click.Path(), metavar="TEXT...")
@option("-o --output", "Write the model to MODEL (atomic).", path, required=True, metavar="MODEL")
@flag("--arpa", "Write the ARPA format. Default if MODEL ends in .arpa or .arpa.gz.")
@option("--order", "Length of the longest n-grams.", integer(1, 8), 5)
@option(
    "--smoothing",
    "Smoothing: modified Kneser-Ney, or Katz back-off with Good-Turing discounts.",
    choice("kneser-ney", "katz"),
    "kneser-ney",
)
@recipe_options("13a")
@option(
    "--vocabulary",
    "Keep the N most frequent words. Other words become <unk>.",
    integer(1),
    heading=WORDS,
)
@option(
    "--min-count",
    "Keep words that occur at least N times. Default: 1.",
    integer(min=1),
    1,
    show_default=False,
    heading=WORDS,
)
@option(
    "--min-counts",
    "Smallest count of the n-grams to keep, for each length, such as 1,1,2.",
    metavar="N,N,…",
    heading=ADVANCED,
)
@option(
    "--memory",
    "Memory to use, without the interpreter (about 40 MB). Beyond it, temporary files are used. "
    "Default: a quarter of the memory of this machine.",
    Gigabytes(),
    metavar="GB",
    heading=ADVANCED,
)
@options.as_text
@options.threads
@option(
    "-f --format format",
    "Format of the summary: {names}. Default: text.",
    choice(*options.FORMATS),
    "text",
    show_default=False,
    metavar="FORMAT",
    cls=Listing,
    registry="renderers",
)
def command(
    texts: Any, output: str, min_counts: Any, memory: Any, as_text: bool, format: str, **given: Any
) -> None:
    """Train an n-gram language model.

    TEXT is a UTF-8 file with one sentence per line (.gz is fine, - is standard input). The model
    stores its tokeniser, case and stemmer; an ARPA file does not.

    \b
    karat lm train text.txt -o model.lm
    karat lm train a.txt b.txt.gz --order 3 --min-count 2 -o model.arpa
    karat lm train text.txt --smoothing katz --case lower -o model.lm
    """
    check_output(output, texts)
    try:
        least = [int(part) for part in min_counts.split(",")] if min_counts is not None else None
    except ValueError as error:
        raise InputError(
            f"--min-counts {min_counts}: expected whole numbers such as 1,1,2"
        ) from error
    from karat.lm.training import train_model
    from karat.text.segments import Lines

    recipe = {"tok": "13a", "case": "mixed", "stem": "none"}
    settings = given | {part: given[part] or default for part, default in recipe.items()}
    with Bar() as progress:
        result = train_model(
            [Lines(path, progress, as_text=as_text) for path in texts],
            output,
            min_counts=least,
            memory=memory,
            progress=progress,
            **settings,
        )
    show(result.document(options.command_line()), format, None)
