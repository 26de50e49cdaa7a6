"""A draft of a nugget set: the one place where keys, runs and judgements are checked."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from karat.errors import quoted, short
from karat.evalset.reading import Place, Reading
from karat.nuggets.sets.judge_kinds import is_kind, with_kinds
from karat.nuggets.sets.judgements import NOT, PARTIAL, SUPPORT, Judged, Judgements
from karat.nuggets.sets.keys import Nugget, Question, make_key
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response, make_run
from karat.nuggets.sets.voting import HALF

PARTS = ("key", "runs", "judgements")


class Drafted(NamedTuple):
    """A nugget as it was read, and where."""

    nugget: Nugget
    place: Place


class _Question(NamedTuple):
    text: str
    place: Place
    nuggets: dict[str, Drafted]


class NuggetDraft:
    """Takes what readers found, notes what is wrong with it, and becomes a `NuggetSet`.

    A file may hold more than is wanted of it: only the parts in `take` are kept. `models` are the
    names of judges that are models, `ties` the value of a tie between judges (`voting.py`).
    """

    def __init__(self, name: str, reading: Reading, skip_unknown: bool = False) -> None:
        self.name, self.reading, self.skip_unknown = name, reading, skip_unknown
        self.take: tuple[str, ...] = PARTS
        self.models: tuple[str, ...] = ()
        self.ties = HALF
        self.questions: dict[str, _Question] = {}
        self._responses: dict[str, list[tuple[Place, str, Response]]] = {}
        self._institutions: dict[str, str] = {}
        self._judged: list[tuple[Place, Judged]] = []
        self._added: list[tuple[Place, str, Nugget]] = []
        self._words: list[tuple[Place, str, str, str]] = []
        self._skipped: dict[str, int] = {}

    # ------------------------------------------------------------------------------ the key

    def question(self, id: str, place: Place, text: str = "") -> None:
        """Take a question, which must be new; TREC keys name it only with its nuggets."""
        if "key" not in self.take or not self._is_name("question", id, place):
            return
        if id in self.questions:
            self.reading.problem(
                place, f"question {short(id)} again (first {self.questions[id].place})"
            )
        else:
            self.questions[id] = _Question(text, place, {})

    def nugget(self, question: str, nugget: Nugget, place: Place) -> None:
        """Take a nugget of a question that is there."""
        if "key" in self.take and question in self.questions:
            self._keep(question, nugget, place)

    def also(self, question: str, id: str, description: str, place: Place) -> None:
        """Take a further description of a nugget that is there."""
        if "key" in self.take:
            self._describe(question, id, description, place)

    def _keep(self, question: str, nugget: Nugget, place: Place) -> None:
        known = self.questions[question].nuggets
        if not self._is_name("nugget", nugget.id, place):
            return
        if nugget.id in known:
            first = known[nugget.id].place
            self.reading.problem(
                place, f"question {short(question)} has nugget {short(nugget.id)} already ({first})"
            )
        elif not all(text.strip() for text in nugget.descriptions):
            self.reading.problem(
                place, f"nugget {short(nugget.id)} has no description, expected words"
            )
        else:
            known[nugget.id] = Drafted(nugget, place)

    def _describe(self, question: str, id: str, description: str, place: Place) -> None:
        known = self.questions[question].nuggets if question in self.questions else {}
        if id not in known:
            self.reading.problem(
                place, f"a further description of nugget {short(id)}, which no line above has"
            )
            return
        old, first = known[id]
        texts = (*old.descriptions, description)
        known[id] = Drafted(replace(old, descriptions=texts), first)

    # ------------------------------------------------------------------------------ the runs

    def run(self, tag: str, place: Place, institution: str = "") -> None:
        """Take a run, which may have no response; whose it is may be said once."""
        if "runs" in self.take and self._is_name("run", tag, place):
            self._responses.setdefault(tag, [])
            if institution:
                self._institutions[tag] = institution

    def response(self, tag: str, question: str, response: Response, place: Place) -> None:
        """Take the next response of a run to a question."""
        if "runs" not in self.take or not self._is_name("run", tag, place):
            return
        self._responses.setdefault(tag, []).append((place, question, response))

    @property
    def responses(self) -> int:
        """How many there are so far."""
        return sum(map(len, self._responses.values()))

    # ------------------------------------------------------------------------ the judgements

    def judge(self, row: Judged, place: Place) -> None:
        """Take a judgement."""
        if "judgements" not in self.take:
            return
        if row.value not in (SUPPORT, PARTIAL, NOT):
            self.reading.problem(place, f"found the value {row.value}, expected 0, 0.5 or 1")
        elif is_kind(row.kind, place, self.reading):
            self._judged.append((place, row._replace(place=str(place))))

    # ---------------------------------------------------------- what assessors add to the key

    def add(self, question: str, nugget: Nugget, place: Place) -> None:
        """Take a nugget that an assessor found missing; it stands among judgements."""
        if "judgements" in self.take:
            self._added.append((place, question, nugget))

    def add_words(self, question: str, id: str, description: str, place: Place) -> None:
        """Take further words for a nugget that an assessor marked in a response."""
        if "judgements" in self.take:
            self._words.append((place, question, id, description))

    def _extend_key(self) -> None:
        """Nuggets first, then words for them; what the key has by now is not added again."""
        for place, question, nugget in self._added:
            if self._is_asked("a nugget", question, place) and not self._has(question, nugget):
                self._keep(question, nugget, place)
        for place, question, id, words in self._words:
            if not self._is_asked("words for a nugget", question, place):
                continue
            known = self.questions[question].nuggets
            if not words.strip():
                self.reading.problem(place, f"no words for nugget {short(id)}, expected some")
            elif id not in known:
                self._unknown_nugget("words for", question, id, place)
            elif words not in known[id].nugget.descriptions:
                self._describe(question, id, words, place)

    def _has(self, question: str, nugget: Nugget) -> bool:
        """Whether the key holds this very nugget, perhaps with further words."""
        known = self.questions[question].nuggets.get(nugget.id)
        if known is None:
            return False
        first = known.nugget.descriptions[: len(nugget.descriptions)]
        return replace(known.nugget, descriptions=first) == nugget

    # ------------------------------------------------------------------------------- the end

    def finish(self) -> NuggetSet:
        """The set; if anything is wrong with it, the first problem is raised."""
        self._extend_key()
        self._check_key()
        runs = {
            tag: make_run(tag, self._known(rows), self._institutions.get(tag, ""))
            for tag, rows in self._responses.items()
        }
        kept = [(place, row) for place, row in self._judged if self._can_judge(row, place)]
        judged = Judgements(with_kinds(kept, self.models, self.name, self.reading), self.ties)
        self.reading.check()
        key = make_key(
            Question(id, tuple(nugget for nugget, _ in found.nuggets.values()), found.text)
            for id, found in self.questions.items()
        )
        return NuggetSet(self.name, key, MappingProxyType(runs), judged, self._notes())

    def _check_key(self) -> None:
        if not self.questions:
            self.reading.problem(self.name, "no questions: expected a key with at least one")
        for id, found in self.questions.items():
            if not found.nuggets:
                self.reading.problem(found.place, f"question {short(id)} has no nuggets")

    def _known(self, rows: list[tuple[Place, str, Response]]) -> list[tuple[str, Response]]:
        found = []
        for place, question, response in rows:
            if question in self.questions:
                found.append((question, response))
            elif self.skip_unknown:
                self._skipped[question] = self._skipped.get(question, 0) + 1
            else:
                self.reading.problem(
                    place, f"a response to question {quoted(question)}, which is not in the key"
                )
        return found

    def _can_judge(self, row: Judged, place: Place) -> bool:
        if not self._is_asked("a judgement", row.question, place):
            return False
        if row.nugget in self.questions[row.question].nuggets:
            return True
        self._unknown_nugget("a judgement of", row.question, row.nugget, place)
        return False

    def _is_asked(self, what: str, question: str, place: Place) -> bool:
        """Whether the key has a question that an assessor spoke of."""
        if question in self.questions:
            return True
        if self.skip_unknown:
            self._skipped.setdefault(question, 0)
        else:
            self.reading.problem(
                place, f"{what} of question {quoted(question)}, which is not in the key"
            )
        return False

    def _unknown_nugget(self, what: str, question: str, id: str, place: Place) -> None:
        known = self.questions[question].nuggets
        self.reading.problem(
            place,
            f"{what} nugget {quoted(id)}, which question {short(question)} does not have "
            f"({', '.join([*known][:10])}{', …' if len(known) > 10 else ''})",
        )

    def _notes(self) -> tuple[str, ...]:
        if not self._skipped:
            return ()
        responses = sum(self._skipped.values())
        return (
            f"left out: {responses:,} responses to {len(self._skipped):,} questions that the key "
            "does not have",
        )

    def _is_name(self, kind: str, name: object, place: Place) -> bool:
        return self.reading.check_name(kind, name, place, blank=False)
