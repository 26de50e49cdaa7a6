"""`karat paraphrase generate`: paraphrases of sentences, ranked by PEM."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

import click

from karat.cli import options, paraphrase_options
from karat.cli.bar import Bar
from karat.cli.show import check_output, say, show
from karat.progress import silent

if TYPE_CHECKING:
    from karat.paraphrase.paraphraser import Paraphrase
    from karat.text.segments import Segments


@click.command(name="generate")
@click.argument("originals", metavar="FILE", type=click.Path())
@paraphrase_options.model
@click.option(
    "--n-best",
    type=click.IntRange(min=1, max=64),
    default=3,
    show_default=True,
    help="Paraphrases of each line.",
)
@click.option("--plain", is_flag=True, help="Only the best paraphrase of each line, as text.")
@options.as_text
@options.threads
@options.output
def command(
    originals: str,
    model: str,
    n_best: int,
    plain: bool,
    as_text: bool,
    threads: int | None,
    format: str,
    output: str | None,
) -> None:
    """Paraphrase sentences, one a line (- is standard input): same meaning, other words.

    Phrases are exchanged for others that are translated alike; of many candidates those are shown
    that PEM finds best.

    \b
    karat paraphrase generate sentences.txt
    karat paraphrase generate sentences.txt --model my-model.npz --plain -o other-words.txt
    """
    from karat.paraphrase.paraphraser import generator_of, paraphrases
    from karat.paraphrase.pem import PEM
    from karat.report.paraphrase_generated import generated_document
    from karat.text.segments import Lines

    check_output(output, (originals, model))
    pem = PEM.open(model)
    generator_of(pem)
    with Bar() as progress:
        given = Lines(originals, progress, as_text=as_text)
        wanted = 1 if plain else n_best
        lines_show = plain and output is None and sys.stdout.isatty()  # they are progress enough
        told = silent if lines_show else progress
        found = paraphrases(pem, given, wanted, threads=threads, progress=told)
        if plain:
            say(_plain(found), output)
            return
        document = generated_document(
            _strings(given), found, pem, options.command_line(), model == "bundled"
        )
    show(document, format, output)


def _plain(found: Iterable[list[Paraphrase]]) -> Iterator[str]:
    return (f"{each[0].text}\n" for each in found)


def _strings(lines: Segments) -> Iterator[str]:
    from karat.text.segments import STRIDE

    starts = range(0, len(lines), STRIDE)
    runs = (lines.views(at, min(at + STRIDE, len(lines))).strings() for at in starts)
    return chain.from_iterable(runs)
