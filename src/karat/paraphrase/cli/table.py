"""`karat paraphrase table`: phrase tables from parallel text, from and to the text of Moses."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.parameters import option, path
from karat.cli.show import check_output
from karat.errors import InputError
from karat.paraphrase.cli import group


@click.command(name="table")
@click.argument("source", metavar="FILE", type=click.Path())
@click.argument("pivot", metavar="[PIVOT]", type=click.Path(), required=False)
@option("-o --output", "Output file.", path, required=True)
@option(
    "--stem",
    "Stemmer of the source side (for Moses' text: the one it was made with).",
    default="none",
)
@option("--tok", "Tokeniser of the source side.", default="13a")
@option("--pivot-tok", "The tokeniser of PIVOT.", default="13a")
@options.as_text
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
    memory: int | None,
    threads: int | None,
) -> None:
    """Make a phrase table from parallel text, or convert one from or to Moses' text.

    With PIVOT, both are texts that are aligned line by line: their words are linked and their
    phrases counted. --stem and --tok are then those of FILE.

    Without, FILE is Moses' text (.gz too), or a table, or a model of karat paraphrase train with
    one pivot: Moses' text becomes a table of Karat, and a table text.

    \b
    karat paraphrase table phrase-table.gz -o en-fr.npz
    karat paraphrase table en-fr.npz -o phrase-table.gz
    karat paraphrase table english.txt french.txt --stem porter --memory 1 -o en-fr.npz
    karat score out.txt -r in.txt -m pivot_f1:table=en-fr.npz
    """
    from karat.paraphrase.written_files import convert_table, make_table

    check_output(output, [source] if pivot is None else [source, pivot])
    settings: dict[str, Any] = {"memory": memory, "threads": threads}
    unused = {"--memory": memory, "--threads": threads}
    for name in (name for name, value in unused.items() if value is not None and pivot is None):
        raise InputError(f"{name} is for tables made from parallel text: name PIVOT, too")
    with Bar() as progress:
        if pivot is None:
            result = convert_table(source, output, stem=stem, tok=tok, progress=progress)
        else:
            settings |= {"stem": stem, "tok": tok, "pivot_tok": pivot_tok, "as_text": as_text}
            result = make_table(source, pivot, output, progress=progress, **settings)
    click.echo(": ".join(result.rows[0]))
