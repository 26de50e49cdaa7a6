"""The evaluation plane: which member of the AEv family agrees with which human guideline.

It is a grid of 44 metrics, as in Soricut and Brill (2004): R^2 between human and metric scores of
systems at alpha = 0, 0.1, ..., 1 and n = 1..4. Every cell has an interval; the maximum has a test,
and the pick is cross-validated. Statistics are computed once, for the longest order; every cell,
resample and split is scored from sums of their rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations as every_order
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

from karat.arithmetic import SLACK, product
from karat.arrays import Floats, Ints, np
from karat.errors import InputError, quoted
from karat.evalset.loading import SetSource, as_evalset
from karat.evalset.sets import EvalSet
from karat.meta.scores import (
    ScoredSet,
    references_of,
    score_evalset,
    weighted_sums,
    with_references,
)
from karat.meta.settings import OVER
from karat.meta.views import View, systems_view
from karat.metrics.base import Metric
from karat.metrics.ngram import AEv
from karat.progress import Progress, silent
from karat.results import SignedResult
from karat.settings import SEED, check_trials
from karat.stats.correlation import clipped, pearson, quotient
from karat.stats.resampling import percentiles
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
"""All cells, in the order of every array of cells: by n, then by alpha."""
BLEU_CELL = PlaneCell(1.0, 4)
ROUGE_CELL = PlaneCell(0.0, 1)
AEV_CELL = PlaneCell(0.5, 4)  # AEv's default


ALL_REFERENCES = "all"
MIN_SYSTEMS = 3
MAX_PERMUTED_SYSTEMS = 7  # with up to 7 systems, all permutations (at most 5,040) are tried


class ComparedRow(NamedTuple):
    """Agreement of another metric, such as BLEU, with the plane's human scores."""

    dimension: str
    metric: str
    references: str  # `all`, or the numbers of the references
    r: float
    r2: float
    low: float
    high: float
    q2: float
    signature: str
    group: str = ""

    @property
    def label(self) -> str:
        """The metric, and its references unless they are all."""
        if self.references == ALL_REFERENCES:
            return self.metric
        return f"{self.metric}, reference {self.references}"


@dataclass(frozen=True, eq=False)
class ComparedMetric:
    """Another metric on the plane's outputs; rows of unjudged outputs are 0."""

    metric: Metric
    references: str
    signature: str
    rows: Floats  # systems x segments x statistics

    def scores(self, counts: Floats) -> Floats:
        """Return draws x systems: corpus scores, higher is better; 0 without outputs."""
        sums = weighted_sums(counts, self.rows)
        flat = sums.reshape(-1, sums.shape[2])
        value = self.metric.sign * self.metric.measure(flat)["value"]
        return np.where(flat.any(axis=1), value, 0.0).reshape(sums.shape[:2])


def score_compared_metrics(
    evalset: EvalSet,
    metrics: Sequence[str | Metric],
    references: Sequence[int] = (),
    *,
    dimensions: Sequence[str],
    threads: int | None = None,
    progress: Progress = silent,
) -> dict[str, ScoredSet]:
    """Score a set by other metrics, with the chosen references and with all.

    Metrics that are made from judgements of the dimensions are refused.
    """
    if not metrics:
        return {}
    sets = {ALL_REFERENCES: evalset}
    narrowed = with_references(evalset, references)
    if narrowed.references != evalset.references:
        sets = {", ".join(map(str, references)): narrowed, **sets}
    return {
        label: score_evalset(
            some_references, metrics, against=dimensions, threads=threads, progress=progress
        )
        for label, some_references in sets.items()
    }


@dataclass(frozen=True, eq=False)
class PlaneData:
    """The judged outputs of a dimension, scored at all cells and by the compared metrics."""

    metric: AEv
    systems: tuple[str, ...]
    view: View  # one point per system; its metrics are the cells, then the compared metrics
    judged: Floats  # human scores, systems x segments; NaN if missing
    cell_scores: Callable[[Floats], Floats]  # from draws x segments to cells x draws x systems
    references: int | None = None  # number of references; None if it varies
    normalise: str = "none"
    compared: tuple[ComparedMetric, ...] = ()
    group: str = ""  # name of the group of segments; empty for all
    set_signature: str = ""  # the signature of the evaluation set


