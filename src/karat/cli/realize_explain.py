"""`karat realize explain`: what the three modules make of one tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from karat.cli import options, realize_options
from karat.cli.show import check_output, show
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.realize.fergus import Fergus
    from karat.realize.ordering import OrderingModel
    from karat.realize.trees import InputTrees
    from karat.report.realize_explain import Explained, Ordered


@click.command(name="explain")
@click.argument("model", metavar="MODEL", type=click.Path())
@click.argument("trees", metavar="TREES", type=click.Path())
@click.option("--tree", type=click.IntRange(min=1), default=1, show_default=True, help="Which.")
@realize_options.inputs
@click.option(
    "--n-best",
    type=click.IntRange(min=1, max=1000),
    default=5,
    show_default=True,
    help="Paths and supertaggings to show.",
)
@options.output
def command(
    model: str,
    trees: str,
    tree: int,
    inputs: str,
    n_best: int,
    format: str,
    output: str | None,
) -> None:
    """Show the supertags, the lattice and the best paths of one tree.

    If the model has an ordering model, which then generates, its order is shown too.

    \b
    karat realize explain model.npz trees.conllu --tree 3
    karat realize explain model.npz trees.conllu -o lattice.svg
    """
    from karat.realize.model import open_realizer
    from karat.realize.trees import read_trees
    from karat.report.realize_explain import explain_document

    check_output(output, (model, trees))
    opened = open_realizer(model)
    fergus = opened.the_fergus()
    given = read_trees(trees, inputs)
    if tree > len(given):
        raise InputError(f"{trees}: there is no tree {tree}; the last is tree {len(given):,}")
    found = explained(fergus, given, tree - 1, n_best)
    if inputs in opened.ordering:
        found = found._replace(ordered=ordered(opened.ordering[inputs], found.tree))
    show(explain_document(found, tree, options.command_line()), format, output)


def explained(fergus: Fergus, trees: InputTrees, tree: int, k: int) -> Explained:
    """One tree through the three modules."""
    from karat.realize.unraveler import unravel
    from karat.report.realize_explain import Explained

    one = trees.choose([tree])
    supertags = fergus.chooser.choose_best(trees, tree, k)
    lattice = unravel(fergus.chooser, one, supertags[0], fergus.weights.wider(k))
    orders = fergus.linearize(one, supertags[0], k)[0]
    parts = fergus.lm_parts(one, supertags[0], k).tolist()
    return Explained(fergus.chooser.grammar, one, supertags, lattice, orders, parts)


def ordered(model: OrderingModel, tree: InputTrees) -> Ordered:
    """What the ordering model chooses for the only tree, and why."""
    from karat.report.realize_explain import Ordered

    best = model.realize(tree, 1)[0][0]
    return Ordered(best, model.explain(tree, 0, best))
