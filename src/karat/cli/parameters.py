"""Options in one line each: their names, their help, their kind and their default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

path = click.Path()


def whole(min: int | None = None, max: int | None = None) -> click.IntRange:
    """Return the kind of whole numbers between two limits."""
    return click.IntRange(min, max)


def choice(*names: str) -> click.Choice[str]:
    """Return the kind of one of some names."""
    return click.Choice(names)


def option(
    names: str, help: str, kind: Any = None, default: Any = ..., **more: Any
) -> Callable[[F], F]:
    """Return the decorator that adds an option such as `-m --metric metrics`; shows its default."""
    if default is not ...:  # None is a default, too: that of a switch nobody touched
        more = {"default": default, "show_default": default is not None, **more}
    return click.option(*names.split(), type=kind, help=help, **more)


def flag(names: str, help: str, **more: Any) -> Callable[[F], F]:
    """Return the decorator that adds an option that is given or not."""
    return click.option(*names.split(), is_flag=True, help=help, **more)
