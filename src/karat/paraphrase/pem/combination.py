"""Combinations of features: a support vector regression, or means that need few judgements.

The mean is scaled by the paper's three controls. A feature x of adequacy (pivot F1, or a metric) is
0 at the average of the controls `random` and `unigram`, and 1 for the original itself:

    a(x) = (x - none) / (copy - none), clipped to 0 and 1
    A    = 1 + 4 (mean of all a(x))

So an unrelated sentence has about 1, and the original itself 5. If copies are bad paraphrases, they
have 2 as in the paper, and the power limits the loss to near copies:

    PEM  = (1 - c) A + 2 c, where c = (target F1)^6

A calibrated mean is a + b PEM, where least squares fit a and b > 0 to human scores. Fluency is not
used.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import fsum
from typing import TYPE_CHECKING, Any

from karat.arithmetic import product, quick_exp
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError, MissingExtra
from karat.installation import install_command
from karat.progress import Progress, silent
from karat.settings import SEED
from karat.stats.correlation import pearson
from karat.storage.schema import ModelLayout, check_arrays

if TYPE_CHECKING:
    from karat.paraphrase.pem.features import PairFeatures


POWER = 6
"""Best of 1 to 64 by agreement on half of the judged headlines (docs/lab/pem.md)."""
COPY = 2.0  # score of the original itself (section 5.1 of the paper)
SCALE = (1.0, 5.0)  # lowest and highest PEM
GOOD, BAD, IGNORE = "good", "bad", "ignore"
COPIES: Mapping[str, str] = {
    GOOD: "a copy of the original has the highest score",
    BAD: "a copy has 2 of 5, as in the paper, or what the regression learned for it",
    IGNORE: "a copy has no score",
}
"""Choice of what a copy of the original is worth -> its meaning."""

_LARGEST_MEAN = 1e50
_MEAN_LAYOUTS = {
    "mean_none": ModelLayout("float64", "features", -_LARGEST_MEAN, _LARGEST_MEAN),
    "mean_copy": ModelLayout("float64", "features", -_LARGEST_MEAN, _LARGEST_MEAN),
}
"""The arrays of a mean, in the order of its fields."""
LINE = "line"
_LINE_LAYOUTS = {LINE: ModelLayout("float64", "numbers", -_LARGEST_MEAN, _LARGEST_MEAN)}
"""The array of a calibrated mean: a and b."""


@dataclass(frozen=True, eq=False)
class ControlMean:
    """Means of each feature of adequacy over controls."""

    none: Floats  # over unrelated sentences
    copy: Floats  # over the originals themselves
    copies: str = BAD

    @property
    def width(self) -> int:
        """Number of inputs: the features of adequacy and target F1."""
        return len(self.none) + 1

    def inputs(self, features: PairFeatures) -> tuple[tuple[str, ...], Floats]:
        """Return names and values of the features of adequacy, and target F1 in the last column."""
        values = np.column_stack([features.adequacy, features.column("target F1")])
        return ("pivot F1", *features.metric_names, "target F1"), values

    def predict(self, features: Floats) -> Floats:
        """Return one value for each row of features."""
        adequacy, target = features[:, :-1], features[:, -1]
        parts = np.clip((adequacy - self.none) / (self.copy - self.none), 0.0, 1.0)
        mean = sum(parts.T) / len(self.none)
        if self.copies != BAD:
            return np.asarray(1.0 + 4.0 * mean)
        square = target * target  # multiplied out: other powers may differ between processors
        copied = square * square * square
        return np.asarray((1.0 - copied) * (1.0 + 4.0 * mean) + copied * COPY)

    def with_copies(self, copies: str) -> ControlMean:
        """Return the mean with another choice of what copies are worth."""
        return replace(self, copies=copies)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the stored arrays."""
        return dict(zip(_MEAN_LAYOUTS, (self.none, self.copy), strict=True))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], copies: str = BAD) -> ControlMean:
        """Return a stored mean; raise ValueError or KeyError if its arrays are inconsistent."""
        check_arrays(arrays, _MEAN_LAYOUTS)
        none, copy = (arrays[name] for name in _MEAN_LAYOUTS)
        if not len(none) or (none == copy).any():
            raise ValueError("its mean does not separate the original from other sentences")
        return cls(none, copy, copies)


