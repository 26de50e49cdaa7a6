"""Runs with all that is found out about them: decisions, official and today's scores, intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from karat.nuggets.guess.guesses import GuessRule, Nuggeteer, RunIntervals
from karat.nuggets.guess.nuggeteer import nuggeteer
from karat.nuggets.results.signature import signature
from karat.nuggets.scores.decisions import Decided, decide_run
from karat.nuggets.scores.nugget_shares import Shares, mean_shares, score_shares
from karat.nuggets.scores.official import Official, RunScore
from karat.nuggets.sets.nugget_set import NuggetSet
from karat.nuggets.sets.runs import Run
from karat.nuggets.sets.voting import HALF
from karat.progress import Progress, silent


class Scored(NamedTuple):
    """A run with all that was found out about it."""

    run: Run
    decided: dict[str, Decided]
    official: RunScore
    shares: tuple[Shares, ...]
    """A, V and W of every question."""
    intervals: RunIntervals | None = None
    """Where a classifier guessed what nobody judged."""


@dataclass(frozen=True, eq=False)
class Scoring:
    """Runs as they were scored, and as they would be with the guesses of the other classifier."""

    how: Official
    corrected: bool
    general: bool
    scored: tuple[Scored, ...]
    guesses: Nuggeteer | None = None
    """What guessed, if anything did."""
    beside: tuple[Scored, ...] | None = None
    ties: str = HALF
    """The value of a tie between people."""
    models: tuple[str, ...] = ()
    """Judges whose labels are no judgements."""

    def __repr__(self) -> str:
        runs = "; ".join(
            f"{one.run.tag} F {one.official.macro.f:.4f} A {mean_shares(one.shares).A:.4f}"
            for one in self.scored
        )
        return f"<Scoring: {runs}>"

    @property
    def signature(self) -> str:
        """All that changes the numbers, but the texts themselves."""
        return signature(
            self.how,
            self.guesses,
            corrected=self.corrected,
            general=self.general,
            ties=self.ties,
            models=self.models,
        )


def score_nuggets(
    nuggets: NuggetSet,
    how: Official | None = None,
    *,
    guess: bool = True,
    rule: GuessRule | None = None,
    corrected: bool = True,
    general: bool = False,
    judged_as: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> Scoring:
    """Score all runs of a set from its judgements and, where there are none, from guesses.

    `rule` says which classifier guesses (the calibrated one); without `guess` what nobody judged
    gets no credit. Not `corrected`: what was judged in a run stands as it is, whatever was said of
    the same words elsewhere; else the most favourable counts. Intervals are about these questions;
    if `general`, about questions like these, too. `judged_as` has the tags of runs that were judged
    under another one.
    """
    how, names = how or Official(), judged_as or {}
    own = {tag: None if corrected else names.get(tag, tag) for tag in nuggets.runs}

    def scored(found: Nuggeteer | None) -> tuple[Scored, ...]:
        return tuple(
            _scored(nuggets, run, how, found, own[tag], general, progress)
            for tag, run in nuggets.runs.items()
        )

    found = nuggeteer(nuggets, progress, rule=rule, strict=how.strict) if guess else None
    beside = scored(found.beside) if found and found.beside else None
    judges = nuggets.judgements.ties, tuple(nuggets.judgements.of_models)
    return Scoring(how, corrected, general, scored(found), found, beside, *judges)


def _scored(
    nuggets: NuggetSet,
    run: Run,
    how: Official,
    found: Nuggeteer | None,
    own: str | None,
    general: bool,
    progress: Progress,
) -> Scored:
    given = nuggets.key, nuggets.judgements, found.guess(run.tag) if found else None
    decided = dict(decide_run(run, *given, progress, own=own))
    ends = found.intervals(run, decided, how, general=general) if found else None
    shares = score_shares(run, nuggets.key, decided)
    return Scored(run, decided, how.score(run, nuggets.key, decided), shares, ends)
