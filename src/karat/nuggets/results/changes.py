"""What changed between two versions of a system: nuggets gained, lost and kept, with responses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karat.nuggets.scores.decisions import GUESS, JUDGEMENT, NO_RESPONSE, NOTHING, Decided
from karat.nuggets.scores.nugget_shares import Shares, score_shares
from karat.nuggets.scores.official import Official, RunScore
from karat.nuggets.sets.keys import Key, Nugget, Question
from karat.nuggets.sets.runs import Run
from karat.progress import Progress, silent
from karat.stats.significance.permutation import paired_permutation

GAINED, LOST, KEPT, MISSED = "gained", "lost", "kept", "missed"
KINDS = (GAINED, LOST, KEPT, MISSED)


class Side(NamedTuple):
    """What one version makes of a nugget."""

    response: str
    """The response that gets the credit, empty if none carries it."""
    by: str
    """What says so: a judgement, a guess, or nothing."""
    carried: bool


class Change(NamedTuple):
    """What became of one nugget."""

    question: str
    nugget: Nugget
    kind: str
    old: Side
    new: Side

    @property
    def by(self) -> str:
        """The weaker of the two sources."""
        found = self.old.by, self.new.by
        return next(by for by in (NOTHING, GUESS, JUDGEMENT, NO_RESPONSE) if by in found)


class Significance(NamedTuple):
    """Whether two mean scores differ: a paired permutation test over questions, two-sided."""

    questions: int
    old: float
    new: float
    p: float
    """NaN where there are too few questions for a test."""
    trials: int

    @property
    def delta(self) -> float:
        """By how much the mean score went up."""
        return self.new - self.old


@dataclass(frozen=True)
class Changes:
    """All nuggets of all questions, and the scores of both versions."""

    old: RunScore
    new: RunScore
    rows: tuple[Change, ...]
    shares: tuple[tuple[Shares, ...], tuple[Shares, ...]]
    """A, V and W of both, question by question."""

    def count(self, kind: str, *, vital: bool | None = None) -> int:
        """How many nuggets were gained, lost, kept or missed; vital or okay ones if named."""
        return sum(
            row.kind == kind and (vital is None or row.nugget.vital == vital) for row in self.rows
        )

    def differences(self, score: str = "F") -> list[tuple[str, float, float]]:
        """Question, old and new score, of the questions that have it: F, or A, V, W."""
        if score != "F":
            both = ([(r.question, getattr(r, score)) for r in rows] for rows in self.shares)
        else:
            both = ([(r.question, r.f) for r in run.questions] for run in (self.old, self.new))
        pairs = ((id, a, b) for (id, a), (_, b) in zip(*both, strict=True))
        return [pair for pair in pairs if not np.isnan(pair[1])]

    def significance(self, score: str = "F", progress: Progress = silent) -> Significance:
        """p is twice the smaller of both one-sided ones."""
        pairs = self.differences(score)
        old, new = (np.array([pair[k] for pair in pairs]) for k in (1, 2))
        if len(pairs) < 2:
            _, before, after = pairs[0] if pairs else ("", float("nan"), float("nan"))
            return Significance(len(pairs), before, after, float("nan"), 0)
        sides = [paired_permutation(*pair, progress=progress) for pair in ((new, old), (old, new))]
        p = min(1.0, 2 * min(side.p for side in sides))
        return Significance(len(pairs), float(old.mean()), float(new.mean()), p, sides[0].trials)


def changes(
    key: Key,
    how: Official,
    old: tuple[Run, Mapping[str, Decided]],
    new: tuple[Run, Mapping[str, Decided]],
) -> Changes:
    """Compare what two runs carry, nugget by nugget, in the order of the key."""
    rows = []
    for question in key.questions.values():
        sides = (
            _sides(question, how.strict, run, decided[question.id]) for run, decided in (old, new)
        )
        for nugget, before, after in zip(question.nuggets, *sides, strict=True):
            kind = _kind(before.carried, after.carried)
            rows.append(Change(question.id, nugget, kind, before, after))
    before, after = (
        (how.score(run, key, decided), score_shares(run, key, decided))
        for run, decided in (old, new)
    )
    return Changes(before[0], after[0], tuple(rows), (before[1], after[1]))


def _sides(question: Question, strict: bool, run: Run, decided: Decided) -> list[Side]:
    responses = run.responses(question.id)
    return [
        Side("" if at is None else responses[at].text, decided.by(j, at), at is not None)
        for j, at in enumerate(decided.credit(strict))
    ]


def _kind(before: bool, after: bool) -> str:
    if before and after:
        return KEPT
    if after:
        return GAINED
    return LOST if before else MISSED
