"""`karat lm`: the group of its commands, whose code is loaded when called."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command, command_group
from karat.cli.parameters import F, Gigabytes, choice, flag, integer, option, path
from karat.cli.show import check_output, show
from karat.errors import InputError
from karat.headings import ADVANCED, WORDS
from karat.progress import Bar
from karat.report.render.renderers import FORMATS

COMMANDS: dict[str, tuple[str, str]] = {
    "train": ("karat.lm.cli:train", "Train a model on text."),
    "score": (
        "karat.lm.cli:score",
        "Compute perplexity, or the probabilities of sentences and words.",
    ),
}
"""Name -> its function, and the line that `karat lm --help` shows."""

command = command_group(
    "lm",
    COMMANDS,
    """Train n-gram language models and score text with them.

    \b
    karat lm train text.txt -o model.lm
    karat lm score other.txt --model model.lm
    """,
)


def recipe_options(tok: str) -> Callable[[F], F]:
    """Add `--tok`, `--case` and `--stem`, by default None; help shows `tok` as the default."""
    add = partial(option, heading=WORDS)
    stem = add("--stem", "Stemmer, such as english. Default: none.", metavar="STEMMER")
    case = add("--case", "Keep case, or lower it. Default: mixed.", choice("mixed", "lower"))
    cut = add("--tok", f"Tokeniser (see `karat metrics`). Default: {tok}.", metavar="TOKENISER")
    return lambda function: cut(case(stem(function)))


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
    choice(*FORMATS),
    "text",
    callback=lambda ctx, param, value: options.report_format(ctx, None, value),
    show_default=False,
    metavar="FORMAT",
    registry="renderers",
)
def train(
    texts: Any,
    output: str,
    min_counts: Any,
    memory: Any,
    as_text: bool,
    format: str,
    **settings: Any,
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
        min_counts_by_length = (
            [int(count) for count in min_counts.split(",")] if min_counts is not None else None
        )
    except ValueError as error:
        raise InputError(
            f"--min-counts {min_counts}: expected whole numbers such as 1,1,2"
        ) from error
    from karat.lm.training import train_model
    from karat.text.segments import Lines

    default_recipe = {"tok": "13a", "case": "mixed", "stem": "none"}
    settings |= {part: settings[part] or default for part, default in default_recipe.items()}
    with Bar() as progress:
        result = train_model(
            [Lines(path, progress, as_text=as_text) for path in texts],
            output,
            min_counts=min_counts_by_length,
            memory=memory,
            progress=progress,
            **settings,
        )
    show(result, format, None)


@click.command(name="score", cls=Command)
@click.argument("texts", nargs=-1, required=True, type=click.Path(), metavar="TEXT...")
@option("--model", "Language model, binary or ARPA.", path, required=True)
@flag("--segments", "Show log10 Pr of every sentence, its end included.")
@flag("--words", "Show log10 p of every word, and the length of its n-gram in the model.")
@options.output
@recipe_options("that of the model; none for ARPA")
@options.as_text
@options.threads
def score(
    texts: tuple[str, ...],
    model: str,
    segments: bool,
    words: bool,
    as_text: bool,
    format: str,
    output: str | None,
    threads: int | None,
    **given: str | None,
) -> None:
    """Compute the perplexity of texts under a language model.

    TEXT is a UTF-8 file with one sentence per line (.gz is fine, - is standard input). Use --tok,
    --case and --stem with ARPA files, which do not store them.

    \b
    karat lm score text.txt --model model.lm
    karat lm score a.txt b.txt --model model.arpa --tok 13a --case lower
    karat lm score text.txt --model model.lm --segments --format tsv
    """
    check_output(output, (*texts, model))
    if segments and words:
        raise InputError("--segments and --words exclude each other: give one")
    if texts.count("-") > 1:
        raise InputError("standard input (-) is given twice: it can be read only once")
    from karat.lm.model import LanguageModel, score_texts
    from karat.text.segments import Lines
    from karat.text.tokens import Recipe

    chosen = {name: value for name, value in given.items() if value}
    recipe = None if set(given.values()) == {None} else Recipe(**{"tok": "none", **chosen})
    with Bar() as progress:
        language_model = LanguageModel.open(model, recipe, progress=progress)
        lines = [Lines(path, progress, as_text=as_text) for path in texts]
        by = "segment" if segments else "word" if words else "text"
        result = score_texts(lines, language_model, by=by, threads=threads, progress=progress)
    show(result, format, output)
