"""What changed between two versions of a system: nuggets gained, lost and kept, with responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from karat.nuggets.decisions import Decided
from karat.nuggets.keys import Key, Nugget, Question
from karat.nuggets.official import Official, RunScore
from karat.nuggets.runs import Run

GAINED, LOST, KEPT, MISSED = "gained", "lost", "kept", "missed"
KINDS = (GAINED, LOST, KEPT, MISSED)


class Change(NamedTuple):
    """What became of one nugget, and which responses say so."""

    question: str
    nugget: Nugget
    kind: str
    old: str
    """The old version's response that carries it, empty if none does."""
    new: str
    guessed: bool
    """Whether either decision is a classifier's, not an assessor's."""


@dataclass(frozen=True)
class Changes:
    """All nuggets of all questions, and the scores of both versions."""

    old: RunScore
    new: RunScore
    rows: tuple[Change, ...]

    def count(self, kind: str, *, vital: bool | None = None) -> int:
        """How many nuggets were gained, lost, kept or missed; vital or okay ones if named."""
        return sum(
            row.kind == kind and (vital is None or row.nugget.vital == vital) for row in self.rows
        )

    def differences(self) -> list[tuple[str, float, float]]:
        """Question, old F and new F, of the questions that both are scored on."""
        before = {row.question: row.f for row in self.old.questions}
        return [
            (row.question, before[row.question], row.f)
            for row in self.new.questions
            if row.question in before
        ]


def changes(
    key: Key,
    how: Official,
    old: tuple[Run, Mapping[str, Decided]],
    new: tuple[Run, Mapping[str, Decided]],
) -> Changes:
    """Compare what two runs carry, nugget by nugget, in the order of the key."""
    rows = [
        row
        for question in key.questions.values()
        for row in _question(question, how, old[0], old[1], new[0], new[1])
    ]
    return Changes(how.score(old[0], key, old[1]), how.score(new[0], key, new[1]), tuple(rows))


def _question(
    question: Question,
    how: Official,
    old: Run,
    before: Mapping[str, Decided],
    new: Run,
    after: Mapping[str, Decided],
) -> list[Change]:
    id = question.id
    first, second = before[id].credit(how.strict), after[id].credit(how.strict)
    rows = []
    for j, nugget in enumerate(question.nuggets):
        kind = _kind(first[j] is not None, second[j] is not None)
        guessed = _guessed(before[id], first[j], j) or _guessed(after[id], second[j], j)
        texts = _text(old, id, first[j]), _text(new, id, second[j])
        rows.append(Change(id, nugget, kind, *texts, guessed))
    return rows


def _text(run: Run, question: str, place: int | None) -> str:
    return "" if place is None else run.responses(question)[place].text


def _kind(before: bool, after: bool) -> str:
    if before and after:
        return KEPT
    if after:
        return GAINED
    return LOST if before else MISSED


def _guessed(decided: Decided, place: int | None, nugget: int) -> bool:
    """Whether the decision that matters is a guess: the crediting one, or any if there is none."""
    if place is not None:
        return not decided.known[place, nugget]
    return not decided.known[:, nugget].all()
