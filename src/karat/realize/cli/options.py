"""Options that the commands of `karat realize` share."""

from __future__ import annotations

from functools import partial

import click

model = click.argument("model", metavar="MODEL", type=click.Path())
trees = click.argument("trees", metavar="TREES", type=click.Path())
inputs = click.option(
    "--inputs",
    type=click.Choice(["words", "all"]),
    default="words",
    show_default=True,
    help="What is given: words alone, or words with tags (UPOS) and relations.",
)
n_best = partial(click.option, "--n-best", type=click.IntRange(min=1, max=1000), show_default=True)
