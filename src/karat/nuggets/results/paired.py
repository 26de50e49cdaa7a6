"""Two runs on the same questions: the difference of their mean scores, its interval and a test.

Two things make a difference uncertain: other questions would give another one, and guesses may be
wrong. With differences d_1 … d_n, s their standard deviation and t Student's quantile,

    reach = t s / sqrt(n)
    low   = mean d - sqrt(reach^2 + (new score - its low)^2 + (high of the old score - it)^2)

and high likewise: the ends of the intervals of both runs on these questions, which allow for wrong
guesses, recover the variance of either (Zou and Donner 2008). p is that of a paired permutation
test, which takes guesses for right; so a difference is decided only where both say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from karat.arrays import Floats, np
from karat.nuggets.intervals.intervals import ScoreInterval
from karat.progress import Progress, silent
from karat.stats.distributions import student_quantile
from karat.stats.significance.permutation import paired_permutation
from karat.stats.significance.verdicts import UNDECIDED, verdict


class Margin(NamedTuple):
    """The distances of a score to the ends of its interval on these questions."""

    below: float = 0.0
    above: float = 0.0


def margin(ends: ScoreInterval | None, score: float) -> Margin:
    """Return how far a score may be off because guesses are wrong; nothing without an interval."""
    return Margin(score - ends.low, ends.high - score) if ends else Margin()


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
    """Ends of the 95% interval of the difference; None where there are too few questions."""
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
    margins: tuple[Margin, Margin] = (Margin(), Margin()),
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
    ends = difference_interval(after - before, margins)
    return Significance(score, len(pairs), old, new, new - old, p, sides[0].trials, *ends)


def difference_interval(gaps: Floats, margins: tuple[Margin, Margin]) -> tuple[float, float]:
    """Return the 95% interval of the mean of differences, new minus old."""
    old, new = margins
    n, mean = len(gaps), float(gaps.mean())
    reach = student_quantile(0.025, n - 1) * float(gaps.std(ddof=1)) / sqrt(n)
    low = mean - sqrt(reach * reach + new.below * new.below + old.above * old.above)
    high = mean + sqrt(reach * reach + new.above * new.above + old.below * old.below)
    return max(-1.0, low), min(1.0, high)
