"""GTM's experiment: how reliable are BLEU and GTM on texts of 1 to 25 segments?

    KARAT_DATA=… python experiments/gtm_pseudo_documents.py
    python experiments/gtm_pseudo_documents.py --sets demo --longest 3 --repeats 5 --draws 20

Pearson, Spearman and Kendall (tau-b) with adequacy, or the closest dimension, and with fluency over
pseudo-documents (`kt.reliability`); one reference on TED and believability, and 1 to 3 of the 11 on
SummEval: each alone, and for 2 and 3 a fixed sample of 10 of the 55 and 165 combinations. Values
are means over shuffles and combinations. Prints Markdown, for docs/lab/reliability.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import karat as kt
from karat.meta.reliability import ReliabilityRow, reliability
from karat.meta.scores import ScoredSet, score_evalset
from karat.metrics.base import Metric
from karat.settings import SEED
from karat.stats.correlation import statistic

Floats = NDArray[np.float64]
STATISTICS = ("pearson", "spearman", "tau-b")
SAMPLED = 10
"""The maximum number of reference combinations."""
COMPARED = ("F e=1", "F e=2", "BLEU", "BLEU 2003")
CUTS = 3
"""Ways to cut a bootstrap resample of segments into documents."""

# One tokeniser and one case for BLEU, GTM and AEv, so that they differ in nothing else; ROUGE has
# its own. At e=1 greedy is exact. "BLEU" leaves out the orders that a single short segment is too
# short for, and smoothes; "BLEU 2003" is the formula as it was: 0 without a matching 4-gram.
_GTM = {"P": 1.0, "R": 0.0, "F": 0.5}
METRICS: Mapping[str, Metric] = {
    "BLEU": kt.metric("bleu:eff=yes,case=lower"),
    "BLEU 2003": kt.metric("bleu:smooth=none,case=lower"),
    **{
        f"{letter} e={e}{' exact' * (search == 'exact')}": kt.GTM(e, search, alpha, "13a", "lower")
        for e, search in ((1, "greedy"), (2, "greedy"), (2, "exact"))
        for letter, alpha in _GTM.items()
    },
    "AEv": kt.metric("aev:case=lower"),
    "ROUGE-1": kt.metric("rouge1"),
    "chrF": kt.metric("chrf:case=lower"),
}


@dataclass(frozen=True)
class Study:
    """A set, its dimensions for adequacy and fluency, and the numbers of references."""

    evalset: str
    dimensions: tuple[str, ...]
    references: tuple[int, ...] = (1,)
    repeats: int = 50
    """Shuffles for each combination of references."""


STUDIES = (
    Study("believability", ("adequacy", "fluency")),
    Study("ted-zhen", ("accuracy", "fluency")),
    Study("summeval", ("relevance", "fluency"), (1, 2, 3), 5),
    Study("demo", ("adequacy", "fluency"), (1, 2, 3), 5),
)


def chosen(available: int, size: int) -> list[tuple[int, ...]]:
    """Combinations of references: all, or a sample that is always the same."""
    all_combinations = list(combinations(range(available), size))
    if len(all_combinations) <= SAMPLED or size == 1:
        return all_combinations
    rng = np.random.default_rng([SEED, size])
    return [
        all_combinations[k]
        for k in sorted(rng.choice(len(all_combinations), SAMPLED, replace=False))
    ]


def scored_by_all(evalset: kt.EvalSet) -> ScoredSet:
    """A set scored by all metrics; precision, recall and F of GTM share their rows."""
    of = {m: replace(m, alpha=0.5) if isinstance(m, kt.GTM) else m for m in METRICS.values()}
    scored = score_evalset(evalset, list(dict.fromkeys(of.values())))
    return ScoredSet(evalset, {m: scored.rows[base] for m, base in of.items()}, scored.present)


def judged_only(evalset: kt.EvalSet, dimensions: Sequence[str]) -> kt.EvalSet:
    """Keep segments whose outputs were all judged, so that documents have their nominal length."""
    is_judged = np.all([~np.isnan(evalset.human(d)) for d in dimensions], axis=(0, 1))
    return evalset.select(
        segments=[s for s, k in zip(evalset.segments, is_judged, strict=True) if k]
    )


def all_scored(study: Study) -> dict[int, list[ScoredSet]]:
    """By number of references: the set scored against each combination."""
    evalset = judged_only(kt.load_evalset(study.evalset), study.dimensions)
    have = min(len(group) for group in evalset.references)
    return {
        k: [scored_by_all(evalset.select(references=places)) for places in chosen(have, k)]
        for k in study.references
    }


# ----------------------------------------------------------------------------------- curves


class Pooled(NamedTuple):
    """The values of all shuffles and combinations of references, for one length."""

    row: ReliabilityRow
    """Of the first combination."""
    values: Floats

    @property
    def mean(self) -> float:
        """The mean of the values that are defined."""
        return float(np.nanmean(self.values)) if not np.isnan(self.values).all() else float("nan")


class Curves(NamedTuple):
    """The reliability of all metrics with one dimension and one number of references."""

    evalset: str
    dimension: str
    references: int
    combinations: int
    points: list[Pooled]

    def of(self, label: str, by: str) -> list[Pooled]:
        """One metric's curve, by length."""
        label_and_statistic = str(METRICS[label]), by
        return [
            pooled
            for pooled in self.points
            if (pooled.row.metric, pooled.row.statistic) == label_and_statistic
        ]


