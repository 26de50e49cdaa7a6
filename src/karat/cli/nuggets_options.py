"""Options that several commands of `karat nuggets` share."""

from __future__ import annotations

from typing import Any

import click

from karat.cli.options import F


def complete_nuggets(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """The names of known sets; where none fits, files."""
    from click.shell_completion import CompletionItem

    from karat.nuggets.loading import KNOWN

    names = [CompletionItem(name) for name in KNOWN if name.startswith(incomplete)]
    return names or [CompletionItem(incomplete, type="file")]


def places(function: F) -> F:
    """`--run`, `--judgements` and `--skip-unknown`: what stands beside the key."""
    for name, what in (("run", "Runs"), ("judgements", "Judgements")):
        function = click.option(
            f"--{name}",
            f"{name}s" if name == "run" else name,
            multiple=True,
            metavar="PLACE",
            type=click.Path(),
            help=f"{what} from here, not those that come with SET; repeat for several.",
        )(function)
    return skip_unknown(function)


def skip_unknown(function: F) -> F:
    """`--skip-unknown`: a run may answer more questions than the key has."""
    return click.option(
        "--skip-unknown",
        is_flag=True,
        help="Leave out responses to questions that the key does not have.",
    )(function)


def key(function: F) -> F:
    """`--key`: the answer key."""
    return click.option(
        "-k",
        "--key",
        required=True,
        metavar="KEY",
        shell_complete=complete_nuggets,
        help="The key: a file or folder in any format, or the name of a known set.",
    )(function)


def judgements(function: F) -> F:
    """`--judgements`: what assessors said."""
    return click.option(
        "-j",
        "--judgements",
        multiple=True,
        metavar="FILE",
        type=click.Path(),
        help="Judged responses, in any format; repeat for several (default: those with KEY).",
    )(function)


def scoring(function: F) -> F:
    """`--beta`, `--weights` and `--strict`: how answers are scored."""
    function = click.option("--strict", is_flag=True, help="In F, partial support does not count.")(
        function
    )
    function = click.option(
        "--weights",
        type=click.Choice(["vital", "pyramid"]),
        default="vital",
        show_default=True,
        help="Recall of vital nuggets, or weighted by assessors' votes.",
    )(function)
    return click.option(
        "--beta", type=float, default=3.0, show_default=True, help="How much recall counts in F."
    )(function)


def guessing(function: F) -> F:
    """`--guess`: whether a classifier decides what nobody has judged."""
    return click.option(
        "--guess/--no-guess",
        default=True,
        show_default=True,
        help="Let a classifier decide what nobody has judged; judgements always win.",
    )(function)


def left_out(function: F) -> F:
    """`--leave-out`: what is left out in cross-validation."""
    return click.option(
        "--leave-out",
        "by",
        type=click.Choice(["system", "institution", "question"]),
        default="system",
        show_default=True,
        help="What is left out in cross-validation.",
    )(function)
