"""`karat nuggets describe`: what is in a set, and what is wrong with it."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.show import check_output, show
from karat.errors import InputError
from karat.nuggets.cli import options as nuggets_options
from karat.progress import Bar


@click.command(name="describe", cls=Command)
@nuggets_options.nugget_set
@nuggets_options.places
@options.output
def command(name: str, given: dict[str, Any], format: str, output: str | None) -> None:
    """Describe a set and list its problems.

    Shows the numbers of questions, nuggets, runs and responses, and how many systems found each
    nugget. SET is a key or a whole set in any format, or the name of a known set. A set with
    problems cannot be used: the exit code is then 2.

    \b
    karat nuggets describe demo-nuggets
    karat nuggets describe key.txt --run my.run --judgements judged.txt
    """
    from karat.nuggets.results.contents import describe_nuggets

    check_output(output, (name, *given["runs"], *given["judgements"]))
    with Bar() as progress:
        found = describe_nuggets(name, **given, progress=progress)
    show(found.document(options.command_line()), format, output)
    if count := found.problem_count:
        problems = f"{count:,} problem{'s' * (count > 1)}"
        raise InputError(f"{name} cannot be used: {problems}, see the report")
