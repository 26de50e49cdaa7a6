"""Options that the commands of `karat lm` share."""

from __future__ import annotations

from collections.abc import Callable

import click

from karat.cli.options import F


def recipe_options(tok: str) -> Callable[[F], F]:
    """Add `--tok`, `--case` and `--stem`; None where nothing is said. `tok` is what help shows."""
    stem = click.option(
        "--stem", metavar="STEMMER", help="A stemmer such as english (default: none)."
    )
    case = click.option("--case", type=click.Choice(["mixed", "lower"]), help="Default: mixed.")
    cut = click.option(
        "--tok", metavar="TOK", help=f"The tokeniser (see karat metrics; default: {tok})."
    )
    return lambda function: cut(case(stem(function)))
