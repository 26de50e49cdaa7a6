"""The apps: what each of them declares to the core, by name; nothing is loaded here.

The core knows no app. A name that an app declares is found as the core's own are.
"""

from __future__ import annotations

from karat.registry import declare

declare(
    "commands",
    {
        "nuggets": ("karat.nuggets.cli.group", "Score answers by the nuggets they carry."),
        "lm": ("karat.lm.cli.group", "Train n-gram language models and score text with them."),
        "paraphrase": ("karat.paraphrase.cli.group", "Score paraphrases, and make some."),
        "realize": ("karat.realize.cli.group", "Turn unordered dependency trees into sentences."),
    },
)
declare("metrics", {"pivot_f1": "karat.paraphrase.pem.metric:PivotF1"})
