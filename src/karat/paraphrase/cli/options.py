"""Options that the commands of `karat paraphrase` share."""

from __future__ import annotations

import click

originals = click.option(
    "--originals", required=True, type=click.Path(), help="The originals, line by line beside them."
)
model = click.option(
    "--model",
    default="bundled",
    show_default=True,
    help="A model of karat paraphrase train; bundled is a small one for trying out only.",
)