@dataclass(frozen=True, eq=False)
class CalibratedMean:
    """A mean on the scale of human scores: intercept + slope x mean."""

    mean: ControlMean
    intercept: float
    slope: float  # positive: the order of paraphrases is that of the mean

    @property
    def width(self) -> int:
        """Number of inputs of the mean."""
        return self.mean.width

    def inputs(self, features: PairFeatures) -> tuple[tuple[str, ...], Floats]:
        """Return the inputs of the mean."""
        return self.mean.inputs(features)

    def predict(self, features: Floats) -> Floats:
        """Return one value for each row of features."""
        return np.asarray(self.intercept + self.slope * self.mean.predict(features))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the stored arrays."""
        return {**self.mean.arrays(), LINE: np.array([self.intercept, self.slope])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], copies: str) -> CalibratedMean:
        """Return a stored mean; raise ValueError or KeyError if its arrays are inconsistent."""
        check_arrays(arrays, _LINE_LAYOUTS)
        if len(arrays[LINE]) != 2 or arrays[LINE][1] <= 0:
            raise ValueError("the line of its mean is not an intercept and a positive slope")
        return cls(ControlMean.from_arrays(arrays, copies), *arrays[LINE].tolist())


def fit_line(mean: ControlMean, features: Floats, human: Floats) -> CalibratedMean:
    """Fit intercept and slope to human scores by least squares."""
    predicted = mean.predict(features)
    x, y = predicted - fsum(predicted) / len(predicted), human - fsum(human) / len(human)
    variance, covariance = fsum(x * x), fsum(x * y)
    if covariance <= 0 or variance == 0:
        raise InputError(
            "the human scores do not rise with the mean of the features, so no line fits them: "
            "give judgements that reward the same meaning, or learn --combine regression"
        )
    slope = covariance / variance
    intercept = fsum(human) / len(human) - slope * fsum(predicted) / len(predicted)
    return CalibratedMean(mean, intercept, slope)


def fit_mean(
    names: Sequence[str], copies: Floats, unrelated: Floats, worth: str = BAD
) -> ControlMean:
    """Fit the scale to features of the originals themselves and of unrelated sentences.

    `worth` is what copies are worth, one of `COPIES`.
    """
    none, copy = (
        np.array([fsum(column) / len(rows) for column in rows.T]) for rows in (unrelated, copies)
    )
    for name, low, high in zip(names, none.tolist(), copy.tolist(), strict=True):
        if low == high:
            raise InputError(
                f"feature {name} is {high:g} for a copy and for an unrelated sentence: a mean "
                "needs features that separate them, so leave it out"
            )
    return ControlMean(none, copy, worth)


def judge_copies(human: Floats, is_copy: Flags, copies: str) -> tuple[Flags, Floats]:
    """Return which rows to learn from, and all human scores, where good copies have the highest."""
    is_used = ~is_copy if copies == IGNORE else np.ones(len(human), np.bool_)
    return is_used, np.where(is_copy, SCALE[1], human) if copies == GOOD else human


def score_copies(predicted: Floats, is_copy: Flags, copies: str) -> Floats:
    """Return predictions on the scale, where copies have the highest score or NaN if so chosen."""
    scores = np.clip(predicted, *SCALE)
    worth = {GOOD: SCALE[1], IGNORE: np.nan}.get(copies)
    return scores if worth is None else np.where(is_copy, worth, scores)


_ROWS = 1024  # rows predicted together, to limit memory
MAX_KERNEL_ROWS = 8192  # rows whose kernels are precomputed, in half a gigabyte
MAX_SEARCH_ROWS = 2000  # rows used to choose settings

_LARGEST = 1e50  # so that no sum of squares overflows
_SVR_LAYOUTS = {
    "svr_mean": ModelLayout("float64", "features", -_LARGEST, _LARGEST),
    "svr_scale": ModelLayout("float64", "features", 1 / _LARGEST, _LARGEST),
    "svr_vectors": ModelLayout("float64", "vectors x features", -_LARGEST, _LARGEST),
    "svr_weights": ModelLayout("float64", "vectors", -_LARGEST, _LARGEST),
    "svr_numbers": ModelLayout("float64", "numbers", -_LARGEST, _LARGEST),
}
"""The arrays of a regression, in the order of its fields."""


@dataclass(frozen=True)
class SvrSetting:
    """C, epsilon, and gamma as a multiple of 1 / (number of features)."""

    C: float = 1.0
    epsilon: float = 0.1
    gamma: float = 1.0


GRID = tuple(SvrSetting(C, 0.2, g) for C, g in itertools.product((0.3, 1.0, 3.0), (0.2, 0.5, 1.0)))
"""Settings that `search_setting` tries."""


@dataclass(frozen=True, eq=False)
class SVR:
    """A trained support vector regression."""

    mean: Floats
    scale: Floats
    vectors: Floats
    weights: Floats
    intercept: float
    gamma: float
    setting: SvrSetting

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.mean)

    def inputs(self, features: PairFeatures) -> tuple[tuple[str, ...], Floats]:
        """Return names and values of the inputs of the regression: all features."""
        return features.names, features.matrix

    def predict(self, features: Floats) -> Floats:
        """Return one value for each row of features."""
        predictions = np.empty(len(features))
        for start in range(0, len(features), _ROWS):
            rows = (features[start : start + _ROWS] - self.mean) / self.scale
            kernels = _kernels(rows, self.vectors, self.gamma)
            predictions[start : start + _ROWS] = product(kernels, self.weights) + self.intercept
        return predictions

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the stored arrays."""
        numbers = np.array((self.intercept, self.gamma, *vars(self.setting).values()))
        parts = (self.mean, self.scale, self.vectors, self.weights, numbers)
        return dict(zip(_SVR_LAYOUTS, parts, strict=True))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> SVR:
        """Return a stored regression; raise ValueError or KeyError if arrays are inconsistent."""
        check_arrays(arrays, _SVR_LAYOUTS)
        mean, scale, vectors, weights, numbers = (arrays[name] for name in _SVR_LAYOUTS)
        if len(numbers) != 2 + len(fields(SvrSetting)) or numbers[1] <= 0:
            raise ValueError("the regression's numbers are not an intercept, a gamma and a setting")
        intercept, gamma, *setting = numbers.tolist()
        return cls(mean, scale, vectors, weights, intercept, gamma, SvrSetting(*setting))


