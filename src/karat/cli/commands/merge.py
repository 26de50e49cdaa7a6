"""`karat merge`."""

from __future__ import annotations

from typing import Any

import click

from karat.cli import options
from karat.cli.bar import Bar
from karat.cli.parameters import choice, flag, option, whole
from karat.cli.show import check_output, show
from karat.errors import InputError
from karat.trials import MOST_TRIALS


@click.command(name="merge")
@click.argument("shards", nargs=-1, required=True, type=click.Path(), metavar="SHARDS...")
@option(
    "--bootstrap",
    "Add 95% intervals from N bootstrap resamples.",
    whole(0, MOST_TRIALS),
    0,
    show_default=False,
    metavar="N",
)
@flag("--compare", "Compare the systems with a baseline.")
@option("--baseline", "The system to compare with (default: the first by name).", metavar="NAME")
@option("--test", "The paired test.", choice("bootstrap", "randomization"), "bootstrap")
@option(
    "--trials",
    "Trials of the test (default: 1000 for bootstrap, 10000 for randomization).",
    whole(1, MOST_TRIALS),
)
@options.seed
@options.output
@options.signature
def command(
    shards: tuple[str, ...],
    compare: bool,
    bootstrap: int,
    format: str,
    output: str | None,
    **settings: Any,
) -> None:
    """Add up the shards of a table that was scored in parts, and show its scores.

    SHARDS are folders, or files in them, that karat score --shards wrote.

    \b
    karat score data.parquet --by system --id id --shards parts --shard 3/16
    karat merge parts
    karat merge parts --bootstrap 1000
    karat merge parts --compare --baseline A
    """
    from karat.arrow.shards import merge_shards, shard_files

    check_output(output, shard_files(shards))
    tested = {name: settings.pop(name) for name in ("baseline", "test", "trials")}
    if compare and bootstrap:
        raise InputError("--compare makes its own intervals: leave --bootstrap out")
    if not compare and tested["baseline"] is not None:
        raise InputError("--baseline is for comparisons: add --compare")
    with Bar() as progress:
        merged = merge_shards(shards)
        if compare:
            found: Any = merged.compare(**tested, **settings, progress=progress)
        else:
            found = merged.score(bootstrap, **settings, progress=progress)
    show(found.document(options.command_line()), format, output)
