"""Metrics ranked against each other."""

from __future__ import annotations

import numpy as np
import pytest

from karat.errors import InputError
from karat.meta.levels import segment
from karat.meta.ranking import better, ranking
from karat.stats.significance.multiple import holm


def metrics(seed: int = 1) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Two good metrics, two bad ones, one constant; not in order."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(6, 150))
    noise = rng.normal(size=(4, *human.shape))
    return human, {
        "bad": human + 3 * noise[0],
        "good": human + noise[1],
        "flat": np.full_like(human, 0.1),
        "other bad": -human - 3.02 * noise[2],
        "other good": human + 1.01 * noise[3],
    }


def test_metrics_that_cannot_be_told_apart_share_a_rank() -> None:
    human, made = metrics()
    made["other bad"] *= -1
    found = ranking(human, made, trials=200)
    ranks = {row.metric: row.rank for row in found.rows}
    assert ranks == {"good": 1, "other good": 1, "bad": 2, "other bad": 2, "flat": None}
    values = [row.agreement.value for row in found.rows[:-1]]
    assert values == sorted(values, reverse=True)
    assert found.rows[-1].agreement.why == "the metric scores are constant"
    for row in found.rows[:-1]:
        assert row.agreement == segment(human, made[row.metric])


def test_p_values_are_those_of_the_test_between_two() -> None:
    human, made = metrics(2)
    found = ranking(human, made, "spearman", "item", trials=50)
    names = [row.metric for row in found.rows]
    wanted = better(human, made[names[0]], made[names[2]], "spearman", "item", 50).p
    assert found.p_values[0, 2] == wanted
    assert np.isnan(found.p_values[np.tril_indices(4)]).all()


def test_corrections_are_applied_to_all_pairs() -> None:
    human, made = metrics(3)
    plain = ranking(human, made, trials=100).p_values
    assert np.array_equal(
        ranking(human, made, trials=100, correction="holm").p_values, holm(plain), equal_nan=True
    )
    with pytest.raises(InputError, match="correction 'bonferroni': expected one of none, holm, bh"):
        ranking(human, made, correction="bonferroni")


def test_progress_counts_pairs() -> None:
    human, made = metrics(4)
    seen: list[tuple[int, int, str]] = []
    ranking(human, made, trials=10, progress=lambda *report: seen.append(report))
    assert seen[0] == (1, 6, "comparing metrics")
    assert seen[-1] == (6, 6, "comparing metrics")