def fit_svr(features: Floats, human: Floats, setting: SvrSetting) -> SVR:
    """Train a regression on standardised features."""
    try:
        from sklearn import svm
    except ImportError as error:
        raise MissingExtra(
            f"training needs scikit-learn, which is not installed: {install_command('paraphrase')}"
        ) from error
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    gamma, rows = setting.gamma / features.shape[1], (features - mean) / scale
    kernel_settings: dict[str, Any] = {"gamma": gamma}
    table = rows
    if len(rows) <= MAX_KERNEL_ROWS:
        kernel_settings, table = {"kernel": "precomputed"}, np.empty((len(rows), len(rows)))
        for start in range(0, len(rows), _ROWS):
            table[start : start + _ROWS] = _kernels(rows[start : start + _ROWS], rows, gamma)
    learner = svm.SVR(C=setting.C, epsilon=setting.epsilon, cache_size=500, **kernel_settings)
    learner.fit(table, human)
    vectors, weights = rows[learner.support_], learner.dual_coef_[0]
    return SVR(mean, scale, vectors, weights, float(learner.intercept_[0]), gamma, setting)


def _kernels(rows: Floats, vectors: Floats, gamma: float) -> Floats:
    """Return exp(-gamma |x - v|^2) of rows x vectors; |x - v|^2 = |x|^2 - 2 x v + |v|^2."""
    row_norms, vector_norms = (np.square(matrix).sum(axis=1) for matrix in (rows, vectors))
    distance: Floats = row_norms[:, None] - 2 * product(rows, vectors.T) + vector_norms
    return quick_exp(-gamma * np.maximum(distance, 0.0))


