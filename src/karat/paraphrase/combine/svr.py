"""SVM regression with an RBF kernel: learned by scikit-learn, stored as arrays, predicted here.

The prediction for a row x of standardised features is

    f(x) = b + sum over support vectors v of a_v exp(-gamma |x - v|^2)

scikit-learn multiplies and exponentiates as the processor likes best. Here kernels are made first,
with arithmetic that is the same everywhere, and it only solves. That takes a table of rows x rows:
of more than `WHOLE` rows scikit-learn makes its own kernels, a part at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from karat.arithmetic import product, quick_exp
from karat.arrays import Flags, Floats, Ints, NDArray, np
from karat.errors import InputError, MissingExtra
from karat.progress import Progress, silent
from karat.stats.correlation import pearson
from karat.storage.schema import ModelLayout, check_arrays

if TYPE_CHECKING:
    from karat.paraphrase.pem.features import Features

_ROWS = 1024  # predicted at a time, so that memory stays bounded
WHOLE = 8192  # rows whose kernels are one table, of half a gigabyte
SEED = 12345
SEARCHED = 2000  # rows from which settings are chosen

_LARGEST = 1e50  # so that no sum of squares is beyond what a float can hold
_COLUMNS = {
    "svr_mean": ModelLayout("float64", "features", -_LARGEST, _LARGEST),
    "svr_scale": ModelLayout("float64", "features", 1 / _LARGEST, _LARGEST),
    "svr_vectors": ModelLayout("float64", "vectors x features", -_LARGEST, _LARGEST),
    "svr_weights": ModelLayout("float64", "vectors", -_LARGEST, _LARGEST),
    "svr_numbers": ModelLayout("float64", "numbers", -_LARGEST, _LARGEST),
}
"""The arrays of a regression, in the order of its fields."""


@dataclass(frozen=True)
class Setting:
    """C, epsilon, and gamma as a multiple of 1 / (number of features)."""

    C: float = 1.0
    epsilon: float = 0.1
    gamma: float = 1.0


GRID = tuple(Setting(C, 0.2, g) for C, g in itertools.product((0.3, 1.0, 3.0), (0.2, 0.5, 1.0)))
"""The settings that `search` tries: nine around the usual ones."""


@dataclass(frozen=True, eq=False)
class SVR:
    """A learned regression."""

    mean: Floats
    scale: Floats
    vectors: Floats
    weights: Floats
    intercept: float
    gamma: float
    setting: Setting

    @property
    def width(self) -> int:
        """The number of features."""
        return len(self.mean)

    def inputs(self, found: Features) -> Floats:
        """Return the features that it is learned from: all of them."""
        return found.matrix

    def names(self, found: Features) -> tuple[str, ...]:
        """Return the names of `inputs`."""
        return found.names

    def predict(self, features: Floats) -> Floats:
        """Return one value for each row of features."""
        found = np.empty(len(features))
        for start in range(0, len(features), _ROWS):
            rows = (features[start : start + _ROWS] - self.mean) / self.scale
            kernels = _kernels(rows, self.vectors, self.gamma)
            found[start : start + _ROWS] = product(kernels, self.weights) + self.intercept
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be stored."""
        numbers = np.array((self.intercept, self.gamma, *vars(self.setting).values()))
        parts = (self.mean, self.scale, self.vectors, self.weights, numbers)
        return dict(zip(_COLUMNS, parts, strict=True))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> SVR:
        """Make one of stored arrays; a ValueError or KeyError if they do not fit together."""
        check_arrays(arrays, _COLUMNS)
        mean, scale, vectors, weights, numbers = (arrays[name] for name in _COLUMNS)
        if len(numbers) != 2 + len(fields(Setting)) or numbers[1] <= 0:
            raise ValueError("the regression's numbers are not an intercept, a gamma and a setting")
        intercept, gamma, *setting = numbers.tolist()
        return cls(mean, scale, vectors, weights, intercept, gamma, Setting(*setting))


