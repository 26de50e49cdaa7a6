"""Statistics of two vectors, human and metric scores; each also works on many rows at once.

A vector that has no correlation (fewer than two points, or constant) has the value NaN, never 0;
`why_undefined` says why. NaN among the scores must have been left out: see `defined`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karat import _kernel
from karat.errors import InputError, quoted
from karat.progress import Stop
from karat.stats.significance.exchanged_corpora import ScoreSums
from karat.stats.soft_pairwise import soft_pairwise_accuracy
from karat.stats.ties import calibrate

Floats = NDArray[np.float64]
Rows = Callable[[Floats, Floats], Floats]
Times = NDArray[np.int32]  # draws x points: how often each point is there
Drawn = Callable[[Floats, Floats, Times], Floats]
Groups = tuple[float, int, int]  # a value, the groups it is of, the groups left out


def defined(human: ArrayLike, metric: ArrayLike) -> tuple[Floats, Floats]:
    """The points at which both are numbers, of two arrays of one shape, as two vectors."""
    h, m = np.asarray(human, np.float64), np.asarray(metric, np.float64)
    if h.shape != m.shape:
        raise InputError(
            f"human scores have the shape {h.shape} and metric scores {m.shape}: expected the same"
        )
    both = ~(np.isnan(h) | np.isnan(m))
    return h[both], m[both]


def why_undefined(
    human: ArrayLike,
    metric: ArrayLike,
    names: tuple[str, str] = ("the human scores", "the metric scores"),
) -> str:
    """Why two vectors have no Pearson correlation, in a few words; empty if they have one."""
    h, m = defined(human, metric)
    if len(h) < 2:
        return f"{len(h)} point{'' if len(h) == 1 else 's'}, at least 2 are needed"
    for scores, name in zip((h, m), names, strict=True):
        if (scores == scores[0]).all():
            return f"{name} are constant"
        if not np.isfinite(scores).all():
            return f"{name} are not all finite"
    return ""


# ---------------------------------------------------------------------------- on many rows


def _deviations(rows: Floats) -> Floats:
    """Deviations from the mean; exactly 0 where a row is constant, whatever the mean rounds to."""
    if rows.shape[1] == 0:
        return rows
    with np.errstate(invalid="ignore"):  # an infinite score makes it NaN
        moved: Floats = rows - rows.mean(axis=1, keepdims=True)
    moved[(rows == rows[:, :1]).all(axis=1)] = 0
    return moved


def _divide(top: Floats, bottom: Floats) -> Floats:
    """Quotients; NaN where there is nothing to divide by."""
    out: Floats = np.full(np.broadcast(top, bottom).shape, np.nan)
    np.divide(top, bottom, out=out, where=bottom > 0)
    return out


def _clipped(r: Floats) -> Floats:
    """Without what rounding leaves beyond 1."""
    found: Floats = np.clip(r, -1, 1)
    return found


def pearson_rows(human: Floats, metric: Floats) -> Floats:
    """Pearson's r of each row."""
    h, m = _deviations(human), _deviations(metric)
    norms = np.sqrt((h * h).sum(axis=1)) * np.sqrt((m * m).sum(axis=1))
    return _clipped(_divide((h * m).sum(axis=1), norms))


def pearson_drawn(human: Floats, metric: Floats, times: Times) -> Floats:
    """Pearson's r of each draw."""
    return _kernel.drawn_pearson(human, metric, times)


def spearman_rows(human: Floats, metric: Floats) -> Floats:
    """Pearson's r of average ranks."""
    return pearson_rows(_kernel.average_ranks(human), _kernel.average_ranks(metric))


def r_squared_rows(human: Floats, metric: Floats) -> Floats:
    """The square of Pearson's r."""
    found: Floats = pearson_rows(human, metric) ** 2
    return found


def r_squared_drawn(human: Floats, metric: Floats, times: Times) -> Floats:
    """The square of Pearson's r of each draw."""
    found: Floats = pearson_drawn(human, metric, times) ** 2
    return found


def rmse_rows(human: Floats, metric: Floats) -> Floats:
    """Root of the mean squared difference."""
    gaps = ((human - metric) ** 2).sum(axis=1)
    return np.sqrt(_divide(gaps, np.full(len(gaps), float(human.shape[1]))))


# Pairs of each row or draw: concordant, discordant, tied in human, in metric, in both, and the
# numbers of distinct values.
Pairs = list[Floats]


def _pairs(human: Floats, metric: Floats, epsilon: float = 0.0) -> Pairs:
    return _columns(_kernel.pair_counts(human, metric, epsilon))


