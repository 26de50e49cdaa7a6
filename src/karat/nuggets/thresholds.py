"""Thresholds: Bayesian models of how scores become judgements, compared by marginal likelihood.

A noisy threshold t: a response whose score exceeds t carries the nugget, one whose score does not
does not; then noise makes false negatives of the first with rate fn and false positives of the
second with rate fp. With TP and FN the cells above t that were judged yes and no, FP and TN those
not above it that were judged yes and no,

    L(t, fp, fn) = fp^FP (1 - fp)^TN fn^FN (1 - fn)^TP.

Each unit (all cells, a question, a nugget) has a threshold of its own, uniform over the midpoints
of its scores, at most 100 of them, and one below and one above them all; rates are uniform:

    shared rates    P(Data|Model) = ∫∫ prod over u of mean over t of L_u(t, fp, fn) dfp dfn
    own rates       P(Data|Model) = prod over u of mean over t of B(FP+1, TN+1) B(FN+1, TP+1)

The coin is the best one in hindsight, as in the paper's Table 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import lgamma, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.errors import InputError
from karat.nuggets.pool import Floats, Ints, Pool

Bools = NDArray[np.bool_]

MODELS = {
    "coin": "optimally biased coin",
    "global": "global threshold",
    "question": "per-question thresholds",
    "nugget": "per-nugget thresholds",
    "nugget-errors": "per-nugget errors and thresholds",
}
"""The models, with the paper's names."""

_MOST = 100  # thresholds of a unit
_SIDE = 48  # points of the quadrature along each rate
_FAR = 35.0  # nats below the peak; what lies lower adds nothing
_PLACES, _WEIGHTS = (x / 2 for x in np.polynomial.legendre.leggauss(_SIDE))
_PLACES = _PLACES + 0.5  # on [0, 1]


class Tally(NamedTuple):
    """A unit's thresholds, and the counts FP, TN, FN, TP at each: a row for each threshold."""

    thresholds: Floats
    counts: Floats


class Model(NamedTuple):
    """A row of the paper's Table 4."""

    name: str
    log10: float
    """log10 P(Data|Model)."""


@dataclass(frozen=True, eq=False)
class Thresholds:
    """The most likely threshold of each unit; of a unit that was never judged, the global one."""

    model: str
    units: dict[int, float]
    elsewhere: float
    fp: float
    fn: float

    def of(self, pool: Pool) -> Floats:
        """The threshold of every cell of a pool."""
        units = units_of(pool, self.model)
        known = {unit: self.units.get(unit, self.elsewhere) for unit in np.unique(units).tolist()}
        return np.array([known[unit] for unit in units.tolist()], dtype=np.float64)


def units_of(pool: Pool, model: str) -> Ints:
    """Which cells share a threshold."""
    if model not in MODELS:
        raise InputError(f"threshold model {model!r}: expected one of {', '.join(MODELS)}")
    if model == "question":
        return pool.cell_question
    return pool.cell_nugget if model.startswith("nugget") else np.zeros_like(pool.cell_nugget)


def tallies(scores: Floats, yes: Bools, units: Ints) -> dict[int, Tally]:
    """The counts of every unit at all its thresholds."""
    order = np.argsort(units, kind="stable")
    bounds = np.flatnonzero(np.diff(units[order], prepend=-1, append=-2))
    found = {}
    for first, last in pairwise(bounds):
        mine = order[first:last]
        found[int(units[mine[0]])] = _tally(scores[mine], yes[mine])
    return found


def grid(scores: Floats) -> Floats:
    """Midpoints of distinct scores, at most 100 quantiles of them, one below and one above all."""
    distinct = np.unique(scores)
    middle = (distinct[1:] + distinct[:-1]) / 2
    if len(middle) > _MOST:
        middle = np.unique(np.quantile(middle, np.linspace(0, 1, _MOST), method="nearest"))
    return np.concatenate(([distinct[0] - 1], middle, [distinct[-1] + 1]))


def _tally(scores: Floats, yes: Bools) -> Tally:
    thresholds = grid(scores)
    positive, negative = np.sort(scores[yes]), np.sort(scores[~yes])
    fp = np.searchsorted(positive, thresholds, side="right").astype(np.float64)
    tn = np.searchsorted(negative, thresholds, side="right").astype(np.float64)
    counts = np.stack([fp, tn, len(negative) - tn, len(positive) - fp], axis=1)
    return Tally(thresholds, counts)


# ----------------------------------------------------------------------- marginal likelihoods


def compare_models(pool: Pool, scores: Floats, labels: Floats) -> list[Model]:
    """log10 P(Data|Model) of all models; cells that were not judged (NaN) are left out."""
    judged = ~np.isnan(labels)
    s, yes = scores[judged], labels[judged] > 0
    found = []
    for name in MODELS:
        some = tallies(s, yes, units_of(pool, name)[judged])
        found.append(Model(name, _log_marginal(name, some, yes) / log(10)))
    return found


def _log_marginal(model: str, some: dict[int, Tally], yes: Bools) -> float:
    if model == "coin":
        return _coin(int(yes.sum()), len(yes))
    if model == "nugget-errors":
        return sum(_log_own(tally.counts) for tally in some.values())
    return _log_shared([tally.counts for tally in some.values()])


def _coin(heads: int, tosses: int) -> float:
    """log p^heads (1 - p)^tails at p = heads / tosses."""
    sides = (heads, tosses - heads)
    return sum(k * log(k / tosses) for k in sides if k)


