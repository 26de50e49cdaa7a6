"""`karat lm train`: a language model from text."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.parameters import Gigabytes, choice, flag, option, path, whole
from karat.cli.show import check_output, show
from karat.errors import InputError
from karat.lm.cli.group import recipe_options


@click.command(name="train")
@click.argument("texts", nargs=-1, required=True, type=click.Path(), metavar="TEXT...")
@option("-o --output", "Write it here.", path, required=True, metavar="MODEL")
@flag("--arpa", "Write ARPA text (default where MODEL ends in .arpa or .arpa.gz).")
@option("--order", "Words of the longest n-grams.", whole(1, 8), 5)
@option(
    "--smoothing",
    "Modified Kneser-Ney, or Katz's back-off with Good-Turing discounts.",
    choice("kneser-ney", "katz"),
    "kneser-ney",
)
@recipe_options("13a")
@option(
    "--vocabulary", "Know the N most frequent words; all others are <unk>.", whole(1), metavar="N"
)
@option(
    "--min-count",
    "Know the words that occur at least K times.",
    whole(min=1),
    1,
    show_default=False,
    metavar="K",
)
@option(
    "--min-counts", "For each length, the smallest count of n-grams that are kept.", metavar="1,1,2"
)
@option(
    "--memory",
    "Memory to use, the interpreter (about 40 MB) left out; what does not fit goes to temporary "
    "files (default: a quarter of this machine's memory).",
    Gigabytes(),
    metavar="GB",
)
@options.as_text
@options.threads
@option(
    "-f --format format",
    "How to show what was made.",
    choice(*options.FORMATS),
    "text",
    show_default=False,
)
def command(
    texts: Any, output: str, min_counts: Any, memory: Any, as_text: bool, format: str, **given: Any
) -> None:
    """Train an n-gram model on text, one sentence a line.

    TEXT is a UTF-8 file (.gz too, - for standard input). The model remembers how text was cut into
    words; ARPA does not.

    \b
    karat lm train text.txt -o model.lm
    karat lm train a.txt b.txt.gz --order 3 --min-count 2 -o model.arpa
    karat lm train text.txt --smoothing katz --case lower -o model.lm
    """
    check_output(output, texts)
    try:
        least = [int(part) for part in min_counts.split(",")] if min_counts is not None else None
    except ValueError as error:
        raise InputError(f"--min-counts {min_counts}: expected numbers such as 1,1,2") from error
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