def curves(study: Study, scored: Mapping[int, list[ScoredSet]], longest: int) -> list[Curves]:
    """All curves of a study."""
    all_curves = []
    for k, sets in scored.items():
        for dimension in study.dimensions:
            reliabilities = [
                reliability(
                    scored_set,
                    dimension,
                    lengths=range(1, longest + 1),
                    statistics=STATISTICS,
                    repeats=study.repeats,
                )
                for scored_set in sets
            ]
            both = [
                zip(scored_set.rows, scored_set.values, strict=True) for scored_set in reliabilities
            ]
            together = [_together(combination) for combination in zip(*both, strict=True)]
            all_curves.append(Curves(study.evalset, dimension, k, len(sets), together))
    return all_curves


def _together(combination: Sequence[tuple[ReliabilityRow, Floats]]) -> Pooled:
    """The values of all combinations of references."""
    return Pooled(combination[0][0], np.concatenate([values for _, values in combination]))


class Pair(NamedTuple):
    """Two metrics to compare, each with a number of references."""

    first: str
    references: int
    second: str
    other_references: int

    def __str__(self) -> str:
        a, b = self.references, self.other_references
        return f"{self.first}, {a} ref. - {self.second}, {b} ref."


def pairs(study: Study) -> Iterator[Pair]:
    """F against both BLEUs with as many references, then with one against three, as the paper."""
    for second in COMPARED[2:]:
        for first in COMPARED[:2]:
            for k in study.references:
                yield Pair(first, k, second, k)
            if 3 in study.references:
                yield Pair(first, 1, second, 3)


def wilcoxon_rows(all_curves: Sequence[Curves], study: Study) -> Iterator[list[str]]:
    """Signed ranks over lengths, which share their segments: so p is too small, as in the paper."""
    for dimension in study.dimensions:
        by_number = {c.references: c for c in all_curves if c.dimension == dimension}
        for by in STATISTICS:
            for pair in pairs(study):
                a = by_number[pair.references].of(pair.first, by)
                b = by_number[pair.other_references].of(pair.second, by)
                first, second = (np.array([x.mean for x in curve]) for curve in (a, b))
                better = int((first > second).sum())
                yield [
                    *(study.evalset, dimension, by, str(pair), f"{(first - second).mean():+.3f}"),
                    *(f"{better} of {len(a)}", f"{kt.wilcoxon(first, second).p:.2g}"),
                ]


# ----------------------------------------------------------- how much depends on the segments


Agreements = dict[tuple[str, int], Floats]
"""Metric and number of references -> draws x dimensions x statistics."""


def resampled(
    scored: Mapping[int, list[ScoredSet]], dimensions: Sequence[str], length: int, draws: int
) -> Agreements:
    """Agreement in bootstrap resamples of the segments; means over cuts and combinations."""
    evalset = next(iter(scored.values()))[0].evalset
    human = np.stack([evalset.human(dimension) for dimension in dimensions])
    rng = np.random.default_rng([SEED, length])
    agreements: dict[tuple[str, int], list[Floats]] = {}
    for _ in range(draws):
        segments = rng.integers(0, len(evalset), len(evalset))
        cuts = [_cut(rng.permutation(segments), length) for _ in range(1 if length == 1 else CUTS)]
        for k, sets in scored.items():
            for label in COMPARED:
                values_of_cuts = [
                    agreement(scored_set, label, human, cut) for scored_set in sets for cut in cuts
                ]
                agreements.setdefault((label, k), []).append(np.mean(values_of_cuts, axis=0))
    return {key: np.stack(draw_values) for key, draw_values in agreements.items()}


