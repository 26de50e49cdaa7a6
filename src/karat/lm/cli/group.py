"""`karat lm`: the group of its commands, loaded when called, and options they share."""

from __future__ import annotations

from collections.abc import Callable

from karat.cli.groups import command_group
from karat.cli.options import F
from karat.cli.parameters import choice, option

COMMANDS: dict[str, tuple[str, str]] = {
    "train": ("karat.lm.cli.train", "Train a model on text."),
    "score": ("karat.lm.cli.score", "Perplexity of text, or log10 Pr of sentences and words."),
}
"""Name -> module (with a `command`) and the line that `karat lm --help` shows."""

command = command_group(
    "lm",
    COMMANDS,
    """Train n-gram language models and score text with them.

    \b
    karat lm train text.txt -o model.lm
    karat lm score other.txt --model model.lm
    """,
)


def recipe_options(tok: str) -> Callable[[F], F]:
    """Add `--tok`, `--case` and `--stem`; None where nothing is said. `tok` is what help shows."""
    stem = option("--stem", "A stemmer such as english (default: none).", metavar="STEMMER")
    case = option("--case", "Default: mixed.", choice("mixed", "lower"))
    cut = option("--tok", f"The tokeniser (see karat metrics; default: {tok}).", metavar="TOK")
    return lambda function: cut(case(stem(function)))
