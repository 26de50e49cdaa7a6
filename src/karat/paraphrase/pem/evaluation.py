"""PEM against human judgement: the paper's three tables, for any judged set that has what it takes.

What PEM predicts comes from cross-validation, or from a split of the originals as in the paper: no
regression has seen the originals that it is tested on. Its rivals are the same regression without
any pivot language.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

from karat.arrays import Floats, np
from karat.evalset.loading import as_evalset
from karat.evalset.sets import EvalSet
from karat.metrics.names import metric
from karat.paraphrase.pem.combination import (
    GRID,
    ControlMean,
    SvrSetting,
    cross_predict,
    split_predict,
)
from karat.paraphrase.pem.features import MetricNames, as_features
from karat.paraphrase.pem.judged_pairs import JudgedPairs, judged_rows
from karat.paraphrase.pem.model import BUNDLED, PEM, SCALE, as_pem
from karat.progress import Progress, silent
from karat.results import Result
from karat.scoring import interval_fields
from karat.settings import SEED
from karat.stats.correlation import pearson, spearman
from karat.stats.resampling import bootstrap_sums
from karat.storage.digests import data_digest

RIVALS: Mapping[str, tuple[str, ...]] = {
    "stemmed unigram F1": ("rouge1:stem=porter-nltk",),
    "ROUGE-1 and chrF++": ("rouge1", "chrf++:case=lower"),
    "BLEU": ("bleu",),
}
"""Name -> the metrics that take the place of the pivot features; the original is the reference."""

Scores = dict[str, Floats]  # metric -> its score of every paraphrase


def rival_scores(judged: JudgedPairs, rivals: Mapping[str, Sequence[str]], **work: Any) -> Scores:
    """Return the scores of all metrics of some rivals, each metric once."""
    originals = [[text] for text in judged.originals]
    names = dict.fromkeys(name for metrics in rivals.values() for name in metrics)
    return {name: metric(name).segments(judged.paraphrases, originals, **work) for name in names}


ALL_PAIRS, NO_CONTROLS = "all", "no controls"  # pairs that correlations and gains are of
CRITERIA = ("adequacy", "fluency", "dissimilarity")
MEAN = "the model's mean, nothing learned"
NO_METRICS = "no metrics as features"
HIGH = 4.0  # adequacy and fluency of the paraphrases whose dissimilarity is looked at alone


class Correlation(NamedTuple):
    """Correlations of two columns, over paraphrases and over the means of systems."""

    first: str
    second: str
    rows: int
    pearson: float
    spearman: float
    systems: int
    pearson_systems: float


class Gain(NamedTuple):
    """Pearson's r of two predictions, their difference and its 95% interval.

    `p` is two-sided, from the same bootstrap resamples of originals as the interval.
    """

    first: str
    second: str
    r_first: float
    r_second: float
    difference: float
    low: float
    high: float
    p: float
    pairs: str = ALL_PAIRS  # the pairs that are compared: all, or those that are no controls


class JudgedPoint(NamedTuple):
    """Two numbers of a paraphrase or of a system, to be plotted."""

    x: float
    y: float
    system: str


@dataclass(frozen=True, eq=False, repr=False)
class ParaphraseEvaluation(Result):
    """Agreement of PEM with the judges of a set; `rows` are its correlations with people."""

    name: str
    rows: tuple[Correlation, ...]
    gains: tuple[Gain, ...]
    parts: tuple[Correlation, ...]
    alone: tuple[Correlation, ...]  # the metrics of the rivals, without a regression
    inter_judge: tuple[Correlation, ...]
    criteria: tuple[Correlation, ...]
    predictions: tuple[JudgedPoint, ...]
    """Human score and PEM of every paraphrase, by a regression that had not seen its original."""
    system_means: tuple[JudgedPoint, ...]  # the means of the predictions of each system
    dissimilarities: tuple[JudgedPoint, ...]
    """Dissimilarity and overall quality of adequate, fluent paraphrases."""
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str
    judged: JudgedPairs  # all judged pairs
    tested: JudgedPairs  # the pairs that were tested
    measures: Mapping[str, Floats]
    """PEM, its parts and the metrics of the rivals: a score for each tested pair."""


def evaluate_paraphrases(
    evalset: EvalSet | str | os.PathLike[str],
    model: PEM | str | os.PathLike[str] = BUNDLED,
    *,
    form: str | None = None,
    dimension: str | None = None,
    controls: bool = False,
    features: MetricNames = (),
    folds: int = 10,
    train_first: int | None = None,
    compare_with: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
    grid: Sequence[SvrSetting] = GRID,
    resamples: int = 1000,
    seed: int = SEED,
    threads: int | None = None,
    progress: Progress = silent,
) -> ParaphraseEvaluation:
    """Compare PEM and other metrics with the judges of a set, cross-validated by original.

    Args:
        evalset: a set, or its name or path.
        model: model that gives pivot languages and language model; the regression is learned anew.
        form: features of the regression; by default those of the model.
        dimension: overall quality.
        controls: add the paper's three control systems.
        features: metrics to add to the features; by default those of the model.
        folds: number of folds.
        train_first: train on so many originals and test on the others, instead of cross-validation.
        compare_with: other metrics by name, in place of the usual ones (`RIVALS`).
        grid: settings of the regression to choose from.
        resamples: number of bootstrap resamples for the intervals.
        seed: seed of the random numbers.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    judged = judged_rows(as_evalset(evalset, progress), dimension, controls=controls)
    pem = as_pem(model, form)
    if features or form not in (None, pem.form) or not isinstance(pem.combination, ControlMean):
        pem = replace(pem, combination=None)  # only a mean of the same features keeps its score
    metrics = as_features(features) if features else pem.metrics
    pem = replace(pem, form=form or pem.form, metrics=metrics)
    rivals: Mapping[str, Sequence[str]] = RIVALS
    if isinstance(compare_with, Mapping):
        rivals = compare_with
    elif compare_with is not None:
        rivals = {name: (name,) for name in compare_with}
    rivals = {name: [str(metric(part)) for part in parts] for name, parts in rivals.items()}
    is_training = None if train_first is None else judged.first_originals(train_first)
    is_tested = np.ones(len(judged), np.bool_) if is_training is None else ~is_training
    tested = judged.select(is_tested)

    def predict(matrix: Floats) -> Floats:
        """Predict the tested rows by regressions that have not seen their originals."""
        data = matrix, judged.human, judged.originals
        if is_training is None:
            return np.clip(cross_predict(*data, grid, folds, progress), *SCALE)
        return np.clip(split_predict(*data, is_training, grid), *SCALE)

    work: dict[str, Any] = {"threads": threads, "progress": progress}
    pairs = pem.features(judged.originals, judged.paraphrases, judged.outputs, **work)
    scores = rival_scores(judged, rivals, **work)
    predicted = predict(pairs.matrix)
    rival_matrices = {
        name: np.column_stack([pairs.without_pivots(), *(scores[part] for part in metrics)])
        for name, metrics in rivals.items()
    }
    if pem.metrics:
        rival_matrices[NO_METRICS] = pairs.matrix[:, : -len(pem.metrics)]
    rival_predictions = {name: predict(matrix) for name, matrix in rival_matrices.items()}
    if pem.combination is not None:
        rival_predictions[MEAN] = pem.combine(pairs)[is_tested]
    gains: list[Gain] = []
    for name, column in rival_predictions.items() if resamples else ():
        gains += paired_gains(tested, ("PEM", predicted), (name, column), resamples, seed)
    parts = zip(("pivot F1", "fluency", "target F1"), pairs.parts, strict=True)
    tested_parts = {name: column[is_tested] for name, column in parts}
    tested_scores = {name: column[is_tested] for name, column in scores.items()}
    settings = {
        "model": pem.name,
        "form": pem.form,
        "dimension": judged.overall,
        "controls": controls,
        "features": [feature.name for feature in pem.metrics],
        "folds": folds,
        "train_first": train_first,
        "resamples": resamples,
        "seed": seed,
    }
    split = f"folds={folds}" if train_first is None else f"train_first={train_first}"
    data = f"{judged.evalset.signature.removeprefix('set:')},dimension={judged.overall}"
    learned = f"learned={data},controls={int((~judged.real).sum())}"
    if tuple(grid) != GRID:
        learned += f",grid={data_digest([(s.C, s.epsilon, s.gamma) for s in grid])}"
    combination = f"combine=svr,{split},{learned}"
    return ParaphraseEvaluation(
        name=judged.evalset.name,
        rows=(
            *correlate_with_judges(tested, "PEM", predicted),
            *_correlate_with_humans(tested, rival_predictions),
        ),
        gains=tuple(gains),
        parts=_correlate_with_humans(tested, tested_parts),
        alone=_correlate_with_humans(tested, tested_scores),
        inter_judge=tuple(correlate_judges(judged)),
        criteria=tuple(criteria(judged)),
        predictions=tuple(
            map(JudgedPoint, tested.human.tolist(), predicted.tolist(), tested.systems)
        ),
        system_means=tuple(
            JudgedPoint(float(tested.human[rows].mean()), float(predicted[rows].mean()), name)
            for name in dict.fromkeys(tested.systems)
            for rows in [np.array(tested.systems) == name]
        ),
        dissimilarities=tuple(_dissimilarities(judged)),
        settings=settings,
        notes=(
            f"Cross-validated in {folds} folds by original: no regression has seen an original "
            "that it is tested on, and its settings were searched inside the training part."
            if train_first is None
            else f"Trained on the first {train_first:,} originals, tested on the other "
            f"{len(set(tested.originals)):,}; the settings of the regression were searched inside "
            "the training part. Tables of judges and of criteria are of all originals.",
            *_notes(judged, pem, bool(rivals), resamples),
            *pairs.notes,
        ),
        signature=pem.signature_with(combination, interval_fields(resamples, seed)),
        judged=judged,
        tested=tested,
        measures={"PEM": predicted, **tested_parts, **tested_scores},
    )


