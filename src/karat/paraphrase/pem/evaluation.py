"""PEM against human judgement: the paper's three tables, for any judged set with the data for them.

Predictions come from cross-validation, or from a split of the originals as in the paper: no
regression has seen the originals that it is tested on. The rivals of PEM are the same regression
without pivot languages.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

from karat.arrays import Floats, np
from karat.evalset.loading import SetSource, as_evalset
from karat.metrics.names import metric
from karat.paraphrase.pem.combination import (
    GRID,
    SCALE,
    CalibratedMean,
    ControlMean,
    SvrSetting,
    cross_predict,
    split_predict,
)
from karat.paraphrase.pem.features import MetricNames, PairFeatures, as_features
from karat.paraphrase.pem.judged_pairs import JudgedPairs, judged_rows
from karat.paraphrase.pem.model import BUNDLED, PEM, as_pem
from karat.progress import Progress, silent
from karat.results import Result
from karat.settings import SEED
from karat.stats.correlation import pearson, spearman
from karat.stats.resampling import bootstrap_fields, bootstrap_sums
from karat.storage.digests import data_digest

RIVALS: Mapping[str, tuple[str, ...]] = {
    "stemmed unigram F1": ("rouge1:stem=porter-nltk",),
    "ROUGE-1 and chrF++": ("rouge1", "chrf++:case=lower"),
    "BLEU": ("bleu",),
}
"""Name -> metrics that replace the pivot features; the original is the reference."""

ALL_PAIRS, NO_CONTROLS = "all", "no controls"  # pairs used for correlations and gains
CRITERIA = ("adequacy", "fluency", "dissimilarity")
MEAN = "the model's mean, nothing learned"
NO_METRICS = "no metrics as features"
HIGH = 4.0  # lowest adequacy and fluency of a good paraphrase


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
    pairs: str = ALL_PAIRS  # or NO_CONTROLS


class JudgedPoint(NamedTuple):
    """Point of a scatter plot: a paraphrase or a system."""

    x: float
    y: float
    system: str


@dataclass(frozen=True, eq=False, repr=False)
class ParaphraseEvaluation(Result):
    """Agreement of PEM with the judges of a set; `rows` are its correlations with human scores."""

    name: str
    rows: tuple[Correlation, ...]
    gains: tuple[Gain, ...]
    parts: tuple[Correlation, ...]
    alone: tuple[Correlation, ...]  # metrics of the rivals, without a regression
    inter_judge: tuple[Correlation, ...]
    criteria: tuple[Correlation, ...]
    predictions: tuple[JudgedPoint, ...]
    """Human score and predicted PEM of every paraphrase."""
    system_means: tuple[JudgedPoint, ...]  # means of the predictions of each system
    dissimilarities: tuple[JudgedPoint, ...]
    """Dissimilarity and overall quality of adequate, fluent paraphrases."""
    settings: Mapping[str, object]
    notes: tuple[str, ...]
    signature: str
    judged: JudgedPairs
    tested: JudgedPairs
    measures: Mapping[str, Floats]
    """PEM, its parts and the metrics of the rivals -> a score for each tested pair."""


def evaluate_paraphrases(
    evalset: SetSource,
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
        evalset: a set, its name or path, the path of a table, or a frame.
        model: model whose pivot languages and language model are used; its regression is not.
        form: features of the regression; by default those of the model.
        dimension: dimension of overall quality.
        controls: add the paper's three control systems.
        features: metrics to add to the features; by default those of the model.
        folds: number of folds.
        train_first: number of originals to train on, testing on the others; instead of `folds`.
        compare_with: other metrics by name, instead of `RIVALS`.
        grid: settings of the regression to choose from.
        resamples: number of bootstrap resamples for the intervals.
        seed: seed of the random numbers.
        threads: number of threads; by default all processors.
        progress: function that is called with the progress.
    """
    judged = judged_rows(as_evalset(evalset, progress), dimension, controls=controls)
    pem, rivals = _model_to_evaluate(model, form, features), _rival_metrics(compare_with)
    split = EvaluationSplit(judged, folds, train_first, tuple(grid), progress)
    tested = split.tested
    work: dict[str, Any] = {"threads": threads, "progress": progress}
    pairs = pem.features(judged.originals, judged.paraphrases, judged.outputs, **work)
    scores = rival_scores(judged, rivals, **work)
    predicted = split.predict(pairs.matrix)
    rival_predictions = {
        name: split.predict(matrix)
        for name, matrix in _rival_features(pem, pairs, rivals, scores).items()
    }
    if pem.combination is not None:
        rival_predictions[MEAN] = pem.combine(pairs)[split.is_tested]
    gains: list[Gain] = []
    for name, column in rival_predictions.items() if resamples else ():
        gains += paired_gains(tested, ("PEM", predicted), (name, column), resamples, seed)
    parts = zip(("pivot F1", "fluency", "target F1"), pairs.parts, strict=True)
    tested_parts = {name: column[split.is_tested] for name, column in parts}
    tested_scores = {name: column[split.is_tested] for name, column in scores.items()}
    return ParaphraseEvaluation(
        name=judged.evalset.name,
        rows=(
            *correlate_with_judges(tested, "PEM", predicted),
            *_correlate_with_average(tested, rival_predictions),
        ),
        gains=tuple(gains),
        parts=_correlate_with_average(tested, tested_parts),
        alone=_correlate_with_average(tested, tested_scores),
        inter_judge=tuple(correlate_judges(judged)),
        criteria=tuple(criteria(judged)),
        predictions=tuple(
            map(JudgedPoint, tested.human.tolist(), predicted.tolist(), tested.systems)
        ),
        system_means=tuple(_system_means(tested, predicted)),
        dissimilarities=tuple(_dissimilarities(judged)),
        settings={
            "model": pem.name,
            "form": pem.form,
            "dimension": judged.overall,
            "controls": controls,
            "features": [feature.name for feature in pem.metrics],
            "folds": folds,
            "train_first": train_first,
            "resamples": resamples,
            "seed": seed,
        },
        notes=(split.note, *_notes(judged, pem, bool(rivals), resamples), *pairs.notes),
        signature=pem.signature_with(split.signature, bootstrap_fields(resamples, seed)),
        judged=judged,
        tested=tested,
        measures={"PEM": predicted, **tested_parts, **tested_scores},
    )


