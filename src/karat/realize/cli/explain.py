"""`karat realize explain`: how a model orders one tree, and why."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.parameters import flag, option, whole
from karat.cli.show import check_output, show
from karat.progress import Bar
from karat.realize.cli import group


@click.command(name="explain", cls=Command)
@group.model_and("trees")
@option("-s --segment", "Number of the tree to explain, from 1.", whole(min=1), 1, old="--tree")
@group.every_input
@group.only_realizer
@group.n_best(default=5, help="Number of supertag assignments, paths and orders to show.")
@group.complete
@group.keep
@flag("--unpruned", "Also draw the unpruned lattice, without costs, if the tree is small.")
@options.output
def command(
    model: str,
    trees: str,
    segment: int,
    inputs: str,
    realizer: str | None,
    n_best: int,
    complete: str | None,
    keep: str | None,
    unpruned: bool,
    format: str,
    output: str | None,
) -> None:
    """Explain how the realisers of a model order one tree.

    For the paper's realiser, shows the best supertag assignments, the lattice and the best paths.
    For the ordering model, shows the predicted labels, the best orders, and the contribution of
    each group of features to every treelet. With --complete, shows what was inserted, its
    probability, what else was possible and what decided; from lemmas, the same for the form of
    each word.

    \b
    karat realize explain trees.conllu --model model.npz --segment 3
    karat realize explain trees.conllu --model model.npz -o tree.html
    karat realize explain t.conllu --model m --inputs all --complete punctuation
    karat realize explain trees.txt --model m.npz --inputs lemmas
    karat realize explain trees.conllu --model model.npz -o lattice.svg
    karat realize explain trees.conllu --model model.npz --unpruned -o tree.svg
    """
    from karat.realize import (
        explain_content_words,
        explain_tree,
        open_realizer,
        read_input,
        read_trees,
    )

    if keep and not complete:
        raise click.UsageError("--keep is for --complete: leave it out, or give both")
    if complete and unpruned:
        raise click.UsageError("--unpruned is for the supertags, which --complete does not use")
    if inputs == "relations" and not complete:
        raise click.UsageError("--inputs relations is for --complete: give both")
    check_output(output, (model, trees))
    with Bar() as progress:
        opened = open_realizer(model)
        place: tuple[int, int] = (segment - 1, n_best)
        if complete:
            given, classes = read_input(trees), group.names(complete)
            more: dict[str, Any] = {"inputs": inputs, "realizer": realizer, "progress": progress}
            more |= {"complete": classes, "keep": group.names(keep)}
            found = explain_content_words(opened, given, *place, **more)
        else:
            more = {"realizer": realizer, "unpruned": unpruned, "progress": progress}
            found = explain_tree(opened, read_trees(trees, inputs), *place, **more)
    show(found.document(options.command_line()), format, output)
