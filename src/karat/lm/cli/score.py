"""`karat lm score`: text under a language model."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.parameters import flag, option, path
from karat.cli.show import check_output, show
from karat.errors import InputError
from karat.lm.cli.group import recipe_options
from karat.progress import Bar


@click.command(name="score", cls=Command)
@click.argument("texts", nargs=-1, required=True, type=click.Path(), metavar="TEXT...")
@option("--model", "Language model, binary or ARPA.", path, required=True)
@flag("--segments", "Show log10 Pr of every sentence, its end included.")
@flag("--words", "Show log10 p of every word, and the length of its n-gram in the model.")
@options.output
@recipe_options("that of the model; none for ARPA")
@options.as_text
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
    from karat.lm.model import LanguageModel
    from karat.lm.scoring import score_texts
    from karat.text.segments import Lines
    from karat.text.tokens import Recipe

    chosen = {name: value for name, value in given.items() if value}
    recipe = None if set(given.values()) == {None} else Recipe(**{"tok": "none", **chosen})
    with Bar() as progress:
        language_model = LanguageModel.open(model, recipe, progress=progress)
        lines = [Lines(path, progress, as_text=as_text) for path in texts]
        by = "segment" if segments else "word" if words else "text"
        result = score_texts(lines, language_model, by=by, threads=threads, progress=progress)
    show(result.document(options.command_line()), format, output)
