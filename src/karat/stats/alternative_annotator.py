"""The alternative annotator test: may a judge replace people? (Calderon, Reichart and Dror 2025)

People rate items. For each annotator j and item i that j rated, the test compares the judge's value
f_i and the annotator's value h_ij with the values of the other annotators of the item:

    S(v, i, j) = share of the others with the value v                        labels
    S(v, i, j) = -sqrt(mean over the others k of (v - h_ik)^2)               numbers

    W^f_ij = [S(f_i, i, j) >= S(h_ij, i, j)]     W^h_ij = [S(h_ij, i, j) >= S(f_i, i, j)]

A tie scores for both. rho^f_j and rho^h_j are their means over the items of j. The judge wins
against j if H0: rho^f_j <= rho^h_j - epsilon is rejected, that is, if the mean of
d_ij = W^h_ij - W^f_ij is below epsilon. Epsilon is what a person costs more than a judge: .2 for
experts, .15 for trained annotators, .1 for crowd workers. p-values of all annotators are corrected
by Benjamini and Yekutieli (2001). The judge passes if its winning rate omega, the share of
annotators that it wins against, is at least one half. The average advantage probability is the mean
of rho^f_j.

**Units.** Items of one unit, such as a document, are not independent. With the sums D_u of d over
the n_u items of unit u, and G units,

    t = (d - epsilon) / SE,   SE^2 = G / (G - 1) sum_u (D_u - n_u d)^2 / n^2,   d = sum D_u / n

has Student's t with G - 1 degrees of freedom. With one item per unit this is the test of the paper.
If all units agree, p is that of a sign test, 2^-G. Below 30 units, the paper replaces this test by
Wilcoxon's signed-rank test, here of the means D_u / n_u - epsilon of units: exact, with mid-ranks
for ties and without zeros. That is a test of the median: where most d are 0, it accepts judges that
are worse by epsilon in up to 46% of simulations instead of 5% (`experiments/judge_check.py`). So we
depart from the paper, and p is the larger one of both tests.

**Control judges.** With skewed labels, a judge that knows nothing passes: where 85% of labels are
equal, ties are frequent and epsilon forgives the rest. So the same test runs for judges that see no
item: constant judges, which give the people's most frequent value, their median, or their mean to
everything; and the judge with its values shuffled between items. A verdict on the judge needs both
to fail: every constant judge, and all but 5% of the shuffled judges.

N. Calderon, R. Reichart and R. Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge, ACL;
Y. Benjamini and D. Yekutieli (2001), The control of the false discovery rate in multiple testing
under dependency, Annals of Statistics 29.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ldexp
from typing import NamedTuple

from karat.arithmetic import SLACK
from karat.arrays import Flags, Floats, Ints, np
from karat.stats.distributions import student_tail
from karat.stats.significance import (
    MIN_DECIDING_UNITS,
    SIGNIFICANCE_LEVEL,
    benjamini_yekutieli,
)

EPSILONS = {"expert": 0.2, "trained": 0.15, "crowd": 0.1}
"""Kinds of annotators -> epsilon."""
LABELS, NUMBERS = "labels", "numbers"
SIMILARITIES = {
    NUMBERS: "numbers, by their root mean square distance from the ratings of others",
    LABELS: "labels, by the share of others with the same label",
}
MIN_ANNOTATORS = 3
PASSING_RATE = 0.5
"""The winning rate at which a judge passes."""
WILCOXON_BELOW = 30
"""Units below which Wilcoxon's test must reject, too."""
MAX_SHUFFLED_PASSES = 0.05
"""The largest share of shuffled judges that may pass."""
PASSES, FAILS, CANNOT_TELL = "passes", "does not pass", "this test cannot tell"
_MAX_CELLS = 4_000_000  # comparisons of judges and annotators that are held at a time


class PanelTests(NamedTuple):
    """The tests of several judges against the annotators of a panel: judges x annotators."""

    annotators: tuple[int, ...]
    items: tuple[int, ...]
    units: tuple[int, ...]
    judge_share: Floats
    """rho^f: the share of items on which the judge is at least as close to the others."""
    annotator_share: Floats
    """rho^h: the share of items on which the annotator is at least as close to the others."""
    p: Floats
    p_corrected: Floats

    @property
    def won(self) -> Flags:
        """Whether each judge wins against each annotator."""
        return self.p_corrected <= SIGNIFICANCE_LEVEL

    @property
    def winning_rate(self) -> Floats:
        """Omega of each judge, the share of annotators that it wins against."""
        return np.asarray(self.won.mean(axis=1), np.float64)

    @property
    def advantage(self) -> Floats:
        """The average advantage probability of each judge: the mean of rho^f over annotators."""
        return np.asarray(self.judge_share.mean(axis=1), np.float64)

    @property
    def passed(self) -> Flags:
        """Whether the winning rate of each judge is at least one half."""
        return self.winning_rate >= PASSING_RATE


