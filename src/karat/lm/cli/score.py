"""`karat lm score`: what a language model makes of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.show import check_output, show
from karat.errors import InputError
from karat.lm.cli.options import recipe_options

if TYPE_CHECKING:
    from karat.text.recipe import Recipe

T = TypeVar("T")


@click.command(name="score")
@click.argument("texts", nargs=-1, required=True, type=click.Path(), metavar="TEXT...")
@click.option("--model", required=True, type=click.Path(), help="A model, binary or ARPA.")
@click.option("--segments", is_flag=True, help="Show log10 Pr of every sentence.")
@click.option("--words", is_flag=True, help="Show log10 p of every word.")
@recipe_options("the model's; none for ARPA")
@options.as_text
@options.output
@options.threads
def command(
    texts: tuple[str, ...],
    model: str,
    segments: bool,
    words: bool,
    tok: str | None,
    case: str | None,
    stem: str | None,
    as_text: bool,
    format: str,
    output: str | None,
    threads: int | None,
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
    from karat.lm.report import score_document, segment_document, word_document
    from karat.text.segments import Lines

    with Bar() as progress:
        found = LanguageModel.open(model, _recipe(tok, case, stem), progress=progress)
        opened = [Lines(path, progress, as_text=as_text) for path in texts]
        line = options.command_line()

        def each(work: Callable[..., T]) -> list[tuple[str, T]]:
            return [(text.name, work(text, threads=threads, progress=progress)) for text in opened]

        if segments:
            document = segment_document(found, each(found.sentences), line)
        elif words:
            document = word_document(found, each(found.text_words), line)
        else:
            document = score_document(found, each(found.perplexity), line)
    show(document, format, output)


def _recipe(tok: str | None, case: str | None, stem: str | None) -> Recipe | None:
    """What was asked for; nothing, where nothing was."""
    from karat.text.recipe import Recipe

    if tok is None and case is None and stem is None:
        return None
    return Recipe(tok or "none", case or "mixed", stem or "none")
