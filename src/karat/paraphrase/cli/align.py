"""`karat paraphrase align`: which word of a parallel text translates which."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.options import F
from karat.cli.parameters import ADVANCED, WORDS, choice, integer, option, path
from karat.cli.show import check_output, say
from karat.paraphrase.cli import group
from karat.progress import Bar

_DECODINGS = ("posterior", "intersection", "union", "grow-diag", "grow-diag-final-and")
_MAX_ITERATIONS = 1000  # aligner.MOST, which is not imported for --help


def _recipe_options(function: F) -> F:
    """Add the recipes of both sides: `tok`, `case` and `stem`, and those of the pivot language."""
    for side, prefix in (("pivot", "pivot-"), ("source", "")):
        for name, default, label in (
            ("stem", "none", "Stemmer"),
            ("case", "lower", "Case (mixed or lower)"),
            ("tok", "none", "Tokeniser (none splits at white space)"),
        ):
            function = option(
                f"--{prefix}{name}",
                f"{label} of the {side} language.",
                default=default,
                show_default=True,
                metavar="NAME",
                heading=WORDS,
            )(function)
    return function


@click.command(name="align", cls=Command)
@click.argument("source", type=click.Path())
@click.argument("pivot", type=click.Path(), required=False)
@option("-o --output", "Write the links to FILE (atomic).", path)
@option(
    "--decoding",
    "Links to keep: {names}. `posterior` keeps links above --threshold, the others combine the "
    "best links of both directions.".replace("{names}", ", ".join(_DECODINGS)),
    choice(*_DECODINGS),
    "posterior",
    metavar="NAME",
)
@option(
    "--threshold",
    "Lowest posterior probability of a link. Default: 0.4; with --aligner hmm 0.5.",
    float,
    metavar="X",
)
@_recipe_options
@options.as_text
@group.aligner("fertility")
@group.prefix("4; with hmm 0")
@option(
    "--model1",
    "Iterations of IBM model 1. Default: 4; with hmm 5.",
    integer(0, _MAX_ITERATIONS),
    heading=ADVANCED,
)
@option(
    "--hmm",
    "Iterations of the HMM. Default: 4; with hmm 5.",
    integer(0, _MAX_ITERATIONS),
    heading=ADVANCED,
)
@group.agreement("min; with hmm root")
@option("--longest", "Skip sentences with more than N words.", integer(1), 200, heading=ADVANCED)
@group.memory
@options.threads
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

    SOURCE and PIVOT are aligned line by line. Without PIVOT, SOURCE has two columns separated by a
    tab. Links are written in Pharaoh format, such as `0-0 1-2`: source-pivot, words from 0.

    \b
    karat paraphrase align english.txt french.txt -o links.txt
    karat paraphrase align english-french.tsv.gz --tok 13a --pivot-tok 13a
    """
    from karat.paraphrase.align.aligner import Aligner
    from karat.paraphrase.align.alignment import align_text
    from karat.paraphrase.align.links import pharaoh_lines
    from karat.paraphrase.align.parallel_text import read_parallel
    from karat.text.tokens import Recipe

    check_output(output, [source] if pivot is None else [source, pivot])
    source_recipe, pivot_recipe = (
        Recipe(*(given.pop(f"{prefix}{part}") for part in ("tok", "case", "stem")))
        for prefix in ("", "pivot_")
    )
    settings = Aligner(model=given.pop("aligner") or "fertility", **given)
    work: dict[str, Any] = {"memory": memory, "threads": threads}
    with Bar() as progress:
        text = read_parallel(source, pivot, progress, as_text=as_text)
        alignment = align_text(
            text, source_recipe, pivot_recipe, settings, progress=progress, **work
        )
    say(pharaoh_lines(alignment.links), output)
    if output is not None:
        summary = (
            f"{alignment.rows[0].links:,} links in {alignment.rows[0].sentences:,} sentence pairs"
        )
        click.echo(f"{output}: {summary} ({alignment.signature})")
    for note in alignment.notes:
        click.echo(note, err=True)
