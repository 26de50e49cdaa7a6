"""Thresholds: Bayesian models of how scores become judgements, compared by marginal likelihood.

A noisy threshold t: a response carries the nugget if its score exceeds t; then noise turns yes into
no with the rate fn, and no into yes with the rate fp. With TP and FN the numbers of cells above t
that were judged yes and no, and FP and TN the numbers of other cells that were judged yes and no,

    L(t, fp, fn) = fp^FP (1 - fp)^TN fn^FN (1 - fn)^TP.

Each unit (all cells, a question, a nugget) has its own threshold, with a uniform prior over the
midpoints of its scores, at most 100 of them, one value below and one above all; rates are uniform:

    shared rates    P(Data|Model) = ∫∫ prod over u of mean over t of L_u(t, fp, fn) dfp dfn
    own rates       P(Data|Model) = prod over u of mean over t of B(FP+1, TN+1) B(FN+1, TP+1)

The coin has the best bias in hindsight, as in the paper's Table 4. The probability of a score
averages over all thresholds of its unit by their posterior probability:

    P(yes | score) = sum over t of P(t | Data) (1 - fn if score > t, else fp)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import ldexp, pi
from typing import NamedTuple

from karat.arithmetic import exp, log, log_gamma, product, quick_exp
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError, quoted
from karat.nuggets.prediction.pool import Pool

MODELS = {
    "coin": "optimally biased coin",
    "global": "global threshold",
    "question": "per-question thresholds",
    "nugget": "per-nugget thresholds",
    "nugget-errors": "per-nugget errors and thresholds",
}
"""The models, with the paper's names."""
NOISY = tuple(name for name in MODELS if name != "coin")  # those that have thresholds
BEST_F = "best-f"
"""One threshold, with the best F: most results of the paper use it."""
GIVEN = "given"  # one threshold from the settings
BUILT_IN = "built-in"  # one threshold for sets without judgements
_ABOVE, _BELOW = 0.64, 0.2  # shares judged yes above and below it on REALSumm and RAG 2024

_MAX_CUTS = 100  # thresholds of a unit
_FAR = 35.0  # nats below the peak beyond which the mass is negligible
_CLIMBS = 30  # steps towards the most likely rates
_COARSE, _FINE = 16, 36  # nodes to locate the mass, and to integrate it
_TINY = 1e-9  # keeps logarithms of rates finite


@cache
def _rule(points: int) -> tuple[Floats, Floats]:
    """Return the nodes and weights of Gauss-Legendre quadrature on [0, 1].

    Nodes are the roots of Legendre's polynomial, by Newton's method from cosines close to them.
    """
    angle = pi * (np.arange(points)[::-1] + 0.75) / (points + 0.5)
    x = 1 - 2 * np.square(_sine(angle / 2))
    for _ in range(5):
        value, slope = _legendre(points, x)
        x = x - value / slope
    slope = _legendre(points, x)[1]
    return (x + 1) / 2, 1 / ((1 - x * x) * slope * slope)


def _sine(x: Floats) -> Floats:
    """Return the sine for x between 0 and pi / 2, by its series."""
    total = term = x
    for k in range(3, 21, 2):
        term = -term * x * x / (k * (k - 1))
        total = total + term
    return total


def _legendre(order: int, x: Floats) -> tuple[Floats, Floats]:
    """Return Legendre's polynomial and its slope, for |x| < 1."""
    before, value = np.ones_like(x), x
    for k in range(2, order + 1):
        before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
    return value, order * (before - x * value) / (1 - x * x)


class ThresholdTally(NamedTuple):
    """A unit's thresholds, and the counts FP, TN, FN, TP at each: a row for each threshold."""

    thresholds: Floats
    counts: Floats


class ThresholdModel(NamedTuple):
    """A row of the paper's Table 4."""

    name: str
    log10: float  # log10 P(Data|Model)


class ModelRow(NamedTuple):
    """A threshold model: log10 P(Data|Model), and its agreement if it was tried."""

    model: str
    name: str
    log10: float
    likeliest: bool
    precision: float | None = None
    recall: float | None = None
    f: float | None = None
    tau_b: float | None = None
    r_squared: float | None = None
    rmse: float | None = None


class NoisyThreshold(NamedTuple):
    """The most likely threshold of a unit, and P(yes) above and below each of its thresholds."""

    threshold: float
    thresholds: Floats
    chances: Floats  # p(yes | score) for a score that exceeds none, one, two … of the thresholds

    def chance(self, scores: Floats) -> Floats:
        """Return P(yes | score)."""
        return self.chances[np.searchsorted(self.thresholds, scores, side="left")]


