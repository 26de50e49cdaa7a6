"""`karat realize grammar`: the supertags of a model or a treebank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli import options
from karat.cli.show import check_output, show

if TYPE_CHECKING:
    from karat.realize.fergus.grammar import Grammar


@click.command(name="grammar")
@click.argument("source", metavar="MODEL|TREEBANK", type=click.Path())
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="Supertags to list, the most frequent first.",
)
@options.output
def command(source: str, most: int, format: str, output: str | None) -> None:
    """List the supertags of a model or a treebank, and draw elementary trees.

    \b
    karat realize grammar treebank.conllu
    karat realize grammar model.npz -o trees.svg
    """
    from karat.realize.report.sentences import grammar_document

    check_output(output, [source])
    show(grammar_document(source, _grammar(source), most, options.command_line()), format, output)


def _grammar(source: str) -> Grammar:
    """A model's own, or that of a treebank."""
    from karat.realize.fergus.grammar import extract_grammar, gold_frames
    from karat.realize.input_trees import input_trees
    from karat.realize.model import open_realizer
    from karat.realize.treebank import read_treebank
    from karat.store import is_store

    if is_store(source):
        return open_realizer(source).the_fergus().chooser.grammar
    trees = input_trees(read_treebank(source), "all")
    return extract_grammar(trees, gold_frames(trees))