def _model_to_evaluate(
    model: PEM | str | os.PathLike[str], form: str | None, features: MetricNames
) -> PEM:
    """Return a model with the form and the metrics to evaluate.

    Only a mean of the model's own features keeps its score; regressions are trained on the set.
    """
    pem = as_pem(model, form)
    if isinstance(pem.combination, CalibratedMean):  # the mean itself has learned nothing
        pem = replace(pem, combination=pem.combination.mean)
    if features or form not in (None, pem.form) or not isinstance(pem.combination, ControlMean):
        pem = replace(pem, combination=None)
    metrics = as_features(features) if features else pem.metrics
    return replace(pem, form=form or pem.form, metrics=metrics)


def _rival_metrics(
    compare_with: Mapping[str, Sequence[str]] | Sequence[str] | None,
) -> dict[str, list[str]]:
    """Return the rivals of PEM by name, with the full names of their metrics."""
    rivals: Mapping[str, Sequence[str]] = RIVALS
    if isinstance(compare_with, Mapping):
        rivals = compare_with
    elif compare_with is not None:
        rivals = {name: (name,) for name in compare_with}
    return {name: [str(metric(part)) for part in parts] for name, parts in rivals.items()}


def rival_scores(
    judged: JudgedPairs, rivals: Mapping[str, Sequence[str]], **work: Any
) -> dict[str, Floats]:
    """Return the scores of all paraphrases by each metric of the rivals."""
    originals = [[text] for text in judged.originals]
    names = dict.fromkeys(name for metrics in rivals.values() for name in metrics)
    return {name: metric(name).segments(judged.paraphrases, originals, **work) for name in names}


def _rival_features(
    pem: PEM,
    pairs: PairFeatures,
    rivals: Mapping[str, Sequence[str]],
    scores: Mapping[str, Floats],
) -> dict[str, Floats]:
    """Return the features of each rival: metrics instead of pivot features, or no metrics."""
    matrices = {
        name: np.column_stack([pairs.without_pivots(), *(scores[part] for part in metrics)])
        for name, metrics in rivals.items()
    }
    if pem.metrics:
        matrices[NO_METRICS] = pairs.matrix[:, : -len(pem.metrics)]
    return matrices


class EvaluationSplit:
    """Split of judged pairs by original: cross-validation, or training on the first originals."""

    def __init__(
        self,
        judged: JudgedPairs,
        folds: int,
        train_first: int | None,
        grid: Sequence[SvrSetting],
        progress: Progress,
    ) -> None:
        self.judged, self.folds, self.train_first = judged, folds, train_first
        self.grid, self.progress = grid, progress
        self.is_tested = np.ones(len(judged), np.bool_)
        if train_first is not None:
            self.is_tested = ~judged.first_originals(train_first)
        self.tested = judged.select(self.is_tested)

    def predict(self, matrix: Floats) -> Floats:
        """Predict the tested rows with regressions that have not seen their originals."""
        data = matrix, self.judged.human, self.judged.originals
        if self.train_first is None:
            return np.clip(cross_predict(*data, self.grid, self.folds, self.progress), *SCALE)
        return np.clip(split_predict(*data, ~self.is_tested, self.grid), *SCALE)

    @property
    def signature(self) -> str:
        """Combination of features in the signature of the evaluation."""
        judged, train_first = self.judged, self.train_first
        split = f"folds={self.folds}" if train_first is None else f"train_first={train_first}"
        data = f"{judged.evalset.signature.removeprefix('set:')},dimension={judged.overall}"
        learned = f"learned={data},controls={int((~judged.real).sum())}"
        if self.grid != GRID:
            learned += f",grid={data_digest([(s.C, s.epsilon, s.gamma) for s in self.grid])}"
        return f"combine=svr,{split},{learned}"

    @property
    def note(self) -> str:
        """Sentence on training and test data."""
        if self.train_first is None:
            return (
                f"Cross-validated in {self.folds} folds by original: no regression has seen an "
                "original that it is tested on, and its settings were searched inside the training "
                "part."
            )
        return (
            f"Trained on the first {self.train_first:,} originals, tested on the other "
            f"{len(set(self.tested.originals)):,}; the settings of the regression were searched "
            "inside the training part. Tables of judges and of criteria are of all originals."
        )


