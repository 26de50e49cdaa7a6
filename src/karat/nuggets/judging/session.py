"""A judging session: what is asked, what was answered, and how to take it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from karat.evalset.judgements import PERSON, check_kinds
from karat.nuggets.judging.agenda import Listed, Order
from karat.nuggets.judging.asking import Ask
from karat.nuggets.judging.log import Log
from karat.nuggets.sets.judgements import SUPPORT, Judged
from karat.nuggets.sets.keys import Nugget

ANSWER, SKIP, WORDS, NUGGET = "answer", "skip", "words", "nugget"
"""Acts of an assessor, which can be taken back."""


class Session:
    """Goes through pairs; every answer is in the log before the next is asked for.

    `asks` is an order of its own, or pairs in the order in which they are asked about. `judge` and
    `kind`, one of `judge_kinds.KINDS`, stand beside every judgement.
    """

    def __init__(
        self, asks: Order | Sequence[Ask], log: Log, judge: str = "", kind: str = PERSON
    ) -> None:
        check_kinds({kind})
        self._order: Order = Listed(asks) if isinstance(asks, Sequence) else asks
        self._log, self._judge, self._kind = log, judge, kind
        self._past: list[tuple[str, Ask]] = []
        self._words: dict[tuple[str, str], list[str]] = {}
        self._added: dict[str, list[str]] = {}
        self.judged = 0

    @property
    def current(self) -> Ask | None:
        """The pair that is asked about, with words marked meanwhile; None at the end."""
        ask = self._order.first()
        if ask is None:
            return None
        words = self._words.get((ask.question.id, ask.nugget.id), ())
        texts = (*ask.nugget.descriptions, *words)
        return ask._replace(nugget=replace(ask.nugget, descriptions=texts)) if words else ask

    @property
    def left(self) -> int:
        """The number of pairs that are left."""
        return len(self._order)

    def answer(self, value: float) -> None:
        """Judge that the response carries the nugget (1), in part (0.5), or does not (0)."""
        ask = self._first()
        self._log.judge(self._row(ask, ask.nugget.id, value))
        self._order.answer(value)
        self._past.append((ANSWER, ask))
        self.judged += 1

    def skip(self) -> None:
        """Ask about it last."""
        self._past.append((SKIP, self._first()))
        self._order.skip()

    def describe(self, words: str) -> bool:
        """Make words of the response a further description; return whether they are new."""
        ask, now = self._first(), self.current
        if now is None or words in now.nugget.descriptions:
            return False
        self._log.describe(ask.question, ask.nugget, words)
        self._words.setdefault((ask.question.id, ask.nugget.id), []).append(words)
        self._past.append((WORDS, ask))
        return True

    def add(self, description: str, vital: bool) -> Nugget:
        """Add a nugget that the key lacks, under the next free number; this response carries it.

        The other responses are asked about it when judging is started again.
        """
        ask = self._first()
        known, added = ask.question.nuggets, self._added.setdefault(ask.question.id, [])
        # With the judge's name: logs of several judges go together.
        name, taken = "-".join(["", *self._judge.split()]), {*(one.id for one in known), *added}
        numbers = (f"{n}{name}" for n in range(len(known) + 1, 10**9))
        nugget = Nugget(next(id for id in numbers if id not in taken), (description,), vital)
        self._log.add(ask.question, nugget, self._row(ask, nugget.id, SUPPORT))
        added.append(nugget.id)
        self._past.append((NUGGET, ask))
        return nugget

    def undo(self) -> str | None:
        """Take back what was done last; return what that was, or None if nothing was."""
        if not self._past:
            return None
        kind, ask = self._past[-1]
        if kind != SKIP:
            self._log.undo()
        self._past.pop()
        if kind in (ANSWER, SKIP):
            self._order.take_back(ask, kind == SKIP)
            self.judged -= kind == ANSWER
        elif kind == WORDS:
            self._words[ask.question.id, ask.nugget.id].pop()
        else:
            self._added[ask.question.id].pop()
        return kind

    def _first(self) -> Ask:
        """Return the pair that is asked about, as the key has it."""
        ask = self._order.first()
        if ask is None:
            raise IndexError("nothing is asked any more")
        return ask

    def _row(self, ask: Ask, nugget: str, value: float) -> Judged:
        about = ask.question.id, nugget, ask.response.text
        return Judged(*about, value, ask.run, self._judge, kind=self._kind)
