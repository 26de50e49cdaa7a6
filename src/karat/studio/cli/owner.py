"""`karat studio owner`: a new link for an owner who has lost it."""

from __future__ import annotations

import click

from karat.cli.command import Command
from karat.cli.parameters import named, option, whole
from karat.cli.show import say
from karat.errors import visible
from karat.studio.opening.asked import PORT


@click.command(name="owner", cls=Command)
@click.argument("store", metavar="STORE", type=click.Path())
@named("--name", "Name of the owner.", default="owner", metavar="NAME")
@option("--port", "Port of the studio in the printed link.", whole(min=1, max=65535), PORT)
def command(store: str, name: str, port: int) -> None:
    """Print a new owner's link of a studio.

    Use it if the owner's link is lost or the owner was withdrawn. It needs no link, only a store
    file that you may write to. The studio may be running. The earlier link of this owner and its
    sessions end. The audit trail records it.

    \b
    karat studio owner my-set.studio.sqlite
    """
    from karat.studio.opening.recovery import recover_link

    path = recover_link(store, name)
    say([f"{visible(name)} (owner): http://127.0.0.1:{port}{path}\n"], None)