def plane_data(
    scored: ScoredSet,
    metric: AEv,
    dimension: str,
    normalise: str = "none",
    compared: Mapping[str, ScoredSet] = MappingProxyType({}),
    group: str = "",
    segments: Sequence[int] | None = None,
) -> PlaneData:
    """Return the judged outputs of a dimension, or of one group of its segments.

    `scored` has the statistics of AEv at the longest order, `compared` those of other metrics, by
    the references they use.
    """
    check_family(metric)
    chosen = np.arange(len(scored.evalset)) if segments is None else np.array(segments)
    judged = scored.judged(scored.evalset.human(dimension, normalise))[:, chosen]
    is_judged = ~np.isnan(judged)[:, :, None]
    rows = scored.rows[metric][:, chosen] * is_judged
    compared_metrics = tuple(
        ComparedMetric(m, label, other.signature(m), other.rows[m][:, chosen] * is_judged)
        for m in dict.fromkeys(m for other in compared.values() for m in other.metrics)
        for label, other in compared.items()
    )

    def score_cells(counts: Floats) -> Floats:
        sums = weighted_sums(counts, rows)
        cells = cell_scores(metric, sums.reshape(-1, sums.shape[2]))
        return cells.reshape(len(CELLS), *sums.shape[:2])

    def rescore(_: Sequence[Any], counts: Floats) -> list[Floats]:
        return [*score_cells(counts), *(m.scores(counts) for m in compared_metrics)]

    view = systems_view(judged, [*CELLS, *compared_metrics], rescore)
    sets = [scored.evalset, *(other.evalset for other in compared.values())]
    return PlaneData(
        metric,
        tuple(scored.evalset.systems),
        replace(view, weighted_pearson=correlations),
        judged,
        score_cells,
        references_of(scored.evalset),
        normalise,
        compared_metrics,
        group,
        max(sets, key=lambda s: sum(map(len, s.references))).signature,
    )


def check_family(metric: AEv) -> None:
    """Raise if the cells of a plane cannot be computed from the statistics of a metric."""
    if metric.refs == "best" or metric.weights is not None or metric.n != ORDERS[-1]:
        needs = f"a plane needs n={ORDERS[-1]}, equal weights and refs=all or average"
        raise InputError(f"{metric}: {needs}, so that every cell comes from the same statistics")


def cell_scores(metric: AEv, rows: Floats) -> Floats:
    """Return cells x rows: the score of every row, given at the longest order, at every cell."""
    cells, kinds = [], np.split(rows[:, 2:], 4, axis=1)
    for n in ORDERS:
        shorter = replace(metric, n=n)
        first_orders = [rows[:, :2], *(kind[:, :n] for kind in kinds)]
        parts = shorter.measure(np.concatenate(first_orders, axis=1))
        for alpha in ALPHAS:
            cells.append(replace(shorter, alpha=alpha).combine(parts["ps"], parts["rs"]))
    return np.stack(cells)


def correlations(human: Floats, cells: Floats, weights: Floats | None = None) -> Floats:
    """Return cells x draws: Pearson's r of each cell in each draw; systems have weights.

    It is NaN for fewer than two different systems and for constant scores.
    """
    good = ~np.isnan(human)
    w = good.astype(np.float64) if weights is None else np.where(good, weights, 0.0)
    h = np.where(good, human, 0.0)
    total = w.sum(axis=1, keepdims=True)
    h = h - quotient((w * h).sum(axis=1, keepdims=True), total)
    m = cells - ((w * cells).sum(axis=2, keepdims=True) / np.maximum(total, 1))
    hh, mm = (w * h * h).sum(axis=1), (w * m * m).sum(axis=2)
    # Equal scores must count as constant even if their mean is rounded.
    flat = (_spread(cells, w) <= 0) | (_spread(human, w) <= 0)
    return clipped(quotient((w * h * m).sum(axis=2), np.where(flat, 0.0, np.sqrt(hh * mm))))


def _spread(scores: Floats, weights: Floats) -> Floats:
    """Return the largest minus the smallest score among systems with a weight."""
    high: Floats = np.where(weights > 0, scores, -np.inf).max(axis=-1)
    low: Floats = np.where(weights > 0, scores, np.inf).min(axis=-1)
    return high - low


