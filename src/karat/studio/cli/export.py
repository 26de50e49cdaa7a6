"""`karat studio export`: a store as files."""

from __future__ import annotations

import click

from karat.cli.command import Command
from karat.cli.parameters import choice, flag, option
from karat.cli.show import say
from karat.errors import visible

FORMATS = (
    *("all", "log", "csv", "labels", "ties", "set", "mqm", "appraise", "pairs", "wins"),
    *("nuggets", "key", "trec"),
)


@click.command(name="export", cls=Command)
@click.argument("store", metavar="STORE", type=click.Path())
@click.argument("target", metavar="TARGET", type=click.Path())
@option(
    "-f --format format",
    f"Format of TARGET: {', '.join(FORMATS)}. `all` is a folder with every format of the "
    "project's tasks.",
    choice(*FORMATS),
    "all",
    metavar="FORMAT",
)
@flag("--anonymous", "Write pseudonyms instead of the names of assessors.")
@flag(
    "--spreadsheet-safe",
    "In csv, put an apostrophe before text that a spreadsheet would take for a formula.",
)
def command(store: str, target: str, format: str, anonymous: bool, spreadsheet_safe: bool) -> None:
    """Export the judgements of a store, even while it is in use.

    log has every row ever written, with times, undone and replaced answers; `karat studio import`
    makes a store of it. labels has one label for each thing that was judged: the adjudicated one,
    else that of the majority (the mean of ratings). Ties are named, and listed in ties. set is an
    evaluation set for karat meta and karat estimate; nuggets, key and trec are for karat nuggets.
    Exports name the systems. Nothing is overwritten: TARGET must not exist yet.

    \b
    karat studio export my.studio.sqlite judged
    karat studio export my.studio.sqlite my-set --format set --anonymous
    """
    from karat.studio.export.files import export_studio

    written = export_studio(store, target, format, anonymous, spreadsheet_safe)
    say([f"{visible(target)}: {', '.join(written)}\n"], None)