class ControlTests(NamedTuple):
    """The tests of judges that see no item."""

    constant: float
    """The value of the constant judge with the highest winning rate."""
    constant_rate: float
    """Its winning rate."""
    shuffled_rate: float
    """Mean winning rate of shuffled judges."""
    shuffled_passes: float
    """Share of shuffled judges that pass."""

    @property
    def constant_passed(self) -> bool:
        """Whether a constant judge passes."""
        return self.constant_rate >= PASSING_RATE

    @property
    def passed(self) -> bool:
        """Whether a control judge passes, so that the test cannot tell."""
        return self.constant_passed or self.shuffled_passes > MAX_SHUFFLED_PASSES


def judge_verdict(passed: bool, controls: ControlTests) -> str:
    """Return whether the judge passes, does not pass, or the test cannot tell."""
    if controls.passed:
        return CANNOT_TELL
    return PASSES if passed else FAILS


@dataclass(frozen=True, eq=False)
class AnnotatorPanel:
    """Ratings of items that the judge and at least two people rated, a row each.

    Rows are sorted by annotator, then unit. `from_ratings` makes a panel of any rows.
    """

    annotator: Ints
    item: Ints
    unit: Ints
    value: Floats
    judge: Floats
    """The judge's value of each item."""

    @classmethod
    def from_ratings(
        cls, annotator: Ints, item: Ints, value: Floats, judge: Floats, unit_of_item: Ints
    ) -> AnnotatorPanel:
        """Return the panel of these ratings; `judge` and `unit_of_item` have a value per item."""
        raters = np.bincount(item, minlength=len(judge))
        used = (raters[item] >= 2) & ~np.isnan(judge[item])
        annotator, item, value = annotator[used], item[used], value[used]
        order = np.lexsort((item, unit_of_item[item], annotator))
        items, numbers = np.unique(item[order], return_inverse=True)
        return cls(
            annotator[order].astype(np.int64),
            numbers.reshape(-1).astype(np.int64),
            unit_of_item[items][numbers.reshape(-1)].astype(np.int64),
            value[order],
            judge[items],
        )

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """Rows, and the rows of the other annotators of the same item; sorted by the former."""
        by_item = np.argsort(self.item, kind="stable")
        sizes = np.bincount(self.item, minlength=len(self.judge))
        starts = np.cumsum(sizes) - sizes
        n_others = sizes[self.item]
        row = np.repeat(np.arange(len(self.item)), n_others)
        place = np.arange(len(row)) - np.repeat(np.cumsum(n_others) - n_others, n_others)
        other = by_item[starts[self.item[row]] + place]
        is_other = other != row
        return row[is_other], other[is_other]

    @cached_property
    def cells(self) -> Ints:
        """The first row of each cell: of the ratings of one unit by one annotator."""
        if not len(self.item):
            return np.zeros(0, np.int64)
        is_first = np.r_[True, np.diff(self.annotator) != 0] | np.r_[True, np.diff(self.unit) != 0]
        return np.flatnonzero(is_first)

    @property
    def tested(self) -> list[int]:
        """The annotators with enough units for a test."""
        names, units = np.unique(self.annotator[self.cells], return_counts=True)
        return [int(a) for a, n in zip(names, units, strict=True) if n >= MIN_DECIDING_UNITS]

    def test(self, judges: Floats, epsilon: float, similarity: str) -> PanelTests:
        """Test judges, given as judges x items, against each annotator with enough units."""
        gaps = self.compare(judges, similarity)
        sums = np.add.reduceat(gaps, self.cells, axis=1, dtype=np.int64)
        sizes = np.diff(np.r_[self.cells, len(self.item)])
        of_cell, tested = self.annotator[self.cells], self.tested
        items, units, by_annotator = [], [], []
        for annotator in tested:
            cells, rows = (
                slice(*np.searchsorted(column, [annotator, annotator + 1]).tolist())
                for column in (of_cell, self.annotator)
            )
            items.append(rows.stop - rows.start)
            units.append(cells.stop - cells.start)
            annotator_gaps = gaps[:, rows]
            judge_share, annotator_share = (annotator_gaps <= 0), (annotator_gaps >= 0)
            p = noninferiority_p(sums[:, cells], sizes[cells], epsilon)
            by_annotator.append((judge_share.mean(axis=1), annotator_share.mean(axis=1), p))
        judge_shares, annotator_shares, p_values = np.array(by_annotator).transpose(1, 2, 0)
        return PanelTests(
            tuple(tested),
            tuple(items),
            tuple(units),
            judge_shares,
            annotator_shares,
            p_values,
            benjamini_yekutieli(p_values),
        )

    def compare(self, judges: Floats, similarity: str) -> Ints:
        """Return d = W^h - W^f of each judge and row.

        It is 1 where the annotator is closer to the others, -1 where the judge is, 0 for a tie.
        """
        row, _ = self.pairs
        gaps: Ints = np.empty((len(judges), len(self.item)), np.int8)
        step = max(1, _MAX_CELLS // max(len(row), 1))
        for start in range(0, len(judges), step):
            part = slice(start, start + step)
            gaps[part] = self._compare(judges[part], similarity)
        return gaps

    def _compare(self, judges: Floats, similarity: str) -> Ints:
        row, other = self.pairs
        starts = np.flatnonzero(np.r_[True, np.diff(row) != 0])
        judged, rated = judges[:, self.item[row]], self.value[row]
        targets = self.value[other]
        if similarity == LABELS:
            by_judge = np.add.reduceat(judged != targets, starts, axis=1, dtype=np.float64)
            by_annotator = np.add.reduceat(rated != targets, starts, dtype=np.float64)
        else:
            by_judge = np.add.reduceat((judged - targets) ** 2, starts, axis=1)
            by_annotator = np.add.reduceat((rated - targets) ** 2, starts)
        slack = SLACK * np.maximum(by_judge, by_annotator)
        gaps: Ints = (by_judge > by_annotator + slack).astype(np.int8)
        gaps -= by_annotator > by_judge + slack
        return gaps

    def controls(self, epsilon: float, similarity: str, shuffles: int, seed: int) -> ControlTests:
        """Test judges that see no item."""
        constants = _constants(self.value, similarity)
        constant_judges = np.repeat(constants[:, None], len(self.judge), axis=1)
        tests = self.test(constant_judges, epsilon, similarity)
        best = int(np.lexsort((tests.advantage, tests.winning_rate))[-1])
        rng = np.random.default_rng(seed)
        shuffled = rng.permuted(np.tile(self.judge, (shuffles, 1)), axis=1)
        shuffled_tests = self.test(shuffled, epsilon, similarity)
        return ControlTests(
            float(constants[best]),
            float(tests.winning_rate[best]),
            float(shuffled_tests.winning_rate.mean()),
            float(shuffled_tests.passed.mean()),
        )


def _constants(values: Floats, similarity: str) -> Floats:
    """Return the values of constant judges; labels have no median and no mean."""
    distinct, counts = np.unique(values, return_counts=True)
    mode = distinct[int(counts.argmax())]
    if similarity == LABELS:
        return np.array([mode])
    return np.unique([mode, np.median(values), values.mean()])


def noninferiority_p(sums: Ints, sizes: Ints, epsilon: float) -> Floats:
    """Return p of "the mean is not below epsilon" for each row of sums of independent units.

    `sums` are judges x units; `sizes` are the items of each unit.
    """
    units, n = len(sizes), int(sizes.sum())
    means = sums.sum(axis=1) / n
    squares = ((sums - sizes * means[:, None]) ** 2).sum(axis=1)
    errors = np.sqrt(units / (units - 1) * squares) / n
    is_constant = errors <= SLACK
    t = (means - epsilon) / np.where(is_constant, 1.0, errors)
    p = np.array([_lower_tail(x, units - 1) for x in t.tolist()])
    p = np.where(is_constant, np.where(means < epsilon, ldexp(1.0, -units), 1.0), p)
    if units < WILCOXON_BELOW:
        p = np.maximum(p, [signed_rank_p(row) for row in sums / sizes - epsilon])
    return p


@lru_cache(maxsize=1 << 16)  # judges often have the same statistic
def _lower_tail(t: float, freedom: int) -> float:
    return student_tail(-t, freedom)


def signed_rank_p(differences: Floats) -> float:
    """Return P(W+ <= w) of Wilcoxon's exact test; differences equal but for rounding are ties."""
    from karat.stats.paired_tests import wilcoxon  # loads numpy, and settings import this module

    return wilcoxon(np.round(differences, 12), np.zeros(len(differences)), "less", exact=True).p
