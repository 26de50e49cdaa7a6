"""`karat paraphrase table`: phrase tables from and to the text format of Moses."""

from __future__ import annotations

import click

from karat.cli.bar import Bar
from karat.cli.parameters import option, path
from karat.cli.show import check_output


@click.command(name="table")
@click.argument("source", metavar="FILE", type=click.Path())
@option("-o --output", "The other form.", path, required=True)
@option(
    "--stem",
    "The stemmer that Moses' first side went through; it is not told by the file.",
    default="none",
)
@option("--tok", "The tokeniser that cut Moses' first side.", default="13a")
def command(source: str, output: str, stem: str, tok: str) -> None:
    """Convert a phrase table: Moses' text becomes a table of Karat, and a table text.

    FILE is Moses' text (.gz too), or a table, or a model of karat paraphrase train with one pivot.

    \b
    karat paraphrase table phrase-table.gz -o en-fr.npz
    karat paraphrase table en-fr.npz -o phrase-table.gz
    karat score out.txt -r in.txt -m pivot_f1:table=en-fr.npz
    """
    from karat.paraphrase.written_files import convert_table

    check_output(output, [source])
    with Bar() as progress:
        result = convert_table(source, output, stem=stem, tok=tok, progress=progress)
    click.echo(": ".join(result.rows[0]))
