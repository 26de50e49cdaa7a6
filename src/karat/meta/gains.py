"""The worth of a gain in a metric: the probability that people prefer the system with more.

The data are pairs of systems of judged collections. For two systems of one collection, the gain
d >= 0 is the difference of their corpus scores, and y the probability, over bootstrap resamples of
the units, that people prefer the system with the higher score. For a collection c of a kind of
task,

    logit P(people prefer the higher score) = b_c d / s,    b_c = beta_kind + u_c,
    u_c ~ N(0, tau^2),    beta_kind ~ N(beta, omega^2)

where s is the typical gain of the metric. tau is shared by all kinds. The priors are
beta ~ N(0, 2^2), and half-normal with scale 1 for tau and omega.

Pairs share systems, so they are not independent. The log-likelihood of a collection is multiplied
by

    w = min(H / J, 2 / S)

H is its curvature at the best slope, J the variance of its derivative over bootstrap resamples of
the S systems; 2 / S makes the pairs worth S - 1 independent ones at most. Dimensions of one
collection are averaged. All integrals are sums over a grid of slopes.

`experiments/gains.py` evaluates the model and writes `data/gains.json`, which has the
log-likelihood of each built-in collection, so that other collections can be added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, sqrt
from typing import NamedTuple

from karat.arithmetic import exp, log1p, product, sigmoid
from karat.arrays import Floats, Ints, np
from karat.errors import InputError, quoted
from karat.evalset.loading import SetSource, as_evalset
from karat.evalset.sets import EvalSet
from karat.gains import MIN_COLLECTIONS, GainCurve, check_kind, gain_data
from karat.meta.agreement import weighted_means
from karat.meta.scores import ScoredSet, score_evalset
from karat.metrics.base import Metric
from karat.progress import Progress, silent
from karat.results import Column, SignedResult, number
from karat.score_settings import TASK_KINDS
from karat.scoring import load_metrics
from karat.settings import SEED
from karat.stats.resampling import bootstrap_counts

GAIN_METRICS = ("bleu", "chrf", "rougeL")
MIN_GROUPS = 6
"""With fewer documents or questions, human scores are resampled by segment."""
HUMAN_RESAMPLES = 1000
SYSTEM_RESAMPLES = 500
MEAN_SPREAD = 2.0
"""Standard deviation of the prior of beta, and of slopes where the weight is computed."""
SLOPES = np.linspace(-8.0, 12.0, 201)
SPREADS = np.array([0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.2, 1.5, 2.0, 2.5, 3.0])
"""Grid of tau and omega; weights allow for its uneven steps."""


class PairGains(NamedTuple):
    """All pairs of systems of one collection under one metric."""

    collection: str
    kind: str
    systems: int
    first: Ints  # the system with the higher metric score
    second: Ints
    gain: Floats  # metric difference, at least 0
    agreement: Floats  # pairs x dimensions: P(people prefer the first), NaN if unknown
    dimensions: tuple[str, ...]

    @property
    def mean_agreement(self) -> Floats:
        """The mean over the dimensions, by pair."""
        return np.asarray(np.nanmean(self.agreement, axis=1))


def preferences(human: Floats, groups: Sequence[str] | None, seed: int = SEED) -> Floats:
    """Return systems x systems: P(mean of row > mean of column) over resamples of the units.

    Ties count one half. Units are groups of segments if there are at least `MIN_GROUPS`, else
    segments. Systems without human scores have NaN.
    """
    judged = np.flatnonzero(~np.isnan(human).all(axis=0)).tolist()
    if not judged:
        return np.full((len(human), len(human)), np.nan)
    labels = [groups[k] if groups else str(k) for k in judged]
    if len({*labels}) < MIN_GROUPS:
        labels = [str(k) for k in judged]
    unit_of = np.unique(labels, return_inverse=True)[1]
    wins = np.zeros((len(human), len(human)))
    for counts in bootstrap_counts(int(unit_of.max()) + 1, HUMAN_RESAMPLES, seed):
        means = weighted_means(human[:, judged], counts[:, unit_of])
        differences = means[:, :, None] - means[:, None, :]
        wins += (0.5 + 0.5 * np.sign(np.nan_to_num(differences))).sum(axis=0)
    has_scores = ~np.isnan(human).all(axis=1)
    return np.where(np.outer(has_scores, has_scores), wins / HUMAN_RESAMPLES, np.nan)


def pair_gains(
    scored: ScoredSet,
    metric: Metric,
    kind: str,
    shares: Mapping[str, Floats],
) -> PairGains:
    """Return the pairs of systems of a set; `shares` are the preferences of each dimension."""
    present = scored.present
    scores = scored.corpus(metric, np.ones((1, present.shape[1])), present)[0]
    i, j = np.triu_indices(len(scores), 1)
    swap = scores[j] > scores[i]
    first, second = np.where(swap, j, i), np.where(swap, i, j)
    gain = scores[first] - scores[second]
    agreement = np.stack([table[first, second] for table in shares.values()], axis=1)
    keep = (gain > 0) & ~np.isnan(agreement).all(axis=1)
    used = np.unique(np.concatenate([first[keep], second[keep]]))
    return PairGains(
        scored.evalset.name,
        kind,
        len(used),
        np.searchsorted(used, first[keep]),
        np.searchsorted(used, second[keep]),
        gain[keep],
        agreement[keep],
        tuple(shares),
    )


def typical_gain(gains: Sequence[PairGains]) -> float:
    """Return s: the median over collections of the root mean square of the gains."""
    return float(np.median([sqrt(float(np.mean(g.gain * g.gain))) for g in gains]))


def log_likelihood(gains: PairGains, sizes: Floats, largest_weight: float | None = None) -> Floats:
    """Return the weighted log-likelihood of each slope of the grid; `sizes` is f(d / s) by pair.

    The weight is at most `largest_weight`, by default 2 / S.
    """
    y = gains.mean_agreement
    eta = SLOPES[:, None] * sizes
    # y log sigma(t) + (1 - y) log sigma(-t) = y t - log(1 + e^t)
    total = (y * eta - np.maximum(eta, 0) - log1p(exp(-np.abs(eta)))).sum(axis=1)
    largest = 2 / gains.systems if largest_weight is None else largest_weight
    return np.asarray(min(bootstrap_weight(gains, sizes, total), largest) * total)


def bootstrap_weight(gains: PairGains, sizes: Floats, total: Floats) -> float:
    """Return H / J from resamples of the systems; `total` is the log-likelihood of all pairs."""
    penalty = SLOPES * SLOPES / (2 * MEAN_SPREAD * MEAN_SPREAD)
    slope = SLOPES[int(np.argmax(2 / gains.systems * total - penalty))]
    p = sigmoid(slope * sizes)
    curvature = float((sizes * sizes * p * (1 - p)).sum())
    derivative = (gains.mean_agreement - p) * sizes
    sums = np.concatenate(
        [
            (counts[:, gains.first] * counts[:, gains.second] * derivative).sum(axis=1)
            for counts in bootstrap_counts(gains.systems, SYSTEM_RESAMPLES)
        ]
    )
    variance = float(sums.var())
    return curvature / variance if variance > 0 else inf


@lru_cache(maxsize=1)
def _densities_by_spread() -> list[Floats]:
    """Return, for each of `SPREADS`, slopes x slopes: the density of N(row, spread^2), by row."""
    tables = []
    for spread in SPREADS:
        z = (SLOPES[None, :] - SLOPES[:, None]) / spread
        density = exp(-0.5 * z * z)
        tables.append(density / density.sum(axis=1, keepdims=True))
    return tables


def slope_distributions(
    likelihoods: Sequence[tuple[str, Floats]],
    kinds: Sequence[str] = tuple(TASK_KINDS),
    scale: float = 1.0,
) -> dict[str, Floats]:
    """Return the distribution of the slope of a new collection of each kind, over `SLOPES`.

    `likelihoods` has the kind and the log-likelihood of each collection; `scale` is that of the
    priors of tau and omega.
    """
    names = [*dict.fromkeys([*kinds, *(kind for kind, _ in likelihoods)])]
    spread_weights = exp(-0.5 * (SPREADS / scale) * (SPREADS / scale)) * np.gradient(SPREADS)
    mean_prior = exp(-SLOPES * SLOPES / (2 * MEAN_SPREAD * MEAN_SPREAD))
    relative = np.ones((len(SLOPES), len(likelihoods)))
    for column, (_, values) in enumerate(likelihoods):
        relative[:, column] = exp(values - values.max())
    totals = np.zeros((len(kinds), len(SLOPES)))
    for tau_weight, within in zip(spread_weights, _densities_by_spread(), strict=True):
        by_collection = product(within, relative)
        by_kind = np.ones((len(SLOPES), len(names)))
        for column, (kind, _) in enumerate(likelihoods):
            by_kind[:, names.index(kind)] *= by_collection[:, column]
        means = np.zeros((len(kinds), len(SLOPES)))
        for omega_weight, between in zip(spread_weights, _densities_by_spread(), strict=True):
            marginals = product(between, by_kind)
            other_kinds = [
                mean_prior * np.prod(np.delete(marginals, k, axis=1), axis=1)
                for k in range(len(kinds))
            ]
            means += omega_weight * product(np.stack(other_kinds), between)
        totals += tau_weight * product(means * by_kind[:, : len(kinds)].T, within)
    return {kind: row / row.sum() for kind, row in zip(kinds, totals, strict=True)}


def slope_quantiles(distribution: Floats, levels: Floats) -> Floats:
    """Return quantiles of a distribution over `SLOPES`, interpolated."""
    return np.asarray(np.interp(levels, np.cumsum(distribution) - distribution / 2, SLOPES))


# ------------------------------------------------------------------------------------- curves

N_SLOPES = 20
GAIN_STEPS = (0.25, 0.5, 1.0, 2.0)
"""Gains in the table of curves, in typical gains."""


class SlopeEvidence(NamedTuple):
    """Evidence of one collection about the slope of one metric."""

    collection: str
    kind: str
    systems: int
    pairs: int
    agreement: float  # mean over the pairs
    largest_gain: float
    log_likelihood: tuple[float, ...]  # of `SLOPES`
    is_built_in: bool = True


def gain_evidence(gains: PairGains, typical: float, *, is_built_in: bool = True) -> SlopeEvidence:
    """Return the evidence of a collection about the slope."""
    values = log_likelihood(gains, gains.gain / typical)
    return SlopeEvidence(
        gains.collection,
        gains.kind,
        gains.systems,
        len(gains.gain),
        float(gains.mean_agreement.mean()),
        float(gains.gain.max()),
        tuple(np.round(values - values.max(), 4).tolist()),
        is_built_in,
    )


def built_in_evidence(metric: str) -> list[SlopeEvidence]:
    """Return the evidence that Karat has about a metric; empty if it has none."""
    collections = gain_data().get(metric, {"collections": ()})["collections"]
    return [
        SlopeEvidence(**{**c, "log_likelihood": tuple(c["log_likelihood"])}) for c in collections
    ]


def gain_curves(
    metric: str, evidence: Sequence[SlopeEvidence], typical: float, *, is_reliable: bool
) -> dict[str, GainCurve]:
    """Return the curve of each kind of task."""
    likelihoods = [(e.kind, np.array(e.log_likelihood)) for e in evidence]
    largest = max(e.largest_gain for e in evidence)
    curves = {}
    for kind, slopes in slope_distributions(likelihoods).items():
        members = [e for e in evidence if e.kind == kind]
        levels = (np.arange(N_SLOPES) + 0.5) / N_SLOPES
        low, high = np.round(slope_quantiles(slopes, np.array([0.05, 0.95])), 4).tolist()
        curves[kind] = GainCurve(
            metric,
            kind,
            len(members),
            typical,
            max((e.largest_gain for e in members), default=largest),
            tuple(np.round(slope_quantiles(slopes, levels), 4).tolist()),
            low,
            high,
            is_reliable,
        )
    return curves


class CurveRow(NamedTuple):
    """Agreement of people with a gain of one size, for one kind of task."""

    metric: str
    kind: str
    collections: int
    gain: float | None = None  # None with too few collections
    agreement: float | None = None
    low: float | None = None
    high: float | None = None


class CollectionRow(NamedTuple):
    """One collection under one metric."""

    metric: str
    collection: str
    kind: str
    source: str  # built in, or given
    systems: int
    pairs: int
    agreement: float


CURVE_COLUMNS = (
    Column("metric", "Metric"),
    Column("kind", "Kind", help="The kind of task."),
    number("collections", "Collections", help="Judged collections of this kind of task."),
    number("gain", "Gain", 3, "Difference of two systems' scores."),
    number("agreement", "Agreement", 2, "Share of pairs of systems in which people agree."),
    number("low", "Low", 2, "Lower end of the 90% band for a new test set."),
    number("high", "High", 2, "Upper end of the band."),
)
COLLECTION_COLUMNS = (
    Column("metric", "Metric"),
    Column("collection", "Collection"),
    Column("kind", "Kind", help="The kind of task."),
    Column("source", "Source", help="built in, or given."),
    number("systems", "Systems"),
    number("pairs", "Pairs", help="Pairs of systems with different scores."),
    number("agreement", "Agreement", 2, "Observed share of pairs in which people agree."),
)


@dataclass(frozen=True, eq=False, repr=False)
class GainStudy(SignedResult):
    """Agreement of people with gains in metrics, by built-in and given collections."""

    rows: tuple[CurveRow, ...]
    collections: tuple[CollectionRow, ...]
    curves: tuple[GainCurve, ...]
    signatures: Mapping[str, str]
    settings: Mapping[str, object]

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the method, and on metrics whose bands are not reliable."""
        unreliable = dict.fromkeys(c.metric for c in self.curves if not c.is_reliable)
        return (
            "Agreement: share of pairs of systems in which people prefer the system with the "
            "better score, expected in a new test set. The band is meant to hold 90% of test sets. "
            f"With fewer than {MIN_COLLECTIONS} collections of a kind, no percentage is shown.",
            *(
                f"{metric}: the bands did not pass an evaluation on collections that were left "
                "out, or have not been evaluated; compare and gate show no percentages."
                for metric in unreliable
            ),
        )


