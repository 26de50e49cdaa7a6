"""Commands and groups: help that fits a screen, lazy loading, and messages for wrong usage."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from karat.errors import quoted
from karat.headings import COMMON, HEADINGS

MAX_HELP_LINES = 45
"""Lines of help that fit on a screen of WIDTH columns."""
WIDTH = 100
_FEW = 8
"""Most options that are shown without headings."""
_ALL = "karat.help-all"
"""Key of a context's `meta`: whether to show all options."""
_VERBATIM = "\b\n"
"""Click's mark before lines that it must not wrap: the examples of a command."""


class Helpful(click.Command):
    """A command or group whose help ends with the examples of its docstring."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reject a repeated option where click would silently use the last value."""
        if not ctx.resilient_parsing:
            _, _, params = self.make_parser(ctx).parse_args(list(args))  # in the order of typing
            for place, param in enumerate(params):
                if not isinstance(param, click.Option) or param.multiple or param.count:
                    continue
                is_plain_flag = param.is_flag and not param.secondary_opts  # twice is the same
                if param in params[:place] and not is_plain_flag:
                    problem = f"{param.opts[-1]} is given twice, but takes one value"
                    raise click.UsageError(f"{problem}: leave one out")
        return super().parse_args(ctx, args)

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
        """Return the example command lines of the docstring."""
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
                hidden_headings.append(heading[0].lower() + heading[1:])
        if not shows_all:
            formatter.write_paragraph()
            more = f"{ctx.command_path} --help-all"
            formatter.write_text(f"Run `{more}` for more options: {', '.join(hidden_headings)}.")

    def sections(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the help records of all options by heading; few options share one heading."""
        records: dict[str, list[tuple[str, str]]] = {heading: [] for heading in HEADINGS}
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        record_of = {param: param.get_help_record(ctx) for param in options}
        is_short = sum(record_of.get(param) is not None for param in self.params) <= _FEW  # type: ignore[call-overload]
        for param, record in record_of.items():
            if record is not None and param is not _HELP_ALL:
                records[COMMON if is_short else getattr(param, "heading", COMMON)].append(record)
        return {heading: records[heading] for heading in HEADINGS if records[heading]}

    def shows_all(self, ctx: click.Context) -> bool:
        """Return whether to show all options: they fit on the screen, or `--help-all` was given."""
        if ctx.meta.get(_ALL):
            return True
        ctx.meta[_ALL] = True
        formatter = click.HelpFormatter(width=WIDTH - 2)  # Click leaves two columns free
        self.format_help(ctx, formatter)
        del ctx.meta[_ALL]
        return len(formatter.getvalue().splitlines()) <= MAX_HELP_LINES


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

# ------------------------------------------------------------------------------------ wrong usage

_SACREBLEU = {
    ("-t", "--test-set"): "the test set, has no counterpart: give its references as files with -r",
    ("-l", "--language-pair"): "the language pair, is not needed: set the tokeniser of the metric, "
    "as in -m bleu:tok=zh",
    ("-b", "--score-only"): "the score alone, is --format tsv or --format json",
    ("-i", "--input"): "the candidate, is an argument: karat score out.txt -r ref.txt",
    ("-tok", "--tokenize"): "the tokeniser, is a setting of the metric, as in -m bleu:tok=zh",
    ("-lc", "--lowercase"): "lower case, is a setting of the metric, as in -m bleu:case=lower",
    ("-w", "--width"): "the number of decimals, is not needed: --format json has all of them",
    ("-n", "--confidence-n"): "the number of resamples, is not needed: intervals have none",
    ("--metrics",): "several metrics, is -m bleu -m chrf",
    ("--confidence",): "intervals, is --intervals",
    ("--paired-bs",): "a paired test, is karat compare --test sacrebleu-bootstrap",
    ("--paired-ar",): "a paired test, is karat compare --test sacrebleu-ar",
    ("--sentence-level", "-sl"): "segment scores, is --segments",
}
_HABITS = {name: text for names, text in _SACREBLEU.items() for name in names}
"""Options of sacreBLEU that users may type from habit, with advice."""


_NOT_A_NUMBER = re.compile(r"('[^']*') is not a valid (?:x|n|float|integer)\.")
"""click ends its sentence with the metavar."""


def usage_sentence(
    error: click.ClickException, command: click.Command, typed: Sequence[str]
) -> str:
    """Return one sentence for a usage error: click's message, with advice or an example."""
    lines = re.findall(r"^ *(karat .*)$", command.help or "", re.M)
    param = getattr(error, "param", None)
    names = {*(param.opts if param else ()), getattr(error, "option_name", "")}
    fitting = [line for line in lines if names & {*line.split()}] or lines
    example = f" For example: {fitting[0]}" if fitting else ""
    if isinstance(error, click.MissingParameter | click.BadOptionUsage):
        # sacreBLEU reads standard input where no candidate is named
        is_candidate = getattr(param, "name", "") == "candidates"
        return error.format_message() + example + "; use - for standard input" * is_candidate
    if not isinstance(error, click.NoSuchOption):
        return _NOT_A_NUMBER.sub(r"found \1, expected a number.", error.format_message())
    # `-tok` where click found the unknown letter `-t`
    habits = (word for word in typed if word in _HABITS)
    name = next((word for word in habits if word.startswith(error.option_name)), error.option_name)
    option_names = [opt for param in command.params for opt in param.opts if opt.startswith("--")]
    similar = list(error.possibilities or [])
    if not similar and len(name) == 2:  # for `-b`, the long options that begin with b
        similar = [option for option in option_names if option.startswith(f"--{name[1]}")]
    text = f"No such option '{name}'."
    habit = _HABITS.get(name) if "--reference" in option_names else None
    is_habit = habit and len(name) > 2  # a single letter may mean either option
    if similar and not is_habit:
        text += f" Did you mean {' or '.join(sorted(similar))}?"
    if habit:
        text += f" sacreBLEU's {name}, {habit}."
    return text + ("" if similar or habit else example)


# ----------------------------------------------------------------------------------------- groups

TYPED = "karat.typed"
"""Key of a context's `meta`: the words typed after the command, in order."""

Listed = Mapping[str, tuple[str, str]]
"""Name of one or two words -> `module` (with a `command`) or `module:attribute`, and its help."""


class Group(Helpful, click.Group):
    """A group of commands."""

    command_class = Command


class Commands(Group):
    """A group that imports a command only when it is called."""

    def __init__(self, *args: Any, listed: Listed, **kwargs: Any) -> None:
        context_settings = {"help_option_names": ["-h", "--help"], "max_content_width": WIDTH}
        super().__init__(*args, context_settings=context_settings, **kwargs)
        self.listed = listed

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.listed)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.listed:
            return None
        module, _, attribute = self.listed[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute or "command")
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete single words; `second_words` completes the second word of a name."""
        return [item for item in super().shell_complete(ctx, incomplete) if " " not in item.value]

    def command_for(self, words: Sequence[str]) -> click.Command:
        """Return the command that words call: this group, or a command at any depth below it."""
        name, rest = self._split(words)
        command = self.get_command(None, name)
        if isinstance(command, Commands):
            return command.command_for(rest)
        subcommands = command.commands if isinstance(command, click.Group) else {}
        return subcommands.get(rest[0], command or self) if rest else command or self

    def _split(self, typed: Sequence[str]) -> tuple[str, list[str]]:
        """Split words into the name of a command, of two words if it has two, and the rest."""
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
        if command is None or isinstance(command, click.Group):
            return name, command, words
        ctx.meta[TYPED] = tuple(words)
        options = [param for param in command.params if isinstance(param, click.Option)]
        flags = {name for param in options if param.is_flag for name in param.opts}
        for option, word in pairwise(words):  # `--segments 5` makes a file of the 5
            if option in flags and re.fullmatch(r"\d+", word) and not os.path.exists(word):
                is_segments = option == "--segments"
                hint = "; for one segment, use karat grid --segment N" if is_segments else ""
                raise click.UsageError(f"{option} takes no number: leave out {word}{hint}")
        return name, command, words

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.listed.items()])


def second_words(ctx: click.Context, incomplete: str) -> list[str]:
    """Return second words of two-word names, such as `fit` after `karat meta`."""
    group, first = ctx.parent and ctx.parent.command, f"{ctx.info_name} "
    if not isinstance(group, Commands) or ctx.meta.get(TYPED):
        return []
    longer = [name for name in group.listed if name.startswith(first + incomplete)]
    return [name.removeprefix(first) for name in longer]


GroupT = TypeVar("GroupT", bound=Group)


def help_group(cls: type[GroupT], name: str, help: str, **settings: Any) -> GroupT:
    """Return the group `karat NAME`, which shows its help when called without a command."""

    @click.pass_context
    def show_help(context: click.Context) -> None:
        if context.invoked_subcommand is None:
            click.echo(context.get_help())

    return cls(name=name, callback=show_help, invoke_without_command=True, help=help, **settings)


def command_group(name: str, listed: Listed, help: str) -> Commands:
    """Return the group `karat NAME`, which imports a command only when it is called."""
    return help_group(Commands, name, help, listed=listed)
