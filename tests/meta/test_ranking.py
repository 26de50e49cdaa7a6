"""Metrics ranked against each other."""

from __future__ import annotations

import numpy as np
import pytest

from karat.errors import InputError
from karat.meta.evaluation import rank_metrics
from karat.meta.levels import agreement
from karat.meta.perm_both import perm_both
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
    found = rank_metrics(human, made, trials=200, resamples=20)
    ranks = {row.metric: row.rank for row in found.rows}
    assert ranks == {"good": 1, "other good": 1, "bad": 2, "other bad": 2, "flat": None}
    values = [row.value for row in found.rows[:-1]]
    assert values == sorted(values, reverse=True)
    assert found.rows[-1].note == "undefined: the metric scores are constant"
    for row in found.rows[:-1]:
        assert row.value == agreement(human, made[row.metric]).value
        assert row.low < row.value < row.high
    assert found.notes[0].startswith("Intervals: 95%, from 20 bootstrap resamples of systems and")


def test_p_values_are_those_of_the_test_between_two() -> None:
    human, made = metrics(2)
    found = rank_metrics(human, made, "spearman", "item", trials=50, resamples=0)
    assert len(found.tests) == 6
    for test in found.tests:
        pair = made[test.better], made[test.worse]
        assert test.p == perm_both(human, *pair, "spearman", "item", 50).p


def test_corrections_are_applied_to_all_pairs() -> None:
    human, made = metrics(3)
    plain, corrected = (
        [
            test.p
            for test in rank_metrics(human, made, trials=100, resamples=0, correction=how).tests
        ]
        for how in ("none", "holm")
    )
    assert corrected == holm(plain).tolist()
    with pytest.raises(InputError, match="correction 'bonferroni': expected one of none, holm, bh"):
        rank_metrics(human, made, correction="bonferroni")
    with pytest.raises(InputError, match="level 'document': expected one of system, segment"):
        rank_metrics(human, made, level="document")


def test_progress_counts_pairs() -> None:
    human, made = metrics(4)
    seen: list[tuple[int, int, str]] = []
    rank_metrics(human, made, trials=10, resamples=0, progress=lambda *report: seen.append(report))
    assert seen[0] == (10, 60, "comparing metrics")
    assert seen[-1] == (60, 60, "comparing metrics")


def test_the_ranking_of_matrices_has_a_document() -> None:
    human, made = metrics(5)
    found = rank_metrics(human, made, trials=10, resamples=5)
    assert found.signature == ""
    assert [row["metric"] for row in found.records()] == [row.metric for row in found.rows]
