"""`karat paraphrase align`: which word of a parallel text translates which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.options import F
from karat.cli.show import check_output, say

if TYPE_CHECKING:
    from karat.paraphrase.align.hmm import Aligned, Aligner
    from karat.text.recipe import Recipe

_DECODINGS = ("posterior", "intersection", "union", "grow-diag", "grow-diag-final-and")


def _words(function: F) -> F:
    """How each side is cut into words."""
    for side in ("pivot", "source"):
        for name, default, what in (
            ("stem", "none", "The stemmer"),
            ("case", "lower", "mixed or lower"),
            ("tok", "none", "The tokeniser; none is white space"),
        ):
            function = click.option(
                f"--{side}-{name}",
                default=default,
                show_default=True,
                help=f"{what}, of the {side} side.",
            )(function)
    return function


@click.command(name="align")
@click.argument("source", type=click.Path())
@click.argument("pivot", type=click.Path(), required=False)
@_words
@click.option(
    "--model1", type=click.IntRange(0), default=5, show_default=True, help="Iterations of model 1."
)
@click.option(
    "--hmm", type=click.IntRange(0), default=5, show_default=True, help="Iterations of the HMM."
)
@click.option(
    "--agreement",
    type=click.Choice(("root", "product")),
    default="root",
    show_default=True,
    help="How much a link counts that both directions expect: the product, or its root.",
)
@click.option(
    "--decoding",
    type=click.Choice(_DECODINGS),
    default="posterior",
    show_default=True,
    help="Links of which both directions are sure enough, or how their best links are joined.",
)
@click.option(
    "--threshold", type=float, default=0.5, show_default=True, help="How sure, for posterior."
)
@click.option(
    "--longest",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Longer sentences take no part: they get no links, and are counted.",
)
@options.as_text
@options.threads
@click.option("-o", "--output", type=click.Path(), help="Write the links to this file.")
def command(
    source: str,
    pivot: str | None,
    source_tok: str,
    source_case: str,
    source_stem: str,
    pivot_tok: str,
    pivot_case: str,
    pivot_stem: str,
    as_text: bool,
    threads: int | None,
    output: str | None,
    model1: int,
    hmm: int,
    agreement: str,
    decoding: str,
    threshold: float,
    longest: int,
) -> None:
    """Align the words of a parallel text.

    SOURCE and PIVOT are aligned line by line; without PIVOT, SOURCE has two columns with a tab
    between. The links are written as `0-0 1-2`, source-pivot, words counted from 0.

    \b
    karat paraphrase align english.txt french.txt -o links.txt
    karat paraphrase align english-french.tsv.gz --source-tok 13a --pivot-tok 13a
    """
    from karat.paraphrase.align.hmm import Aligner
    from karat.paraphrase.align.pharaoh import pharaoh_lines
    from karat.text.recipe import Recipe

    check_output(output, [source] if pivot is None else [source, pivot])
    how = Aligner(model1, hmm, agreement, decoding, threshold, longest)
    recipes = (
        Recipe(source_tok, source_case, source_stem),
        Recipe(pivot_tok, pivot_case, pivot_stem),
    )
    found = _align(source, pivot, recipes, how, threads, as_text)
    say(pharaoh_lines(found.links), output)
    _tell(found, how, output)


def _align(
    source: str,
    pivot: str | None,
    recipes: tuple[Recipe, Recipe],
    how: Aligner,
    threads: int | None,
    as_text: bool,
) -> Aligned:
    from karat.paraphrase.align.hmm import align_words
    from karat.paraphrase.align.parallel_text import parallel_tokens, read_parallel

    with Bar() as progress:
        text = read_parallel(source, pivot, progress, as_text=as_text)
        tokens = parallel_tokens([text], *recipes, threads=threads, progress=progress)
        return align_words(*tokens, how, threads=threads, progress=progress)


def _tell(found: Aligned, how: Aligner, output: str | None) -> None:
    """What was made, where it is not shown itself; and what took no part, in any case."""
    links = found.links
    if output is not None:
        click.echo(
            f"{output}: {len(links.source):,} links in {len(links):,} sentence pairs ({how})"
        )
    for count, why in (
        (found.empty, "with an empty side"),
        (found.too_long, f"with more than {how.longest} words on a side"),
    ):
        if count:
            pairs = "1 sentence pair" if count == 1 else f"{count:,} sentence pairs"
            click.echo(f"no links for {pairs} {why}", err=True)
