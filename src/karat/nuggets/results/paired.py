"""Two runs on the same questions: the difference of their mean scores, its interval and a test.

Two things make a difference uncertain: other questions would give another one, and guesses may be
wrong. With differences d_1 … d_n, s their standard deviation and t Student's quantile,

    reach = t s / sqrt(n)
    low   = mean d - sqrt(reach^2 + (new score - its low)^2 + (high of the old score - it)^2)

and high likewise: the ends of the intervals of both runs on these questions, which allow for wrong
guesses, recover the variance of either (Zou and Donner 2008). p is that of a paired permutation
test, which takes guesses for right; so a difference is decided only where both say so. If a score
rests on guesses and nothing shows how wrong they may be, the difference has no interval, and it is
undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple, TypeAlias

from karat.arrays import Floats, np
from karat.nuggets.intervals.intervals import ScoreInterval
from karat.progress import Progress, silent
from karat.stats.distributions import student_quantile
from karat.stats.paired_tests import paired_permutation
from karat.stats.significance import UNDECIDED, verdict


class Margin(NamedTuple):
    """The distances of a score to the ends of its interval on these questions."""

    below: float = 0.0
    above: float = 0.0


Margins: TypeAlias = tuple[Margin | None, Margin | None]
"""Margins of the old and the new score; None if it is unknown how wrong its guesses may be."""

EXACT: Margins = Margin(), Margin()
"""Margins of two scores that rest on no guesses."""


def margin(ends: ScoreInterval | None, score: float, *, guessed: bool = True) -> Margin | None:
    """Return how far a score may be off because guesses are wrong.

    Without an interval it is exact if nothing was `guessed`, and unknown (None) otherwise.
    """
    if ends is None:
        return None if guessed else Margin()
    return Margin(score - ends.low, ends.high - score)


class Significance(NamedTuple):
    """A paired permutation test over questions, two-sided, of two mean scores."""

    score: str
    questions: int
    old: float
    new: float
    delta: float
    p: float
    """NaN where there are too few questions for a test."""
    trials: int
    low: float | None = None
    """Ends of the 95% interval of the difference; None if there are too few questions, or if it is
    unknown how wrong the guesses may be."""
    high: float | None = None

    @property
    def verdict(self) -> str:
        """`better` or `worse` where both the interval and p decide, else `undecided`."""
        if self.low is None or self.high is None:
            return UNDECIDED
        return verdict(self.p, (self.low, self.high), self.questions)

    def __str__(self) -> str:
        if not self.questions:
            return f"No question has a nugget of any weight: there is no {self.score} to compare."
        moved = f"{self.score} goes from {self.old:.4f} to {self.new:.4f} ({self.delta:+.4f})"
        if not self.trials:
            return f"{moved} on one question: too few for a test."
        return (
            f"{moved} over {self.questions:,} questions: p = {self.p:.4f} (paired permutation, "
            f"two-sided, {self.trials:,} trials)."
        )


def paired_significance(
    score: str,
    pairs: Sequence[tuple[float, float]],
    margins: Margins = EXACT,
    progress: Progress = silent,
) -> Significance:
    """Test whether the mean of the new scores differs; p is twice the smaller one-sided one.

    `pairs` are the old and the new score of each question, `margins` those of both means.
    """
    if len(pairs) < 2:
        old, new = pairs[0] if pairs else (np.nan, np.nan)
        return Significance(score, len(pairs), old, new, new - old, np.nan, 0)
    before, after = (np.array(side) for side in zip(*pairs, strict=True))
    both = (after, before), (before, after)
    sides = [paired_permutation(*pair, progress=progress) for pair in both]
    p = min(1.0, 2 * min(side.p for side in sides))
    old, new = float(before.mean()), float(after.mean())
    ends = difference_interval(after - before, margins) or (None, None)
    return Significance(score, len(pairs), old, new, new - old, p, sides[0].trials, *ends)


def difference_interval(gaps: Floats, margins: Margins) -> tuple[float, float] | None:
    """Return the 95% interval of the mean of differences, new minus old.

    None if either margin is unknown.
    """
    old, new = margins
    if old is None or new is None:
        return None
    n, mean = len(gaps), float(gaps.mean())
    reach = student_quantile(0.025, n - 1) * float(gaps.std(ddof=1)) / sqrt(n)
    low = mean - sqrt(reach * reach + new.below * new.below + old.above * old.above)
    high = mean + sqrt(reach * reach + new.above * new.above + old.below * old.below)
    return max(-1.0, low), min(1.0, high)
