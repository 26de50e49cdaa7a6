"""A judging session: what is asked, what was answered, and how to take it back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from karat.nuggets.asking import Ask
from karat.nuggets.judgements import SUPPORT, Judged
from karat.nuggets.keys import Nugget, Question
from karat.nuggets.log import Log


class Session:
    """Goes through a queue of questions; every answer is in the log before the next is asked."""

    def __init__(self, asks: Iterable[Ask], log: Log, judge: str = "") -> None:
        self._waiting = deque(asks)
        self._log, self._judge = log, judge
        self._past: list[tuple[str, Ask]] = []
        self._added: dict[str, list[Nugget]] = {}
        self.judged = 0

    @property
    def current(self) -> Ask | None:
        """What is asked now; None at the end."""
        return self._waiting[0] if self._waiting else None

    @property
    def left(self) -> int:
        """How many are still to be asked."""
        return len(self._waiting)

    def answer(self, value: float) -> None:
        """The response carries the nugget (1), in part (0.5), or does not (0)."""
        ask = self._waiting.popleft()
        row = Judged(ask.question.id, ask.nugget.id, ask.response.text, value, ask.run, self._judge)
        self._log.judge(row)
        self._past.append(("answer", ask))
        self.judged += 1

    def skip(self) -> None:
        """Ask about it last."""
        self._waiting.rotate(-1)

    def describe(self, words: str) -> None:
        """The words of the response that carry the nugget become a further description."""
        ask = self._waiting[0]
        self._log.describe(ask.question, ask.nugget, words)
        self._past.append(("describe", ask))

    def add(self, description: str, vital: bool) -> Nugget:
        """A nugget that the key lacks, under the next free number; this response carries it."""
        ask = self._waiting[0]
        nugget = Nugget(self._free(ask.question), (description,), vital)
        self._log.add(ask.question, nugget, self._row(ask, nugget, SUPPORT))
        self._added.setdefault(ask.question.id, []).append(nugget)
        self._past.append(("add", replace_nugget(ask, nugget)))
        return nugget

    def undo(self) -> str | None:
        """Take back what was done last; what that was, or None if nothing was done yet."""
        if not self._past:
            return None
        what, ask = self._past.pop()
        self._log.undo()
        if what == "answer":
            self._waiting.appendleft(ask)
            self.judged -= 1
        elif what == "add":
            self._added[ask.question.id].pop()
        return what

    def _row(self, ask: Ask, nugget: Nugget, value: float) -> Judged:
        place = ask.question.id, nugget.id, ask.response.text
        return Judged(*place, value, ask.run, self._judge)

    def _free(self, question: Question) -> str:
        taken = {nugget.id for nugget in (*question.nuggets, *self._added.get(question.id, ()))}
        return next(str(n) for n in range(1, len(taken) + 2) if str(n) not in taken)


def replace_nugget(ask: Ask, nugget: Nugget) -> Ask:
    """The same about another nugget."""
    question = replace(ask.question, nuggets=(*ask.question.nuggets, nugget))
    return ask._replace(question=question, nugget=nugget)