def _correlate_with_humans(
    judged: JudgedPairs, columns: Mapping[str, Floats]
) -> tuple[Correlation, ...]:
    return tuple(
        row
        for name, column in columns.items()
        for row in _correlate_with_average(judged, name, column)
    )


def _correlate_with_average(judged: JudgedPairs, name: str, column: Floats) -> list[Correlation]:
    """Return the correlation with the mean of judges, also without controls if there are any."""
    rows = [correlate(judged, name, column, "human average", judged.human)]
    if not judged.real.all():
        real = without_controls(judged, column)
        rows.append(correlate(judged, name, real, f"human average, {NO_CONTROLS}", judged.human))
    return rows


def _notes(judged: JudgedPairs, pem: PEM, has_rivals: bool, resamples: int) -> Iterator[str]:
    if pem.metrics:
        names = ", ".join(feature.name for feature in pem.metrics)
        yield (f"All regressions have the metrics {names} as features, except for `{NO_METRICS}`.")
    if has_rivals:
        yield (
            "The others are the same regression with the pivot features replaced by what their "
            "names say."
        )
    if pem.combination is not None:
        yield (
            "PEM is a regression learned from this set. The model itself has a mean of features "
            "that has learned from no judgements; it has a row of its own."
        )
    if not judged.real.all():
        yield (
            "Controls are artificial pairs whose scores are fixed and easy to predict: what holds "
            "for real paraphrases is in the rows without controls."
        )
    if pem.form == "paper" and not pem.about.get("running"):
        yield (
            "The features are the paper's, but not the language model, which is that of the model "
            "given: train one with --form paper."
        )
    if pem.bundled:
        yield (
            "The pivot languages and the language model are those of the small bundled model, that "
            "knows few words: train them on your own text with karat paraphrase train."
        )
    if resamples:
        yield (
            f"Intervals of differences: 95%, from {resamples:,} bootstrap resamples of originals. "
            "p: two-sided, twice the smaller share of resamples on either side of 0."
        )


