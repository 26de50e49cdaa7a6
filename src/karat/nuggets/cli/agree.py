"""`karat nuggets agree`: agreement of two sets of judgements, and the change of scores."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.command import Command
from karat.cli.show import check_output, show
from karat.nuggets.cli import options as nuggets_options
from karat.progress import Bar


@click.command(name="agree", cls=Command)
@nuggets_options.nugget_set
@click.argument("others", metavar="JUDGEMENTS…", nargs=-1, required=True)
@nuggets_options.places
@options.output
@nuggets_options.beta
@nuggets_options.strict
@nuggets_options.corrected(False)
def command(
    name: str,
    others: tuple[str, ...],
    given: Any,
    beta: float,
    strict: bool,
    corrected: bool,
    format: str,
    output: str | None,
) -> None:
    """Compare other judgements with those of a set.

    JUDGEMENTS are files in any format, for the same runs. The official judgements are those of SET
    or of --judgements. Shows precision, recall and F with intervals over questions, and how the
    scores of runs change.

    \b
    karat nuggets agree demo-nuggets mine.jsonl
    karat nuggets agree key.txt mine.txt --run my.run --judgements official.txt
    """
    from karat.nuggets.formats.loading import load_nuggets
    from karat.nuggets.results.judgement_agreement import agree_nuggets

    check_output(output, (name, *others, *given["runs"], *given["judgements"]))
    with Bar() as progress:
        found = load_nuggets(name, **given, progress=progress)
        theirs = load_nuggets(name, **{**given, "judgements": others}, progress=progress)
        done = agree_nuggets(found, theirs, beta, corrected=corrected, strict=strict)
    show(done.document(options.command_line()), format, output)
