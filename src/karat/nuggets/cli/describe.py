"""`karat nuggets describe`: what is in a set, and what is wrong with it."""

from __future__ import annotations

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.show import check_output, show
from karat.errors import InputError
from karat.nuggets.cli import options as nuggets_options


@click.command(name="describe")
@click.argument("name", metavar="SET", shell_complete=nuggets_options.complete_nuggets)
@nuggets_options.places
@nuggets_options.judges
@options.output
def command(
    name: str,
    runs: tuple[str, ...],
    judgements: tuple[str, ...],
    skip_unknown: bool,
    judges: nuggets_options.JudgeOptions,
    format: str,
    output: str | None,
) -> None:
    """Say what is in a set and what is wrong with it.

    Counts of questions, nuggets, runs and responses, and how many systems found each nugget. SET is
    a key or a whole set, in any format, or the name of a known one. With any problem the set cannot
    be used and the exit code is 2.

    \b
    karat nuggets describe demo-nuggets
    karat nuggets describe key.txt --run my.run --judgements judged.txt
    """
    from karat.evalset.reading import Reading
    from karat.nuggets.formats.loading import LISTER, read_nuggets
    from karat.nuggets.report.scores import describe_document

    check_output(output, (name, *runs, *judgements))
    with Bar() as progress:
        reading = Reading(progress, LISTER)
        given = name, runs, judgements, reading, None, skip_unknown
        found = reading.attempt(lambda: read_nuggets(*given, **judges))
    show(describe_document(name, found, reading.all(), options.command_line()), format, output)
    if found is None:
        count = len(reading.problems) + reading.more
        problems = f"{count:,} problem{'s' * (count > 1)}"
        raise InputError(f"{name} cannot be used: {problems}, listed in the report")
