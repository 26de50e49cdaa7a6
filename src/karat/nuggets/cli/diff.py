"""`karat nuggets diff`: which nuggets a new version of a system gained and lost."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.parameters import OUTPUT, flag
from karat.cli.show import check_output, show
from karat.nuggets.cli import options as nuggets_options
from karat.progress import Bar


@click.command(name="diff", cls=nuggets_options.WithClassifiers)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@nuggets_options.keyed
@nuggets_options.scoring
@options.output
@flag("--all everything", "Also list the nuggets that both or neither version has.", heading=OUTPUT)
def command(
    old: str, new: str, given: Any, how: Any, everything: bool, format: str, output: str | None
) -> None:
    """Show which nuggets a new version of a system gained and lost.

    OLD and NEW are files with the responses of one run, in any format, or tags of runs of KEY. Both
    files may use the same tag.

    \b
    karat nuggets diff old.run new.run --key key.txt --judgements judged.txt
    karat nuggets diff heron kestrel --key demo-nuggets
    """
    from karat.nuggets.formats.loading import open_runs
    from karat.nuggets.results.changes import diff_nuggets

    idf = nuggets_options.files_of(how["classifier"])
    check_output(output, (old, new, given["key"], *given["judgements"], *idf))
    with Bar() as progress:
        before = open_runs((old,), **given, progress=progress)
        after = open_runs((new,), **given, guess=how["guess"], progress=progress)
        how |= {"names": (old, new), "everything": everything}
        done = diff_nuggets(before, after, **how, progress=progress)
    show(done.document(options.command_line()), format, output)