def correlate(judged: JudgedPairs, first: str, x: Floats, second: str, y: Floats) -> Correlation:
    """Correlate two columns over the rows that have both."""
    has_both = ~(np.isnan(x) | np.isnan(y))
    both = x[has_both], y[has_both]
    names = [name for name, keep in zip(judged.systems, has_both, strict=True) if keep]
    at, n_systems = _number_names(names)
    means = [np.bincount(at, column) / np.bincount(at) for column in both] if names else []
    systems = pearson(*means) if n_systems > 2 else float("nan")
    pair_values = len(names), pearson(*both), spearman(*both)
    return Correlation(first, second, *pair_values, n_systems, systems)


def without_controls(judged: JudgedPairs, column: Floats) -> Floats:
    """Return a column in which the controls are missing."""
    return np.where(judged.real, column, np.nan)


def judge_columns(judged: JudgedPairs) -> dict[str, Floats]:
    """Return the scores of each who judged overall quality, controls apart."""
    rows = judged.evalset.judgements.without_models()
    overall_rows = rows.select_rows(rows.dimension == rows.dimensions.index(judged.overall))
    names = dict.fromkeys(overall_rows.judges[k] for k in np.unique(overall_rows.judge).tolist())
    return {
        name: without_controls(judged, judged.values(judged.overall, [name]))
        for name in names
        if name != "control"
    }


