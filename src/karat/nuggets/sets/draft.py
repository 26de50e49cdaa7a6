"""A draft of a nugget set: the one place where keys, runs and judgements are checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from karat.errors import quoted, short
from karat.evalset.judgements import ADJUDICATED, MODEL, PERSON, kind_problem
from karat.evalset.reading import FileLocation, Reading
from karat.nuggets.sets.judgements import NAMELESS, NOT, PARTIAL, SUPPORT, Judged, Judgements
from karat.nuggets.sets.keys import Nugget, Question, make_key
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Response, make_run
from karat.nuggets.sets.voting import HALF

PARTS = ("key", "runs", "judgements")


class Drafted(NamedTuple):
    """A nugget as it was read, and where."""

    nugget: Nugget
    place: FileLocation


class _Question(NamedTuple):
    text: str
    place: FileLocation
    nuggets: dict[str, Drafted]


class NuggetDraft:
    """Takes what readers found, notes what is wrong with it, and becomes a `NuggetSet`.

    A file may hold more than is wanted of it: only the parts in `take` are kept. `models` are the
    names of judges that are models, `ties` the value of a tie between judges (`voting.py`).
    """

    def __init__(
        self,
        name: str,
        reading: Reading,
        skip_unknown: bool = False,
        models: Sequence[str] = (),
        ties: str = HALF,
    ) -> None:
        self.name, self.reading, self.skip_unknown = name, reading, skip_unknown
        self.models, self.ties, self.problem = models, ties, reading.problem
        self.take: tuple[str, ...] = PARTS
        self.questions: dict[str, _Question] = {}
        self._responses: dict[str, list[tuple[FileLocation, str, Response]]] = {}
        self._institutions: dict[str, str] = {}
        self._judged: list[tuple[FileLocation, Judged]] = []
        self._added: list[tuple[FileLocation, str, Nugget]] = []
        self._words: list[tuple[FileLocation, str, str, str]] = []
        self._skipped: dict[str, int] = {}

    # ------------------------------------------------------------------------------ the key

    def question(self, id: str, place: FileLocation, text: str = "") -> None:
        """Take a question, which must be new; TREC keys name it only with its nuggets."""
        if "key" not in self.take or not self._is_name("question", id, place):
            return
        if id in self.questions:
            self.problem(place, f"question {short(id)} again (first {self.questions[id].place})")
        else:
            self.questions[id] = _Question(text, place, {})

    def nugget(self, question: str, nugget: Nugget, place: FileLocation) -> None:
        """Take a nugget of a question that is there."""
        if "key" in self.take and question in self.questions:
            self._keep(question, nugget, place)

    def also(self, question: str, id: str, description: str, place: FileLocation) -> None:
        """Take a further description of a nugget that is there."""
        if "key" in self.take:
            self._describe(question, id, description, place)

    def _keep(self, question: str, nugget: Nugget, place: FileLocation) -> None:
        known = self.questions[question].nuggets
        if not self._is_name("nugget", nugget.id, place):
            return
        if nugget.id in known:
            again = f"has nugget {short(nugget.id)} already ({known[nugget.id].place})"
            self.problem(place, f"question {short(question)} {again}")
        elif not all(text.strip() for text in nugget.descriptions):
            self.problem(place, f"nugget {short(nugget.id)} has no description, expected words")
        else:
            known[nugget.id] = Drafted(nugget, place)

    def _describe(self, question: str, id: str, description: str, place: FileLocation) -> None:
        known = self.questions[question].nuggets if question in self.questions else {}
        if id in known:
            old, first = known[id]
            known[id] = Drafted(replace(old, descriptions=(*old.descriptions, description)), first)
        else:
            told = f"a further description of nugget {short(id)}, which no line above has"
            self.problem(place, told)

    # ------------------------------------------------------------------------------ the runs

    def run(self, tag: str, place: FileLocation, institution: str = "") -> None:
        """Take a run, which may have no response; whose it is may be said once."""
        if "runs" in self.take and self._is_name("run", tag, place):
            self._responses.setdefault(tag, [])
            if institution:
                self._institutions[tag] = institution

    def response(self, tag: str, question: str, response: Response, place: FileLocation) -> None:
        """Take the next response of a run to a question."""
        if "runs" in self.take and self._is_name("run", tag, place):
            self._responses.setdefault(tag, []).append((place, question, response))

    @property
    def responses(self) -> int:
        """The number of responses so far."""
        return sum(map(len, self._responses.values()))

    # ------------------------------------------------------------------------ the judgements

    def judge(self, row: Judged, place: FileLocation) -> None:
        """Take a judgement."""
        if "judgements" not in self.take:
            return
        if row.value not in (SUPPORT, PARTIAL, NOT):
            self.problem(place, f"found the value {row.value}, expected 0, 0.5 or 1")
        elif told := kind_problem(row.kind):
            self.problem(place, told)
        else:
            self._judged.append((place, row._replace(place=str(place))))

    # ---------------------------------------------------------- what assessors add to the key

    def add(self, question: str, nugget: Nugget, place: FileLocation) -> None:
        """Take a nugget that an assessor found missing; it stands among judgements."""
        if "judgements" in self.take:
            self._added.append((place, question, nugget))

    def add_words(self, question: str, id: str, description: str, place: FileLocation) -> None:
        """Take further words for a nugget that an assessor marked in a response."""
        if "judgements" in self.take:
            self._words.append((place, question, id, description))

    def _extend_key(self) -> None:
        """Nuggets first, then words for them; what the key has already is not added again."""
        for place, question, nugget in self._added:
            if self._is_asked("a nugget of", question, place) and not self._has(question, nugget):
                self._keep(question, nugget, place)
        for place, question, id, words in self._words:
            if not self._is_asked("words for a nugget of", question, place):
                continue
            known = self.questions[question].nuggets
            if not words.strip():
                self.problem(place, f"no words for nugget {short(id)}, expected some")
            elif not self._has_nugget("words for", question, id, place):
                continue
            elif words not in known[id].nugget.descriptions:
                self._describe(question, id, words, place)

    def _has(self, question: str, nugget: Nugget) -> bool:
        """Return whether the key holds this very nugget, perhaps with further words."""
        known = self.questions[question].nuggets.get(nugget.id)
        if known is None:
            return False
        first = known.nugget.descriptions[: len(nugget.descriptions)]
        return replace(known.nugget, descriptions=first) == nugget

    # ------------------------------------------------------------------------------- the end

    def finish(self) -> NuggetSet:
        """Return the set; if anything is wrong with it, the first problem is raised."""
        self._extend_key()
        if not self.questions:
            self.problem(self.name, "no questions: expected a key with at least one")
        for id, found in self.questions.items():
            if not found.nuggets:
                self.problem(found.place, f"question {short(id)} has no nuggets")
        runs = {}
        for tag, rows in self._responses.items():
            known = [row[1:] for row in rows if self._is_asked("a response to", row[1], row[0], 1)]
            runs[tag] = make_run(tag, known, self._institutions.get(tag, ""))
        kept = [
            (place, row)
            for place, row in self._judged
            if self._is_asked("a judgement of", row.question, place)
            and self._has_nugget("a judgement of", row.question, row.nugget, place)
        ]
        judged = Judgements(_with_kinds(kept, self.models, self.name, self.reading), self.ties)
        self.reading.check()
        key = make_key(
            Question(id, tuple(nugget for nugget, _ in found.nuggets.values()), found.text)
            for id, found in self.questions.items()
        )
        out = f"{sum(self._skipped.values()):,} responses to {len(self._skipped):,} questions"
        notes = (f"left out: {out} that the key does not have",) if self._skipped else ()
        return NuggetSet(self.name, key, MappingProxyType(runs), judged, notes)

    def _is_asked(self, what: str, question: str, place: FileLocation, responses: int = 0) -> bool:
        """Return whether the key has a question; else what is said of it is left out, or wrong."""
        if question in self.questions:
            return True
        if self.skip_unknown:
            self._skipped[question] = self._skipped.get(question, 0) + responses
        else:
            self.problem(place, f"{what} question {quoted(question)}, which is not in the key")
        return False

    def _has_nugget(self, what: str, question: str, id: str, place: FileLocation) -> bool:
        """Return whether a question of the key has a nugget; else a problem is noted."""
        known = self.questions[question].nuggets
        if id not in known:
            some = f"{', '.join([*known][:10])}{', …' if len(known) > 10 else ''}"
            told = f"which question {short(question)} does not have ({some})"
            self.problem(place, f"{what} nugget {quoted(id)}, {told}")
        return id in known

    def _is_name(self, kind: str, name: object, place: FileLocation) -> bool:
        return self.reading.check_name(kind, name, place, blank=False)


def _with_kinds(
    rows: Sequence[tuple[FileLocation, Judged]], models: Sequence[str], name: str, reading: Reading
) -> tuple[Judged, ...]:
    """The rows with the kinds of their judges; `models` are the names of judges that are models.

    The kind stands beside a judgement, or models are named. What one row says of a named judge
    holds for all rows of that judge, but for what was adjudicated.
    """
    said = _said(rows, reading)
    judges = {row.judge or NAMELESS for _, row in rows}
    for model in dict.fromkeys(models):
        beside = {row.kind for _, row in rows if not row.judge and model == NAMELESS}
        if model not in judges:
            known = ", ".join(short(judge) for judge in sorted(judges)[:10]) or "none"
            told = f"no judgement is by a judge {quoted(model)}, named as a model"
            reading.problem(name, f"{told} (the judges are {known})")
        elif said.setdefault(model, MODEL) != MODEL or (beside and not beside & {"", MODEL}):
            reading.problem(
                name, f"judge {short(model)} is named as a model, but its file says another kind"
            )
    if NAMELESS in models:
        said[""] = MODEL
    # Who adjudicates here and there may have judged the rest as anybody else.
    fill = {judge: kind for judge, kind in said.items() if kind != ADJUDICATED}
    return tuple(
        row if row.kind or row.judge not in fill else row._replace(kind=fill[row.judge])
        for _, row in rows
    )


def _said(rows: Sequence[tuple[FileLocation, Judged]], reading: Reading) -> dict[str, str]:
    """Return the kind of each named judge that has one; nobody is a model and something else."""
    found: dict[str, str] = {}
    for place, row in rows:
        if not row.kind or not row.judge:
            continue
        first = found.setdefault(row.judge, row.kind)
        if first != row.kind and MODEL in (first, row.kind):
            reading.problem(
                place,
                f"judge {short(row.judge)} is of the kind {row.kind} here and {first} before; "
                "expected a model to be one everywhere",
            )
        elif first != row.kind:  # a person who also adjudicates
            found[row.judge] = PERSON
    return found