@dataclass(frozen=True, eq=False)
class Thresholds:
    """The most likely threshold of each unit; units without judgements have the global one."""

    model: str
    steps: dict[int, NoisyThreshold]
    elsewhere: NoisyThreshold
    fp: float  # shared error rates; if units have their own, the rates of the global threshold
    fn: float

    def of(self, pool: Pool) -> Floats:
        """Return the threshold of every cell of a pool."""
        thresholds = np.full(len(pool.cell_nugget), self.elsewhere.threshold)
        for unit, cells in _members(units_of(pool, self.model)):
            if unit in self.steps:
                thresholds[cells] = self.steps[unit].threshold
        return thresholds

    def carried(self, pool: Pool, scores: Floats) -> Flags:
        """Return which scores exceed their thresholds.

        A nugget with its own error rates is carried if that is more probable than not: its rates
        may exceed one half, and its threshold may be beyond all scores.
        """
        if self.model == "nugget-errors":
            return self.chances(pool, scores) > 0.5
        return scores > self.of(pool)

    def chances(self, pool: Pool, scores: Floats) -> Floats:
        """Return P(yes | score) of every cell of a pool."""
        probabilities = self.elsewhere.chance(scores)
        for unit, cells in _members(units_of(pool, self.model)):
            if unit in self.steps:
                probabilities[cells] = self.steps[unit].chance(scores[cells])
        return probabilities


def units_of(pool: Pool, model: str) -> Ints:
    """Return the unit of each cell; cells of one unit share a threshold."""
    if model not in MODELS and model not in (BEST_F, GIVEN, BUILT_IN):
        names = ", ".join([*MODELS, BEST_F])
        raise InputError(f"threshold model {quoted(model)}: expected one of {names}")
    if model == "question":
        return pool.cell_question
    return pool.cell_nugget if model.startswith("nugget") else np.zeros_like(pool.cell_nugget)


