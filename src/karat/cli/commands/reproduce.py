"""`karat reproduce`: the main table or figure of a paper, beside the published numbers."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.command import Command
from karat.cli.parameters import flag, option, path
from karat.cli.show import check_beside, show


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from karat.reproduction.papers import REPRODUCTIONS

    return [name for name in REPRODUCTIONS if name.startswith(incomplete)]


@click.command(name="reproduce", cls=Command)
@click.argument("name", metavar="PAPER", shell_complete=_complete)
@option(
    "--data",
    "Folder of the data sets (default: the one that KARAT_DATA names); bundled for the small "
    "bundled data, which are also used where no folder is named.",
    path,
    metavar="FOLDER",
)
@flag("--full", "Also run what takes longer: all lengths (gtm), a second set (nuggeteer).")
@options.seed
@options.output
@options.threads
def command(name: str, format: str, output: str | None, **settings: Any) -> None:
    """Make the main table or figure of a paper again, and compare.

    PAPER is aev, gtm, fergus, pem or nuggeteer. The report says which conclusions of the paper hold
    on the data at hand, sets the published numbers beside ours, and lists what differs.

    \b
    karat reproduce aev --data bundled
    karat reproduce fergus -o fergus.html
    karat reproduce nuggeteer --data FOLDER --full
    """
    from karat.reproduction.papers import reproduce

    check_beside(output, settings["data"] or "")
    with Bar() as progress:
        found = reproduce(name, progress=progress, **settings)
    show(found.document(options.command_line()), format, output)
