"""Errors that a metric notices: good texts against the same texts with a planted error.

For every phenomenon of a challenge set, with g_i and b_i the metric's scores of the good and the
bad text of pair i, oriented so that higher is better:

    paired accuracy = mean of [g_i > b_i]                                  a tie is a failure
    AUC = mean over all i and j of [g_i > b_j] + [g_i = b_j] / 2

The paired accuracy says whether the metric sees the error at all, the AUC whether its score drops
enough to find bad texts among good ones. Values of a severity are means over its phenomena.

Intervals are `share_interval`, with items as units. The standard error of an AUC is that of DeLong,
DeLong and Clarke-Pearson (1988), summed by item (Obuchowski 1997): with V_i the mean over j of
the comparisons of g_i, and W_j the mean over i of the comparisons of b_j,

    SE^2 = sum over items u of psi_u^2 / (n (n - 1)),   psi_u = (n / m) sum over its pairs of
                                                               (V_i - AUC) + (W_i - AUC)

for m pairs of n items. `experiments/challenge.py` measures the coverage of both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from karat.arrays import Floats, Ints, np
from karat.errors import InputError
from karat.evalset.draft import make_evalset
from karat.meta.challenge_sets import (
    ChallengePair,
    ChallengeSet,
    ChallengeSource,
    read_challenge,
)
from karat.meta.scores import ScoredSet, score_evalset
from karat.meta.settings import ChallengeSettings
from karat.metrics.base import Metric
from karat.progress import Progress, silent
from karat.results import Column, SignedResult, number
from karat.score_settings import DEFAULT_METRICS
from karat.scoring import Metrics, load_metrics
from karat.stats.jackknife import UnitEstimate
from karat.stats.repeated import Proportion, share_interval

CHANCE = 0.5
"""The AUC and the paired accuracy without ties of a metric that does not see an error."""
MISSED_SHARE = 2 / 3
"""An error is missed if the interval of the paired accuracy is below, and not above chance."""
NOTICED, MISSED, UNDECIDED = "noticed", "missed", "undecided"


class ChallengeRow(NamedTuple):
    """A metric on a phenomenon: paired accuracy and AUC with their 95% intervals."""

    metric: str
    severity: str
    phenomenon: str
    pairs: int
    items: int
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    ties: float
    """The share of pairs whose texts have the same score; they count as failures."""
    auc: float
    auc_low: float
    auc_high: float

    @property
    def verdict(self) -> str:
        """Whether the error is noticed in most pairs, by the interval of the paired accuracy.

        `noticed` if the interval is above one half, `missed` if it is not and ends below two
        thirds, else `undecided`: there are too few pairs.
        """
        if self.accuracy_low > CHANCE:
            return NOTICED
        return MISSED if self.accuracy_high < MISSED_SHARE else UNDECIDED


class SeverityRow(NamedTuple):
    """A metric on a severity: means over its phenomena with their 95% intervals."""

    metric: str
    severity: str
    phenomena: int
    pairs: int
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    auc: float
    auc_low: float
    auc_high: float


_ACCURACY = "Share of pairs whose good text has the higher score; a tie is a failure."
_AUC = (
    "Probability that a good text scores higher than a bad one of any item: 0.5 is chance, 1 means "
    "that one threshold separates them."
)
_METRIC = Column("metric", "Metric", filter=True)
_SEVERITY = Column("severity", "Severity", filter=True)


def _shares() -> tuple[Column, ...]:
    return (
        number("accuracy", "Accuracy", 3, _ACCURACY),
        number("accuracy_low", "Low", 3, "Lower end of the 95% interval of the accuracy."),
        number("accuracy_high", "High", 3, "Upper end of the 95% interval of the accuracy."),
    )


def _areas() -> tuple[Column, ...]:
    return (
        number("auc", "AUC", 3, _AUC),
        number("auc_low", "Low", 3, "Lower end of the 95% interval of the AUC."),
        number("auc_high", "High", 3, "Upper end of the 95% interval of the AUC."),
    )


CHALLENGE_COLUMNS = (
    _METRIC,
    _SEVERITY,
    Column("phenomenon", "Phenomenon"),
    number("pairs", "Pairs", help="Number of pairs of a good and a bad text."),
    number("items", "Items", help="Number of items; pairs of one item are not independent."),
    *_shares(),
    number("ties", "Ties", 3, "Share of pairs whose texts have the same score."),
    *_areas(),
    Column(
        "verdict",
        "Verdict",
        help="By the interval of the accuracy: noticed if above 0.5; missed if not and it "
        "ends below 2/3; else undecided.",
        filter=True,
    ),
)
SEVERITY_COLUMNS = (
    _METRIC,
    _SEVERITY,
    number("phenomena", "Phenomena", help="Number of phenomena, which have equal weights."),
    number("pairs", "Pairs"),
    *_shares(),
    *_areas(),
)


@dataclass(frozen=True, eq=False, repr=False)
class ChallengeResult(SignedResult):
    """Errors that metrics notice: paired accuracy and AUC of each on every phenomenon."""

    name: str
    rows: tuple[ChallengeRow, ...]
    """By metric and severity, the least noticed phenomenon first."""
    severities: tuple[SeverityRow, ...]
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signatures: Mapping[str, str]


def meta_challenge(
    challenge: ChallengeSource,
    metrics: Metrics = DEFAULT_METRICS,
    *,
    columns: Mapping[str, str] = ChallengeSettings.columns,
    threads: int | None = None,
    progress: Progress = silent,
) -> ChallengeResult:
    """Measure what metrics notice: planted errors of each phenomenon in a challenge set.

    Args:
        challenge: a challenge set (`read_challenge`, `make_challenge`), the path of a table or of a
            folder such as DEMETR, a data frame, or records.
        metrics: metrics; texts are scored by the form for segments (`bleu:eff=yes` for `bleu`).
        columns: columns of a table by role, as for `read_challenge`.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    loaded = read_challenge(challenge, columns, progress=progress)
    scorers = _segment_metrics(metrics)
    references = {bool(pair.references) for pair in loaded.pairs}
    if False in references and (needing := [m for m in scorers if m.needs_references]):
        missing = "a row has no reference" if True in references else "no column has references"
        advice = "name it, as in --column reference=NAME, or choose a metric that needs none"
        raise InputError(f"{loaded.name}: {missing}, which {needing[0]} needs: {advice}")
    scored, good, bad = _score_pairs(loaded, scorers, threads, progress)
    items = {item: i for i, item in enumerate(dict.fromkeys(pair.item for pair in loaded.pairs))}
    codes = np.array([items[pair.item] for pair in loaded.pairs])
    rows: list[ChallengeRow] = []
    severities: list[SeverityRow] = []
    unscored = []
    for metric in scored.metrics:
        name = str(metric)
        scores = scored.segments(metric)[0]
        by_severity: dict[str, list[tuple[ChallengeRow, _Estimates]]] = {}
        lacking = 0
        for (severity, phenomenon), indices in loaded.phenomena.items():
            places = np.array(indices)
            good_scores, bad_scores = scores[good[places]], scores[bad[places]]
            has_scores = ~np.isnan(good_scores) & ~np.isnan(bad_scores)
            lacking += int((~has_scores).sum())
            if not has_scores.any():
                continue
            units = codes[places][has_scores]
            estimates = _estimate(
                good_scores[has_scores], bad_scores[has_scores], units, len(items)
            )
            row = _row((name, severity, phenomenon), units, estimates)
            by_severity.setdefault(severity, []).append((row, estimates))
        for severity, entries in by_severity.items():
            rows += sorted((row for row, _ in entries), key=lambda row: (row.auc, row.accuracy))
            severities.append(_severity_row(name, severity, entries))
        if lacking:
            unscored.append(f"{name}: {lacking:,} pairs without a score are left out.")
    if not rows:
        raise InputError(f"{loaded.name}: no pair has scores of both of its texts")
    return ChallengeResult(
        loaded.name,
        tuple(rows),
        tuple(severities),
        {"challenge": loaded.name, "metrics": [str(m) for m in scored.metrics]},
        (*loaded.notes, *unscored, *scored.notes()),
        {**{str(m): scored.signature(m) for m in scored.metrics}, "set": loaded.signature},
    )