def best_cell(r: Floats) -> Ints:
    """Return the cell with the largest R^2 and r > 0 in each column of cells x draws.

    Of equal cells it is the first; -1 if no cell has r > 0.
    """
    positive = np.where(r > 0, r, -1.0)  # NaN and negative correlations are never picked
    top = positive.max(axis=0)
    first = (positive >= top - SLACK).argmax(axis=0)  # rounding must not decide between equal cells
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
    predicted: bool | None = None  # by the paper; None if no prediction was requested
    group: str = ""  # the group of segments; empty for all


@dataclass(frozen=True, eq=False, repr=False)
class PlaneFit(SignedResult):
    """The plane of one dimension. Arrays of cells follow `CELLS`."""

    dimension: str
    metric: AEv
    systems: tuple[str, ...]
    segments: int
    judgements: int
    over: str  # the units of the bootstrap: segments, systems or both
    seed: int
    r: Floats  # Pearson's r of each cell
    draws: Floats  # Pearson's r in each resample: cells x resamples; NaN where undefined
    q2: Floats  # 1 - PRESS / SST of each cell: how well its line predicts left-out systems
    picking: float  # 1 - PRESS / SST if the best cell of the others predicts each system
    p: float  # share of permuted human scores with at least as large a maximum over all cells
    permutations: int  # number of permutations: all, if there are few systems, else random ones
    references: int | None = None  # number of references; None if it varies
    normalise: str = "none"
    compared: tuple[ComparedRow, ...] = ()  # other metrics, if requested
    group: str = ""  # the group of segments; empty for all
    set_signature: str = ""  # the signature of the evaluation set

    @property
    def name(self) -> str:
        """The dimension and, if any, the group of segments."""
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
        """The share of resamples in which each cell is the best; NaN without resamples.

        Shares sum to less than 1 if in some resamples no cell has a correlation above 0.
        """
        if not self.resamples:
            return np.full(len(CELLS), np.nan)
        winners = best_cell(self.draws)
        return np.bincount(winners[winners >= 0], minlength=len(CELLS)) / self.resamples

    @property
    def significant(self) -> bool:
        """True if the largest R^2 is significant against permuted human scores."""
        return is_significant(self.p)

    @property
    def maximum(self) -> PlaneCell | None:
        """The cell with the largest R^2 and r > 0; as a maximum, it is over-fitted."""
        number = int(best_cell(self.r[:, None])[0])
        return CELLS[number] if number >= 0 else None

    @property
    def pick(self) -> PlaneCell | None:
        """The cross-validated pick: the cell with r > 0 that best predicts left-out systems."""
        good = (self.r > 0) & ~np.isnan(self.q2)
        return CELLS[int(np.where(good, self.q2, -np.inf).argmax())] if good.any() else None

    @property
    def points(self) -> dict[str, PlaneCell | None]:
        """Notable points of the plane, by name."""
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
        rows = (PlaneRow(self.dimension, *cell, *numbers) for cell, *numbers in values)
        return tuple(row._replace(group=self.group) for row in rows)

    @property
    def settings(self) -> dict[str, object]:
        """The family, the dimension and the settings of intervals."""
        names = ("normalise", "over", "resamples", "permutations", "seed")
        settings = {name: getattr(self, name) for name in names}
        labels = tuple(row.label for row in self.compared)
        return {
            "metric": str(self.metric),
            "dimension": self.dimension,
            **settings,
            "beside": labels,
        }

    @property
    def signatures(self) -> dict[str, str]:
        """The signatures of the family, of the compared metrics and of the set."""
        signatures = {str(self.metric): self.metric.signature(self.references)}
        signatures |= {row.label: row.signature for row in self.compared}
        return signatures | ({"set": self.set_signature} if self.set_signature else {})

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the plane."""
        bleu = self.row(BLEU_CELL).q2
        over = "systems and segments" if self.over == "both" else self.over
        resampling = f"{self.resamples:,} bootstrap resamples of {over}, seed {self.seed}"
        picked = "No cell can be picked: none has a correlation above 0."
        if self.maximum is not None:
            picked = (
                f"The cross-validated pick is {self.pick}. The largest of 44 R^2 is over-fitted: "
                f"permuted human scores reach it with p = {self.p:.3f} ({self.permutations:,} "
                "permutations)."
            )
        return (
            f"{self.dimension}: {len(self.systems)} systems, {self.segments:,} segments, "
            f"{self.judgements:,} judged outputs. {picked}",
            f"{self.dimension}: predicting each system from the best cell of the others explains "
            f"{format_percent(self.picking)} of the variance, BLEU's point {format_percent(bleu)}, "
            f"{_WORTH[worth(self)]}." + (f" Intervals: {resampling}." if self.resamples else ""),
        )

    def row(self, cell: PlaneCell) -> PlaneRow:
        """Return one cell."""
        return self.rows[CELLS.index(cell)]

    def table(self, values: Floats) -> Floats:
        """Return an array of cells as in the paper: n from 4 down to 1, alpha from 0 to 1."""
        return values.reshape(len(ORDERS), len(ALPHAS))[::-1]


def plane_name(dimension: str, group: str) -> str:
    """Return the name of a plane: its dimension and, if any, its group of segments."""
    return f"{dimension}, {group}" if group else dimension


def fit_plane(
    source: SetSource | PlaneData,
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
        source: a set, its name or path, the path of a table, a frame; or scores that were
            prepared before.
        dimension: dimension that was judged.
        metric, references, compare_with: as for `study_plane`.
        normalise, over, resamples, seed, progress: as for `study_plane`.
        permutations: number of permutations of the test.
    """
    check_trials("resamples", resamples)
    check_trials("permutations", permutations)
    if not isinstance(source, PlaneData):
        evalset, family = as_evalset(source, progress), AEv() if metric is None else metric
        check_family(family)
        evalset.chosen_dimensions([dimension])
        compared = score_compared_metrics(
            evalset, compare_with, references, dimensions=[dimension], progress=progress
        )
        scored = score_evalset(with_references(evalset, references), family, progress=progress)
        source = plane_data(scored, family, dimension, normalise, compared)
    view = source.view
    human, scores = view.human[:, 0], np.stack([m[:, 0] for m in view.metrics.values()])
    if over not in OVER:
        raise InputError(f"over={quoted(over)}: expected one of {', '.join(OVER)}")
    _check_human_scores(human, plane_name(dimension, source.group))
    cells = slice(len(CELLS))
    p, n_permutations = maximum_test(human, scores[cells], permutations, seed)
    r = correlations(human[None], scores[:, None])[:, 0]
    draws = view.resample(pearson, over, resamples, seed, progress)
    q2 = leave_one_out_r2(human, scores)
    low, high = intervals(draws**2, r**2)
    columns = (x[len(CELLS) :].tolist() for x in (r, r**2, low, high, q2))
    compared_rows = tuple(
        ComparedRow._make(
            (dimension, str(m.metric), m.references, *numbers, m.signature, source.group)
        )
        for m, *numbers in zip(source.compared, *columns, strict=True)
    )
    return PlaneFit(
        dimension,
        source.metric,
        source.systems,
        segments=source.judged.shape[1],
        judgements=int((~np.isnan(source.judged)).sum()),
        over=over,
        seed=seed,
        r=r[cells],
        draws=draws[cells],
        q2=q2[cells],
        picking=leave_one_out_pick_r2(human, scores[cells]),
        p=p,
        permutations=n_permutations,
        references=source.references,
        normalise=source.normalise,
        compared=compared_rows,
        group=source.group,
        set_signature=source.set_signature,
    )


