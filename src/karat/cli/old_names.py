"""Old names on the command line: they work for a release, with one note on standard error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from karat.cli.show import note

F = TypeVar("F", bound=Callable[..., Any])


def retired(names: str, instead: str, kind: Any = None, **more: Any) -> Callable[[F], F]:
    """Return the decorator that adds a hidden option of the last release; `instead` is the note."""

    def called(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value is not None:
            note(f"{param.opts[0]} is now {instead}")
        return value

    told = f"Old form of {instead}."
    return click.option(
        *names.split(), type=kind, help=told, hidden=True, callback=called, default=None, **more
    )


class _OldArgument(click.Argument):
    """An argument that usage does not show: other words go where an option is now."""

    hidden = True

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        return []


def old_argument(name: str, was: str, instead: str) -> Callable[[F], F]:
    """Return the decorator that adds further arguments, `was` in the last release: a tuple."""

    def called(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value and not ctx.resilient_parsing:
            note(f"{was} is now {instead}")
        return value

    return click.argument(name, nargs=-1, type=click.Path(), cls=_OldArgument, callback=called)
