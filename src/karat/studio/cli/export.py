"""`karat studio export` and `karat studio import`: a store as files, and one from its log."""

from __future__ import annotations

import click

from karat.cli.command import Command
from karat.cli.parameters import choice, flag, option
from karat.cli.show import say
from karat.visible import visible

FORMATS = (
    *("all", "log", "csv", "labels", "ties", "set", "mqm", "appraise", "pairs", "wins"),
    *("nuggets", "trec"),
)


@click.command(name="export", cls=Command)
@click.argument("store", metavar="STORE", type=click.Path())
@click.argument("target", metavar="TARGET", type=click.Path())
@option(
    "-f --format format",
    "Format of TARGET. all is a folder with every format of the project's tasks.",
    choice(*FORMATS),
    "all",
)
@flag("--anonymous", "Write pseudonyms instead of the names of assessors.")
def command(store: str, target: str, format: str, anonymous: bool) -> None:
    """Export the judgements of a store, even while it is in use.

    log has every row ever written, with times, undone and replaced answers; `karat studio import`
    makes a store of it. labels has one label for each thing that was judged: the adjudicated one,
    else that of the majority (the mean of ratings). Ties are named, and listed in ties. set is an
    evaluation set for karat meta and karat estimate; nuggets and trec are for karat nuggets.
    Exports name the systems. Nothing is overwritten: TARGET must not exist yet.

    \b
    karat studio export my-set.studio.sqlite judged
    karat studio export my-set.studio.sqlite my-judged-set --format set --anonymous
    """
    from karat.studio.export.formats import export_store
    from karat.studio.store.store import Store

    with Store.reading(store) as opened:
        written = export_store(opened, target, format, anonymous)
    say([f"{visible(target)}: {', '.join(written)}\n"], None)


@click.command(name="import", cls=Command)
@click.argument("source", metavar="LOG", type=click.Path())
@click.argument("store", metavar="STORE", type=click.Path())
def import_command(source: str, store: str) -> None:
    """Make a store from its log, or from a folder that `karat studio export` wrote.

    Prints a new token for each assessor: earlier links do not work with the new store. STORE must
    not exist yet.

    \b
    karat studio import judged copy.studio.sqlite
    """
    from karat.studio.export.restoring import restore

    tokens = restore(source, store)
    lines = [f"{visible(name)}: token {token}\n" for name, token in tokens.items()]
    say([f"{visible(store)}: made from {visible(source)}\n", *lines], None)
