"""`karat paraphrase table`: phrase tables from parallel text, from and to the text of Moses."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.parameters import WORDS, option, path
from karat.cli.show import check_output
from karat.errors import InputError
from karat.paraphrase.cli import group
from karat.progress import Bar


@click.command(name="table", cls=Command)
@click.argument("source", metavar="FILE", type=click.Path())
@click.argument("pivot", metavar="[PIVOT]", type=click.Path(), required=False)
@option("-o --output", "Write the table to FILE (atomic).", path, required=True)
@option(
    "--stem",
    "Stemmer of the source language. For a Moses table: the one it was built with.",
    default="none",
    show_default=True,
    metavar="STEMMER",
    heading=WORDS,
)
@option(
    "--tok",
    "Tokeniser of the source language.",
    default="13a",
    show_default=True,
    metavar="TOKENISER",
    heading=WORDS,
)
@option(
    "--pivot-tok",
    "Tokeniser of the pivot language.",
    default="13a",
    show_default=True,
    metavar="TOKENISER",
    heading=WORDS,
)
@options.as_text
@group.aligner("fertility")
@group.prefix("4; with hmm 0")
@group.agreement("min; with hmm root")
@group.memory
@options.threads
def command(
    source: str,
    pivot: str | None,
    output: str,
    stem: str,
    tok: str,
    pivot_tok: str,
    as_text: bool,
    aligner: str | None,
    prefix: int | None,
    agreement: str | None,
    memory: int | None,
    threads: int | None,
) -> None:
    """Build a phrase table from parallel text, or convert one.

    With PIVOT, FILE and PIVOT are parallel texts, aligned line by line; a table is built from them.
    Without PIVOT, FILE is converted: a Moses phrase table (.gz is fine) to a table of Karat; a
    table of Karat, or a model with one pivot language, to a Moses phrase table.

    \b
    karat paraphrase table phrase-table.gz -o en-fr.npz
    karat paraphrase table en-fr.npz -o phrase-table.gz
    karat paraphrase table en.txt fr.txt --stem porter --memory 1 -o en-fr.npz
    karat paraphrase table en.txt fr.txt --aligner hmm -o en-fr.npz
    karat score out.txt -r in.txt -m pivot_f1:table=en-fr.npz
    """
    from karat.paraphrase.align.aligner import Aligner
    from karat.paraphrase.written_files import convert_table, make_table

    check_output(output, [source] if pivot is None else [source, pivot])
    settings: dict[str, Any] = {"memory": memory, "threads": threads}
    unused = {"--aligner": aligner, "--prefix": prefix, "--agreement": agreement}
    unused |= {"--memory": memory, "--threads": threads}
    for name in (name for name, value in unused.items() if value is not None and pivot is None):
        raise InputError(f"{name} is only for parallel text: add PIVOT, or leave out {name}")
    with Bar() as progress:
        if pivot is None:
            result = convert_table(source, output, stem=stem, tok=tok, progress=progress)
        else:
            links: dict[str, Any] = {"agreement": agreement, "prefix": prefix}
            settings["aligner"] = Aligner(model=aligner or "fertility", **links)
            settings |= {"stem": stem, "tok": tok, "pivot_tok": pivot_tok, "as_text": as_text}
            result = make_table(source, pivot, output, progress=progress, **settings)
    click.echo(": ".join(result.rows[0]))
