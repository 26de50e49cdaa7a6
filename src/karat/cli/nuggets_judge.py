"""`karat nuggets judge`: an assessor's loop in the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from karat.cli import nuggets_options
from karat.cli.bar import Bar
from karat.cli.nuggets_score import open_runs
from karat.report.paper import BOLD, CYAN, DIM, Paper
from karat.report.visible import visible

if TYPE_CHECKING:
    from karat.nuggets.asking import Ask
    from karat.nuggets.session import Session

KEYS = {
    "y": "yes, it carries the nugget",
    "p": "in part",
    "n": "no",
    "s": "skip: ask again at the end",
    "u": "undo what was done last",
    "d": "mark the words that carry it: they become a further description",
    "a": "add a nugget that the key lacks",
    "q": "quit; everything is in the file",
    "?": "this help",
}
VALUES = {"y": 1.0, "p": 0.5, "n": 0.0}
_PROMPT = "y/p/n  s skip  u undo  d words  a add  q quit  ? help > "


@click.command(name="judge")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@nuggets_options.key
@nuggets_options.judgements
@click.option(
    "--log",
    required=True,
    type=click.Path(),
    help="The file that judgements are appended to; it is read first, so that nothing is asked "
    "twice.",
)
@click.option("--judge", default="", help="Who judges, for the record.")
@click.option(
    "--likely",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="Correct guesses: ask about all pairs of at least this probability, question by question.",
)
@nuggets_options.skip_unknown
def command(
    runs: tuple[str, ...],
    key: str,
    judgements: tuple[str, ...],
    log: str,
    judge: str,
    likely: float | None,
    skip_unknown: bool,
) -> None:
    """Judge which response carries which nugget, the most useful pairs first.

    Those are asked first whose answers would narrow the interval of the scores most; words that
    speak for the nugget are highlighted. Every answer is on the disk before the next is asked.

    \b
    karat nuggets judge my.run --key key.txt --log judged.jsonl
    karat nuggets judge heron --key demo-nuggets --log log.jsonl --likely 0.2
    """
    from karat.nuggets.asking import queue
    from karat.nuggets.likelihood import overlap
    from karat.nuggets.log import Log
    from karat.nuggets.session import Session

    with Log(log) as kept:
        if kept.mended:
            click.echo(f"{log}: the last line was cut off by a crash and is gone", err=True)
        sources = (*(judgements or (key,)), *((log,) if os.path.getsize(log) else ()))
        with Bar() as progress:
            found = open_runs(runs, key, sources, skip_unknown, progress)
            asks = queue(found, overlap, likely=likely)
        session = Session(asks, kept, judge)
        with _keyboard() as read:
            _loop(session, read)
    click.echo(f"{session.judged:,} judged, {session.left:,} left; {log}")


def _loop(session: Session, read: Callable[[str], str]) -> None:
    """Ask until the end, or until the assessor quits."""
    from shutil import get_terminal_size

    paper = Paper(get_terminal_size((80, 24)).columns, sys.stdout.isatty())
    shown: Ask | None = None
    while (ask := session.current) is not None:
        if ask is not shown:
            click.echo("\n".join(_drawn(ask, session.left, paper)))
            shown = ask
        try:
            pressed = read(_PROMPT)
            if pressed == "q" or not _obey(session, pressed, paper):
                return
        except (EOFError, KeyboardInterrupt):
            click.echo()
            return


def _obey(session: Session, pressed: str, paper: Paper) -> bool:
    """Do what a key says; False at the end of the input."""
    if pressed in VALUES:
        session.answer(VALUES[pressed])
    elif pressed == "s":
        session.skip()
    elif pressed == "u":
        undone = session.undo()
        click.echo(f"undone: {undone}" if undone else "nothing to undo in this session")
    elif pressed == "d":
        _mark(session)
    elif pressed == "a":
        _add(session)
    else:
        click.echo("\n".join(f"{key}  {words}" for key, words in KEYS.items()))
    return True


def _drawn(ask: Ask, left: int, paper: Paper) -> list[str]:
    """One question: the nugget, and the response with what speaks for it."""
    from karat.nuggets.likelihood import spoken

    kind = "vital" if ask.nugget.vital else "okay"
    title = f"{left:,} to go. Question {ask.question.id}: {ask.question.text}"
    lines = ["", *paper.lines(title, DIM), ""]
    for number, words in enumerate(ask.nugget.descriptions):
        what = f"Nugget {ask.nugget.id} ({kind}): {words}" if number == 0 else f"  or: {words}"
        lines += paper.lines(what, BOLD)
    lines += ["", *paper.lines(f"Run {ask.run}; guess {ask.p:.2f}.", DIM), ""]
    return [*lines, *_response(spoken(ask.response.text, ask.nugget), paper), ""]


def _response(words: list[tuple[str, bool]], paper: Paper) -> list[str]:
    """The response, wrapped; words that speak for the nugget stand out, also without colour."""
    from karat.report.terminal import display_width

    lines: list[str] = []
    room = 0
    for word, speaks in words:
        shown = visible(word) if paper.color or not speaks else f"*{visible(word)}*"
        if not lines or room < display_width(shown) + 1:
            lines.append(" ")
            room = paper.width - 1
        lines[-1] += " " + (paper.ink(shown, CYAN) if speaks else shown)
        room -= display_width(shown) + 1
    return lines


def _mark(session: Session) -> None:
    """Ask for the words that carry the nugget, by their numbers."""
    ask = session.current
    if ask is None:
        return
    words = ask.response.text.split()
    click.echo(" ".join(f"{n}:{visible(word)}" for n, word in enumerate(words, 1)))
    given = _line(f"words from-to, 1-{len(words)} (empty: none) > ")
    first, _, last = given.partition("-")
    if not given:
        return
    if not (first.strip().isdigit() and (last or first).strip().isdigit()):
        click.echo(f"found {given!r}, expected two numbers such as 3-7")
        return
    start, end = int(first), int(last or first)
    if not 1 <= start <= end <= len(words):
        click.echo(f"found {given!r}, expected numbers from 1 to {len(words)}, the smaller first")
        return
    session.describe(" ".join(words[start - 1 : end]))
    click.echo("kept as a further description")


def _add(session: Session) -> None:
    """Ask for a nugget that the key lacks."""
    words = _line("what does the response say that the key lacks (empty: nothing) > ").strip()
    if not words:
        return
    vital = _line("vital? y/n > ").strip().lower().startswith("y")
    nugget = session.add(words, vital)
    click.echo(f"added as nugget {nugget.id}")


def _line(prompt: str) -> str:
    """A line that is typed."""
    click.echo(prompt, nl=False)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


@contextmanager
def _keyboard() -> Iterator[Callable[[str], str]]:
    """A function that asks for one key; where there is no keyboard, for a line."""

    def line(prompt: str) -> str:
        return _line(prompt).strip().lower()[:1] or "?"

    def key(prompt: str) -> str:
        click.echo(prompt, nl=False)
        pressed = click.getchar()
        if pressed in ("\x04", "\x03"):
            raise EOFError
        click.echo(visible(pressed))
        return pressed.lower()

    yield key if sys.stdin.isatty() else line