def correlate_judges(judged: JudgedPairs) -> list[Correlation]:
    """Return the paper's Table 1: each pair of judges, controls left out."""
    pairs = combinations(judge_columns(judged).items(), 2)
    return [correlate(judged, *first, *second) for first, second in pairs]


def criteria(judged: JudgedPairs) -> list[Correlation]:
    """Return the paper's Table 2: each criterion with overall quality, where the set has any."""
    judged_criteria = [name for name in CRITERIA if name in judged.evalset.dimensions]
    columns = {name: judged.values(name) for name in judged_criteria}
    if len(judged_criteria) == len(CRITERIA):
        columns["dissimilarity (adequacy, fluency >= 4)"] = good_dissimilarity(judged)
    return [correlate(judged, name, x, "overall", judged.human) for name, x in columns.items()]


def good_dissimilarity(judged: JudgedPairs) -> Floats:
    """Return the dissimilarity of adequate and fluent paraphrases; NaN for others."""
    is_good = (judged.values("adequacy") >= HIGH) & (judged.values("fluency") >= HIGH)
    return np.where(is_good, judged.values("dissimilarity"), np.nan)


def correlate_with_judges(judged: JudgedPairs, name: str, predicted: Floats) -> list[Correlation]:
    """Return the paper's Table 3: the mean of judges, with controls and without; each judge."""
    rows = _correlate_with_average(judged, name, predicted)
    columns = judge_columns(judged)
    for judge, judge_scores in columns.items() if len(columns) > 1 else ():
        rows.append(correlate(judged, name, predicted, f"judge {judge}", judge_scores))
    return rows


def paired_gains(
    judged: JudgedPairs,
    first: tuple[str, Floats],
    second: tuple[str, Floats],
    resamples: int = 1000,
    seed: int = SEED,
) -> list[Gain]:
    """Compare two predictions on all pairs and, if there are controls, on the others alone."""
    gains = [paired_gain(judged, first, second, resamples, seed)]
    if not (real := judged.real).all() and real.any():
        real_first, real_second = ((name, column[real]) for name, column in (first, second))
        without = paired_gain(judged.select(real), real_first, real_second, resamples, seed)
        gains.append(without._replace(pairs=NO_CONTROLS))
    return gains


