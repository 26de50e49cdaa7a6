"""`karat paraphrase`: the group of its commands, loaded when called, and options they share."""

from __future__ import annotations

from collections.abc import Callable

from karat.cli.command import command_group
from karat.cli.parameters import ADVANCED, F, Gigabytes, choice, integer, option, path

COMMANDS: dict[str, tuple[str, str]] = {
    "score": ("karat.paraphrase.cli.score", "Score paraphrases by PEM."),
    "explain": (
        "karat.paraphrase.cli.explain",
        "Explain the scores of paraphrases.",
    ),
    "generate": ("karat.paraphrase.cli.generate", "Generate paraphrases of sentences."),
    "train": ("karat.paraphrase.cli.train", "Train a model on parallel text and judgements."),
    "evaluate": ("karat.paraphrase.cli.evaluate", "Compare PEM with the judges of a set."),
    "controls": ("karat.paraphrase.cli.controls", "Add three control systems to a judged set."),
    "table": ("karat.paraphrase.cli.table", "Build or convert a phrase table."),
    "align": ("karat.paraphrase.cli.align", "Align the words of a parallel text."),
}
"""Name -> module (with a `command`) and the line that `karat paraphrase --help` shows."""

command = command_group(
    "paraphrase",
    COMMANDS,
    """Score and generate paraphrases.

    \b
    karat paraphrase score paraphrases.txt --originals originals.txt
    karat paraphrase generate originals.txt
    """,
)

originals = option(
    "--originals", "File of originals, with the same number of lines.", path, required=True
)
model = option(
    "--model",
    "Model of `karat paraphrase train`. `bundled` is a small model for trying things out.",
    default="bundled",
    show_default=True,
    metavar="FILE",
)
memory = option(
    "--memory",
    "Memory to use. Beyond it, temporary files are used, with the same result. Default: a quarter "
    "of the memory of this machine.",
    Gigabytes(),
    metavar="GB",
    heading=ADVANCED,
)
form = option(
    "--form",
    "Features: the paper's three (paper), the same from single words (unigram), or more (rich). "
    "Default: those of the model.",
    choice("paper", "unigram", "rich"),
    heading=ADVANCED,
)
dimension = option(
    "-d --dimension",
    "Dimension of SET that is overall quality. Default: detected.",
    metavar="NAME",
)


def aligner(default: str) -> Callable[[F], F]:
    """Return `--aligner`; the help names its default."""
    return option(
        "--aligner",
        "Model of word alignment: an HMM with fertilities, or the HMM of the paper's aligner. "
        f"Default: {default}.",
        choice("fertility", "hmm"),
        heading=ADVANCED,
    )


def prefix(default: str) -> Callable[[F], F]:
    """Return `--prefix`; the help names its default."""
    return option(
        "--prefix",
        f"Learn links from the first N characters of words; 0 is whole words. Default: {default}.",
        integer(0),
        heading=ADVANCED,
    )


def agreement(default: str) -> Callable[[F], F]:
    """Return `--agreement`; the help names its default."""
    return option(
        "--agreement",
        "Combination of the link probabilities of both directions: the smaller one, the product or "
        f"its square root. Default: {default}.",
        choice("min", "root", "product"),
        heading=ADVANCED,
    )
