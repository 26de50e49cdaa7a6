"""Options that the commands of `karat paraphrase` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def originals(function: F) -> F:
    """`--originals FILE`: what was paraphrased."""
    return click.option(
        "--originals",
        required=True,
        type=click.Path(),
        help="The originals, line by line beside them.",
    )(function)


def model(function: F) -> F:
    """`--model FILE`: who scores and generates."""
    return click.option(
        "--model",
        default="bundled",
        show_default=True,
        help="A model of karat paraphrase train; bundled is a small one for trying out only.",
    )(function)