def _members(units: Ints) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield every unit, and its cells."""
    order = np.argsort(units, kind="stable")
    bounds = np.flatnonzero(np.diff(units[order], prepend=-1, append=-2))
    for first, last in pairwise(bounds):
        yield int(units[order[first]]), order[first:last]


def tallies(scores: Floats, yes: Flags, units: Ints) -> dict[int, ThresholdTally]:
    """Return the counts of every unit at all its thresholds."""
    return {unit: _tally(scores[cells], yes[cells]) for unit, cells in _members(units)}


def candidate_thresholds(scores: Floats) -> Floats:
    """Return midpoints of distinct scores, at most 100, and one below and one above all."""
    distinct = np.unique(scores)
    middle = (distinct[1:] + distinct[:-1]) / 2
    if len(middle) > _MAX_CUTS:
        middle = np.unique(np.quantile(middle, np.linspace(0, 1, _MAX_CUTS), method="nearest"))
    return np.concatenate(([distinct[0] - 1], middle, [distinct[-1] + 1]))


def _tally(scores: Floats, yes: Flags, thresholds: Floats | None = None) -> ThresholdTally:
    at = candidate_thresholds(scores) if thresholds is None else thresholds
    judged = np.sort(scores[yes]), np.sort(scores[~yes])
    fp, tn = (np.searchsorted(group, at, side="right").astype(np.float64) for group in judged)
    return ThresholdTally(at, np.stack([fp, tn, len(judged[1]) - tn, len(judged[0]) - fp], axis=1))


# ----------------------------------------------------------------------- marginal likelihoods


def compare_models(pool: Pool, scores: Floats, labels: Floats) -> list[ThresholdModel]:
    """Return log10 P(Data|Model) of all models; cells that were not judged (NaN) are left out."""
    judged = ~np.isnan(labels)
    s, yes = scores[judged], labels[judged] > 0

    def log_marginal(model: str) -> float:
        if model == "coin":  # log p^heads (1 - p)^tails at p = heads / tosses
            sides, tosses = (int(yes.sum()), int((~yes).sum())), len(yes)
            return sum(k * log(k / tosses) for k in sides if k)
        units = [tally.counts for tally in tallies(s, yes, units_of(pool, model)[judged]).values()]
        return sum(map(_log_own, units)) if model == "nugget-errors" else _log_shared(units)

    return [ThresholdModel(name, log_marginal(name) / log(10)) for name in MODELS]


def _log_own(counts: Floats) -> float:
    """Return log of the mean over t of B(FP+1, TN+1) B(FN+1, TP+1)."""
    values = _log_betas(counts)
    top = values.max()
    return float(top + log(float(quick_exp(values - top).mean())))


def _log_betas(counts: Floats) -> Floats:
    """Return log B(FP+1, TN+1) B(FN+1, TP+1) of every row of counts."""
    fp, tn, fn, tp = counts.T.astype(np.int64)
    f = _log_factorials(int(counts[0].sum()).bit_length() if len(counts) else 0)
    return np.asarray(f[fp] + f[tn] - f[fp + tn + 1] + (f[fn] + f[tp] - f[fn + tp + 1]))


@cache
def _log_factorials(bits: int) -> Floats:
    """Return log k! for all k of at most `bits` bits, and for the next k."""
    return log_gamma(np.arange(1.0, (1 << bits) + 2))


def _log_shared(units: list[Floats]) -> float:
    """Return log of the integral over both rates, by Gauss-Legendre quadrature around the mass.

    For few cells the integrand is a polynomial that the rule integrates exactly; for many it is one
    smooth peak inside the box. A single unit needs no quadrature: mean and integrals commute.
    """
    if len(units) == 1:
        return _log_own(units[0])
    (a, b), (c, d) = box = _mass(units)[0]
    places, weights = _rule(_FINE)
    values = _log_product(units, *(_nodes(side, places) for side in box))
    top = values.max()
    inner = product(product(weights, exp(values - top)), weights)
    return float(top + log(float(inner) * (b - a) * (d - c)))


def _mass(units: list[Floats]) -> tuple[list[tuple[float, float]], tuple[float, float]]:
    """Return a box around the mass that is not negligible, and its highest node.

    The box starts as the unit square and shrinks until the mass fills half of it.
    """
    box = [(0.0, 1.0), (0.0, 1.0)]
    for _ in range(16):
        fp, fn = nodes = [_nodes(side, _rule(_COARSE)[0]) for side in box]
        values = _log_product(units, fp, fn)
        heavy = values > values.max() - _FAR
        heavy_indices = np.flatnonzero(heavy.any(1)), np.flatnonzero(heavy.any(0))
        if min(map(np.ptp, heavy_indices)) > _COARSE / 2:
            break
        edges = [np.array([a, *x, b]) for (a, b), x in zip(box, nodes, strict=True)]
        # From the node before the first heavy one to that after the last.
        box = [
            (float(e[k[0]]), float(e[k[-1] + 2])) for e, k in zip(edges, heavy_indices, strict=True)
        ]
    row, column = np.unravel_index(values.argmax(), values.shape)
    return box, (float(fp[row]), float(fn[column]))


def _nodes(side: tuple[float, float], places: Floats) -> Floats:
    low, high = side
    return np.asarray(low + places * (high - low))


def _log_product(units: list[Floats], fp: Floats, fn: Floats) -> Floats:
    """Return log of the product over units of the mean over t of L_u(t, fp, fn): fp x fn."""
    rates = _log_rates(*(x.ravel() for x in np.meshgrid(fp, fn, indexing="ij")))
    total = np.zeros(rates.shape[1])
    for counts in units:
        logs = product(counts, rates)
        top = logs.max(axis=0)
        total += top + log(quick_exp(logs - top).mean(axis=0))
    return total.reshape(len(fp), len(fn))


def _log_rates(fp: Floats | float, fn: Floats | float) -> Floats:
    """Return log of fp, 1 - fp, fn, 1 - fn: a row each."""
    return log(np.stack([fp, 1 - fp, fn, 1 - fn]))


# ------------------------------------------------------------------------------- choosing


def likeliest_model(models: Sequence[ThresholdModel]) -> str:
    """Return the likeliest model with thresholds; the simplest of equals."""
    return max((m for m in models if m.name in NOISY), key=lambda model: model.log10).name


def model_rows(
    models: Sequence[ThresholdModel], agreements: Sequence[Sequence[float] | None] = ()
) -> tuple[ModelRow, ...]:
    """Return the paper's Table 4, with the agreement of each model that was tried."""
    if not models:
        return ()
    first, agreed = likeliest_model(models), agreements or [None] * len(models)
    return tuple(
        ModelRow(
            model.name, MODELS[model.name], model.log10, model.name == first, *(agreement or ())
        )
        for model, agreement in zip(models, agreed, strict=True)
    )


