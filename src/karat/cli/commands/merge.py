"""`karat merge`."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.command import Command
from karat.cli.parameters import COMMON, flag, option
from karat.cli.show import check_output, show
from karat.errors import InputError


@click.command(name="merge", cls=Command)
@click.argument("shards", nargs=-1, required=True, type=click.Path(), metavar="SHARDS...")
@options.resampling(
    "Add 95% intervals from N bootstrap resamples; with --compare, also the resamples of the "
    "bootstrap test.",
    None,
    heading=COMMON,
    old="--bootstrap",
)
@flag("--compare", "Compare the systems with a baseline.")
@option(
    "--baseline",
    "System to compare the others with. Default: the first by name.",
    metavar="NAME",
)
@options.test
@options.trials
@options.seed
@options.output
@options.signature
def command(
    shards: tuple[str, ...],
    compare: bool,
    format: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Merge the shards of a table and show its scores.

    SHARDS are folders that `karat score --shards` wrote, or files in them.

    \b
    karat score data.parquet --by system --id id --shards parts --shard 3/16
    karat merge parts
    karat merge parts --resamples 1000
    karat merge parts --compare --baseline A
    """
    from karat.arrow.shards import merge_shards, shard_files

    check_output(output, shard_files(shards))
    settings = options.tested(settings)
    tested = {name: settings.pop(name) for name in ("baseline", "test", "trials", "resamples")}
    if not compare and tested["baseline"] is not None:
        raise InputError("--baseline needs --compare: add it")
    with Bar() as progress:
        merged = merge_shards(shards)
        if compare:
            found: Any = merged.compare(**tested, **settings, progress=progress)
        else:
            found = merged.score(tested["resamples"] or 0, **settings, progress=progress)
    show(found.document(options.command_line()), format, output)
