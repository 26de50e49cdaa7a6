"""`karat nuggets draft`: a model proposes an answer key."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.parameters import integer, option
from karat.llm.cli import ModelOptions, model_options, run_task, sample, seed


@click.command(name="draft", cls=Command)
@click.argument("name", metavar="FILE|SET", shell_complete=options.complete_set)
@option("--most", "Most nuggets of a question.", integer(1), 20)
@sample("question")
@model_options(
    "the key (.jsonl: JSON lines, .txt: TREC)", max_tokens=4096, with_judge_options=False
)
@seed
def command(name: str, asking: ModelOptions, **how: Any) -> None:
    """Let a language model draft an answer key from documents or references.

    FILE has JSON lines {"question": ID, "text": ..., "documents": [...]}. Of an evaluation SET, the
    segments are the questions and the references the documents. A nugget has 1 to 12 words and a
    quote that occurs in its document. Read and edit the key before you use it. The file with the
    ending .draft.jsonl beside it has the quotes, the prompt and the model.

    \b
    karat nuggets draft demo --endpoint demo -o key.jsonl
    karat nuggets draft questions.jsonl --endpoint URL --model M -o key.txt
    """
    from karat.cli.show import check_output
    from karat.nuggets.drafting import BESIDE, DraftTask, check_key_name, drafted_questions

    check_key_name(asking.output)
    asking.check([name])
    check_output(asking.output + BESIDE, [name])
    drafts = drafted_questions(name, how["sample"], how["seed"])
    run_task(DraftTask(*drafts, asking.prompt, how["most"], how["sample"], how["seed"]), asking)
