"""`karat realize`: the group of its commands, each loaded when it is called."""

from __future__ import annotations

from karat.cli.groups import command_group

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
