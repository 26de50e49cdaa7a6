"""`karat lm`: the group of its commands, loaded when called."""

from __future__ import annotations

from karat.cli.command import command_group

COMMANDS: dict[str, tuple[str, str]] = {
    "train": ("karat.lm.cli.commands:train", "Train a model on text."),
    "score": (
        "karat.lm.cli.commands:score",
        "Compute perplexity, or the probabilities of sentences and words.",
    ),
}
"""Name -> its function, and the line that `karat lm --help` shows."""

command = command_group(
    "lm",
    COMMANDS,
    """Train n-gram language models and score text with them.

    \b
    karat lm train text.txt -o model.lm
    karat lm score other.txt --model model.lm
    """,
)
