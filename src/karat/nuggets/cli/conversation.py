"""The conversation of `karat nuggets judge`: shows a pair, takes a key, does what it says."""

from __future__ import annotations

import re
import shutil
import sys
from typing import TYPE_CHECKING

from karat.cli.show import say, takes_color
from karat.errors import quoted, visible
from karat.nuggets.cli.keyboard import Keyboard
from karat.nuggets.report.asks import heading, laid_out, numbered, page_lines, page_range, telling
from karat.report.render.text import Sheet

if TYPE_CHECKING:
    from karat.nuggets.judging.asking import Ask
    from karat.nuggets.judging.session import Session

KEYS = {
    "y": "yes, it contains the nugget",
    "p": "in part",
    "n": "no",
    "s": "skip: ask again at the end",
    "u": "undo what was done last",
    "d": "mark the words that express it, as a further description",
    "a": "add a nugget that is not in the key",
    "m": "more of the response, a screen at a time",
    "q": "quit; all answers are saved",
    "?": "this help",
}
VALUES = {"y": 1.0, "p": 0.5, "n": 0.0}
UNDONE = {
    "answer": "the answer is undone",
    "skip": "not skipped",
    "words": "the description is removed",
    "nugget": "the added nugget is removed",
}
_PROMPTS = ("y/p/n  s skip  u undo  d words  a add  m more  q quit  ? help > ", "? help > ")
_LEAST = 20, 5  # columns and lines that are used even if the terminal has fewer
_SPAN = re.compile(r"\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})\s*)?")


def converse(session: Session) -> bool:
    """Ask until the end, or until the assessor quits; whether that was by Ctrl-C."""
    with Keyboard() as keyboard:
        talk = Talk(session, keyboard)
        try:
            while talk.goes_on():
                pass
        except (EOFError, KeyboardInterrupt) as end:
            tell()
            return isinstance(end, KeyboardInterrupt)
    return False


def tell(*lines: str, end: str = "\n") -> None:
    """Print lines, at once."""
    say(["\n".join(lines) + end], None)
    sys.stdout.flush()


class Talk:
    """The screen, and the keys that it obeys."""

    def __init__(self, session: Session, keyboard: Keyboard) -> None:
        self._session, self._keyboard = session, keyboard
        self._shown: Ask | None = None
        self._pages = 0

    def goes_on(self) -> bool:
        """Show what is asked, if it is new, and obey one key; False at the end."""
        ask = self._session.current
        if ask is None:
            return False
        if ask != self._shown:
            self._show(ask)
        tell(_PROMPTS[self._paper.width <= len(_PROMPTS[0])], end="")
        pressed = self._keyboard.key()
        tell(visible(pressed.strip()))
        return self._obey(ask, pressed.lower())

    def _show(self, ask: Ask) -> None:
        from karat.nuggets.judging.likelihood import spoken

        size = shutil.get_terminal_size((80, 24))
        self._paper = Sheet(max(size.columns, _LEAST[0]), takes_color())
        self._words = spoken(ask.response.text, ask.nugget)
        self._lines = laid_out(self._words, self._paper)
        top = heading(ask, self._session.left, self._paper)
        # Two lines say how much there is above and below, two are for the prompt.
        room = max(size.lines - len(top) - 4, _LEAST[1])
        self._height = room if sys.stdout.isatty() else max(len(self._lines), 1)
        self._range = telling(self._lines, self._height)
        self._shown, self._pages = ask, 0
        tell(*top, *page_lines(self._lines, self._range, self._paper))

    def _obey(self, ask: Ask, pressed: str) -> bool:
        if pressed in VALUES:
            self._session.answer(VALUES[pressed])
        elif pressed == "s":
            self._session.skip()
        elif pressed == "u":
            undone = self._session.undo()
            tell(UNDONE[undone] if undone else "nothing to undo in this session")
        elif pressed == "d":
            self._mark(ask)
        elif pressed == "a":
            return self._add()
        elif pressed == "m":
            self._range = page_range(self._lines, self._height, self._pages)
            self._pages += 1
            tell(*page_lines(self._lines, self._range, self._paper))
        elif pressed == "?":
            tell(*(f"{key}  {words}" for key, words in KEYS.items()))
        elif pressed.strip() and pressed != "q":
            tell(f"{quoted(visible(pressed))} is not a key; press ? for the list")
        return pressed != "q"

    def _mark(self, ask: Ask) -> None:
        """Ask for the words that carry the nugget, by their numbers."""
        count = len(self._words)
        tell(*numbered(self._words, self._lines, self._range, self._paper))
        given = self._line(f"words from-to, 1-{count} (empty: none) > ")
        if not given:
            return
        found = _SPAN.fullmatch(given)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last <= count:
            tell(f"found {quoted(given)}, expected numbers from 1 to {count}, such as 3-7")
            return
        start, end = self._words[first - 1].start, self._words[last - 1].end
        new = self._session.describe(" ".join(ask.response.text[start:end].split()))
        tell("kept as a further description" if new else "that is a description already")

    def _add(self) -> bool:
        """Ask for a nugget that the key lacks; whether the session goes on."""
        words = self._line("new nugget that the response contains (empty: nothing) > ")
        if not words:
            return True
        said = self._one_of("ynuq", "is it vital? y/n  u back  q quit > ")
        if said in "yn":
            nugget = self._session.add(words, said == "y")
            tell(f"added as nugget {nugget.id} ({nugget.importance}), which this response contains")
        else:
            tell("nothing is added")
        return said != "q"

    def _one_of(self, keys: str, prompt: str) -> str:
        """One of some keys, asked for until it is pressed."""
        while True:
            tell(prompt, end="")
            pressed = self._keyboard.key().lower()
            tell(visible(pressed.strip()))
            if pressed and pressed in keys:
                return pressed

    def _line(self, prompt: str) -> str:
        """A line that is typed, without what keys like the arrows leave in it."""
        tell(prompt, end="")
        given = " ".join(self._keyboard.line().split())
        if visible(given) == given:
            return given
        tell(f"found {visible(given)}, expected letters and digits only")
        return ""
