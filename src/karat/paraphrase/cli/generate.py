"""`karat paraphrase generate`: paraphrases of sentences."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from karat.cli import options
from karat.cli.command import Command
from karat.cli.parameters import flag, integer, option, share
from karat.cli.show import check_output, say, show
from karat.paraphrase.cli import group
from karat.progress import Bar, silent

if TYPE_CHECKING:
    from karat.paraphrase.generate.paraphraser import Generated


@click.command(name="generate", cls=Command)
@click.argument("originals", metavar="FILE", type=click.Path())
@group.model
@option("--n-best n", "Number of paraphrases of each sentence.", integer(min=1, max=64), 3)
@option(
    "--confidence",
    "Lowest confidence of a paraphrase, 0 to 1. Lower values give more paraphrases, and more bad "
    "ones.",
    share(),
    0.35,
)
@option(
    "--rank-by", "Column that ranks paraphrases.", click.Choice(["confidence", "pem"]), "confidence"
)
@flag("--plain", "Print only the best paraphrase of each line, or an empty line if there is none.")
@options.output
@options.as_text
@options.threads
def command(
    originals: str, model: str, plain: bool, as_text: bool, format: str, output: Any, **given: Any
) -> None:
    """Generate paraphrases of sentences.

    FILE has one sentence per line (- is standard input). One to three phrases are replaced by
    others with the same translations. A sentence has no paraphrase if none reaches --confidence;
    the exit code is 0 all the same.

    \b
    karat paraphrase generate sentences.txt
    karat paraphrase generate sentences.txt --model m.npz --plain -o out.txt
    """
    from karat.paraphrase.generate import paraphraser
    from karat.paraphrase.pem.model import PEM
    from karat.text.segments import Lines

    if plain:
        _check_plain(format, given["n"])
        given["n"] = 1
    check_output(output, (originals, model))
    pem = PEM.open(model)
    paraphraser.require_generator(pem)
    with Bar() as progress:
        lines = Lines(originals, progress, as_text=as_text)
        if not plain:
            result = paraphraser.generate_paraphrases(lines, pem, progress=progress, **given)
        else:
            alone = output is None and sys.stdout.isatty()  # lines are progress enough
            report_progress = silent if alone else progress
            without: list[str] = []
            generated = paraphraser.generate_lines(pem, lines, progress=report_progress, **given)
            say(_best_texts(generated, without), output)
    if not plain:
        show(result.document(options.command_line()), format, output)
        return
    for note in paraphraser.generated_notes(without, given["confidence"], pem):
        click.echo(note, err=True)


def _check_plain(format: str, n: int) -> None:
    """Refuse a format, or a number of paraphrases, that --plain does not give."""
    source = click.get_current_context().get_parameter_source
    if source("format") is ParameterSource.COMMANDLINE and format != "text":
        raise click.UsageError(f"--plain and --format {format} exclude each other: give one")
    if source("n") is ParameterSource.COMMANDLINE and n != 1:
        raise click.UsageError(f"--plain and --n-best {n} exclude each other: give one")


def _best_texts(generated: Iterable[Generated], reasons: list[str]) -> Iterator[str]:
    """Yield the best of each, an empty line if there is none; `reasons` gets the reasons."""
    for paraphrases in generated:
        if paraphrases.reason is not None:
            reasons.append(paraphrases.reason)
        yield f"{paraphrases.paraphrases[0].text if paraphrases.paraphrases else ''}\n"
