"""`karat paraphrase`: the group of its commands, loaded when called."""

from __future__ import annotations

from karat.cli.command import command_group

_SCORING, _TRAINING = "karat.paraphrase.cli.scoring", "karat.paraphrase.cli.training"
COMMANDS: dict[str, tuple[str, str]] = {
    "score": (f"{_SCORING}:score", "Score paraphrases by PEM."),
    "explain": (f"{_SCORING}:explain", "Explain the scores of paraphrases."),
    "generate": (f"{_SCORING}:generate", "Generate paraphrases of sentences."),
    "train": (f"{_TRAINING}:train", "Train a model on parallel text and judgements."),
    "evaluate": (f"{_SCORING}:evaluate", "Compare PEM with the judges of a set."),
    "controls": (f"{_TRAINING}:controls", "Add three control systems to a judged set."),
    "table": (f"{_TRAINING}:table", "Build or convert a phrase table."),
    "align": (f"{_TRAINING}:align", "Align the words of a parallel text."),
}
"""Name -> its function, and the line that `karat paraphrase --help` shows."""

command = command_group(
    "paraphrase",
    COMMANDS,
    """Score and generate paraphrases.

    \b
    karat paraphrase score paraphrases.txt --originals originals.txt
    karat paraphrase generate originals.txt
    """,
)
