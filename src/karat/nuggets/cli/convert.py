"""`karat nuggets convert`: a set in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from karat.cli.command import Command
from karat.cli.old_names import note
from karat.cli.parameters import choice, option
from karat.nuggets.cli import options as nuggets_options
from karat.progress import Bar


@click.command(name="convert", cls=Command)
@nuggets_options.nugget_set
@click.argument("target", type=click.Path())
@option(
    "-f --format format",
    "Format of TARGET. jsonl keeps everything. jsonl and rag are files; trec and units, folders.",
    choice("jsonl", "rag", "trec", "units"),
    "jsonl",
)
@nuggets_options.places
def command(name: str, target: str, given: dict[str, Any], format: str) -> None:
    """Convert a set, or a key with its runs and judgements, to another format.

    Nothing is overwritten: TARGET must not exist yet.

    \b
    karat nuggets convert demo-nuggets my-nuggets --format trec
    karat nuggets convert key.txt all.jsonl --run my.run --judgements judged.txt
    """
    from karat.evalset.saving import check_free
    from karat.nuggets.formats.loading import load_nuggets, save_nuggets

    check_free(Path(target))
    with Bar() as progress:
        found = load_nuggets(name, **given, progress=progress)
        save_nuggets(found, target, format)
    click.echo(f"{target}: {found!r}")
    if format != "jsonl" and (labels := sum(map(len, found.judgements.of_models.values()))):
        note(f"{target} lacks {labels:,} labels of models, which only jsonl keeps")
