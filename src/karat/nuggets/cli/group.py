"""`karat nuggets`: the group of its commands, each loaded when it is called."""

from __future__ import annotations

from karat.cli.command import command_group

COMMANDS = {
    "score": ("karat.nuggets.cli.score", "Score runs by the nuggets in their answers."),
    "diff": ("karat.nuggets.cli.diff", "Show which nuggets a new version gained and lost."),
    "draft": ("karat.nuggets.cli.draft", "Let a language model draft an answer key."),
    "tune": ("karat.nuggets.cli.tune", "Cross-validate the settings of the classifier."),
    "evaluate": ("karat.nuggets.cli.evaluate", "Compare automatic scores with those of assessors."),
    "agree": ("karat.nuggets.cli.agree", "Compare other judgements with those of a set."),
    "describe": ("karat.nuggets.cli.describe", "Describe a set and list its problems."),
    "convert": ("karat.nuggets.cli.convert", "Convert a set to another format."),
}
"""Name -> module (with a `command`) and the line that `karat nuggets --help` shows."""

command = command_group(
    "nuggets",
    COMMANDS,
    """Score answers by the nuggets of information they contain.

    \b
    karat nuggets describe demo-nuggets
    karat nuggets score my.run --key key.txt --judgements judged.txt
    karat nuggets convert demo-nuggets my-nuggets --format trec
    """,
)
