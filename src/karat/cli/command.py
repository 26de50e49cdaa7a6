"""Commands: help that fits a screen, all of it with `--help-all`, and old names of options.

Help shows the common options first, the others under headings, examples at the end. Where that
takes more lines than a screen has, `--help` shows the common options alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import click

from karat.cli.old_names import renewed
from karat.cli.parameters import COMMON, HEADINGS, Option

MOST_LINES = 45
"""Lines of help that fit a screen, WIDTH columns wide."""
WIDTH = 100
_FEW = 8
"""Options that need no headings."""
_ALL = "karat.help-all"
"""The key under which a context keeps that all options are to be shown."""
_VERBATIM = "\b\n"
"""Click's mark of lines that are not wrapped: the examples of a command."""


class Helpful(click.Command):
    """A command or a group whose help ends with the examples of its docstring.

    An option that takes a single value must not be repeated.
    """

    def make_parser(self, ctx: click.Context) -> Any:
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            values, rest, params = parse(args)
            if not ctx.resilient_parsing:
                _refuse_repeated(params)
            return values, rest, params

        parser.parse_args = parse_once  # type: ignore[method-assign]
        return parser

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        text = inspect.cleandoc(self.help or "").partition(_VERBATIM)[0].rstrip()
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if lines := self.examples():
            with formatter.section("Examples"):
                for line in lines:
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")

    def examples(self) -> list[str]:
        """Return the lines of the docstring that show how the command is called."""
        lines = inspect.cleandoc(self.help or "").partition(_VERBATIM)[2].splitlines()
        return [line.strip() for line in lines if line.strip()]


class Command(Helpful):
    """A command with options under headings."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options = [param for param in self.params if isinstance(param, Option)]
        names = {old: param.spelling for param in options for old in param.old}
        return super().parse_args(ctx, renewed(args, names, ctx.resilient_parsing))

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *params, help = super().get_params(ctx)
        return [*params, _HELP_ALL, help]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        whole = self.shows_all(ctx)
        left = []
        for heading, records in self.sections(ctx).items():
            if whole or heading == COMMON:
                with formatter.section(heading):
                    formatter.write_dl(records)
            else:
                left.append(heading)
        if not whole:
            formatter.write_paragraph()
            more = f"{ctx.command_path} --help-all"
            formatter.write_text(f"Run `{more}` for more options: {_listed(left)}.")

    def sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the help of all options by heading; few options have none."""
        found: dict[str, list[tuple[str, str]]] = {COMMON: []}
        few = sum(1 for _ in _records(self.params, ctx)) <= _FEW
        for param, record in _records(self.get_params(ctx), ctx):
            heading = COMMON if few else getattr(param, "heading", COMMON)
            if param is not _HELP_ALL:
                found.setdefault(heading, []).append(record)
        return {heading: found[heading] for heading in HEADINGS if heading in found}

    def shows_all(self, ctx: click.Context) -> bool:
        """Return whether all options are shown: if they fit, or if they were asked for."""
        if ctx.meta.get(_ALL):
            return True
        ctx.meta[_ALL] = True
        measured = click.HelpFormatter(width=WIDTH - 2)  # Click leaves two columns free
        self.format_help(ctx, measured)
        del ctx.meta[_ALL]
        return len(measured.getvalue().splitlines()) <= MOST_LINES


class Group(Helpful, click.Group):
    """A group of such commands."""

    command_class = Command


def _refuse_repeated(params: Sequence[click.Parameter]) -> None:
    """Refuse an option that was given twice where click would use only the last value.

    `params` are the parameters in the order in which they were typed.
    """
    for place, param in enumerate(params):
        if not isinstance(param, click.Option) or param.multiple or param.count:
            continue
        if param.is_flag and not param.secondary_opts:  # giving a flag twice changes nothing
            continue
        if param in params[:place]:
            name = param.opts[-1]
            raise click.UsageError(f"{name} is given twice, but takes one value: leave one out")


def _records(
    params: list[click.Parameter], ctx: click.Context
) -> Iterator[tuple[click.Option, tuple[str, str]]]:
    """Yield the options that help shows, each with its two columns."""
    for param in params:
        record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
        if isinstance(param, click.Option) and record is not None:
            yield param, record


def _listed(headings: list[str]) -> str:
    """Return headings within a sentence."""
    words = [heading[0].lower() + heading[1:] for heading in headings]
    return ", ".join(words)


def _show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show all options and exit.",
)
