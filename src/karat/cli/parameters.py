"""Options in one line each: their names, their help, their kind and their default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from karat.registry import registry_of

F = TypeVar("F", bound=Callable[..., Any])

path = click.Path()
whole = click.IntRange
"""The kind of whole numbers between two limits: `whole(min, max)`."""


class Listing(click.Option):
    """An option that names things of a registry: `{names}` in its help stands for all of them."""

    def __init__(self, *args: Any, registry: str, **more: Any) -> None:
        self._registry = registry
        super().__init__(*args, **more)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the line of the help, with names of installed packages, too."""
        *names, last = registry_of(self._registry)
        spelled, told = super().get_help_record(ctx) or ("", "")
        return spelled, told.replace("{names}", f"{', '.join(names)} or {last}")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin so."""
        found = registry_of(self._registry)
        return [CompletionItem(name) for name in found if name.startswith(incomplete)]


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
