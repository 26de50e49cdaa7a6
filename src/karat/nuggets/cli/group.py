"""`karat nuggets`: the group of its commands, each loaded when it is called."""

from __future__ import annotations

from karat.cli.command import command_group

_COMMANDS = "karat.nuggets.cli.commands"
COMMANDS = {
    "score": (f"{_COMMANDS}:score", "Score runs by the nuggets in their answers."),
    "diff": (f"{_COMMANDS}:diff", "Show which nuggets a new version gained and lost."),
    "draft": ("karat.nuggets.cli.draft", "Let a language model draft an answer key."),
    "tune": (f"{_COMMANDS}:tune", "Cross-validate the settings of the classifier."),
    "evaluate": (f"{_COMMANDS}:evaluate", "Compare automatic scores with those of assessors."),
    "agree": (f"{_COMMANDS}:agree", "Compare other judgements with those of a set."),
    "describe": (f"{_COMMANDS}:describe", "Describe a set and list its problems."),
    "convert": (f"{_COMMANDS}:convert", "Convert a set to another format."),
}
"""Name -> module and attribute of the command, and its line in `karat nuggets --help`."""

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
