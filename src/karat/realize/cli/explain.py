"""`karat realize explain`: how a model orders one tree, and why."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.command import Command
from karat.cli.parameters import flag, option, whole
from karat.cli.show import check_output, show
from karat.realize.cli import group


@click.command(name="explain", cls=Command)
@group.model_and("trees")
@option("-s --segment", "Number of the tree to explain, from 1.", whole(min=1), 1, old="--tree")
@group.inputs
@group.n_best(default=5, help="Number of supertag assignments, paths and orders to show.")
@flag("--unpruned", "Also draw the unpruned lattice, without costs, if the tree is small.")
@options.output
def command(
    model: str,
    trees: str,
    segment: int,
    inputs: str,
    n_best: int,
    unpruned: bool,
    format: str,
    output: str | None,
) -> None:
    """Explain how the realisers of a model order one tree.

    For the paper's realiser, shows the best supertag assignments, the lattice and the best paths.
    For the ordering model, shows the predicted labels, the best orders, and the contribution of
    each group of features to every treelet.

    \b
    karat realize explain trees.conllu --model model.npz --segment 3
    karat realize explain trees.conllu --model model.npz -o tree.html
    karat realize explain trees.conllu --model model.npz -o lattice.svg
    karat realize explain trees.conllu --model model.npz --unpruned -o tree.svg
    """
    from karat.realize import explain_tree, open_realizer, read_trees

    check_output(output, (model, trees))
    with Bar() as progress:
        opened, given = open_realizer(model), read_trees(trees, inputs)
        found = explain_tree(
            opened, given, segment - 1, n_best, unpruned=unpruned, progress=progress
        )
    show(found.document(options.command_line()), format, output)
