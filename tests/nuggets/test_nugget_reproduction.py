"""`karat reproduce nuggeteer`: the paper's own classifier, and conclusions that are undecided."""

from __future__ import annotations

import numpy as np
import pytest

import karat as kt
from karat.nuggets.reproduction import learned_thresholds, settings_conclusion
from karat.nuggets.results.agreement import average_f
from karat.nuggets.results.evaluation import paper_runs
from karat.stats.correlation import rmse, tau_b


def test_section_4_4_and_figure_5_are_by_the_papers_classifier(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("KARAT_DATA", raising=False)
    reproduction = kt.reproduce("nuggeteer")
    tie = reproduction.conclusions[0]  # both rank the four runs as assessors do
    assert (tie.evidence, tie.verdict) == ("tau 1.000, best form of Pourpre 1.000", "undecided")
    evaluated = kt.evaluate_nuggets("demo-nuggets", classifier="paper:preset=paper", corrected=True)
    official = [row for row in evaluated.run_scores if row.average == "micro"]
    by_nugget = next(model for model in evaluated.tuning.models if model.model.name == "nugget")
    assert by_nugget.carried is not None
    stats = evaluated.tuning.stats(by_nugget.carried.astype(float), kt.OfficialSettings())
    scores = average_f(stats, kt.OfficialSettings().beta).micro
    official_f = np.array([row.official for row in official])
    table = {
        (row.item, row.measure): (row.paper, row.value)
        for row in reproduction.rows
        if row.source == "section 4.4"
    }
    item = "Nuggeteer, a threshold for each nugget"
    assert table[item, "Kendall's tau"] == (0.837, tau_b(official_f, scores))
    assert table[item, "RMSE"] == (0.037, rmse(official_f, scores))
    (row,) = [row for row in reproduction.rows if row.source == "Figure 5"]
    threshold_model, runs = paper_runs(evaluated.tuning, official, kt.OfficialSettings())
    assert row.detail == f"0 of 4 runs; thresholds by {threshold_model}"
    # the paper's classifier, not the calibrated one
    assert [model.guessed for model in runs] != [model.guessed for model in official]
    assert [model.official for model in runs] == [model.official for model in official]


@pytest.mark.parametrize(
    ("error", "verdict"), [(0.07, "holds"), (0.06, "undecided"), (0.05, "fails")]
)
def test_learned_thresholds_need_a_smaller_error(error: float, verdict: str) -> None:
    learned = {"Kendall's tau": 0.7, "RMSE": 0.06}
    assert learned_thresholds(learned, 0.6, error, "set").verdict == verdict


@pytest.mark.parametrize(
    ("best", "default", "yes", "verdict"),
    [
        (0.70, 0.68, 0.57, "holds"),
        (0.70, 0.60, 0.57, "fails"),
        (0.61, 0.57, 0.57, "fails"),  # the best setting decides something, the default one nothing
        (0.599, 0.599, 0.575, "undecided"),  # yes to nearly every pair
        (0.50, 0.49, 0.57, "undecided"),
    ],
)
def test_settings_of_a_classifier_that_decides_nothing_tell_nothing(
    best: float, default: float, yes: float, verdict: str
) -> None:
    assert settings_conclusion(best, default, yes, "set").verdict == verdict
