"""Commands and groups: help that fits a screen, lazy loading, and messages for wrong usage."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import click
from click.shell_completion import CompletionItem

from karat.cli.parameters import COMMON, HEADINGS
from karat.errors import quoted

MAX_HELP_LINES = 45
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

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *params, help = super().get_params(ctx)
        return [*params, _HELP_ALL, help]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        shows_all = self.shows_all(ctx)
        hidden_headings = []
        for heading, records in self.sections(ctx).items():
            if shows_all or heading == COMMON:
                with formatter.section(heading):
                    formatter.write_dl(records)
            else:
                hidden_headings.append(heading)
        if not shows_all:
            formatter.write_paragraph()
            more = f"{ctx.command_path} --help-all"
            formatter.write_text(f"Run `{more}` for more options: {_listed(hidden_headings)}.")

    def sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the help of all options by heading; few options have none."""
        records_by_heading: dict[str, list[tuple[str, str]]] = {COMMON: []}
        is_short = sum(1 for _ in _records(self.params, ctx)) <= _FEW
        for param, record in _records(self.get_params(ctx), ctx):
            heading = COMMON if is_short else getattr(param, "heading", COMMON)
            if param is not _HELP_ALL:
                records_by_heading.setdefault(heading, []).append(record)
        return {
            heading: records_by_heading[heading]
            for heading in HEADINGS
            if heading in records_by_heading
        }

    def shows_all(self, ctx: click.Context) -> bool:
        """Return whether all options are shown: if they fit, or if they were asked for."""
        if ctx.meta.get(_ALL):
            return True
        ctx.meta[_ALL] = True
        formatter = click.HelpFormatter(width=WIDTH - 2)  # Click leaves two columns free
        self.format_help(ctx, formatter)
        del ctx.meta[_ALL]
        return len(formatter.getvalue().splitlines()) <= MAX_HELP_LINES


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


_SACREBLEU = {
    "-t": "the test set, has no counterpart: give its references as files with -r",
    "-l": "the language pair, is not needed: set the tokeniser of the metric, as in -m bleu:tok=zh",
    "-b": "the score alone, is --format tsv or --format json",
    "-i": "the candidate, is an argument: karat score out.txt -r ref.txt",
    "-tok": "the tokeniser, is a setting of the metric, as in -m bleu:tok=zh",
    "-lc": "lower case, is a setting of the metric, as in -m bleu:case=lower",
    "-w": "the number of decimals, is not needed: --format json has all of them",
    "-n": "the number of resamples, is --resamples N",
    "--metrics": "several metrics, is -m bleu -m chrf",
    "--confidence": "intervals, is --resamples 1000",
    "--paired-bs": "a paired test, is karat compare --test bootstrap",
    "--paired-ar": "a paired test, is karat compare --test randomization",
    "--sentence-level": "segment scores, is --segments",
}
"""Options of sacreBLEU that people type from habit."""

_SAME = {
    "--test-set": "-t",
    "--language-pair": "-l",
    "--score-only": "-b",
    "--input": "-i",
    "--tokenize": "-tok",
    "--lowercase": "-lc",
    "--width": "-w",
    "--confidence-n": "-n",
    "-sl": "--sentence-level",
}


def usage_sentence(
    error: click.ClickException, command: click.Command, typed: Sequence[str]
) -> str:
    """Return the sentence for a slip: click's words, and the right form."""
    if isinstance(error, click.NoSuchOption):
        return _unknown_option(error, command, typed)
    if isinstance(error, click.MissingParameter | click.BadOptionUsage):
        return error.format_message() + _example(error, command) + _standard_input(error)
    return error.format_message()


def _unknown_option(error: click.NoSuchOption, command: click.Command, typed: Sequence[str]) -> str:
    # `-tok` where click found the unknown letter `-t`
    habits = (word for word in typed if word in {**_SACREBLEU, **_SAME})
    name = next((word for word in habits if word.startswith(error.option_name)), error.option_name)
    option_names = [opt for param in command.params for opt in param.opts if opt.startswith("--")]
    similar = list(error.possibilities or [])
    if not similar and len(name) == 2:  # for `-b`, the long options that begin with b
        similar = [option for option in option_names if option.startswith(f"--{name[1]}")]
    text = f"No such option '{name}'."
    habit = _SACREBLEU.get(_SAME.get(name, name)) if "--reference" in option_names else None
    if similar and not (habit and len(name) > 2):  # a letter may be meant for either, a word is not
        text += f" Did you mean {' or '.join(sorted(similar))}?"
    if habit:
        text += f" sacreBLEU's {name}, {habit}."
    return text + ("" if similar or habit else _example(error, command))