def meta_gains(
    sets: SetSource | Sequence[SetSource] = (),
    metrics: Sequence[str | Metric] | str | Metric = GAIN_METRICS,
    *,
    kind: str | None = None,
    threads: int | None = None,
    progress: Progress = silent,
) -> GainStudy:
    """Fit how often people agree with gains, from the built-in collections and further sets.

    Args:
        sets: sets with human scores of at least two systems: one, or a list. A set with the name
            of a built-in collection replaces it.
        metrics: metrics, or their names. Only bleu, chrf and rougeL have built-in collections.
        kind: kind of task of the sets: `translation`, `summary`, `answer` or `data-to-text`; by
            default each set's own.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    check_kind(kind)
    sources = [*sets] if isinstance(sets, list | tuple) else [sets]
    pairs_by_metric: dict[str, list[PairGains]] = {str(m): [] for m in load_metrics(metrics)}
    signatures: dict[str, str] = {}
    names: list[str] = []
    for source in sources:
        evalset = as_evalset(source, progress)
        if evalset.name in names:
            raise InputError(
                f"two sets are called {quoted(evalset.name)}, and a collection counts once: leave "
                "one out, or rename it"
            )
        names.append(evalset.name)
        for metric, signature, gains in _set_gains(evalset, metrics, kind, threads, progress):
            pairs_by_metric.setdefault(metric, []).append(gains)
            signatures[f"{metric} ({evalset.name})"] = signature
    fits = [_fit_metric(metric, several) for metric, several in pairs_by_metric.items()]
    curves = [curve for _, metric_curves in fits for curve in metric_curves]
    return GainStudy(
        tuple(row for curve in curves for row in _curve_rows(curve)),
        tuple(row for collection_rows, _ in fits for row in collection_rows),
        tuple(curves),
        signatures,
        {"sets": tuple(names), "metrics": tuple(pairs_by_metric), "kind": kind},
    )


def _fit_metric(
    metric: str, set_gains: Sequence[PairGains]
) -> tuple[list[CollectionRow], list[GainCurve]]:
    """Return the collections of a metric, built in and given, and the curves of their kinds."""
    built_in = gain_data().get(metric)
    if built_in is None and not set_gains:
        names = ", ".join(gain_data())
        advice = f"give sets with human scores, or a metric with built-in collections ({names})"
        raise InputError(f"{metric}: there are no judged collections for it: {advice}")
    typical = built_in["typical_gain"] if built_in else typical_gain(set_gains)
    evidence = [gain_evidence(gains, typical, is_built_in=False) for gains in set_gains]
    replaced = {e.collection for e in evidence}
    stored = [e for e in built_in_evidence(metric) if e.collection not in replaced]
    evidence = [*stored, *evidence]
    is_reliable = bool(built_in and built_in["is_reliable"])
    curves = gain_curves(metric, evidence, typical, is_reliable=is_reliable)
    rows = [
        CollectionRow(
            *(metric, e.collection, e.kind, "built in" if e.is_built_in else "given"),
            *(e.systems, e.pairs, e.agreement),
        )
        for e in evidence
    ]
    return rows, [curves[kind] for kind in dict.fromkeys(e.kind for e in evidence)]


def _set_gains(
    evalset: EvalSet,
    metrics: Sequence[str | Metric] | str | Metric,
    kind: str | None,
    threads: int | None,
    progress: Progress,
) -> Iterator[tuple[str, str, PairGains]]:
    """Yield each metric of a set, its signature and its pairs of systems."""
    task = kind or evalset.task_kind
    if task is None:
        advice = f"name it with --kind (in Python kind=): {', '.join(TASK_KINDS)}"
        raise InputError(f"{evalset.name}: the kind of its task is unknown: {advice}")
    dimensions = evalset.chosen_dimensions()
    scored = score_evalset(evalset, metrics, against=dimensions, threads=threads, progress=progress)
    shares = {d: preferences(scored.judged(evalset.human(d)), evalset.groups) for d in dimensions}
    for metric in scored.metrics:
        gains = pair_gains(scored, metric, task, shares)
        if not len(gains.gain):
            problem = f"found no two systems with human scores and different scores by {metric}"
            raise InputError(f"{evalset.name}: {problem}: expected at least two")
        yield str(metric), scored.signature(metric), gains


def _curve_rows(curve: GainCurve) -> Iterator[CurveRow]:
    """Yield a row for each gain; with too few collections, a single one without numbers."""
    about = curve.metric, curve.kind, curve.collections
    if curve.collections < MIN_COLLECTIONS:
        yield CurveRow(*about)
        return
    for step in GAIN_STEPS:
        gain = step * curve.typical_gain
        if gain <= curve.largest_gain:
            yield CurveRow(*about, gain, *curve.agreement(gain))
