"""Options that the commands of `karat lm` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def recipe_options(tok: str) -> Callable[[F], F]:
    """`--tok`, `--case` and `--stem`; None where nothing is said. `tok` is the default to show."""

    def add(function: F) -> F:
        function = click.option(
            "--stem", metavar="STEMMER", help="A stemmer such as english (default: none)."
        )(function)
        function = click.option(
            "--case", type=click.Choice(["mixed", "lower"]), help="Default: mixed."
        )(function)
        return click.option(
            "--tok", metavar="TOK", help=f"The tokeniser (see karat metrics; default: {tok})."
        )(function)

    return add