def group_folds(groups: Sequence[object], folds: int, seed: int = SEED) -> Ints:
    """Return the fold of each row; rows of a group share a fold, and folds are random."""
    numbers: dict[object, int] = {}
    group = np.array([numbers.setdefault(name, len(numbers)) for name in groups], dtype=np.int64)
    if folds < 2:
        raise InputError(f"folds={folds}: expected at least 2")
    if len(numbers) < folds:
        raise InputError(
            f"{len(numbers)} different originals cannot be split into {folds} folds: give more "
            "judgements, or ask for fewer folds"
        )
    order = np.random.default_rng(seed).permutation(len(numbers))
    fold_of_group = np.empty(len(numbers), dtype=np.int64)
    fold_of_group[order] = np.arange(len(numbers)) % folds
    return fold_of_group[group]


def search_setting(
    features: Floats,
    human: Floats,
    groups: Sequence[object],
    grid: Sequence[SvrSetting] = GRID,
    folds: int = 3,
) -> SvrSetting:
    """Return the setting with the best Pearson correlation in cross-validation.

    At most about `MAX_SEARCH_ROWS` rows, in whole groups, are used: time is quadratic in the rows.
    """
    if len(grid) == 1:
        return grid[0]
    if len(human) > MAX_SEARCH_ROWS:
        is_selected = group_folds(groups, -(-len(human) // MAX_SEARCH_ROWS), SEED + 2) == 0
        features, human = features[is_selected], human[is_selected]
        groups = [group for group, keep in zip(groups, is_selected, strict=True) if keep]
    fold = group_folds(groups, folds, SEED + 1)

    def predict_left_out(setting: SvrSetting) -> Floats:
        predictions = np.empty(len(human))
        for k in range(int(fold.max()) + 1):
            is_training = fold != k
            regression = fit_svr(features[is_training], human[is_training], setting)
            predictions[~is_training] = regression.predict(features[~is_training])
        return predictions

    correlations = [pearson(human, predict_left_out(setting)) for setting in grid]
    return grid[int(np.nanargmax(correlations))] if not np.isnan(correlations).all() else grid[0]


def split_predict(
    features: Floats,
    human: Floats,
    groups: Sequence[object],
    is_training: Flags,
    grid: Sequence[SvrSetting] = GRID,
) -> Floats:
    """Train on some rows and predict the others; the setting is searched in the training rows."""
    training_groups = [group for group, keep in zip(groups, is_training, strict=True) if keep]
    n_folds = min(3, len(set(training_groups)))
    training = features[is_training], human[is_training]
    setting = grid[0]
    if n_folds > 1:
        setting = search_setting(*training, training_groups, grid, n_folds)
    return fit_svr(*training, setting).predict(features[~is_training])


def cross_predict(
    features: Floats,
    human: Floats,
    groups: Sequence[object],
    grid: Sequence[SvrSetting] = GRID,
    folds: int = 10,
    progress: Progress = silent,
) -> Floats:
    """Predict each row with a regression that has seen no row of its group (cross-validation)."""
    fold = group_folds(groups, folds)
    predictions = np.empty(len(human))
    for k in range(folds):
        progress(k, folds, "cross-validating")
        is_training = fold != k
        predictions[~is_training] = split_predict(features, human, groups, is_training, grid)
    progress(folds, folds, "cross-validating")
    return predictions