def _drawn_pairs(human: Floats, metric: Floats, times: Times) -> Pairs:
    return _columns(_kernel.drawn_pair_counts(human, metric, times))


def _columns(counts: NDArray[np.int64]) -> Pairs:
    found = counts.astype(np.float64)
    return [found[:, k] for k in range(found.shape[1])]


def tau_b_rows(human: Floats, metric: Floats) -> Floats:
    """Kendall's tau-b."""
    return _tau_b(_pairs(human, metric))


def tau_b_drawn(human: Floats, metric: Floats, times: Times) -> Floats:
    """Kendall's tau-b of each draw."""
    return _tau_b(_drawn_pairs(human, metric, times))


def _tau_b(pairs: Pairs) -> Floats:
    con, dis, h_ties, m_ties, _, *_ = pairs
    untied_h, untied_m = con + dis + m_ties, con + dis + h_ties
    return _clipped(_divide(con - dis, np.sqrt(untied_h) * np.sqrt(untied_m)))


def tau_c_rows(human: Floats, metric: Floats) -> Floats:
    """Kendall's tau-c (Stuart)."""
    return _tau_c(_pairs(human, metric), float(human.shape[1]))


def tau_c_drawn(human: Floats, metric: Floats, times: Times) -> Floats:
    """Kendall's tau-c of each draw."""
    return _tau_c(_drawn_pairs(human, metric, times), times.sum(axis=1, dtype=np.float64))


def _tau_c(pairs: Pairs, n: float | Floats) -> Floats:
    con, dis, _, _, _, h_values, m_values = pairs
    classes = np.minimum(h_values, m_values)
    return _divide(2 * (con - dis), n * n * (classes - 1) / np.maximum(classes, 1))


def pairwise_accuracy_rows(human: Floats, metric: Floats, epsilon: float = 0.0) -> Floats:
    """The share of pairs that the metric orders, or ties, as humans do."""
    return _accuracy(_pairs(human, metric, epsilon))


def pairwise_accuracy_drawn(human: Floats, metric: Floats, times: Times) -> Floats:
    """The same of each draw."""
    return _accuracy(_drawn_pairs(human, metric, times))


def _accuracy(pairs: Pairs) -> Floats:
    con, dis, h_ties, m_ties, both, *_ = pairs
    return _divide(con + both, con + dis + h_ties + m_ties + both)


# ----------------------------------------------------------------------------- on one pair


def _one(rows: Rows, human: ArrayLike, metric: ArrayLike) -> float:
    h, m = defined(human, metric)
    return float(rows(h.reshape(1, -1), m.reshape(1, -1))[0])


def pearson(human: ArrayLike, metric: ArrayLike) -> float:
    """Pearson's r: sum (h - mean h)(m - mean m) / (n sd(h) sd(m))."""
    return _one(pearson_rows, human, metric)


def spearman(human: ArrayLike, metric: ArrayLike) -> float:
    """Spearman's rho: Pearson's r of the ranks, equal scores sharing the mean of theirs."""
    return _one(spearman_rows, human, metric)


def r_squared(human: ArrayLike, metric: ArrayLike) -> float:
    """R^2: the share of variance that a straight line explains, Pearson's r squared."""
    return _one(r_squared_rows, human, metric)


def rmse(human: ArrayLike, metric: ArrayLike) -> float:
    """sqrt(mean (h - m)^2); both must be on one scale, and lower is better."""
    return _one(rmse_rows, human, metric)


def tau_b(human: ArrayLike, metric: ArrayLike) -> float:
    """Kendall's tau-b: (C - D) / sqrt((C + D + Th)(C + D + Tm)), Th, Tm tied in one only."""
    return _one(tau_b_rows, human, metric)


def tau_c(human: ArrayLike, metric: ArrayLike) -> float:
    """Kendall's tau-c: 2 (C - D) / (n^2 (k - 1) / k), k the smaller number of distinct scores."""
    return _one(tau_c_rows, human, metric)


def pairwise_accuracy(human: ArrayLike, metric: ArrayLike) -> float:
    """The share of pairs with equal signs of difference (Kocmi et al. 2021, for systems)."""
    return _one(pairwise_accuracy_rows, human, metric)


def acc_eq(human: ArrayLike, metric: ArrayLike, epsilon: float = 0.0) -> float:
    """(C + Thm) / pairs, a metric difference of at most epsilon being a tie (Deutsch et al. 2023).

    Without epsilon this is `pairwise_accuracy`; `ties.calibrate` finds the best epsilon.
    """
    if not epsilon >= 0:
        raise InputError(f"epsilon={epsilon}: expected a tie threshold of at least 0")
    return _one(lambda h, m: pairwise_accuracy_rows(h, m, epsilon), human, metric)


