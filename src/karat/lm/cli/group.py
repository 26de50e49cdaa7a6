"""`karat lm`: the group of its commands, loaded when called, and options they share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from karat.cli.command import command_group
from karat.cli.options import F
from karat.cli.parameters import WORDS, choice, option

COMMANDS: dict[str, tuple[str, str]] = {
    "train": ("karat.lm.cli.train", "Train a model on text."),
    "score": (
        "karat.lm.cli.score",
        "Compute perplexity, or the probabilities of sentences and words.",
    ),
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
    """Add `--tok`, `--case` and `--stem`, by default None; help shows `tok` as the default."""
    add = partial(option, heading=WORDS)
    stem = add("--stem", "Stemmer, such as english. Default: none.", metavar="STEMMER")
    case = add("--case", "Keep case, or lower it. Default: mixed.", choice("mixed", "lower"))
    cut = add("--tok", f"Tokeniser (see `karat metrics`). Default: {tok}.", metavar="TOKENISER")
    return lambda function: cut(case(stem(function)))
