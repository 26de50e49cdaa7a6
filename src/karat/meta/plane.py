"""The points of the plane: alpha from recall to precision, orders of n-grams from 1 to 4."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations as every_order
from typing import Literal, NamedTuple, TypeAlias

from karat import _kernel
from karat.arithmetic import SLACK, exact_product, product
from karat.arrays import Floats, Ints, np
from karat.errors import InputError, quoted
from karat.evalset.catalogue import GivenPath
from karat.evalset.loading import as_evalset
from karat.evalset.sets import EvalSet
from karat.meta.agreement import OVER, drawn_places, percentiles
from karat.meta.scores import (
    ScoredSet,
    drawn_sums,
    references_of,
    score_evalset,
    with_references,
)
from karat.metrics.base import Metric
from karat.metrics.ngram import AEv
from karat.progress import Progress, silent
from karat.results import Result
from karat.settings import check_trials
from karat.stats.correlation import clipped, quotient
from karat.stats.resampling import SEED
from karat.stats.significance import is_significant

ALPHAS = tuple(k / 10 for k in range(11))
ORDERS = (1, 2, 3, 4)


class PlaneCell(NamedTuple):
    """A point of the plane."""

    alpha: float
    n: int

    def __str__(self) -> str:
        return f"AEv({self.alpha:g},{self.n})"


CELLS = tuple(PlaneCell(alpha, n) for n in ORDERS for alpha in ALPHAS)
"""All points, in the order of every array of cells: by n, then by alpha."""
BLEU_CELL = PlaneCell(1.0, 4)
ROUGE_CELL = PlaneCell(0.0, 1)
AEV_CELL = PlaneCell(0.5, 4)
"""AEv's default."""


ALL = "all"
"""The name of all references of a set."""


class BesideRow(NamedTuple):
    """A metric beside the cells; shares are between 0 and 1."""

    dimension: str
    metric: str
    references: str
    """`all`, or the numbers of those that were used."""
    r: float
    r2: float
    low: float
    high: float
    q2: float
    signature: str
    group: str = ""

    @property
    def label(self) -> str:
        """The metric and, unless it has all, its references."""
        chosen = "" if self.references == ALL else f", reference {self.references}"
        return f"{self.metric}{chosen}"


@dataclass(frozen=True, eq=False)
class Rival:
    """A metric beside the cells: its rows (systems x segments x statistics), 0 where unjudged."""

    metric: Metric
    references: str
    signature: str
    rows: Floats

    def scores(self, counts: Floats) -> Floats:
        """Draws x systems: its corpus scores, more being better; 0 where nothing is known."""
        sums = drawn_sums(counts, self.rows)
        flat = sums.reshape(-1, sums.shape[2])
        value = self.metric.sign * self.metric.measure(flat)["value"]
        return np.where(flat.any(axis=1), value, 0.0).reshape(sums.shape[:2])


@dataclass(frozen=True, eq=False)
class Lineup:
    """Outputs scored by metrics with some references: a step on the way to rivals."""

    references: str
    scored: ScoredSet

    def rivals(self, known: Floats) -> tuple[Rival, ...]:
        """Return all metrics on the outputs that somebody judged: 1 in `known`."""
        return tuple(
            Rival(m, self.references, self.scored.signature(m), rows * known[:, :, None])
            for m, rows in self.scored.rows.items()
        )


def lineups(
    evalset: EvalSet,
    metrics: Sequence[str | Metric],
    references: Sequence[int] = (),
    *,
    threads: int | None = None,
    progress: Progress = silent,
) -> tuple[Lineup, ...]:
    """Score a set by metrics with the references of these numbers, and with all that it has."""
    if not metrics:
        return ()
    chosen = {ALL: evalset}
    narrow = with_references(evalset, references)
    if narrow.references != evalset.references:
        chosen = {", ".join(map(str, references)): narrow, **chosen}
    return tuple(
        Lineup(name, score_evalset(one, metrics, threads=threads, progress=progress))
        for name, one in chosen.items()
    )


FEWEST_SYSTEMS = 3
MOST_DEALT = 7
"""Systems whose human scores are dealt in all ways: 5,040 of them."""


