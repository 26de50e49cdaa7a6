"""The experiment about scores by a model's labels: its worlds, and rough coverage."""

from __future__ import annotations

import numpy as np
import pytest


def test_worlds_have_the_stated_errors() -> None:
    from nuggets_model_labels import Judge, label, people, questions_of_run

    rng = np.random.default_rng(1)
    carried = questions_of_run(0.3, 20_000, rng)
    assert carried.mean() == pytest.approx(0.3, abs=0.01)
    labels = label(carried, (0.9, 0.6), rng)
    assert labels[carried].mean() == pytest.approx(0.9, abs=0.01)
    assert labels[~carried].mean() == pytest.approx(0.4, abs=0.01)
    judge = Judge("", (0.9, 0.6), 0.0)
    counts = people(50_000, judge.rates or (0, 0), judge.run_deviation, rng)
    assert sum(counts) == 50_000
    sensitivity = counts.true_positives / (counts.true_positives + counts.false_negatives)
    assert sensitivity == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize("draws", [60, pytest.param(2_000, marks=pytest.mark.long)])
def test_intervals_hold_the_score_of_a_judge_of_the_prior(draws: int) -> None:
    from nuggets_model_labels import JUDGES, draw

    rng = np.random.default_rng(3)
    inside = np.array([draw(JUDGES[0], 10, rng)[:2] for _ in range(draws)]).mean(axis=0)
    assert inside.min() > 0.95 - 4 * np.sqrt(0.95 * 0.05 / draws)
