"""`karat judge prompts`: the prompts that come with Karat."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.parameters import choice, option, path
from karat.cli.show import check_output, say, show

TASKS = ("ratings", "pairs", "nuggets", "draft")


@click.command(name="prompts", cls=Command)
@click.argument("task", required=False, type=choice(*TASKS), metavar="[TASK]")
@option("-o --output", "Write the prompt, or the list, to FILE (atomic).", path)
def command(task: str | None, output: str | None) -> None:
    """List the prompts, or print the prompt of TASK: ratings, pairs, nuggets or draft.

    To change a prompt, copy it with -o and name the copy with --prompt. A line [system] or [user]
    begins a message. Words in braces are placeholders. Signatures have the hash of the text.

    \b
    karat judge prompts
    karat judge prompts ratings
    karat judge prompts ratings -o mine.md
    """
    from karat.judge.bundled_prompts import bundled_prompts
    from karat.judge.prompt_list import list_prompts

    check_output(output)
    if task is None:
        show(list_prompts().document(options.command_line()), "text", output)
    else:
        say([bundled_prompts()[task].prompt.text], output)
