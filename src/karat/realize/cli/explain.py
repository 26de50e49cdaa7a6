"""`karat realize explain`: how a model orders one tree, and why."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.parameters import flag, option, whole
from karat.cli.show import check_output, show
from karat.realize.cli import group


@click.command(name="explain")
@group.model
@group.trees
@option("--tree", "Index of the tree to explain (from 1).", whole(min=1), 1)
@group.inputs
@group.n_best(default=5, help="Supertaggings, paths and orders to show.")
@flag("--unpruned", "Also draw the unpruned lattice of a small tree, without costs.")
@options.output
def command(
    model: str,
    trees: str,
    tree: int,
    inputs: str,
    n_best: int,
    unpruned: bool,
    format: str,
    output: str | None,
) -> None:
    """Show how the realisers of a model order one tree.

    Of the paper's: the best supertag assignments, the lattice and the best paths. Of the ordering
    model: the labels that it guesses, the best orders, and what each group of features adds to
    every treelet.

    \b
    karat realize explain model.npz trees.conllu --tree 3
    karat realize explain model.npz trees.conllu -o tree.html
    karat realize explain model.npz trees.conllu -o lattice.svg
    karat realize explain model.npz trees.conllu --unpruned -o figure-3.svg
    """
    from karat.realize import explain_tree, open_realizer, read_trees

    check_output(output, (model, trees))
    with Bar() as progress:
        opened, given = open_realizer(model), read_trees(trees, inputs)
        found = explain_tree(opened, given, tree - 1, n_best, unpruned=unpruned, progress=progress)
    show(found.document(options.command_line()), format, output)