def _check_human_scores(human: Floats, name: str) -> None:
    """Raise if the human scores of systems do not allow a plane."""
    n_judged = int((~np.isnan(human)).sum())
    if n_judged < MIN_SYSTEMS:
        raise InputError(
            f"{name}: {n_judged} system{'s' * (n_judged != 1)} with human scores: a plane needs at "
            f"least {MIN_SYSTEMS}"
        )
    if np.nanmin(human) == np.nanmax(human):
        raise InputError(
            f"{name}: all systems have the same human score, and no metric can agree with that"
        )


def intervals(values: Floats, estimates: Floats) -> tuple[Floats, Floats]:
    """Return the ends of the 95% interval of each row of resampled values; NaN without any."""
    rows = zip(values, estimates.tolist(), strict=True)
    ends = np.array([percentiles(row, estimate)[:2] for row, estimate in rows])
    return ends[:, 0], ends[:, 1]


# ------------------------------------------------------------------- systems that are left out


def leave_one_out_r2(human: Floats, cells: Floats) -> Floats:
    """Return 1 - PRESS / SST of every cell, each system predicted by a line through the others.

    PRESS is the sum of squared errors e / (1 - leverage), SST that of predicting the mean of the
    others; 0 is as good as no metric, and negative values are possible. If all others have the same
    score there is no line, and their mean is predicted. NaN for constant scores.
    """
    good = ~np.isnan(human)
    h, m = human[good], cells[:, good]
    n = len(h)
    dh, dm = h - h.mean(), m - m.mean(axis=1, keepdims=True)
    constant = m.max(axis=1) == m.min(axis=1)
    mm = np.where(constant, 1.0, (dm * dm).sum(axis=1))[:, None]
    from_mean = dh * n / (n - 1)
    systems_left = (np.delete(m, i, axis=1) for i in range(n))
    is_flat = np.stack([x.max(axis=1) == x.min(axis=1) for x in systems_left], axis=1)
    remaining = np.where(is_flat, 1.0, 1 - 1 / n - dm**2 / mm)  # 1 - leverage
    error = np.where(is_flat, from_mean, (dh - product(dm, dh)[:, None] / mm * dm) / remaining)
    r2 = 1 - (error**2).sum(axis=1) / (from_mean**2).sum()
    return np.where(constant, np.nan, r2)