@dataclass(frozen=True, eq=False)
class PlaneData:
    """Systems with human scores and the rows of AEv at the longest order.

    `rows` is systems x segments x statistics, `human` systems x segments, more being better; where
    there is no human score both are 0 and `known` is 0.
    """

    metric: AEv
    systems: tuple[str, ...]
    rows: Floats
    human: Floats
    known: Floats
    references: int | None = None
    """References of every segment, if that is one number."""
    normalise: str = "none"
    rivals: tuple[Rival, ...] = ()
    """Metrics beside the cells."""
    group: str = ""
    """The group of segments that these are, if they are not all."""
    set_signature: str = ""
    """The signature of the evaluation set."""

    def part(self, group: str, places: Sequence[int]) -> PlaneData:
        """Return some segments, by their places, under the name of their group."""
        return replace(
            self,
            rows=self.rows[:, places],
            human=self.human[:, places],
            known=self.known[:, places],
            rivals=tuple(replace(one, rows=one.rows[:, places]) for one in self.rivals),
            group=group,
        )

    def scores(self, counts: Floats) -> tuple[Floats, Floats]:
        """Human scores (draws x systems) and those of all cells (cells x draws x systems).

        `counts` says how often each segment counts in each draw.
        """
        sums = drawn_sums(counts, self.rows)
        human = self.means(counts)
        flat = sums.reshape(-1, sums.shape[2])
        cells: Floats = cell_scores(self.metric, flat).reshape(len(CELLS), *human.shape)
        return human, cells

    def means(self, counts: Floats) -> Floats:
        """Human scores, draws x systems: means over what was drawn and judged."""
        judged = exact_product(counts, self.known.T)
        return quotient(exact_product(counts, self.human.T), judged)

    def whole(self) -> tuple[Floats, Floats]:
        """The scores on all segments: systems, and cells x systems."""
        human, cells = self.scores(np.ones((1, self.rows.shape[1])))
        return human[0], cells[:, 0]


def judged(
    scored: ScoredSet,
    metric: AEv,
    dimension: str,
    normalise: str = "none",
    beside: Sequence[Lineup] = (),
) -> PlaneData:
    """Return the outputs of a dimension that somebody judged, as the plane needs them."""
    check_family(metric)
    human = scored.evalset.human(dimension, normalise)
    known = ~np.isnan(human) & scored.present
    there = known.astype(np.float64)
    sides = zip(*(lineup.rivals(there) for lineup in beside), strict=True)
    sets = [scored.evalset, *(lineup.scored.evalset for lineup in beside)]
    return PlaneData(
        metric,
        tuple(scored.evalset.systems),
        scored.rows[metric] * known[:, :, None],
        np.where(known, human, 0.0),
        there,
        references_of(scored.evalset),
        normalise,
        tuple(rival for side in sides for rival in side),
        set_signature=max(sets, key=_reference_count).signature,
    )


def _reference_count(evalset: EvalSet) -> int:
    return sum(map(len, evalset.references))


def check_family(metric: AEv) -> None:
    """Refuse what has no plane."""
    if metric.refs == "best" or metric.weights is not None or metric.n != ORDERS[-1]:
        needs = f"a plane needs n={ORDERS[-1]}, equal weights and refs=all or average"
        raise InputError(f"{metric}: {needs}, so that every cell comes from the same statistics")


def cell_scores(metric: AEv, rows: Floats) -> Floats:
    """The score of every row at every cell: cells x rows, from rows at the longest order."""
    found = []
    for n in ORDERS:
        shorter = replace(metric, n=n)
        parts = shorter.measure(first_orders(rows, n))
        for alpha in ALPHAS:
            found.append(replace(shorter, alpha=alpha).combine(parts["ps"], parts["rs"]))
    return np.stack(found)


def first_orders(rows: Floats, n: int) -> Floats:
    """Rows of AEv at the longest order, cut down to n orders."""
    kinds = np.split(rows[:, 2:], 4, axis=1)
    return np.concatenate([rows[:, :2], *(kind[:, :n] for kind in kinds)], axis=1)


def correlations(human: Floats, cells: Floats, weights: Floats) -> Floats:
    """Pearson's r of each cell in each draw: cells x draws; systems count by their weights.

    NaN where it is undefined: fewer than two different systems, or constant scores.
    """
    good = ~np.isnan(human)
    w = np.where(good, weights, 0.0)
    h = np.where(good, human, 0.0)
    total = w.sum(axis=1, keepdims=True)
    h = h - quotient((w * h).sum(axis=1, keepdims=True), total)
    m = cells - ((w * cells).sum(axis=2, keepdims=True) / np.maximum(total, 1))
    hh, mm = (w * h * h).sum(axis=1), (w * m * m).sum(axis=2)
    # Equal scores are constant, whatever their mean rounds to.
    flat = (_spread(cells, w) <= 0) | (_spread(human, w) <= 0)
    return clipped(quotient((w * h * m).sum(axis=2), np.where(flat, 0.0, np.sqrt(hh * mm))))


