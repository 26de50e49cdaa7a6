"""`karat realize generate`: sentences for trees."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.command import Command
from karat.cli.parameters import flag
from karat.cli.show import check_output, say, show
from karat.realize.cli import group


@click.command(name="generate", cls=Command)
@group.model_and("trees")
@group.inputs
@group.n_best(default=1, help="Number of sentences for each tree, the best first.")
@flag("--punctuate punctuation", "Insert punctuation that the input does not have.")
@options.output
def command(model: str, trees: str, inputs: str, format: str, output: Any, **wanted: Any) -> None:
    """Generate a sentence for every tree.

    TREES is a CoNLL-U file. Word order is ignored. The output has one sentence per line; with
    --n-best above 1, or in another format than text, it is a table.

    \b
    karat realize generate trees.conllu --model model.npz
    karat realize generate trees.conllu --model model.npz --inputs all --n-best 5
    """
    from karat.realize import open_realizer, read_trees, realize_trees

    check_output(output, (model, trees))
    with Bar() as progress:
        opened, given = open_realizer(model), read_trees(trees, inputs)
        found = realize_trees(opened, given, progress=progress, **wanted)
    if format != "text" or wanted["n_best"] > 1:
        show(found.document(options.command_line()), format, output)
        return
    say((f"{row.sentence}\n" for row in found.rows), output)
    for note in found.notes:
        click.echo(f"karat: note: {note[0].lower()}{note[1:]}", err=True)
