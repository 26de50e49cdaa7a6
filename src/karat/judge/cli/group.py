"""`karat judge`: the group of its commands, each loaded when it is called."""

from __future__ import annotations

from karat.cli.groups import command_group

COMMANDS = {
    "ratings": ("karat.judge.cli.ratings", "Rate outputs on the scale of a dimension."),
    "pairs": ("karat.judge.cli.pairs", "Compare outputs of two systems, in both orders."),
    "nuggets": ("karat.judge.cli.nuggets", "Decide which responses contain which nuggets."),
    "prompts": ("karat.judge.cli.prompts", "List, print or copy the prompts."),
}
"""Name -> module (with a `command`) and the line that `karat judge --help` shows."""

command = command_group(
    "judge",
    COMMANDS,
    """Let a language model judge outputs, over any OpenAI-compatible endpoint.

    \b
    karat judge ratings demo -d fluency --endpoint demo -o log.jsonl
    karat judge pairs demo --baseline atlas --endpoint demo -o pairs.jsonl
    karat judge nuggets demo-nuggets --endpoint demo -o labels.jsonl
    """,
)
