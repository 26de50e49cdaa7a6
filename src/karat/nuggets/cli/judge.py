"""`karat nuggets judge`: an assessor's loop in the terminal."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import click

from karat.cli.command import Command
from karat.cli.parameters import choice, named, option, path, share
from karat.cli.show import check_output
from karat.evalset.judgements import ADJUDICATED, PERSON
from karat.nuggets.cli import options as nuggets_options
from karat.progress import Bar


@click.command(name="judge", cls=Command)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@nuggets_options.keyed
@named(
    "--log",
    "File that judgements are appended to. Pairs that it already has are not asked again.",
    path,
    required=True,
    metavar="FILE",
)
@option(
    "--judge",
    "Name of the assessor, stored in the log.",
    default="",
    show_default=False,
    metavar="NAME",
)
@option(
    "--kind",
    "Kind of the judgements, stored in the log. `adjudicated` asks about pairs on which assessors "
    "disagree; the answers overrule them.",
    choice(PERSON, ADJUDICATED),
    PERSON,
)
@option(
    "--likely",
    "Ask about all pairs with at least this probability (0 to 1), question by question.",
    share(),
    metavar="P",
)
@nuggets_options.strict
def command(
    runs: tuple[str, ...], given: Any, log: str, judge: str, kind: str, likely: Any, strict: bool
) -> None:
    """Judge in the terminal which response contains which nugget.

    Pairs that would narrow the intervals of the scores most come first. Words that match the nugget
    are highlighted. Every answer is saved before the next question.

    \b
    karat nuggets judge my.run --key key.txt --log judged.jsonl
    karat nuggets judge heron --key demo-nuggets --log log.jsonl --likely 0.2
    """
    from karat.nuggets.cli.conversation import converse, tell
    from karat.nuggets.formats.loading import open_runs
    from karat.nuggets.guess.nuggeteer import FEWEST, nuggeteer
    from karat.nuggets.judging.agenda import Agenda
    from karat.nuggets.judging.asking import Probabilities, disputed
    from karat.nuggets.judging.likelihood import overlap
    from karat.nuggets.judging.log import Log
    from karat.nuggets.judging.session import Session

    check_output(log, (*runs, given["key"]))
    if likely is not None and math.isnan(likely):
        raise click.UsageError(f"--likely {likely}: expected a probability from 0 to 1")
    with Log(log) as kept:
        if kept.mended:
            tell(f"{log}: removed the last line, which was incomplete")
        with Bar() as progress:
            found = open_runs(runs, **given, log=log, progress=progress)
            # From a classifier where there is enough to learn from, else from plain overlap.
            chances: Probabilities = overlap
            if len(found.judgements.deciding) >= FEWEST:
                guesses = nuggeteer(found, progress, measured=False, strict=strict)
                chances = guesses.chances if guesses.learned else overlap
            # Pairs that nobody has judged; for an adjudicator disputed pairs, in the same order.
            order = partial(Agenda, strict=strict) if kind == PERSON else disputed
            asks = order(found, chances, likely=likely, progress=progress)
        session = Session(asks, kept, judge, kind)
        stopped = converse(session)
    tell(f"{session.judged:,} judged, {session.left:,} left; {log}")
    if stopped:
        raise click.exceptions.Exit(130)
