"""Options that the commands of `karat realize` share."""

from __future__ import annotations

from functools import partial

import click

from karat.cli.parameters import choice, option

model = click.argument("model", metavar="MODEL", type=click.Path())
trees = click.argument("trees", metavar="TREES", type=click.Path())
inputs = option(
    "--inputs",
    "What is given: words alone, or words with tags (UPOS) and relations.",
    choice("words", "all"),
    "words",
)
n_best = partial(click.option, "--n-best", type=click.IntRange(min=1, max=1000), show_default=True)