def fit_thresholds(pool: Pool, scores: Floats, labels: Floats, model: str) -> Thresholds:
    """Fit the most likely thresholds of the judged cells, at the most likely rates.

    `BEST_F` is one threshold, chosen by F.
    """
    judged = ~np.isnan(labels)
    s, yes = scores[judged], labels[judged] > 0
    if not judged.any():
        raise InputError("no cell was judged: thresholds cannot be learned; give judgements")
    units = units_of(pool, model)[judged]
    if model == BEST_F:
        return fixed_threshold(scores, labels, best_f_threshold(s, yes), BEST_F)
    everywhere = tallies(s, yes, np.zeros(len(s), dtype=np.int64))
    elsewhere = _step(everywhere[0], *_rates(everywhere))
    unit_tallies, has_own_rates = tallies(s, yes, units), model == "nugget-errors"
    rates = _rates(everywhere if has_own_rates else unit_tallies)
    steps = {
        unit: _own_step(tally) if has_own_rates else _step(tally, *rates)
        for unit, tally in unit_tallies.items()
    }
    return Thresholds(model, steps, elsewhere, *rates)


def fixed_threshold(scores: Floats, labels: Floats, at: float, model: str = GIVEN) -> Thresholds:
    """Return one threshold for all cells, with its expected error rates."""
    judged = ~np.isnan(labels)
    step = _own_step(_tally(scores[judged], labels[judged] > 0, np.array([at])))
    return Thresholds(model, {}, step, float(step.chances[0]), float(1 - step.chances[1]))


def built_in_threshold(n: int) -> Thresholds:
    """Return the threshold of normalised scores for sets without judgements: 2^-n.

    A response carries a nugget if it scores more than this share of the score of the nugget's own
    description. It was chosen on REALSumm and TREC RAG 2024 (n = 2: the best F is at .256 and
    .253), so neither can test it; `experiments/nuggets_thresholds.py` tests the threshold of each
    on the other.
    """
    share = ldexp(1.0, -n)
    step = NoisyThreshold(share, np.array([share]), np.array([_BELOW, _ABOVE]))
    return Thresholds(BUILT_IN, {}, step, _BELOW, 1 - _ABOVE)


def _rates(unit_tallies: dict[int, ThresholdTally]) -> tuple[float, float]:
    """Return the most likely shared rates, by expectation maximization from a coarse grid."""
    units = [tally.counts for tally in unit_tallies.values()]
    rates = _mass(units)[1]
    counts = np.concatenate(units)
    sizes = [len(unit) for unit in units]
    starts = np.cumsum([0, *sizes[:-1]])
    for _ in range(_CLIMBS):  # each unit averages over its thresholds by their likelihood
        logs = product(counts, _log_rates(*rates))
        likely = exp(logs - np.repeat(np.maximum.reduceat(logs, starts), sizes))
        share = likely / np.repeat(np.add.reduceat(likely, starts), sizes)
        fp, tn, fn, tp = product(share, counts).tolist()
        rates = (fp + _TINY) / (fp + tn + 2 * _TINY), (fn + _TINY) / (fn + tp + 2 * _TINY)
    return rates


def _step(tally: ThresholdTally, fp: float, fn: float) -> NoisyThreshold:
    """Weight thresholds by their likelihood at shared rates."""
    return _weighed(tally, product(tally.counts, _log_rates(fp, fn)), fp, fn)


def _own_step(tally: ThresholdTally) -> NoisyThreshold:
    """Weight thresholds by their likelihood, each with its expected rates."""
    fp, tn, fn, tp = tally.counts.T
    rates = (fp + 1) / (fp + tn + 2), (fn + 1) / (fn + tp + 2)
    return _weighed(tally, _log_betas(tally.counts), *rates)


def _weighed(
    tally: ThresholdTally, logs: Floats, fp: Floats | float, fn: Floats | float
) -> NoisyThreshold:
    likely = exp(logs - logs.max())
    likely /= likely.sum()
    passed, failed = likely * (1 - fn), likely * fp
    chances = np.append(0, np.cumsum(passed)) + failed.sum() - np.append(0, np.cumsum(failed))
    likeliest = float(tally.thresholds[logs.argmax()])
    return NoisyThreshold(likeliest, tally.thresholds, np.clip(chances, 0, 1))


def best_f_threshold(scores: Floats, yes: Flags) -> float:
    """Return the threshold with the best F of the positive class, halfway between two scores."""
    if not len(scores):
        raise InputError("no cell was judged: a threshold cannot be learned; give judgements")
    order = np.argsort(-scores, kind="stable")
    s, hits = scores[order], np.cumsum(yes[order])
    f = 2 * hits / (np.arange(1, len(s) + 1) + hits[-1])
    ends = np.append(s[1:] != s[:-1], True)  # equal scores fall on one side
    k = int(np.where(ends, f, -1.0).argmax())
    return float((s[k] + s[k + 1]) / 2 if k + 1 < len(s) else s[k] - 1)
