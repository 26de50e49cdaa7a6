"""`karat realize`: the group of its commands, loaded when called, and options they share."""

from __future__ import annotations

from functools import partial

import click

from karat.cli.groups import command_group
from karat.cli.parameters import choice, option

COMMANDS: dict[str, tuple[str, str]] = {
    "train": ("karat.realize.cli.train", "Train a realiser on a treebank."),
    "generate": ("karat.realize.cli.generate", "Write a sentence for every tree."),
    "evaluate": ("karat.realize.cli.evaluate", "Compare the realisers of a model on a treebank."),
    "explain": ("karat.realize.cli.explain", "Show how a tree is ordered, and why."),
    "grammar": ("karat.realize.cli.grammar", "List supertags and draw elementary trees."),
    "demo": ("karat.realize.cli.demo", "Try it on a bundled treebank."),
}
"""Name -> module (with a `command`) and the line that `karat realize --help` shows."""

command = command_group(
    "realize",
    COMMANDS,
    """Turn unordered dependency trees into sentences.

    \b
    karat realize train treebank.conllu -o model.npz
    karat realize generate model.npz trees.conllu
    """,
)

model = click.argument("model", metavar="MODEL", type=click.Path())
trees = click.argument("trees", metavar="TREES", type=click.Path())
inputs = option(
    "--inputs",
    "What is given: words alone, or words with tags (UPOS) and relations.",
    choice("words", "all"),
    "words",
)
n_best = partial(click.option, "--n-best", type=click.IntRange(min=1, max=1000), show_default=True)
