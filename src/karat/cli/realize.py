"""`karat realize`: the group of its commands, each loaded when it is called."""

from __future__ import annotations

from karat.cli.commands import command_group

COMMANDS: dict[str, tuple[str, str]] = {
    "train": ("karat.cli.realize_train", "Train a realiser on a treebank."),
    "generate": ("karat.cli.realize_generate", "Write a sentence for every tree."),
    "evaluate": ("karat.cli.realize_evaluate", "Compare the realisers of a model on a treebank."),
    "explain": ("karat.cli.realize_explain", "Show how a tree is ordered, and why."),
    "grammar": ("karat.cli.realize_grammar", "List supertags and draw elementary trees."),
    "demo": ("karat.cli.realize_demo", "Try it on a bundled treebank."),
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
