"""`karat nuggets diff`: which nuggets a new version of a system gained and lost."""

from __future__ import annotations

import click

from karat.cli import nuggets_options, options
from karat.cli.bar import Bar
from karat.cli.nuggets_score import open_runs
from karat.cli.show import check_output, show
from karat.errors import InputError


@click.command(name="diff")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@nuggets_options.key
@nuggets_options.judgements
@nuggets_options.scoring
@click.option("--all", "everything", is_flag=True, help="Also list nuggets kept and missed.")
@nuggets_options.skip_unknown
@options.output
def command(
    old: str,
    new: str,
    key: str,
    judgements: tuple[str, ...],
    beta: float,
    weights: str,
    strict: bool,
    everything: bool,
    skip_unknown: bool,
    format: str,
    output: str | None,
) -> None:
    """Show which nuggets a new version of a system gained and lost.

    OLD and NEW are files of responses in any format, or tags of runs that come with KEY.

    \b
    karat nuggets diff old.run new.run --key key.txt --judgements judged.txt
    karat nuggets diff heron kestrel --key demo-nuggets
    """
    from karat.nuggets.changes import changes
    from karat.nuggets.decisions import decide_run
    from karat.nuggets.official import Official
    from karat.report.nugget_changes import changes_document

    check_output(output, (old, new, key, *judgements))
    how = Official(beta, weights, strict)
    with Bar() as progress:
        found = open_runs((old, new), key, judgements, skip_unknown, progress)
        if len(found.runs) != 2:
            raise InputError(f"{old} and {new} hold one run: two are needed to compare")
        before, after = (
            (run, decide_run(run, found.key, found.judgements, None, progress))
            for run in found.runs.values()
        )
        result = changes(found.key, how, before, after)
    show(changes_document(result, how, everything, options.command_line()), format, output)
