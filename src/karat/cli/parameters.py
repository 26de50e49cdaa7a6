"""Options in one line each: their names, their help, their kind, default and heading."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import partial, reduce, wraps
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from karat.headings import COMMON
from karat.registry import load, registry_of

F = TypeVar("F", bound=Callable[..., Any])
CommandFunction = Callable[..., Any]

path = click.Path()
path.name = "file"  # which help shows as FILE


class integer(click.IntRange):  # noqa: N801 - a kind of values, as `path` is
    """Whole numbers between two limits: `integer(min, max)`."""

    name = "n"


class share(click.FloatRange):  # noqa: N801
    """Numbers from 0 to 1."""

    name = "x"

    def __init__(self) -> None:
        super().__init__(0, 1)


_DETAILS = re.compile(r"  \[([^][]*)\]$")


class Option(click.Option):
    """An option under a heading of the help.

    Its values may be names of a `registry`; `{names}` in the help text lists them.
    """

    def __init__(self, *args: Any, heading: str = COMMON, registry: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.heading, self.registry = heading, registry

    def names(self) -> list[str]:
        """Return all names of the registry, including those of installed plug-ins."""
        return list(registry_of(self.registry))

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the two columns of the help, without click's notation for limits, `x>=0`."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        spelling, text = record
        if details := _DETAILS.search(text):
            items = [item for item in details[1].split("; ") if not re.search(r"x[<>]|<=?x", item)]
            text = text[: details.start()] + (f"  [{'; '.join(items)}]" if items else "")
        if "{names}" in text:
            *names, last = self.names()
            text = text.replace("{names}", f"{', '.join(names)} or {last}" if names else last)
        return spelling, text

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin with the incomplete word."""
        if not self.registry:
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(name) for name in self.names() if name.startswith(incomplete)]


def choice(*names: str) -> click.Choice[str]:
    """Return the type of an option with these values."""
    return click.Choice(names)


MAX_RANGE = 10_000
"""Most numbers in one range such as 1-25."""


class WholeNumbers(click.ParamType):  # type: ignore[type-arg]  # no generic in click 8.1
    """Whole numbers from 1 with commas between them, such as 1,2,5 or 1-25; a tuple."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        numbers: list[int] = []
        for part in str(value).split(","):
            low, dash, high = (text.strip() for text in part.partition("-"))
            ends = [low, high] if dash else [low]
            if not all(end.isdecimal() and end.isascii() and len(end) < 10 for end in ends):
                self.fail(
                    f"found {part!r}, expected whole numbers such as 1,2,5 or 1-25", param, ctx
                )
            first, last = int(ends[0]), int(ends[-1])
            if not 1 <= first <= last < first + MAX_RANGE:
                rising = f"numbers from 1, a range in rising order of at most {MAX_RANGE:,}"
                self.fail(f"found {part!r}, expected {rising}", param, ctx)
            numbers += range(first, last + 1)
        return tuple(numbers)


class Gigabytes(click.ParamType):  # type: ignore[type-arg]  # no generic in click 8.1
    """A number of gigabytes above 0; the value is in bytes."""

    name = "GB"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            gigabytes = float(value)
        except ValueError:
            gigabytes = math.nan
        if not 0 < gigabytes <= MAX_GIGABYTES:
            self.fail(f"{value} is not a number of gigabytes, such as 0.5 or 16.", param, ctx)
        return int(gigabytes * 2**30)


MAX_GIGABYTES = 1 << 30


class Numbers(click.ParamType):  # type: ignore[type-arg]  # no generic in click 8.1
    """Numbers with commas between them, such as 2,1,0.5; a tuple."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(float(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"found {value!r}, expected numbers such as 2,1,0.5", param, ctx)


def option(
    names: str, help: str, kind: Any = None, default: Any = ..., **more: Any
) -> Callable[[F], F]:
    """Return the decorator that adds an option such as `-m --metric metrics`; shows its default.

    `heading` is where the help shows it.
    """
    if default is not ...:  # None is a default, too: the option was not given
        more = {"default": default, "show_default": default is not None, **more}
    return click.option(*names.split(), type=kind, help=help, **{"cls": Option, **more})


def not_empty(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Reject an empty value, which is usually an unset shell variable."""
    if value == "" or (isinstance(value, tuple) and "" in value):
        option = next(name for name in param.opts if name.startswith("--"))
        kind = param.metavar or param.type.name.upper()
        instead = "" if param.required else ", or leave out the option"
        raise click.UsageError(f"{option} is empty: give a {kind}{instead}")
    return value


named = partial(option, callback=not_empty)
"""Like `option`, for names, which must not be empty."""


def flag(names: str, help: str, **more: Any) -> Callable[[F], F]:
    """Return the decorator that adds an option without a value."""
    return click.option(*names.split(), is_flag=True, help=help, cls=Option, **more)


def combine(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return the decorator that adds several options, in this order."""
    return lambda function: reduce(lambda call, add: add(call), reversed(options), function)


def bundle(
    name: str, *options: Any, make: CommandFunction | str = dict, arguments: Sequence[str] = ()
) -> Callable[[CommandFunction], CommandFunction]:
    """Return the decorator that adds options whose values a command receives together, as `name`.

    Args:
        name: name of the command's parameter.
        options: decorators that add the options.
        make: function from the values of the options to the value of the parameter; or
            `module:function`, which is loaded when the command is called.
        arguments: names of the command's arguments that are also passed to `make`.
    """

    def add(function: CommandFunction) -> CommandFunction:
        @wraps(function)
        def call(**values: Any) -> Any:
            bundled = {key: values.pop(key) for key in (*arguments, *(p.name for p in added))}
            return function(**values, **{name: load(make)(**bundled)})

        n_before = len(getattr(call, "__click_params__", ()))
        call = combine(*options)(call)
        added = call.__click_params__[n_before:][::-1]  # type: ignore[attr-defined]
        return call

    return add
