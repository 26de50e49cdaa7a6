"""`karat realize`: the group of its commands, loaded when called."""

from __future__ import annotations

from karat.cli.command import command_group

COMMANDS: dict[str, tuple[str, str]] = {
    "train": ("karat.realize.cli.commands:train", "Train a realiser on a treebank."),
    "generate": ("karat.realize.cli.commands:generate", "Generate a sentence for every tree."),
    "evaluate": (
        "karat.realize.cli.commands:evaluate",
        "Compare the realisers of a model on a treebank.",
    ),
    "explain": ("karat.realize.cli.commands:explain", "Explain how a tree is ordered."),
    "grammar": ("karat.realize.cli.commands:grammar", "List supertags and draw elementary trees."),
    "demo": ("karat.realize.cli.commands:demo", "Train and explain on a bundled treebank."),
}
"""Name -> its function, and the line that `karat realize --help` shows."""

command = command_group(
    "realize",
    COMMANDS,
    """Turn unordered dependency trees into sentences.

    A tree has words in any order, lemmas to inflect (--inputs lemmas), or content
    words to complete with function words and punctuation (--complete).

    \b
    karat realize train treebank.conllu -o model.npz
    karat realize generate trees.conllu --model model.npz
    karat realize train treebank.conllu -o lemmas.npz --inputs lemmas
    karat realize generate trees.txt --model lemmas.npz --inputs lemmas
    """,
)