def _log_own(counts: Floats) -> float:
    """log of the mean over t of B(FP+1, TN+1) B(FN+1, TP+1)."""
    values = [_log_beta(fp, tn) + _log_beta(fn, tp) for fp, tn, fn, tp in counts.tolist()]
    return _log_mean(np.array(values))


def _log_beta(a: float, b: float) -> float:
    return lgamma(a + 1) + lgamma(b + 1) - lgamma(a + b + 2)


def _log_mean(values: Floats) -> float:
    top = values.max()
    return float(top + np.log(np.exp(values - top).mean()))


def _log_shared(units: list[Floats]) -> float:
    """log of the integral over both rates, by Gauss and Legendre's rule on a box around the mass.

    The box starts as the unit square and shrinks to where the integrand is not negligible. On few
    cells the integrand is a polynomial that the rule integrates exactly; on many it is one smooth
    peak inside the box. A single unit needs no quadrature: the mean and the integrals commute.
    """
    if len(units) == 1:
        return _log_own(units[0])
    *_, (box, values) = _boxes(units)
    (a, b), (c, d) = box
    top = values.max()
    mass = _WEIGHTS @ np.exp(values - top) @ _WEIGHTS * (b - a) * (d - c)
    return float(top + np.log(mass))


Box = tuple[tuple[float, float], tuple[float, float]]


def _boxes(units: list[Floats]) -> Iterator[tuple[Box, Floats]]:
    """Shrinking boxes, with the log of the integrand at their nodes."""
    box: Box = ((0.0, 1.0), (0.0, 1.0))
    for _ in range(8):
        values = _log_product(units, _nodes(box[0]), _nodes(box[1]))
        yield box, values
        heavy = values > values.max() - _FAR
        rows, columns = np.flatnonzero(heavy.any(1)), np.flatnonzero(heavy.any(0))
        if min(np.ptp(rows), np.ptp(columns)) > _SIDE / 2:
            return
        box = _part(box[0], rows), _part(box[1], columns)


def _nodes(side: tuple[float, float]) -> Floats:
    low, high = side
    return np.asarray(low + _PLACES * (high - low))


def _part(side: tuple[float, float], heavy: NDArray[np.intp]) -> tuple[float, float]:
    """The part of a side from the node before the first heavy one to that after the last."""
    edges = np.concatenate(([side[0]], _nodes(side), [side[1]]))
    return float(edges[heavy[0]]), float(edges[heavy[-1] + 2])


def _log_product(units: list[Floats], fp: Floats, fn: Floats) -> Floats:
    """log of the product over units of the mean over t of L_u(t, fp, fn): fp x fn."""
    rates = _log_rates(fp, fn)
    total = np.zeros(rates.shape[1])
    for counts in units:
        logs = counts @ rates
        top = logs.max(axis=0)
        total += top + np.log(np.exp(logs - top).mean(axis=0))
    return total.reshape(len(fp), len(fn))


def _log_rates(fp: Floats, fn: Floats) -> Floats:
    """log of fp, 1 - fp, fn, 1 - fn at all pairs: 4 x pairs."""
    a, b = (x.ravel() for x in np.meshgrid(fp, fn, indexing="ij"))
    return np.log(np.stack([a, 1 - a, b, 1 - b]))


# ------------------------------------------------------------------------------- choosing


def fit_thresholds(pool: Pool, scores: Floats, labels: Floats, model: str) -> Thresholds:
    """The most likely thresholds of the judged cells, at the most likely rates."""
    judged = ~np.isnan(labels)
    s, yes = scores[judged], labels[judged] > 0
    if not judged.any():
        raise InputError("no cell was judged: thresholds cannot be learned; give judgements")
    everywhere = tallies(s, yes, np.zeros(len(s), dtype=np.int64))
    elsewhere = _likeliest(everywhere[0], *_rates(everywhere))
    some = tallies(s, yes, units_of(pool, model)[judged])
    fp, fn = _rates(some)
    own = model == "nugget-errors"
    units = {
        unit: _likeliest_own(tally) if own else _likeliest(tally, fp, fn)
        for unit, tally in some.items()
    }
    return Thresholds(model, units, elsewhere, fp, fn)


def _rates(some: dict[int, Tally]) -> tuple[float, float]:
    """The most likely shared rates."""
    *_, (box, values) = _boxes([tally.counts for tally in some.values()])
    row, column = np.unravel_index(values.argmax(), values.shape)
    return float(_nodes(box[0])[row]), float(_nodes(box[1])[column])


def _likeliest(tally: Tally, fp: float, fn: float) -> float:
    logs = tally.counts @ _log_rates(np.array([fp]), np.array([fn]))
    return float(tally.thresholds[logs[:, 0].argmax()])


def _likeliest_own(tally: Tally) -> float:
    values = [_log_beta(fp, tn) + _log_beta(fn, tp) for fp, tn, fn, tp in tally.counts.tolist()]
    return float(tally.thresholds[int(np.argmax(values))])


def best_f_threshold(scores: Floats, yes: Bools) -> float:
    """The threshold with the best F of the positive class, halfway between two scores."""
    if not len(scores):
        raise InputError("no cell was judged: a threshold cannot be learned; give judgements")
    order = np.argsort(-scores, kind="stable")
    s, hits = scores[order], np.cumsum(yes[order])
    f = 2 * hits / (np.arange(1, len(s) + 1) + hits[-1])
    ends = np.append(s[1:] != s[:-1], True)  # equal scores fall on one side
    k = int(np.where(ends, f, -1.0).argmax())
    return float((s[k] + s[k + 1]) / 2 if k + 1 < len(s) else s[k] - 1)
