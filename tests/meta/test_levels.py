"""Levels: by hand, group by group, with scores missing."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.meta import agreement
from karat.stats.correlation import STATISTICS, calibrate

BY = sorted(name for name in set(STATISTICS) - {"acc-eq", "spa"} if not STATISTICS[name].pooled)


def matrices(seed: int, missing: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    """Coarse scores of 5 systems on 7 segments, some missing."""
    rng = np.random.default_rng(seed)
    human, metric = rng.integers(0, 4, (2, 5, 7)).astype(float)
    for first in (human, metric):
        first[rng.random(first.shape) < missing] = np.nan
    return human, metric


def means(values: Iterable[float]) -> float:
    has_score = [x for x in values if not np.isnan(x)]
    return sum(has_score) / len(has_score) if has_score else float("nan")


@pytest.mark.parametrize("by", BY)
@given(seed=st.integers(0, 2**32))
def test_groups_are_averaged_where_they_are_defined(by: str, seed: int) -> None:
    human, metric = matrices(seed)
    statistic = STATISTICS[by]
    for level, pairs in (
        ("item", list(zip(human.T, metric.T, strict=True))),
        ("by-system", list(zip(human, metric, strict=True))),
    ):
        values = [statistic(h, m) for h, m in pairs]
        level_agreement = agreement.agreement(human, metric, by, level)
        assert level_agreement.value == pytest.approx(means(values), abs=1e-12, nan_ok=True)
        assert level_agreement.left_out == sum(np.isnan(values))
        assert level_agreement.groups + level_agreement.left_out == len(pairs)


@given(seed=st.integers(0, 2**32))
def test_only_cells_with_both_scores_count(seed: int) -> None:
    human, metric = matrices(seed)
    both = ~np.isnan(human + metric)
    pooled = agreement.agreement(human, metric)
    assert pooled.points == both.sum()
    assert pooled.value == pytest.approx(STATISTICS["pearson"](human[both], metric[both]))
    rows = [s for s in range(5) if both[s].any()]
    h = [human[s][both[s]].mean() for s in rows]
    m = [metric[s][both[s]].mean() for s in rows]
    system = agreement.agreement(human, metric, at="system")
    assert system.points == len(rows)
    assert system.value == pytest.approx(STATISTICS["pearson"](h, m), nan_ok=True)


def test_documents_are_means_of_their_segments() -> None:
    human, metric = matrices(1)
    documents = ["b", "a", "b", "b", "c", "a", "c"]
    h, _ = agreement.keep_shared(human, metric)
    result = agreement.document_means(h, documents)
    assert result.shape == (5, 3)
    for column, name in enumerate("bac"):
        chosen = [k for k, document in enumerate(documents) if document == name]
        expected = [means(row[chosen]) for row in h]
        assert np.allclose(result[:, column], expected, equal_nan=True)
    with pytest.raises(InputError, match="2 documents for 7 segments: expected one a segment"):
        agreement.document_means(h, ["a", "b"])


def test_tie_calibration_is_over_all_groups_of_a_level() -> None:
    human, metric = matrices(3)
    level_agreement = agreement.agreement(human, metric, "acc-eq", "item")
    expected = calibrate(human.T, metric.T)
    assert (level_agreement.value, level_agreement.groups, level_agreement.left_out) == (
        expected.accuracy,
        expected.groups,
        expected.left_out,
    )


@pytest.mark.parametrize(
    ("level", "metric", "reason"),
    [
        ("system", np.ones((3, 4)), "the metric scores are constant"),
        ("segment", np.full((3, 4), np.nan), "0 points, at least 2 are needed"),
        ("item", np.ones((3, 4)), "in no segment do both human and metric scores differ"),
        ("by-system", np.ones((3, 4)), "in no system do both human and metric scores differ"),
    ],
)
def test_what_is_undefined_says_why(level: str, metric: np.ndarray, reason: str) -> None:
    human = np.arange(12.0).reshape(3, 4)
    level_agreement = agreement.agreement(human, metric, "pearson", level)
    assert np.isnan(level_agreement.value)
    assert level_agreement.reason == reason


def test_one_system_has_no_system_level() -> None:
    human = np.arange(4.0).reshape(1, 4)
    assert agreement.agreement(human, human, at="system").reason == "1 point, at least 2 are needed"
    assert agreement.agreement(human, human).value == pytest.approx(1)


def test_shapes_and_names_are_checked() -> None:
    with pytest.raises(InputError, match="level 'words': expected one of system, segment"):
        agreement.agreement(np.ones((2, 3)), np.ones((2, 3)), at="words")
    with pytest.raises(InputError, match="expected the same, systems x segments"):
        agreement.agreement(np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(InputError, match="expected the same, systems x segments"):
        agreement.agreement(np.ones(3), np.ones(3))


@pytest.mark.parametrize("level", agreement.MATRIX_LEVELS)
def test_spa_is_never_plain_accuracy(level: str) -> None:
    with pytest.raises(InputError, match="spa is of matrices"):
        agreement.agreement(*matrices(1), "spa", level)
