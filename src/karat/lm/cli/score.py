"""`karat lm score`: text under a language model."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.parameters import flag, option, path
from karat.cli.show import check_output, show
from karat.errors import InputError
from karat.lm.cli.group import recipe_options


@click.command(name="score")
@click.argument("texts", nargs=-1, required=True, type=click.Path(), metavar="TEXT...")
@option("--model", "A model, binary or ARPA.", path, required=True)
@flag("--segments", "Show log10 Pr of every sentence.")
@flag("--words", "Show log10 p of every word.")
@recipe_options("the model's; none for ARPA")
@options.as_text
@options.output
@options.threads
def command(
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
    """Perplexity of texts under a model, one sentence a line.

    With --segments, log10 Pr of each sentence, its end included; with --words, each word with the
    length of the n-gram that the model had for it. --tok, --case and --stem are for ARPA files,
    which do not say how text becomes words.

    \b
    karat lm score text.txt --model model.lm
    karat lm score a.txt b.txt --model model.arpa --tok 13a --case lower
    karat lm score text.txt --model model.lm --segments --format tsv
    """
    check_output(output, (*texts, model))
    if segments and words:
        raise InputError("--segments and --words are two reports: ask for one")
    if texts.count("-") > 1:
        raise InputError("standard input (-) is named twice: it can be read only once")
    from karat.lm.model import LanguageModel
    from karat.lm.scoring import score_texts
    from karat.text.recipe import Recipe
    from karat.text.segments import Lines

    said = {name: value for name, value in given.items() if value}
    recipe = None if set(given.values()) == {None} else Recipe(**{"tok": "none", **said})
    with Bar() as progress:
        found = LanguageModel.open(model, recipe, progress=progress)
        lines = [Lines(path, progress, as_text=as_text) for path in texts]
        by = "segment" if segments else "word" if words else "text"
        result = score_texts(lines, found, by=by, threads=threads, progress=progress)
    show(result.document(options.command_line()), format, output)