def _system_means(tested: JudgedPairs, predicted: Floats) -> Iterator[JudgedPoint]:
    """Yield the mean human score and the mean PEM of each system."""
    systems = np.array(tested.systems)
    for name in dict.fromkeys(tested.systems):
        human, pem = tested.human[systems == name], predicted[systems == name]
        yield JudgedPoint(float(human.mean()), float(pem.mean()), name)


def _correlate_with_average(
    judged: JudgedPairs, columns: Mapping[str, Floats]
) -> tuple[Correlation, ...]:
    """Return correlations with the mean of the judges, and without controls if there are any."""
    rows: list[Correlation] = []
    for name, column in columns.items():
        rows.append(correlate(judged, name, column, "human average", judged.human))
        if not judged.real.all():
            human, real = f"human average, {NO_CONTROLS}", without_controls(judged, column)
            rows.append(correlate(judged, name, real, human, judged.human))
    return tuple(rows)


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
    """Return a column with NaN for controls."""
    return np.where(judged.real, column, np.nan)


def judge_columns(judged: JudgedPairs) -> dict[str, Floats]:
    """Return the overall scores by each judge, without controls."""
    rows = judged.evalset.judgements.without_models()
    overall_rows = rows.select_rows(rows.dimension == rows.dimensions.index(judged.overall))
    names = dict.fromkeys(overall_rows.judges[k] for k in np.unique(overall_rows.judge).tolist())
    return {
        name: without_controls(judged, judged.values(judged.overall, [name]))
        for name in names
        if name != "control"
    }


def correlate_judges(judged: JudgedPairs) -> list[Correlation]:
    """Return the paper's Table 1: each pair of judges, without controls."""
    pairs = combinations(judge_columns(judged).items(), 2)
    return [correlate(judged, *first, *second) for first, second in pairs]


def criteria(judged: JudgedPairs) -> list[Correlation]:
    """Return the paper's Table 2: each criterion of the set with overall quality."""
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
    """Return the paper's Table 3: the mean of the judges, with and without controls; each judge."""
    rows = [*_correlate_with_average(judged, {name: predicted})]
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
    """Compare two predictions on all pairs and, if there are controls, without these."""
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

    Each original is drawn with all its paraphrases. The p-value is twice the smaller share of
    resamples on either side of no difference.
    """
    resampled = [
        resampled_r(judged, predictions, judged.human, resamples, seed)
        for _, predictions in (first, second)
    ]
    differences = resampled[0][1:] - resampled[1][1:]
    low, high = (float(end) for end in np.quantile(differences, (0.025, 0.975)))
    r_first, r_second = (float(r[0]) for r in resampled)
    p_value = float("nan")  # r is undefined for a resample with equal scores
    if np.isfinite(differences).all():
        beyond = min(np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0))
        p_value = float(min(1.0, 2 * (1 + beyond) / (1 + len(differences))))
    return Gain(first[0], second[0], r_first, r_second, r_first - r_second, low, high, p_value)


def resampled_r(
    judged: JudgedPairs, x: Floats, y: Floats, resamples: int = 1000, seed: int = SEED
) -> Floats:
    """Return Pearson's r of two columns over pairs, followed by its bootstrap resamples.

    Each original is drawn with all its pairs. Columns of the same pairs share the draws.
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
    """Return Pearson's r of the means of systems, followed by its bootstrap resamples."""
    has_both = ~(np.isnan(x) | np.isnan(y))
    original, n_originals = _number_names(judged.originals)
    system, n_systems = _number_names(judged.systems)
    sums = np.zeros((3, n_originals, n_systems))
    for k, column in enumerate((has_both.astype(np.float64), x, y)):
        np.add.at(sums[k], (original, system), np.where(has_both, column, 0.0))
    resampled_sums = bootstrap_sums(np.concatenate(sums, axis=1), resamples, seed)
    all_sums = np.vstack([sums.sum(axis=1).reshape(1, -1), resampled_sums]).reshape(
        -1, 3, n_systems
    )
    is_present = all_sums[:, 0] > 0
    a, b = (all_sums[:, k] / np.where(is_present, all_sums[:, 0], 1.0) for k in (1, 2))
    return _pearson_from_sums(np.stack([is_present, a, b, a * a, b * b, a * b], axis=2).sum(axis=1))


def _number_names(names: Sequence[str]) -> tuple[list[int], int]:
    """Return the number of each name, in order of appearance, and the number of names."""
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