def fit_svr(features: Floats, human: Floats, setting: Setting) -> SVR:
    """Standardise the features and learn from them."""
    try:
        from sklearn import svm
    except ImportError as error:
        raise MissingExtra(
            "training needs scikit-learn, which is not installed: pip install 'karat[paraphrase]'"
        ) from error
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    gamma, rows = setting.gamma / features.shape[1], (features - mean) / scale
    given: dict[str, Any] = {"gamma": gamma}
    table = rows
    if len(rows) <= WHOLE:
        given, table = {"kernel": "precomputed"}, np.empty((len(rows), len(rows)))
        for start in range(0, len(rows), _ROWS):
            table[start : start + _ROWS] = _kernels(rows[start : start + _ROWS], rows, gamma)
    learner = svm.SVR(C=setting.C, epsilon=setting.epsilon, cache_size=500, **given)
    learner.fit(table, human)
    vectors, weights = rows[learner.support_], learner.dual_coef_[0]
    return SVR(mean, scale, vectors, weights, float(learner.intercept_[0]), gamma, setting)


def _kernels(rows: Floats, vectors: Floats, gamma: float) -> Floats:
    """Return exp(-gamma |x - v|^2) of rows x vectors; |x - v|^2 = |x|^2 - 2 x v + |v|^2."""
    mine, theirs = (np.square(some).sum(axis=1) for some in (rows, vectors))
    distance: Floats = mine[:, None] - 2 * product(rows, vectors.T) + theirs
    return quick_exp(-gamma * np.maximum(distance, 0.0))


def group_folds(groups: Sequence[object], folds: int, seed: int = SEED) -> Ints:
    """Return the fold of each row: groups stay together, and are dealt out in random order."""
    numbers: dict[object, int] = {}
    row = np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)
    if folds < 2:
        raise InputError(f"folds={folds}: expected at least 2")
    if len(numbers) < folds:
        raise InputError(
            f"{len(numbers)} different originals cannot be dealt out to {folds} folds: give more "
            "judgements, or ask for fewer folds"
        )
    order = np.random.default_rng(seed).permutation(len(numbers))
    dealt = np.empty(len(numbers), dtype=np.int64)
    dealt[order] = np.arange(len(numbers)) % folds
    return dealt[row]


def search(
    features: Floats,
    human: Floats,
    groups: Sequence[object],
    grid: Sequence[Setting] = GRID,
    folds: int = 3,
) -> Setting:
    """Return the setting with the best Pearson correlation in cross-validation, or the first.

    Of many rows, about `SEARCHED` are looked at, whole groups of them: time grows with the square.
    """
    if len(grid) == 1:
        return grid[0]
    if len(human) > SEARCHED:
        kept = group_folds(groups, -(-len(human) // SEARCHED), SEED + 2) == 0
        features, human = features[kept], human[kept]
        groups = [group for group, keep in zip(groups, kept, strict=True) if keep]
    fold = group_folds(groups, folds, SEED + 1)
    found = [pearson(human, _left_out(features, human, fold, setting)) for setting in grid]
    return grid[int(np.nanargmax(found))] if not np.isnan(found).all() else grid[0]


def _left_out(features: Floats, human: Floats, fold: Ints, setting: Setting) -> Floats:
    found = np.empty(len(human))
    for k in range(int(fold.max()) + 1):
        rest = fold != k
        found[~rest] = fit_svr(features[rest], human[rest], setting).predict(features[~rest])
    return found


def split_predict(
    features: Floats,
    human: Floats,
    groups: Sequence[object],
    trained: Flags,
    grid: Sequence[Setting] = GRID,
) -> Floats:
    """Predict the rows that are not trained on by one regression of those that are.

    The setting is searched inside the training part.
    """
    kept = [group for group, keep in zip(groups, trained, strict=True) if keep]
    inner = min(3, len(set(kept)))
    chosen = search(features[trained], human[trained], kept, grid, inner) if inner > 1 else grid[0]
    return fit_svr(features[trained], human[trained], chosen).predict(features[~trained])


def cross_predict(
    features: Floats,
    human: Floats,
    groups: Sequence[object],
    grid: Sequence[Setting] = GRID,
    folds: int = 10,
    progress: Progress = silent,
) -> Floats:
    """Predict each row by a regression that has seen no row of its group.

    The setting is searched inside the training part of each fold.
    """
    fold = group_folds(groups, folds)
    found = np.empty(len(human))
    for k in range(folds):
        progress(k, folds, "cross-validating")
        rest = fold != k
        found[~rest] = split_predict(features, human, groups, rest, grid)
    progress(folds, folds, "cross-validating")
    return found