def leave_one_out_pick_r2(human: Floats, cells: Floats) -> float:
    """Return 1 - PRESS / SST of picking: the best cell of the others predicts each system."""
    good = ~np.isnan(human)
    h, m = human[good], cells[:, good]
    n = len(h)
    errors, means = [], []
    for i in range(n):
        rest = np.arange(n) != i
        r = correlations(h[None, rest], m[:, None, rest])
        means.append(h[i] - h[rest].mean())
        cell = int(best_cell(r)[0])
        if cell < 0:
            errors.append(means[-1])
            continue
        x, y = m[cell, rest], h[rest]  # the least-squares line through the others
        dx = x - x.mean()
        slope = float((dx * (y - y.mean())).sum() / (dx * dx).sum())
        errors.append(h[i] - (float(y.mean()) + slope * float(m[cell, i] - x.mean())))
    return float(1 - np.sum(np.square(errors)) / np.sum(np.square(means)))


def maximum_test(human: Floats, cells: Floats, permutations: int, seed: int) -> tuple[float, int]:
    """Return p of the largest R^2 of all cells (r > 0), and the number of permutations.

    Human scores are permuted among systems: p = (1 + at least as large) / (1 + permutations). With
    at most 7 systems all permutations are tried, and p is the exact share.
    """
    good = ~np.isnan(human)
    h, m = human[good], cells[:, good]
    if is_exact := len(h) <= MAX_PERMUTED_SYSTEMS:
        dealt = np.array(list(every_order(h)))  # the first is the real one
    else:
        permuted = np.random.default_rng(seed).permuted(np.tile(h, (permutations, 1)), axis=1)
        dealt = np.vstack([h, permuted])
    r = correlations(dealt, np.broadcast_to(m[:, None], (len(m), *dealt.shape)))
    top = np.where(r > 0, r, 0.0).max(axis=0)  # 0 if no cell is above 0
    share = float((top >= top[0] - SLACK).mean())
    return share, len(top) if is_exact else permutations


Worth: TypeAlias = Literal["pick", "bleu", "same", "neither"]


def worth(fit: PlaneFit) -> Worth:
    """Return which predicts left-out systems better: picking a cell, or BLEU's point.

    A share of 0 is as good as predicting the mean of the other systems.
    """
    picking, bleu = fit.picking, fit.row(BLEU_CELL).q2
    if not (picking > 0 or bleu > 0):  # NaN is not
        return "neither"
    if picking > bleu or not bleu > 0:
        return "pick"
    return "same" if picking == bleu else "bleu"


_WORTH: dict[Worth, str] = {
    "neither": "so neither predicts a system better than the mean of the others does",
    "pick": "so picking pays here, judging by these systems",
    "same": "so picking makes no difference here",
    "bleu": "so picking does not pay here: stay with BLEU's point or the paper's prediction",
}


def format_percent(share: float) -> str:
    return "undefined" if math.isnan(share) else f"{100 * share:.1f}%"