def _cut(order: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Documents x segments; what does not fill a document is left."""
    documents = len(order) // length
    return order[: documents * length].reshape(documents, length)


def agreement(scored: ScoredSet, label: str, human: Floats, places: NDArray[np.int64]) -> Floats:
    """Dimensions x statistics over documents of these segments, which may come several times."""
    metric = METRICS[label]
    sums = scored.rows[metric][:, places].sum(axis=2)
    scores = metric.sign * metric.measure(sums.reshape(-1, sums.shape[2]))["value"]
    means = human[:, :, places].mean(axis=3).reshape(len(human), -1)
    return np.array([[statistic(by)(h, scores) for by in STATISTICS[:2]] for h in means])


def difference_rows(
    study: Study, scored: Mapping[int, list[ScoredSet]], lengths: Sequence[int], draws: int
) -> Iterator[list[str]]:
    """The middle 95% of resampled differences, at some lengths."""
    agreements = [resampled(scored, study.dimensions, length, draws) for length in lengths]
    for d, dimension in enumerate(study.dimensions):
        for s, by in enumerate(STATISTICS[:2]):
            for pair in pairs(study):
                gaps = [
                    (at[pair.first, pair.references] - at[pair.second, pair.other_references])
                    for at in agreements
                ]
                intervals = [_interval(gap[:, d, s]) for gap in gaps]
                yield [study.evalset, dimension, by, str(pair), *intervals]


def _interval(values: Floats) -> str:
    finite = values[~np.isnan(values)]
    if not len(finite):
        return "-"
    low, high = np.quantile(finite, [0.025, 0.975], method="inverted_cdf")
    return f"{low:+.3f} to {high:+.3f}"


# --------------------------------------------------------------------------------- printing


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A pipe table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def curve_table(curve: Curves, by: str) -> str:
    """A row for each length, a column for each metric; the largest value in bold letters."""
    columns = [curve.of(label, by) for label in METRICS]
    rows = []
    for points in zip(*columns, strict=True):
        means = [r.mean for r in points]
        best = np.nanmax(means) if not np.isnan(means).all() else np.nan
        texts = ["-" if np.isnan(x) else f"{x:.3f}" for x in means]
        cells = [f"**{t}**" if x == best else t for t, x in zip(texts, means, strict=True)]
        rows.append([str(points[0].row.length), str(points[0].row.documents), *cells])
    return markdown(["segments", "documents", *METRICS], rows)


def report(study: Study, longest: int, draws: int) -> Iterator[str]:
    """All tables of a study."""
    scored = all_scored(study)
    first_set = next(iter(scored.values()))[0]
    evalset = first_set.evalset
    yield f"## {study.evalset}: {len(evalset.systems)} systems, {len(evalset)} segments\n"
    yield "\n".join(proofs(scored)) + "\n"
    all_curves = curves(study, scored, longest)
    for curve in all_curves:
        label = f"{curve.references} of the references, {curve.combinations} combinations"
        for by in STATISTICS:
            title = f"### {study.evalset}, {curve.dimension}, {by}: {label}"
            yield f"{title}\n\n{curve_table(curve, by)}\n"
    control = markdown(["set", "dimension", *STATISTICS], list(shortness_rows(study, scored)))
    yield f"### {study.evalset}: being short alone, single segments\n\n{control}\n"
    headings = ["set", "dimension", "statistic", "first - second"]
    rows = list(wilcoxon_rows(all_curves, study))
    yield markdown([*headings, "mean difference", "first better at", "Wilcoxon p"], rows) + "\n"
    lengths = [k for k in (1, 5, 25) if k <= longest]
    rows = list(difference_rows(study, scored, lengths, draws))
    yield markdown([*headings, *(f"length {k}, 95%" for k in lengths)], rows) + "\n"


def proofs(scored: Mapping[int, list[ScoredSet]]) -> Iterator[str]:
    """How many matchings of the exact search are proven to be the largest."""
    exact = METRICS["F e=2 exact"]
    for k, sets in scored.items():
        rows = np.concatenate([s.rows[exact].reshape(-1, 6) for s in sets])
        greedy = np.concatenate([s.rows[METRICS["F e=2"]].reshape(-1, 3) for s in sets])
        below = int((greedy[:, 0] < rows[:, 0] * (1 - 1e-9)).sum())
        yield (
            f"- e=2, {k} reference{'s' * (k > 1)}: {int(rows[:, 5].sum()):,} of "
            f"{int(rows[:, 4].sum()):,} matchings proven; greedy is below in {below:,}"
        )


def shortness_rows(study: Study, scored: Mapping[int, list[ScoredSet]]) -> Iterator[list[str]]:
    """Agreement of single segments by length alone: minus the length of the first reference.

    A control. At e=2, with the same number of breaks per word, F is lower for longer texts, so any
    preference of judges for short segments helps the metric.
    """
    scored_set = next(iter(scored.values()))[0]
    lengths = scored_set.rows[METRICS["F e=2"]][:, :, 2]
    for dimension in study.dimensions:
        human = scored_set.evalset.human(dimension)
        values = [statistic(by)(human, -lengths) for by in STATISTICS]
        yield [study.evalset, dimension, *(f"{value:.3f}" for value in values)]


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    set_names = [study.evalset for study in STUDIES]
    parser.add_argument("--sets", nargs="+", choices=set_names, default=set_names[:-1])
    parser.add_argument("--longest", type=int, default=25)
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--draws", type=int, default=100)
    options = parser.parse_args()
    for study in STUDIES:
        if study.evalset in options.sets:
            chosen_study = replace(study, repeats=options.repeats or study.repeats)
            for part in report(chosen_study, options.longest, options.draws):
                print(part, flush=True)


if __name__ == "__main__":
    main()
