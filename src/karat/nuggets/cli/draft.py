"""`karat nuggets draft`: a model proposes an answer key."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.inputs import SetInput
from karat.cli.parameters import integer, option
from karat.llm.cli import ModelOptions, model_options, run_task, sample, seed
from karat.progress import Bar


@click.command(name="draft", cls=Command)
@click.argument("name", metavar="FILE|SET", shell_complete=options.complete_set)
@option("--most", "Most nuggets of a question.", integer(1), 20)
@sample("question")
@model_options(
    "the key (.jsonl: JSON lines, .txt: TREC)", max_tokens=4096, with_judge_options=False
)
@options.reader
@seed
def command(source: SetInput, asking: ModelOptions, **settings: Any) -> None:
    """Let a language model draft an answer key from documents or references.

    FILE has JSON lines {"question": ID, "text": ..., "documents": [...]}. Of a SET or table, the
    segments are the questions, and their contexts the documents, or their references where there
    are no contexts. A nugget has 1 to 12 words and a quote that occurs in its document. Read and
    edit the key before you use it. The file with the ending .draft.jsonl beside it has the quotes,
    the prompt and the model.

    \b
    karat nuggets draft demo --endpoint demo -o key.jsonl
    karat nuggets draft rag.jsonl --endpoint URL --model M -o key.jsonl
    karat nuggets draft questions.jsonl --endpoint URL --model M -o key.txt
    """
    from karat.cli.show import check_output
    from karat.nuggets.drafting import (
        BESIDE,
        DraftTask,
        check_key_name,
        drafted_questions,
        has_documents,
    )

    check_key_name(asking.output)
    asking.check([source.name])
    check_output(asking.output + BESIDE, [source.name])
    most, number, seed_of_sample = (settings[key] for key in ("most", "sample", "seed"))
    with Bar() as progress:
        questions = source.name if has_documents(source.name) else source.load(progress)
    name, sampled_questions, remarks = drafted_questions(questions, number, seed_of_sample)
    task = DraftTask(
        *(name, sampled_questions, asking.prompt, most, number, seed_of_sample, remarks)
    )
    run_task(task, asking)
