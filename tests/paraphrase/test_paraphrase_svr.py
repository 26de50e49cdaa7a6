"""The regression: what is predicted here is what scikit-learn predicts; folds keep groups whole."""

from __future__ import annotations

import numpy as np
import pytest

from karat.errors import InputError
from karat.paraphrase.pem.combination import (
    SVR,
    SvrSetting,
    cross_predict,
    fit_svr,
    group_folds,
    search_setting,
)

svm = pytest.importorskip("sklearn.svm", reason="scikit-learn is not installed")
RNG = np.random.default_rng(7)
X = RNG.normal(size=(120, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -2.0]
Y = np.tanh(X[:, 0]) + 0.1 * X[:, 1] + RNG.normal(scale=0.1, size=120)
GROUPS = [f"g{i // 4}" for i in range(120)]


def test_predictions_are_the_librarys() -> None:
    setting = SvrSetting(2.0, 0.05, 0.7)
    mean, scale = X.mean(axis=0), X.std(axis=0)
    library_svr = svm.SVR(C=2.0, epsilon=0.05, gamma=0.7 / 3).fit((X - mean) / scale, Y)
    new = RNG.normal(size=(5000, 3))
    expected = library_svr.predict((new - mean) / scale)
    np.testing.assert_allclose(fit_svr(X, Y, setting).predict(new), expected, atol=1e-10)


def test_a_stored_regression_predicts_the_same() -> None:
    learned = fit_svr(X, Y, SvrSetting())
    again = SVR.from_arrays(learned.arrays())
    assert again.setting == learned.setting
    np.testing.assert_array_equal(again.predict(X), learned.predict(X))


@pytest.mark.parametrize("name", ["svr_mean", "svr_scale", "svr_weights", "svr_vectors"])
def test_a_damaged_regression_is_refused(name: str) -> None:
    arrays = fit_svr(X, Y, SvrSetting()).arrays()
    arrays[name] = arrays[name][:-1]
    with pytest.raises(ValueError, match=r"has \d+ values, expected"):
        SVR.from_arrays(arrays)


def test_a_regression_with_nan_is_refused() -> None:
    arrays = fit_svr(X, Y, SvrSetting()).arrays()
    arrays["svr_weights"] = np.full_like(arrays["svr_weights"], np.nan)
    with pytest.raises(ValueError, match="not a number"):
        SVR.from_arrays(arrays)


def test_a_constant_feature_does_no_harm() -> None:
    flat = np.hstack([X, np.ones((120, 1))])
    assert np.isfinite(fit_svr(flat, Y, SvrSetting()).predict(flat)).all()


def test_groups_stay_together_and_folds_are_even() -> None:
    fold = group_folds(GROUPS, 7)
    for group in set(GROUPS):
        assert len({fold[i] for i, name in enumerate(GROUPS) if name == group}) == 1
    sizes = np.bincount(fold)
    assert len(sizes) == 7
    assert sizes.max() - sizes.min() <= 4
    assert not np.array_equal(fold, group_folds(GROUPS, 7, seed=1))


@pytest.mark.parametrize(("folds", "words"), [(31, "cannot be split"), (1, "at least 2")])
def test_too_many_folds(folds: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        group_folds(GROUPS, folds)


def test_search_finds_the_setting_that_works() -> None:
    grid = (SvrSetting(1e-6, 0.1, 1.0), SvrSetting(3.0, 0.1, 1.0))
    assert search_setting(X, Y, GROUPS, grid) == grid[1]


def test_what_is_left_out_is_not_seen() -> None:
    """With the group itself as the only useful feature, nothing can be predicted."""
    number = np.array([int(name[1:]) for name in GROUPS], dtype=np.float64)
    human = np.random.default_rng(3).permutation(30)[number.astype(int)].astype(np.float64)
    features = np.eye(30)[number.astype(int)]
    predictions = cross_predict(features, human, GROUPS, (SvrSetting(10.0, 0.1, 30.0),), folds=5)
    assert np.corrcoef(predictions, human)[0, 1] < 0.2
    training_predictions = fit_svr(features, human, SvrSetting(10.0, 0.1, 30.0)).predict(features)
    assert np.corrcoef(training_predictions, human)[0, 1] > 0.9


def test_a_row_alone_is_predicted_as_among_others() -> None:
    svr = fit_svr(X, Y, SvrSetting(1.0, 0.1, 0.5))
    alone = [float(svr.predict(X[i : i + 1])[0]) for i in range(len(X))]
    assert alone == svr.predict(X).tolist()


def test_many_rows_are_learned_from_without_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    predictions = fit_svr(X, Y, SvrSetting(1.0, 0.1, 0.5)).predict(X)
    monkeypatch.setattr("karat.paraphrase.pem.combination.MAX_KERNEL_ROWS", 10)
    assert fit_svr(X, Y, SvrSetting(1.0, 0.1, 0.5)).predict(X) == pytest.approx(
        predictions, abs=1e-2
    )