def _spread(scores: Floats, weights: Floats) -> Floats:
    """The largest minus the smallest score among systems that count."""
    high: Floats = np.where(weights > 0, scores, -np.inf).max(axis=-1)
    low: Floats = np.where(weights > 0, scores, np.inf).min(axis=-1)
    return high - low


def best_cell(r: Floats) -> Ints:
    """The number of the cell with the largest R^2 among those with r > 0, of equals the first.

    For each column of cells x draws; -1 where no cell has r > 0.
    """
    kept = np.where(r > 0, r, -1.0)  # NaN and negative correlations are never picked
    top = kept.max(axis=0)
    first = (kept >= top - SLACK).argmax(axis=0)  # rounding must not choose between equals
    return np.where(top > 0, first, -1)


# ------------------------------------------------------------------------------------ the fit


class PlaneRow(NamedTuple):
    """One cell of a plane; shares are between 0 and 1."""

    dimension: str
    alpha: float
    n: int
    r: float
    r2: float
    low: float
    high: float
    wins: float
    q2: float
    predicted: bool | None = None
    """True if the paper predicts it, None if no prediction was asked for."""
    group: str = ""
    """The group of segments, if it is not the plane of all."""


@dataclass(frozen=True, eq=False, repr=False)
class PlaneFit(Result):
    """The plane of one dimension. Arrays of cells follow `CELLS`."""

    dimension: str
    metric: AEv
    systems: tuple[str, ...]
    segments: int
    judgements: int
    over: str
    """The units of the bootstrap: segments, systems or both."""
    seed: int
    r: Floats
    """Pearson's r of each cell."""
    draws: Floats
    """Pearson's r in each bootstrap resample: cells x resamples; NaN where it is undefined."""
    q2: Floats
    """1 - PRESS / SST of each cell: how well its line predicts systems that were left out."""
    picking: float
    """1 - PRESS / SST of the procedure: the best cell of the others predicts each system."""
    p: float
    """The share of permuted human scores with a maximum over all cells at least as large."""
    permutations: int
    """All there are if systems are few, else random ones."""
    references: int | None = None
    """References of every segment, if that is one number."""
    normalise: str = "none"
    beside: tuple[BesideRow, ...] = ()
    """Metrics beside the cells, if any were asked for."""
    group: str = ""
    """The group of segments that this is the plane of; empty for all."""
    set_signature: str = ""
    """The signature of the evaluation set."""

    @property
    def name(self) -> str:
        """The dimension and, if it is the plane of one, the group of segments."""
        return plane_name(self.dimension, self.group)

    @property
    def r2(self) -> Floats:
        """R^2 of each cell."""
        return self.r**2

    @property
    def signed(self) -> Floats:
        """R^2 in percent, negative where r is."""
        return 100 * np.sign(self.r) * self.r2

    @property
    def resamples(self) -> int:
        """Bootstrap resamples."""
        return int(self.draws.shape[1])

    @cached_property
    def intervals(self) -> tuple[Floats, Floats]:
        """The ends of the 95% bootstrap interval of R^2."""
        return intervals(self.draws**2, self.r**2)

    @cached_property
    def wins(self) -> Floats:
        """The share of resamples in which each cell is the best; they may sum to less than 1.

        In the other resamples no cell has a correlation above 0. Without resamples it is NaN.
        """
        if not self.resamples:
            return np.full(len(CELLS), np.nan)
        winners = best_cell(self.draws)
        return np.bincount(winners[winners >= 0], minlength=len(CELLS)) / self.resamples

    @property
    def significant(self) -> bool:
        """Whether the largest R^2 is larger than permuted human scores explain."""
        return is_significant(self.p)

    @property
    def maximum(self) -> PlaneCell | None:
        """The cell with the largest R^2 in these data, r > 0: over-fitted, as all maxima."""
        number = int(best_cell(self.r[:, None])[0])
        return CELLS[number] if number >= 0 else None

    @property
    def pick(self) -> PlaneCell | None:
        """The cross-validated pick: the cell that predicts left-out systems best, r > 0."""
        good = (self.r > 0) & ~np.isnan(self.q2)
        return CELLS[int(np.where(good, self.q2, -np.inf).argmax())] if good.any() else None

    @property
    def points(self) -> dict[str, PlaneCell | None]:
        """Points of the plane that a reader looks for, by what they are."""
        best_known = CELLS[int(self.wins.argmax())] if self.wins.max() > 0 else None
        return {
            "cross-validated pick": self.pick,
            "maximum": self.maximum,
            "most wins": best_known,
            "BLEU's point": BLEU_CELL,
            "ROUGE's point": ROUGE_CELL,
            "AEv's default": AEV_CELL,
        }

    @property
    def rows(self) -> tuple[PlaneRow, ...]:
        """All cells, by n and alpha."""
        arrays = self.r, self.r2, *self.intervals, self.wins, self.q2
        values = zip(CELLS, *(array.tolist() for array in arrays), strict=True)
        found = (PlaneRow(self.dimension, *cell, *numbers) for cell, *numbers in values)
        return tuple(row._replace(group=self.group) for row in found)

    @property
    def settings(self) -> dict[str, object]:
        """The family, the dimension and how intervals were made."""
        given = ("normalise", "over", "resamples", "permutations", "seed")
        how = {name: getattr(self, name) for name in given}
        beside = tuple(one.label for one in self.beside)
        return {"metric": str(self.metric), "dimension": self.dimension, **how, "beside": beside}

    @property
    def signatures(self) -> dict[str, str]:
        """The signatures of the family, of the metrics beside it and of the set."""
        own = {str(self.metric): self.metric.signature(self.references)}
        own |= {one.label: one.signature for one in self.beside}
        return own | ({"set": self.set_signature} if self.set_signature else {})

    @property
    def signature(self) -> str:
        """The signatures of the family, of the metrics beside it and of the set, a line each."""
        return "\n".join(self.signatures.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what to take from the plane."""
        return plane_notes(self)

    def row(self, cell: PlaneCell) -> PlaneRow:
        """One cell."""
        return self.rows[CELLS.index(cell)]

    def table(self, of: Floats) -> Floats:
        """An array of cells as the paper prints it: N from 4 down to 1, alpha from 0 to 1."""
        return of.reshape(len(ORDERS), len(ALPHAS))[::-1]


def plane_name(dimension: str, group: str) -> str:
    """Return the name of a plane: its dimension and, if it has one, its group of segments."""
    return f"{dimension}, {group}" if group else dimension


def fit_plane(
    given: EvalSet | GivenPath | PlaneData,
    dimension: str,
    *,
    metric: AEv | None = None,
    references: Sequence[int] = (),
    compare_with: Sequence[str | Metric] = (),
    normalise: str = "none",
    resamples: int = 1000,
    permutations: int = 1000,
    over: str = "both",
    seed: int = SEED,
    progress: Progress = silent,
) -> PlaneFit:
    """Fit the AEv plane of one dimension, with intervals, the cross-validated choice and its test.

    Args:
        given: a set, or scores that were prepared before.
        dimension: dimension that was judged.
        metric, references, compare_with: as for `study_plane`.
        normalise, over, resamples, seed, progress: as for `study_plane`.
        permutations: number of permutations of the test.
    """
    check_trials("resamples", resamples)
    check_trials("permutations", permutations)
    if not isinstance(given, PlaneData):
        given, family = as_evalset(given, progress), AEv() if metric is None else metric
        check_family(family)
        given.chosen_dimensions([dimension])
        rivals = lineups(given, compare_with, references, progress=progress)
        scored = score_evalset(with_references(given, references), family, progress=progress)
        given = judged(scored, family, dimension, normalise, rivals)
    human, cells = given.whole()
    if over not in OVER:
        raise InputError(f"over={quoted(over)}: expected one of {', '.join(OVER)}")
    known = int((~np.isnan(human)).sum())
    name = plane_name(dimension, given.group)
    if known < FEWEST_SYSTEMS:
        raise InputError(
            f"{name}: {known} system{'s' * (known != 1)} with human scores: a plane needs at "
            f"least {FEWEST_SYSTEMS}"
        )
    if np.nanmin(human) == np.nanmax(human):
        raise InputError(
            f"{name}: all systems have the same human score, and no metric can agree with that"
        )
    p, dealt = maximum_test(human, cells, permutations, seed)
    r = correlations(human[None], cells[:, None], np.ones((1, len(human))))[:, 0]
    draws = resampled(given, resamples, over, seed, progress)
    of = given.metric, given.systems, given.rows.shape[1], int(given.known.sum())
    found = r, draws, left_out(human, cells), picking(human, cells)
    others = beside_rows(given, dimension, resamples, over, seed)
    about = given.references, given.normalise, others, given.group
    made = PlaneFit(dimension, *of, over, seed, *found, p, dealt, *about)
    return replace(made, set_signature=given.set_signature)


def beside_rows(
    data: PlaneData, dimension: str, resamples: int, over: str, seed: int
) -> tuple[BesideRow, ...]:
    """Return the agreement of the metrics beside the cells, on the same draws."""
    rivals = data.rivals
    if not rivals:
        return ()
    everything = np.ones((1, data.rows.shape[1]))
    human = data.means(everything)[0]
    scores = np.stack([one.scores(everything) for one in rivals])
    r = correlations(human[None], scores, np.ones((1, len(human))))[:, 0]
    low, high = intervals(_beside_draws(data, resamples, over, seed) ** 2, r**2)
    q2 = left_out(human, scores[:, 0])
    numbers = np.stack([r, r**2, low, high, q2], axis=1).tolist()
    about = ((dimension, str(one.metric), one.references) for one in rivals)
    ends = ((one.signature, data.group) for one in rivals)
    return tuple(
        BesideRow._make((*first, *of, *last))
        for first, of, last in zip(about, numbers, ends, strict=True)
    )


def _beside_draws(data: PlaneData, resamples: int, over: str, seed: int) -> Floats:
    """Pearson's r of each metric beside the cells in each bootstrap resample."""
    shape = data.human.shape
    parts = [np.empty((len(data.rivals), 0))]
    for systems, segments in drawn_places(shape, over, resamples, seed):
        counts, weights = _kernel.tally(segments, shape[1]), _kernel.tally(systems, shape[0])
        human = data.means(counts)
        scores = np.stack([one.scores(counts) for one in data.rivals])
        parts.append(correlations(human, scores, weights))
    return np.concatenate(parts, axis=1)


def resampled(data: PlaneData, resamples: int, over: str, seed: int, progress: Progress) -> Floats:
    """Pearson's r of each cell in each bootstrap resample: cells x resamples.

    Segments are drawn the same way for all systems, and human and metric scores together. The
    draws are those of `bootstrap`.
    """
    shape = data.human.shape
    parts = [np.empty((len(CELLS), 0))]
    for systems, segments in drawn_places(shape, over, resamples, seed, progress):
        counts, weights = _kernel.tally(segments, shape[1]), _kernel.tally(systems, shape[0])
        parts.append(correlations(*data.scores(counts), weights))
    return np.concatenate(parts, axis=1)


def intervals(values: Floats, estimates: Floats) -> tuple[Floats, Floats]:
    """The 95% interval of each row's estimate by its resampled values; NaN without resamples."""
    rows = zip(values, estimates.tolist(), strict=True)
    ends = np.array([percentiles(row, estimate)[:2] for row, estimate in rows])
    return ends[:, 0], ends[:, 1]


# ------------------------------------------------------------------- systems that are left out


def left_out(human: Floats, cells: Floats) -> Floats:
    """1 - PRESS / SST of every cell, each system predicted by a line through the others.

    PRESS is the sum of squared errors e / (1 - leverage), SST that of predicting the mean of the
    others; so 0 is as good as no metric, and it may be negative. Where all the others have one
    score there is no line, and their mean is what is predicted. NaN for constant scores.
    """
    good = ~np.isnan(human)
    h, m = human[good], cells[:, good]
    n = len(h)
    dh, dm = h - h.mean(), m - m.mean(axis=1, keepdims=True)
    constant = m.max(axis=1) == m.min(axis=1)
    mm = np.where(constant, 1.0, (dm * dm).sum(axis=1))[:, None]
    from_mean = dh * n / (n - 1)
    rests = [np.delete(m, i, axis=1) for i in range(n)]
    alone = np.stack([rest.max(axis=1) == rest.min(axis=1) for rest in rests], axis=1)
    rest = np.where(alone, 1.0, 1 - 1 / n - dm**2 / mm)
    error = np.where(alone, from_mean, (dh - product(dm, dh)[:, None] / mm * dm) / rest)
    found = 1 - (error**2).sum(axis=1) / (from_mean**2).sum()
    return np.where(constant, np.nan, found)


def picking(human: Floats, cells: Floats) -> float:
    """1 - PRESS / SST of the procedure: each system is predicted by the best cell of the others."""
    good = ~np.isnan(human)
    h, m = human[good], cells[:, good]
    n = len(h)
    errors, means = [], []
    for i in range(n):
        rest = np.arange(n) != i
        r = correlations(h[None, rest], m[:, None, rest], np.ones((1, n - 1)))
        means.append(h[i] - h[rest].mean())
        cell = int(best_cell(r)[0])
        errors.append(means[-1] if cell < 0 else h[i] - _line(m[cell, rest], h[rest], m[cell, i]))
    return float(1 - np.sum(np.square(errors)) / np.sum(np.square(means)))


def _line(x: Floats, y: Floats, at: float) -> float:
    """Return the height of the least-squares line through some points at another place."""
    dx = x - x.mean()
    slope = float((dx * (y - y.mean())).sum() / (dx * dx).sum())
    return float(y.mean()) + slope * (at - float(x.mean()))


def maximum_test(human: Floats, cells: Floats, permutations: int, seed: int) -> tuple[float, int]:
    """p of the largest R^2 of all cells (r > 0), and the permutations it is from.

    Human scores are dealt to systems at random, p = (1 + as large) / (1 + permutations); in all
    ways if there are at most 7 systems, p = share as large, which is exact.
    """
    good = ~np.isnan(human)
    h, m = human[good], cells[:, good]
    if every := len(h) <= MOST_DEALT:
        dealt = np.array(list(every_order(h)))  # the first is the real one
    else:
        drawn_anew = np.random.default_rng(seed).permuted(np.tile(h, (permutations, 1)), axis=1)
        dealt = np.vstack([h, drawn_anew])
    same = np.broadcast_to(m[:, None], (len(m), *dealt.shape))
    r = correlations(dealt, same, np.ones_like(dealt))
    top = np.where(r > 0, r, 0.0).max(axis=0)  # 0 if no cell is above 0
    share = float((top >= top[0] - SLACK).mean())
    return share, len(top) if every else permutations


Worth: TypeAlias = Literal["pick", "bleu", "same", "neither"]


def plane_notes(fit: PlaneFit) -> tuple[str, ...]:
    """Return what a reader should take from one plane."""
    bleu = fit.row(BLEU_CELL).q2
    over = "systems and segments" if fit.over == "both" else fit.over
    drawn = f"{fit.resamples:,} bootstrap resamples of {over}, seed {fit.seed}"
    return (
        f"{fit.dimension}: {len(fit.systems)} systems, {fit.segments:,} segments, "
        f"{fit.judgements:,} judged outputs. {_picked(fit)}",
        f"{fit.dimension}: predicting each system from the best cell of the others explains "
        f"{format_percent(fit.picking)} of the variance, BLEU's point {format_percent(bleu)}, "
        f"{_WORTH[worth(fit)]}." + (f" Intervals: {drawn}." if fit.resamples else ""),
    )


def worth(fit: PlaneFit) -> Worth:
    """Return which predicts left-out systems better, picking a cell or BLEU's point.

    At a share of 0 a prediction is as good as the mean of the other systems.
    """
    picking, bleu = fit.picking, fit.row(BLEU_CELL).q2
    if not (picking > 0 or bleu > 0):  # a NaN is neither
        return "neither"
    if picking > bleu or not bleu > 0:
        return "pick"
    return "same" if picking == bleu else "bleu"


_WORTH: dict[Worth, str] = {
    "neither": "so neither predicts a system better than the mean of the others does",
    "pick": "so picking pays here, as far as these systems tell",
    "same": "so picking makes no difference here",
    "bleu": "so picking does not pay here: stay with BLEU's point or the paper's prediction",
}


def _picked(fit: PlaneFit) -> str:
    if fit.maximum is None:
        return "No cell can be picked: none has a correlation above 0."
    return (
        f"The cross-validated pick is {fit.pick}. The largest of 44 R^2 is over-fitted: permuted "
        f"human scores reach it with p = {fit.p:.3f} ({fit.permutations:,} permutations)."
    )


def format_percent(share: float) -> str:
    return "undefined" if math.isnan(share) else f"{100 * share:.1f}%"
