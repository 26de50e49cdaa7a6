"""The plane on judged sets: its parts, on the bundled set."""

from __future__ import annotations

import numpy as np
import plane_on_data as experiment
import pytest

import karat as kt
from karat.evalset.flooding import Flood
from karat.meta.plane_study import predicted
from karat.stats.correlation import pearson

ADEQUACY, FLUENCY = experiment.DEMO


@pytest.fixture(scope="module")
def fluency_fit() -> experiment.Fitted:
    return experiment.fitted(FLUENCY, kt.AEv(), resamples=50, halves=10)


def test_every_plane_names_a_known_set_and_a_region() -> None:
    from karat.evalset.loading import KNOWN

    assert {plane.evalset for plane in experiment.PLANES} < set(KNOWN)
    for plane in experiment.PLANES:
        assert (plane.region is None) == (not plane.guideline)
    assert FLUENCY.region == predicted("mt", "fluency")


def test_names_tell_planes_apart() -> None:
    keys = [(plane.name, plane.dimension) for plane in experiment.PLANES]
    assert len(set(keys)) == len(keys)


def test_few_systems_leave_out_what_they_cannot_tell(fluency_fit: experiment.Fitted) -> None:
    assert fluency_fit.has_few_systems
    assert fluency_fit.halves is None
    assert fluency_fit.fit.over == "segments"
    row = dict(zip(experiment.SUMMARY, experiment.summary_row(fluency_fit), strict=True))
    assert row["pick"] == row["BLEU"] == row["loses to BLEU %"] == "-"
    assert row["verdict"] == "undecided"
    assert row["95%"].endswith("*")


def test_enough_systems_tell_all(
    fluency_fit: experiment.Fitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment, "FEW", 4)
    full = experiment.fitted(FLUENCY, kt.AEv(), resamples=50, halves=10)
    row = dict(zip(experiment.SUMMARY, experiment.summary_row(full), strict=True))
    assert full.fit.over == "both"
    assert full.halves is not None
    assert row["pick"] == str(full.fit.pick)
    assert row["maximum"] == str(fluency_fit.fit.maximum)
    assert "-" not in row.values()


def test_the_table_has_the_papers_layout(fluency_fit: experiment.Fitted) -> None:
    rows = [line.strip("| ").split(" | ") for line in experiment.r2_table(fluency_fit).splitlines()]
    assert rows[0] == ["N / alpha", "0", *(f"0.{k}" for k in range(1, 10)), "1"]
    assert [row[0] for row in rows[2:]] == ["4", "3", "2", "1"]
    region, cell = FLUENCY.region, fluency_fit.fit.maximum
    assert region is not None
    assert cell is not None
    value = experiment.percent(fluency_fit.fit.row(cell).r2)
    stars = "***" if region.holds(*cell) else "**"
    assert rows[6 - cell.n][1 + round(10 * cell.alpha)] == f"{stars}{value}{stars}"
    assert sum(text.startswith("*") for row in rows[2:] for text in row) == 8


def test_references_and_floods_reach_the_scores() -> None:
    experiment.outputs.cache_clear()
    metric = kt.AEv()
    one_reference = experiment.outputs("demo", 1, None, metric)
    assert {len(group) for group in one_reference.evalset.references} == {1}
    flooded = experiment.outputs("demo", None, Flood("adequacy", correct=3, seed=1), metric)
    assert flooded.evalset.human("adequacy").sum() < one_reference.evalset.human("adequacy").sum()
    assert flooded.rows[metric][:, :, 0].sum() > one_reference.rows[metric][:, :, 0].sum()  # longer


def test_length_alone_is_a_correlation_with_the_mean_length() -> None:
    demo = kt.load_evalset("demo")
    lengths = [np.diff(kt.tokenize(texts).offsets).mean() for texts in demo.systems.values()]
    r = pearson(demo.human("adequacy").mean(axis=1), lengths)
    expected = experiment.percent(np.sign(r) * r**2)
    assert experiment.length_row(ADEQUACY) == ["demo", "adequacy", expected]


def test_the_report_has_all_tables() -> None:
    parts = list(experiment.report(kt.AEv(), experiment.DEMO, resamples=20, halves=5))
    text = "\n".join(parts)
    for heading in ("demo: adequacy", "demo: fluency", "Summary (aev)", "Predictions (aev)"):
        assert f"### {heading}" in text