def _segment_metrics(metrics: Metrics) -> list[Metric]:
    """Return the forms of metrics for segments; raise if their direction is unknown."""
    scorers = load_metrics(m.of_segments() for m in load_metrics(metrics))
    for scorer in scorers:
        if not scorer.reads_texts:
            raise InputError(
                f"{scorer}: these are scores of given texts, and a challenge set has other texts: "
                "leave it out"
            )
        scorer.check_direction()
    return scorers


def _score_pairs(
    challenge: ChallengeSet, metrics: Sequence[Metric], threads: int | None, progress: Progress
) -> tuple[ScoredSet, Ints, Ints]:
    """Score each distinct text once; return the indices of good and bad texts among them."""
    numbers: dict[tuple[str, tuple[str, ...], str], int] = {}

    def index(text: str, pair: ChallengePair) -> int:
        return numbers.setdefault((text, pair.references, pair.source), len(numbers))

    good, bad = (
        np.array([index(getattr(pair, side), pair) for pair in challenge.pairs])
        for side in ("good", "bad")
    )
    texts, references, sources = zip(*numbers, strict=True)
    evalset = make_evalset(
        challenge.name,
        {"texts": texts},
        references=references if any(references) else None,
        sources=sources if any(sources) else None,
    )
    return score_evalset(evalset, metrics, threads=threads, progress=progress), good, bad


