"""`karat studio import`: a store from its log."""

from __future__ import annotations

import click

from karat.cli.command import Command
from karat.cli.show import say
from karat.errors import visible


@click.command(name="import", cls=Command)
@click.argument("source", metavar="LOG", type=click.Path())
@click.argument("store", metavar="STORE", type=click.Path())
def command(source: str, store: str) -> None:
    """Make a store from its log, or from a folder that `karat studio export` wrote.

    `karat studio STORE` opens it and prints a new link for each assessor: earlier links do not
    work with the new store. STORE must not exist yet.

    \b
    karat studio import judged copy.studio.sqlite
    """
    from karat.studio.export.restoring import restore

    restore(source, store)
    opens = f"`karat studio {visible(store)}` opens it, with new links"
    say([f"{visible(store)}: made from {visible(source)}. {opens}.\n"], None)
