"""`karat lm`: the group of its commands, each loaded when it is called."""

from __future__ import annotations

from karat.cli.groups import command_group

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
