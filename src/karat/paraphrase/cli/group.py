"""`karat paraphrase`: the group of its commands, loaded when called, and options they share."""

from __future__ import annotations

from karat.cli.groups import command_group
from karat.cli.parameters import Gigabytes, choice, option, path

COMMANDS: dict[str, tuple[str, str]] = {
    "score": ("karat.paraphrase.cli.score", "Say how good paraphrases are, and why."),
    "explain": (
        "karat.paraphrase.cli.explain",
        "Show what one paraphrase shares with its original.",
    ),
    "generate": ("karat.paraphrase.cli.generate", "Paraphrase sentences."),
    "train": ("karat.paraphrase.cli.train", "Train a model on parallel text and judgements."),
    "evaluate": ("karat.paraphrase.cli.evaluate", "Set PEM beside the judges of a set."),
    "controls": ("karat.paraphrase.cli.controls", "Add the three controls to a judged set."),
    "table": ("karat.paraphrase.cli.table", "Make phrase tables, and convert them."),
    "align": ("karat.paraphrase.cli.align", "Align the words of a parallel text."),
}
"""Name -> module (with a `command`) and the line that `karat paraphrase --help` shows."""

command = command_group(
    "paraphrase",
    COMMANDS,
    """Score paraphrases, and make some.

    \b
    karat paraphrase score paraphrases.txt --originals originals.txt
    """,
)

originals = option("--originals", "The originals, line by line beside them.", path, required=True)
model = option(
    "--model",
    "A model of karat paraphrase train; bundled is a small one for trying out only.",
    default="bundled",
)
memory = option(
    "--memory",
    "Memory to use. Beyond it, the work is done in temporary files; the result is the same. "
    "Default: a quarter of the machine's.",
    Gigabytes(),
    metavar="GB",
)
form = option(
    "--form",
    "Features: the paper's three (paper), the same of single words (unigram), or more of them "
    "(rich). Default: those of the model.",
    choice("paper", "unigram", "rich"),
)
