"""Options that the commands of `karat realize` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def inputs(function: F) -> F:
    """`--inputs`: what is known of a node."""
    return click.option(
        "--inputs",
        type=click.Choice(["words", "all"]),
        default="words",
        show_default=True,
        help="What is given: words alone, or words with tags (UPOS) and relations.",
    )(function)
