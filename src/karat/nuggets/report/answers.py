"""Answers of nugget reports about runs: which one leads, and what a new version lost and gained."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from karat.nuggets.results.guess_notes import percentage
from karat.nuggets.results.paired import Significance
from karat.report.model import listing, sentence_case, several, signed, span
from karat.stats.significance import SIGNIFICANCE_LEVEL, UNDECIDED

if TYPE_CHECKING:
    from karat.nuggets.results.changes import NuggetChanges
    from karat.nuggets.results.scoring import DifferenceRow, NuggetScoring, RunRow

DIGITS = 3
MOST_NAMED = 3
"""Runs that a sentence names; more are counted."""


def measure_name(found: NuggetScoring) -> str:
    """Return the score that runs are ranked by, as people read it: `F(3)` or `A`."""
    return f"F({found.how.beta:g})" if found.scale == "F" else "A"


def score_answer(found: NuggetScoring) -> tuple[str, ...]:
    """Return which run leads, and whether its lead is decided."""
    if not found.rows or not found.nuggets.key.questions:
        return ()
    best, name = found.rows[found.ranked[0]], measure_name(found)
    told = f"{name} {_score(best, found.scale)}"
    if len(found.rows) == 1:
        parts = [f"{best.run} has {told}"]
        if found.scale == "F" and not isnan(best.V):
            parts.append(f"carries {percentage(best.V)} of the vital nuggets")
        return (f"{' and '.join(parts)}.",)
    nearest, *others = found.differences
    rest = _names([row.run for row in others if row.verdict == UNDECIDED])
    if nearest.delta == 0:
        also = f"; the lead of {best.run} over {rest} is not decided" if rest else ""
        score = _score(best, found.scale)
        return (f"{best.run} and {nearest.run} lead with the same {name}, {score}{also}.",)
    verdict = "is decided" + f"; that over {rest} is not" * bool(rest)
    if nearest.verdict == UNDECIDED:
        verdict = "is not decided" + f", nor is that over {rest}" * bool(rest)
    return (f"{best.run} leads: {told}; its lead over {_lead(nearest)} {verdict}.",)


def _names(runs: Sequence[str]) -> str:
    """The names of a few runs, else how many there are."""
    if len(runs) > MOST_NAMED:
        return f"{len(runs):,} other runs"
    return listing(runs) if runs else ""


def _score(row: RunRow, scale: str) -> str:
    """A run's score, with the interval that allows for wrong guesses where it has a width."""
    value, low, high = (
        (row.macro, row.f_low, row.f_high) if scale == "F" else (row.A, row.low, row.high)
    )
    told = f"{value:.{DIGITS}f}"
    if low is None or high is None or high - low < 10**-DIGITS:
        return told
    return f"{told} {span(low, high, DIGITS)}"


def _lead(row: DifferenceRow) -> str:
    return f"{row.run} ({_change(-row.delta, _turned(row), row.p)})"


def _turned(row: DifferenceRow) -> tuple[float, float] | None:
    return None if row.low is None or row.high is None else (-row.high, -row.low)


def _change(delta: float, ends: tuple[float, float] | None, p: float | None) -> str:
    """A difference with its interval and p, as far as there are any."""
    interval = f" {span(*ends, DIGITS)}" if ends else ""
    return f"{signed(delta, DIGITS)}{interval}{'' if p is None else f', {p_text(p)}'}"


def p_text(p: float) -> str:
    """Return p in running text."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def score_basis(found: NuggetScoring) -> str:
    """Return what the answer rests on: questions, guesses, intervals and the test."""
    count = len(found.nuggets.key.questions)
    parts = [f"{several(count, 'question')}, {several(len(found.rows), 'run')}."]
    shown = [found.rows[k] for k in found.ranked[:2]]
    parts += _guessed(shown)
    tested = [row for row in found.differences if row.p is not None]
    if tested:
        parts += _rules([row.low is not None for row in tested], shown)
        count = len(found.differences)
        parts += [f"Each of the {count:,} differences is tested on its own."] if count > 1 else []
    elif found.differences:
        parts.append("One question is too few for a test.")
    return " ".join(parts)


def _guessed(rows: Sequence[RunRow]) -> list[str]:
    """The share of nuggets that rest on guesses, the largest of some runs; nothing if it is 0."""
    most = max((row.guessed for row in rows if not isnan(row.guessed)), default=0.0)
    share = percentage(most)
    if len(rows) > 1 and not share.startswith("under"):
        share = f"up to {most:.0%}"  # an upper bound may be rounded to 100%
    names = listing([row.run for row in rows])
    sentence = f"{share} of the nuggets of {names} rest on a classifier's guesses."
    return [sentence_case(sentence)] if most else []


def _rules(has_interval: Sequence[bool], rows: Sequence[RunRow]) -> list[str]:
    """When differences are decided: those with an interval, and those without."""
    guesses = any(row.guessed > 0 for row in rows)
    sentences = [_rule(guesses=guesses)] if any(has_interval) else []
    return sentences + ([_NO_INTERVAL] if not all(has_interval) else [])


_NO_INTERVAL = (
    "A difference that rests on guesses has no interval, and is not decided, if it is unknown how "
    "wrong they may be: this classifier needs at least two runs judged on two questions. p takes "
    "guesses as right."
)


def _rule(*, guesses: bool) -> str:
    allow = " and allows for wrong guesses" if guesses else ""
    wrong = ", which takes guesses as right" if guesses else ""
    return (
        "A difference is decided where its 95% interval, which is over questions"
        f"{allow}, excludes zero and p < {SIGNIFICANCE_LEVEL} (paired permutation test{wrong})."
    )


# ---------------------------------------------------------------------------------- two versions


def changes_answer(found: NuggetChanges) -> tuple[str, ...]:
    """Return the vital nuggets that a new version lost and gained, and whether F changed."""
    old, new = (row.run for row in found.scoring.rows)
    counts = {row.change: row for row in found.counts}
    lost, gained = counts["lost"], counts["gained"]
    if not any((lost.vital, lost.okay, gained.vital, gained.okay)):
        return (f"{new} carries the same nuggets as {old}.",)
    vital = any(row.vital for row in found.counts)
    kind, one, two = (
        ("vital nugget", lost.vital, gained.vital) if vital else ("nugget", lost.okay, gained.okay)
    )
    moved = f"{new} lost {several(one, kind)} that {old} carries and gained {two:,}"
    test = next((one for one in found.tests if one.questions), None)
    return (f"{moved}{f': {_moved(test, found)}' if test else ''}.",)


def _moved(test: Significance, found: NuggetChanges) -> str:
    name = f"F({found.scoring.how.beta:g})" if test.score == "F" else test.score
    ends = None if test.low is None or test.high is None else (test.low, test.high)
    change = f"{name} {_change(test.delta, ends, None if isnan(test.p) else test.p)}"
    verdict = {"better": "an improvement", "worse": "a loss"}.get(test.verdict)
    if not test.trials:
        return f"{change} on one question, too few for a test"
    return f"{change}: {verdict or 'no decided change'}"


def changes_basis(found: NuggetChanges) -> str:
    """Return what the answer rests on."""
    rows = found.scoring.rows
    tested = next((one for one in found.tests if one.questions), None)
    count = tested.questions if tested else len(found.questions)
    parts = [f"{several(count, 'question')}.", *_guessed(rows)]
    if tested and tested.trials:
        parts += _rules([tested.low is not None], rows)
    return " ".join(parts)