# --------------------------------------------------------------------------------- estimates


class _Estimates(NamedTuple):
    """Paired accuracy and AUC with the influence of every item of the set, and the ties."""

    accuracy: UnitEstimate
    auc: UnitEstimate
    ties: float


class AreaParts(NamedTuple):
    """The AUC, and the mean comparison of each good and each bad score."""

    auc: float
    good: Floats
    bad: Floats


def area_under_curve(good: Floats, bad: Floats) -> AreaParts:
    """Return the probability that a good score is above a bad one, ties counting one half."""
    sorted_good, sorted_bad = np.sort(good), np.sort(bad)
    below = np.searchsorted(sorted_bad, good, "left") + np.searchsorted(sorted_bad, good, "right")
    above = np.searchsorted(sorted_good, bad, "left") + np.searchsorted(sorted_good, bad, "right")
    return AreaParts(
        int(below.sum()) / (2 * len(good) * len(bad)),
        below / (2 * len(bad)),
        1 - above / (2 * len(good)),
    )


def _estimate(good: Floats, bad: Floats, units: Ints, n_items: int) -> _Estimates:
    """Return the estimates of a phenomenon from the scores and items of its pairs."""
    is_right = (good > bad).astype(np.float64)
    share = int(is_right.sum()) / len(good)
    area = area_under_curve(good, bad)
    n, m = len(np.unique(units)), len(units)

    def by_item(influence: Floats) -> Floats:
        return np.bincount(units, influence, n_items) * n / m

    return _Estimates(
        UnitEstimate(share, by_item(is_right - share), n, m),
        UnitEstimate(area.auc, by_item(area.good + area.bad - 2 * area.auc), n, m * m),
        float((good == bad).mean()),
    )


def challenge_intervals(
    good: Floats, bad: Floats, items: Ints | None = None
) -> tuple[Proportion, Proportion]:
    """Return the paired accuracy and the AUC of pairs with their intervals.

    `items` has the number of each pair's item, from 0; by default each pair is an item.
    """
    units = np.arange(len(good)) if items is None else items
    estimates = _estimate(good, bad, units, int(units.max()) + 1)
    return share_interval(estimates.accuracy), share_interval(estimates.auc)


def _row(names: tuple[str, str, str], units: Ints, estimates: _Estimates) -> ChallengeRow:
    accuracy, auc = share_interval(estimates.accuracy), share_interval(estimates.auc)
    sizes = len(units), estimates.accuracy.units
    return ChallengeRow(*names, *sizes, *accuracy, estimates.ties, *auc)


def _severity_row(
    metric: str, severity: str, entries: Sequence[tuple[ChallengeRow, _Estimates]]
) -> SeverityRow:
    pairs = sum(row.pairs for row, _ in entries)
    accuracy = _mean([estimates.accuracy for _, estimates in entries])
    auc = _mean([estimates.auc for _, estimates in entries])
    intervals = (*share_interval(accuracy), *share_interval(auc))
    return SeverityRow(metric, severity, len(entries), pairs, *intervals)


def _mean(estimates: Sequence[UnitEstimate]) -> UnitEstimate:
    """Return the mean of estimates on items that they may share."""
    if len(estimates) == 1:
        return estimates[0]
    shares = [estimate.influence / estimate.units for estimate in estimates]
    is_used = np.any([share != 0 for share in shares], axis=0)
    n = max(int(is_used.sum()), *(estimate.units for estimate in estimates))
    influence = np.sum(shares, axis=0) * n / len(estimates)
    value = sum(estimate.value for estimate in estimates) / len(estimates)
    observations = sum(estimate.observations or estimate.units for estimate in estimates)
    return UnitEstimate(value, influence, n, observations)
