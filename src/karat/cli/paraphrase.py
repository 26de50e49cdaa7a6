"""`karat paraphrase`: the group of its commands, each loaded when it is called."""

from __future__ import annotations

from karat.cli.commands import command_group

COMMANDS: dict[str, tuple[str, str]] = {
    "score": ("karat.cli.paraphrase_score", "Say how good paraphrases are, and why."),
    "explain": (
        "karat.cli.paraphrase_explain",
        "Show what one paraphrase shares with its original.",
    ),
    "generate": ("karat.cli.paraphrase_generate", "Paraphrase sentences."),
    "train": ("karat.cli.paraphrase_train", "Train a model on parallel text and judgements."),
    "evaluate": ("karat.cli.paraphrase_evaluate", "Set PEM beside the judges of a set."),
    "controls": ("karat.cli.paraphrase_controls", "Add the three controls to a judged set."),
    "table": ("karat.cli.paraphrase_table", "Convert phrase tables from and to Moses' text."),
    "align": ("karat.cli.paraphrase_align", "Align the words of a parallel text."),
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