# -------------------------------------------------------------------------- over groups


def mean_of_groups(rows: Rows, human: Floats, metric: Floats) -> Groups:
    """The mean of a statistic over the rows that have it, and how many have it and have not."""
    values = each_row(rows, human, metric)
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if len(known) else float("nan")
    return mean, len(known), len(values) - len(known)


def each_row(rows: Rows, human: Floats, metric: Floats) -> Floats:
    """A statistic of each row of two matrices, NaN left out: rows of one length go together."""
    both = ~(np.isnan(human) | np.isnan(metric))
    if both.all() and both.shape[1]:
        return rows(human, metric)
    sizes = both.sum(axis=1)
    found = np.full(len(human), np.nan)
    for size in np.unique(sizes[sizes > 0]):
        here = sizes == size
        shape = int(here.sum()), int(size)
        h, m = human[here][both[here]].reshape(shape), metric[here][both[here]].reshape(shape)
        found[here] = rows(h, m)
    return found


def _calibrated_rows(human: Floats, metric: Floats) -> Floats:
    return np.array([calibrate(h, m, Stop()).accuracy for h, m in zip(human, metric, strict=True)])


def _calibrated_groups(human: Floats, metric: Floats) -> Groups:
    found = calibrate(human, metric, Stop())  # nobody asks it to stop, but Ctrl-C gets a word in
    return found.accuracy, found.groups, found.left_out


# ------------------------------------------------------------------------------- by name


@dataclass(frozen=True)
class Statistic:
    """A statistic under its name: of two vectors, of `rows` of two matrices, or over groups."""

    name: str
    rows: Rows
    help: str
    sign: int = 1  # -1 where lower is better
    together: Callable[[Floats, Floats], Groups] | None = None  # where groups share something
    drawn: Drawn | None = None  # of many draws of the same points, where that is quicker
    behind: Callable[[Floats, Floats, ScoreSums | None], float] | None = None
    """Of systems x segments, where the segments behind systems' scores tell how sure they are.

    With the function that scores sums, metric scores are statistics, as in `soft_pairwise`.
    """

    @property
    def tested(self) -> bool:
        """Whether metrics can be compared by exchanging their standardised scores."""
        return self.sign > 0 and self.behind is None

    def __call__(self, human: ArrayLike, metric: ArrayLike) -> float:
        """The statistic of two vectors; points with a NaN are left out."""
        return _one(self.rows, human, metric)

    def over(self, human: Floats, metric: Floats) -> Groups:
        """The mean over the rows of two matrices, each row a group; NaN is left out."""
        if self.together:
            return self.together(human, metric)
        return mean_of_groups(self.rows, human, metric)


STATISTICS = {
    s.name: s
    for s in (
        Statistic(
            "pearson",
            pearson_rows,
            "Pearson's r: how close to a rising straight line",
            drawn=pearson_drawn,
        ),
        Statistic("spearman", spearman_rows, "Spearman's rho: Pearson's r of ranks"),
        Statistic(
            "tau-b",
            tau_b_rows,
            "Kendall's tau-b: pairs in order, ties taken out",
            drawn=tau_b_drawn,
        ),
        Statistic(
            "tau-c",
            tau_c_rows,
            "Kendall's tau-c: for scales with few distinct values",
            drawn=tau_c_drawn,
        ),
        Statistic(
            "r2",
            r_squared_rows,
            "R^2: share of the variance explained by a line",
            drawn=r_squared_drawn,
        ),
        Statistic("rmse", rmse_rows, "root mean squared difference, on one scale", -1),
        Statistic(
            "accuracy",
            pairwise_accuracy_rows,
            "share of pairs ordered as humans do",
            drawn=pairwise_accuracy_drawn,
        ),
        Statistic(
            "acc-eq",
            _calibrated_rows,
            "the same with the best tie threshold, one for all groups",
            together=_calibrated_groups,
        ),
    )
}


SPA = Statistic(
    "spa",
    pairwise_accuracy_rows,
    "soft pairwise accuracy: pairs of systems, as sure as humans are",
    behind=lambda human, metric, score: soft_pairwise_accuracy(human, metric, score=score).value,
)
ALL_STATISTICS = {**STATISTICS, SPA.name: SPA}
"""With those that need the segments behind systems' scores."""


def statistic(name: str | Statistic) -> Statistic:
    """A statistic by its name."""
    if isinstance(name, Statistic):
        return name
    if name not in ALL_STATISTICS:
        raise InputError(f"statistic {quoted(name)}: expected one of {', '.join(ALL_STATISTICS)}")
    return ALL_STATISTICS[name]