def paired_gain(
    judged: JudgedPairs,
    first: tuple[str, Floats],
    second: tuple[str, Floats],
    resamples: int = 1000,
    seed: int = SEED,
) -> Gain:
    """Compare two predictions by a paired bootstrap over originals.

    Each draw takes all paraphrases of an original or none. The p-value is twice the smaller share
    of resamples on either side of no difference.
    """
    resampled = [
        resampled_r(judged, predictions, judged.human, resamples, seed)
        for _, predictions in (first, second)
    ]
    differences = resampled[0][1:] - resampled[1][1:]
    low, high = (float(end) for end in np.quantile(differences, (0.025, 0.975)))
    r_first, r_second = (float(r[0]) for r in resampled)
    p_value = float("nan")  # a resample of equal scores has no r
    if np.isfinite(differences).all():
        beyond = min(np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0))
        p_value = float(min(1.0, 2 * (1 + beyond) / (1 + len(differences))))
    return Gain(first[0], second[0], r_first, r_second, r_first - r_second, low, high, p_value)


def resampled_r(
    judged: JudgedPairs, x: Floats, y: Floats, resamples: int = 1000, seed: int = SEED
) -> Floats:
    """Return Pearson's r of two columns over pairs, and then its bootstrap resamples.

    Originals are drawn, each with all of its pairs. Columns of the same pairs see the same draws.
    """
    has_both = ~(np.isnan(x) | np.isnan(y))
    if not has_both.any():
        return np.full(1 + resamples, np.nan)
    at, count = _number_names(judged.originals)
    x, y = (np.where(has_both, column - column[has_both].mean(), 0.0) for column in (x, y))
    rows = np.stack([has_both, x, y, x * x, y * y, x * y], axis=1)
    sums = np.zeros((count, rows.shape[1]))
    np.add.at(sums, at, rows)
    return _pearson_from_sums(np.vstack([sums.sum(axis=0), bootstrap_sums(sums, resamples, seed)]))


def resampled_system_r(
    judged: JudgedPairs, x: Floats, y: Floats, resamples: int = 1000, seed: int = SEED
) -> Floats:
    """Return Pearson's r of the means of systems, and then its bootstrap resamples."""
    has_both = ~(np.isnan(x) | np.isnan(y))
    at, count = _number_names(judged.originals)
    system, systems = _number_names(judged.systems)
    sums = np.zeros((3, count, systems))
    for k, column in enumerate((has_both.astype(np.float64), x, y)):
        np.add.at(sums[k], (at, system), np.where(has_both, column, 0.0))
    resampled_sums = bootstrap_sums(np.concatenate(sums, axis=1), resamples, seed)
    all_sums = np.vstack([sums.sum(axis=1).reshape(1, -1), resampled_sums]).reshape(-1, 3, systems)
    is_present = all_sums[:, 0] > 0
    a, b = (all_sums[:, k] / np.where(is_present, all_sums[:, 0], 1.0) for k in (1, 2))
    return _pearson_from_sums(np.stack([is_present, a, b, a * a, b * b, a * b], axis=2).sum(axis=1))


def _number_names(names: Sequence[str]) -> tuple[list[int], int]:
    """Return the number of each name, in the order in which names appear, and how many differ."""
    number: dict[str, int] = {}
    return [number.setdefault(name, len(number)) for name in names], len(number)


def _pearson_from_sums(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((n * xy - x * y) / np.sqrt((n * xx - x * x) * (n * yy - y * y)))


def _dissimilarities(judged: JudgedPairs) -> Iterable[JudgedPoint]:
    if not set(CRITERIA) <= set(judged.evalset.dimensions):
        return ()
    values = good_dissimilarity(judged)
    is_good = ~np.isnan(values)
    columns = values[is_good].tolist(), judged.human[is_good].tolist()
    return map(JudgedPoint, *columns, np.array(judged.systems)[is_good].tolist())
