"""The experiment about estimates of nugget scores: some of its draws, and who is judged on what."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import karat as kt


def test_estimates_hold_and_are_narrower(karat_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import estimates_nuggets as experiment

    monkeypatch.setenv("KARAT_DATA", str(karat_data))
    nuggets = experiment.answering_all(kt.load_nuggets("rag24"))
    assert len(nuggets.runs) == 43
    coverage = experiment.held(nuggets, "A", ["words"], 20)
    assert coverage.judged.shape == (20, 43)
    assert 0.9 < coverage.judged.mean() < 1  # 0.957 of 2,000 draws
    ratio = coverage.width.mean(axis=0) / coverage.people_width.mean(axis=0)
    assert 0.74 < ratio.mean() < 0.88  # 0.813


def test_runs_are_judged_as_the_cases_say() -> None:
    import estimates_nuggets as experiment

    def judged(judge: experiment.Judge) -> list[int]:
        return sorted(judge(np.random.default_rng(1), 6, 20).sum(axis=1).tolist())

    assert judged(experiment.same_questions(0)) == [10] * 6
    assert judged(experiment.same_questions(2)) == [10] * 4 + [20] * 2
    assert judged(experiment.own_questions) == [10] * 6
    assert judged(experiment.some_runs(2)) == [0] * 4 + [20] * 2
    together = experiment.same_questions(0)(np.random.default_rng(1), 6, 20)
    assert (together == together[0]).all()
    apart = experiment.own_questions(np.random.default_rng(1), 6, 20)
    assert len({tuple(row) for row in apart.tolist()}) == 6
