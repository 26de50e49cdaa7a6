"""The experiment about base rates: variances that are known, and the target it was made for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from nuggets.nugget_world import pooled

from karat.arithmetic import logit, sigmoid
from karat.nuggets.prediction.base_rates import PRIOR_SPREAD


def test_variances_of_shifts_are_found() -> None:
    from nuggets_base_rates import learn_spread

    pool, _, _ = pooled(questions=60, runs=40)
    ratios = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        logits = logit(rng.uniform(0.1, 0.9, len(pool.cell_question)))
        questions, runs = rng.normal(0, 0.7, 60), rng.normal(0, 0.4, 40)
        p = sigmoid(logits + 0.5 + questions[pool.cell_question] + runs[pool.cell_run])
        spread = learn_spread(pool, logits, rng.random(len(p)) < p)
        assert (spread.question_freedom, spread.run_freedom) == (59, 39)
        true = questions.var(ddof=1), runs.var(ddof=1), 1.0
        ratios.append(np.divide(spread[:3], true))
    assert np.mean(ratios, axis=0) == pytest.approx(np.ones(3), abs=0.1)


@pytest.mark.long
def test_both_ways_hold_93_percent(karat_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nuggets_base_rates as experiment

    monkeypatch.setenv("KARAT_DATA", str(karat_data))
    sets = {name: experiment.load(name) for name in experiment.SETS}
    learned = {name: experiment.learn(nuggets) for name, nuggets in sets.items()}
    for source, target in experiment.WAYS:
        run_outcomes = list(experiment.outcomes(*learned[source], sets[target]))
        held = [[outcome.held for outcome in row] for row in run_outcomes]
        assert len(held) == len(sets[target].pool.runs)
        assert np.mean(held, axis=0).min() >= 0.93
    both = experiment.together([fit.spread for fit in learned.values()])
    assert pytest.approx(both, rel=0.02) == PRIOR_SPREAD
