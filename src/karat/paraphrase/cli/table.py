"""`karat paraphrase table`: phrase tables from and to the text format of Moses."""

from __future__ import annotations

import click

from karat.cli.bar import Bar
from karat.cli.show import check_output
from karat.store import is_store


@click.command(name="table")
@click.argument("source", metavar="FILE", type=click.Path())
@click.option("-o", "--output", required=True, type=click.Path(), help="The other form.")
@click.option(
    "--stem",
    default="none",
    show_default=True,
    help="The stemmer that Moses' first side went through; it is not told by the file.",
)
@click.option(
    "--tok", default="13a", show_default=True, help="The tokeniser that cut Moses' first side."
)
def command(source: str, output: str, stem: str, tok: str) -> None:
    """Convert a phrase table: Moses' text becomes a table of Karat, and a table text.

    FILE is Moses' text (.gz too), or a table, or a model of karat paraphrase train with one pivot.

    \b
    karat paraphrase table phrase-table.gz -o en-fr.npz
    karat paraphrase table en-fr.npz -o phrase-table.gz
    karat score out.txt -r in.txt -m pivot_f1:table=en-fr.npz
    """
    from karat.paraphrase.pem.metric import opened
    from karat.paraphrase.table.moses import read_moses, write_moses
    from karat.paraphrase.table.phrase_table import PIVOT, said
    from karat.text.recipe import TOKENIZERS, Recipe, check_choice
    from karat.text.stemmers import stemmers

    check_output(output, [source])
    check_choice("stem", stem, stemmers())
    check_choice("tok", tok, TOKENIZERS)
    with Bar() as progress:
        if is_store(source):
            table = opened(source)
            write_moses(table, output)
        else:
            about = {"source": said(Recipe(tok, "lower", stem)), "pivot": said(PIVOT)}
            table = read_moses(source, about, progress=progress)
            table.save(output)
    click.echo(f"{output}: {table.pairs:,} pairs of {len(table):,} phrases")
