"""The experiment with the alternative annotator test: its judges, and few of its draws."""

from __future__ import annotations

import judge_check
import numpy as np
import pytest

from karat.stats.alternative_annotator import LABELS


def test_raters_have_their_accuracies() -> None:
    rng = np.random.default_rng(0)
    draws = [judge_check.labels(0.5, rng) for _ in range(200)]
    agreement = {
        name: np.mean([people == judges[name] for people, judges in draws])
        for name in ("equal", "worse", "chance")
    }
    assert agreement["equal"] == pytest.approx(0.9 * 0.9 + 0.1 * 0.1, abs=0.01)
    assert agreement["worse"] == pytest.approx(0.9 * 0.8 + 0.1 * 0.2, abs=0.01)
    assert agreement["chance"] == pytest.approx(0.5, abs=0.01)


def test_the_boundary_is_the_boundary() -> None:
    rng = np.random.default_rng(0)
    d = judge_check.boundary(20_000, 5, 0.3, 0.05, 0.2, rng)
    assert d.mean() == pytest.approx(0.2, abs=0.01)
    assert (d == -1).mean() == pytest.approx(0.05, abs=0.005)
    correlation = np.corrcoef(d[:, 0], d[:, 1])[0, 1]
    assert correlation == pytest.approx(0.3, abs=0.03)


def test_rows_have_standard_errors() -> None:
    def draw(rng: np.random.Generator) -> object:
        return judge_check.labels(0.95, rng)

    table = list(judge_check.rows(draw, 0.2, LABELS, 10, 20))
    assert [row.split(" | ")[0] for row in table] == ["equal", "worse", "chance"]
    for row in table:
        cells = row.split(" | ")
        assert cells[2] == "0.000 (0.000)"  # no verdict passes at this prevalence
        assert cells[3] == "1.000 (0.000)"