def _example(error: click.UsageError, command: click.Command) -> str:
    """An example of the command's help; one with the option that is missing, if there is."""
    lines = re.findall(r"^ *(karat .*)$", command.help or "", re.M)
    param = getattr(error, "param", None)
    names = {*(param.opts if param else ()), getattr(error, "option_name", "")}
    fitting = [line for line in lines if names & {*line.split()}] or lines
    return f" For example: {fitting[0]}" if fitting else ""


def _standard_input(error: click.UsageError) -> str:
    """The way to standard input, which sacreBLEU reads where no candidate is named."""
    missing = getattr(error, "param", None)
    return "; use - for standard input" if getattr(missing, "name", "") == "candidates" else ""


def refuse_numbers_after_flags(command: click.Command, typed: Sequence[str]) -> None:
    """`--segments 5` makes a file of the 5: say that the option takes no number."""
    options = (param for param in command.params if isinstance(param, click.Option))
    flags = {name for param in options if param.is_flag for name in param.opts}
    for option, word in pairwise(typed):
        if option in flags and re.fullmatch(r"\d+", word) and not os.path.exists(word):
            hint = "; for one segment, use karat grid --segment N" if option == "--segments" else ""
            raise click.UsageError(f"{option} takes no number: leave out {word}{hint}")


TYPED = "karat.typed"
"""The key under which a context keeps the words typed after the command, in their order."""

Listed = Mapping[str, tuple[str, str]]
"""Name, of one word or two -> `module` (which has a `command`) or `module:attribute`, and a help
line."""


class Commands(Group):
    """A group that imports a command only to run it."""

    def __init__(self, *args: Any, listed: Listed, **kwargs: Any) -> None:
        context_settings = {"help_option_names": ["-h", "--help"], "max_content_width": WIDTH}
        super().__init__(*args, context_settings=context_settings, **kwargs)
        self.listed = listed

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.listed)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.listed:
            return None
        return self._load(cmd_name)

    def _load(self, name: str) -> click.Command:
        module, _, attribute = self.listed[name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute or "command")
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer words: the second one of a name is offered after the first (`second_words`)."""
        return [item for item in super().shell_complete(ctx, incomplete) if " " not in item.value]

    def command_for(self, words: Sequence[str]) -> click.Command:
        """Return the command that words call: this group, one of its commands, or one of theirs."""
        name, rest = self._split(words)
        if name not in self.listed:
            return self
        command = self._load(name)
        if isinstance(command, Commands):
            return command.command_for(rest)
        subcommands = command.commands if isinstance(command, click.Group) else {}
        return subcommands.get(rest[0], command) if rest else command

    def _split(self, typed: Sequence[str]) -> tuple[str, list[str]]:
        """Return the name of the command, of two words where there is such a one, and the rest."""
        size = 2 if " ".join(typed[:2]) in self.listed else 1
        return " ".join(typed[:size]), list(typed[size:])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.listed and not args[0].startswith("-"):
            from karat.settings import nearest

            hint = nearest(args[0], self.listed) or f" (there are {', '.join(self.listed)})"
            raise click.UsageError(f"no command {quoted(args[0])}{hint}")
        command_name, words = self._split(args)
        name, command, words = super().resolve_command(ctx, [command_name, *words])
        if command is not None and not isinstance(command, click.Group):
            ctx.meta[TYPED] = tuple(words)
            refuse_numbers_after_flags(command, words)
        return name, command, words

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.listed.items()])


def second_words(ctx: click.Context, incomplete: str) -> list[str]:
    """Return the words that make a name of two words: `fit` after `karat meta`."""
    group, first = ctx.parent and ctx.parent.command, f"{ctx.info_name} "
    if not isinstance(group, Commands) or ctx.meta.get(TYPED):
        return []
    longer = [name for name in group.listed if name.startswith(first + incomplete)]
    return [name.removeprefix(first) for name in longer]


def command_group(name: str, listed: Listed, help: str) -> Commands:
    """The group `karat NAME`; called without a command it shows its help."""

    @click.group(name=name, cls=Commands, listed=listed, invoke_without_command=True, help=help)
    @click.pass_context
    def group(context: click.Context) -> None:
        if context.invoked_subcommand is None:
            click.echo(context.get_help())

    return group
