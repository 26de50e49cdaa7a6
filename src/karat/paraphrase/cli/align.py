"""`karat paraphrase align`: which word of a parallel text translates which."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.options import F
from karat.cli.parameters import choice, option, path, whole
from karat.cli.show import check_output, say
from karat.paraphrase.cli import group

_DECODINGS = ("posterior", "intersection", "union", "grow-diag", "grow-diag-final-and")


def _words(function: F) -> F:
    """Add the recipes of both sides."""
    for side in ("pivot", "source"):
        for name, default, what in (
            ("stem", "none", "The stemmer"),
            ("case", "lower", "mixed or lower"),
            ("tok", "none", "The tokeniser; none is white space"),
        ):
            said = f"{what}, of the {side} side."
            function = option(f"--{side}-{name}", said, default=default)(function)
    return function


@click.command(name="align")
@click.argument("source", type=click.Path())
@click.argument("pivot", type=click.Path(), required=False)
@_words
@option("--model1", "Iterations of model 1.", whole(0), 5)
@option("--hmm", "Iterations of the HMM.", whole(0), 5)
@option(
    "--agreement",
    "How much a link counts that both directions expect: the product, or its root.",
    choice("root", "product"),
    "root",
)
@option(
    "--decoding",
    "Links of which both directions are sure enough, or how their best links are joined.",
    choice(*_DECODINGS),
    "posterior",
)
@option("--threshold", "How sure, for posterior.", float, 0.5)
@option(
    "--longest", "Longer sentences take no part: they get no links, and are counted.", whole(1), 200
)
@options.as_text
@group.memory
@options.threads
@option("-o --output", "Write the links to this file.", path)
def command(
    source: str,
    pivot: str | None,
    as_text: bool,
    memory: int | None,
    threads: Any,
    output: str | None,
    **given: Any,
) -> None:
    """Align the words of a parallel text.

    SOURCE and PIVOT are aligned line by line; without PIVOT, SOURCE has two columns with a tab
    between. The links are written as `0-0 1-2`, source-pivot, words counted from 0.

    \b
    karat paraphrase align english.txt french.txt -o links.txt
    karat paraphrase align english-french.tsv.gz --source-tok 13a --pivot-tok 13a
    """
    from karat.paraphrase.align.aligner import Aligner
    from karat.paraphrase.align.hmm import align_text
    from karat.paraphrase.align.links import pharaoh_lines
    from karat.paraphrase.align.parallel_text import read_parallel
    from karat.text.recipe import Recipe

    check_output(output, [source] if pivot is None else [source, pivot])
    mine, theirs = (
        Recipe(*(given.pop(f"{side}_{part}") for part in ("tok", "case", "stem")))
        for side in ("source", "pivot")
    )
    how = Aligner(**given)
    work: dict[str, Any] = {"memory": memory, "threads": threads}
    with Bar() as progress:
        text = read_parallel(source, pivot, progress, as_text=as_text)
        found = align_text(text, mine, theirs, how, progress=progress, **work)
    say(pharaoh_lines(found.links), output)
    if output is not None:
        made = f"{found.rows[0].links:,} links in {found.rows[0].sentences:,} sentence pairs"
        click.echo(f"{output}: {made} ({found.signature})")
    for note in found.notes:
        click.echo(note, err=True)
