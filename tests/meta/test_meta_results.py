"""Results of meta and plane as data, and what others register for them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from oracles.pair_loops import pearson
from oracles.small_sets import small_set

import karat as kt
from karat import registry
from karat.errors import InputError
from karat.meta.views import matrix_view
from karat.report.render.renderers import render
from karat.results import Result

ASKED = kt.Experiment("small", ("bleu", "ter"), ("quality",), resamples=20, trials=20)


def results() -> dict[str, Result]:
    evalset, demo = small_set(1), kt.load_evalset("demo")
    matrices = {"one": np.arange(6.0).reshape(2, 3), "other": np.eye(2, 3)}
    region = kt.predicted("mt", "fluency")
    return {
        "MetaEvaluation": kt.meta_evaluate(ASKED, evalset),
        "MetaReport": kt.meta_report(ASKED, evalset),
        "Ranking": kt.rank_metrics(np.ones((2, 3)).cumsum(axis=1), matrices, resamples=5),
        "PlaneFit": kt.fit_plane(demo, "fluency", resamples=9, permutations=9),
        "PlaneStudy": kt.study_plane(demo, region=region, resamples=9, splits=2),
        "Recommendation": kt.recommend("mt", "fluency"),
    }


RESULTS = results()


@pytest.fixture
def declarations() -> Iterator[None]:
    """What a test registers is forgotten after it."""
    before = {kind: dict(entries) for kind, entries in registry._DECLARED.items()}
    yield
    registry._DECLARED.clear()
    registry._DECLARED.update(before)


@pytest.mark.parametrize("name", RESULTS)
def test_records_are_the_rows_of_the_json(name: str) -> None:
    result = RESULTS[name]
    assert type(result).__name__ == name
    rows = json.loads(render(result.document("karat"), "json"))["rows"]
    assert result.records() == rows
    assert len(rows) == len(result.rows)
    keys = list(rows[0])
    for record, row in zip(rows, result.rows, strict=True):
        for key in keys:
            value = getattr(row, key)
            assert record[key] == (
                None if isinstance(value, float) and math.isnan(value) else value
            )
    assert list(result.to_pandas().columns) == keys
    assert result.notes == tuple(result.document().notes)
    assert all(isinstance(key, str) for key in result.settings)
    assert len(repr(result)) < 120


def test_signatures_are_those_of_the_metrics() -> None:
    signed = RESULTS["MetaEvaluation"].signature.splitlines()
    assert [line.split(":")[0] for line in signed] == ["bleu", "bleu", "ter", "set"]
    assert RESULTS["MetaReport"].signature.splitlines() == signed
    assert RESULTS["PlaneStudy"].signature.startswith("aev:")
    assert RESULTS["Recommendation"].signature == "aev:preset=paper,alpha=1,n=3"


# --------------------------------------------------------------------------------- the report


def test_a_scatter_has_its_least_squares_line() -> None:
    report = kt.meta_report(ASKED, small_set(1, missing=0))
    assert [str(first.metric) for first in report.scatters] == ["bleu", "ter"]
    for scatter in report.scatters:
        x, y = ([p[k] for p in scatter.points] for k in (0, 1))
        slope, intercept = np.polyfit(x, y, 1)
        assert scatter.line == pytest.approx((slope, intercept))
        row = next(r for r in report.rows if (r.level, r.metric) == ("system", str(scatter.metric)))
        assert scatter.agreement == row
        assert row.value == pytest.approx(pearson(y, x))


def test_systems_have_scores_with_the_ends_of_their_draws() -> None:
    evalset = small_set(1)
    report = kt.meta_report(ASKED, evalset)
    human = np.nanmean(evalset.human("quality"), axis=1)
    values = [
        system_score.value for system_score in report.systems if system_score.name == "quality"
    ]
    assert values == pytest.approx(human.tolist())
    for system_score in report.systems:
        assert (
            system_score.low <= system_score.value <= system_score.high
            or system_score.name == "bleu"
        )
    bare = kt.meta_report(kt.Experiment("s", ("bleu",), resamples=0, trials=0), evalset)
    assert all(math.isnan(system_score.low) for system_score in bare.systems)


def test_disagreements_are_gaps_of_percentiles_largest_first() -> None:
    report = kt.meta_report(ASKED, small_set(1), examples=2)
    gaps = [disagreement.gap for disagreement in report.disagreements]
    assert len(gaps) == 4
    assert gaps[0] >= gaps[1] > 0 > gaps[3] >= gaps[2]
    assert all(-1 < gap < 1 for gap in gaps)
    disagreement = report.disagreements[0]
    place = int(disagreement.segment) - 1
    assert disagreement.output == small_set(1).systems[disagreement.system][place]
    assert disagreement.references == small_set(1).references[place]


def test_a_report_says_by_which_metric_single_segments_are_scored() -> None:
    blocks = RESULTS["MetaReport"].document().blocks
    (result,) = (block for block in blocks if block.title == "Reliability by text length")
    assert "scored by bleu, not by bleu:eff=yes" in result.caption


# ---------------------------------------------------------------------------- what others add


@pytest.mark.usefixtures("declarations")
def test_a_statistic_of_a_program_works_by_name() -> None:
    custom_statistic = kt.Statistic("mine", kt.statistic("tau-b").rows, "tau-b under another name")
    kt.register(custom_statistic)
    evaluation = kt.meta_evaluate(
        kt.Experiment("small", ("bleu",), ("quality",), statistics=("mine", "tau-b"), resamples=9),
        small_set(1),
    )
    by = {
        name: [r[4:] for r in evaluation.rows if r.statistic == name] for name in ("mine", "tau-b")
    }
    assert by["mine"] == by["tau-b"]
    with pytest.raises(InputError, match=r"statistic wrong: .* expected a karat\.Statistic"):
        kt.register(len, "statistics", "wrong")


@pytest.mark.usefixtures("declarations")
def test_a_level_of_a_program_works_by_name() -> None:
    def first_half(scored: object, human: np.ndarray) -> object:
        half = human.shape[1] // 2
        metrics = {m: scored.segments(m)[:, :half] for m in scored.metrics}  # type: ignore[attr-defined]
        return matrix_view(human[:, :half], metrics, "segment")

    kt.register(first_half, "levels", "first-half")
    experiment = kt.Experiment(
        "small", ("bleu",), ("quality",), levels=("first-half",), resamples=9
    )
    evaluation = kt.meta_evaluate(experiment, small_set(1, missing=0, unjudged=0))
    assert {row.points for row in evaluation.rows} == {5 * 4}
    with pytest.raises(InputError, match="level 'last-half': expected one of system"):
        kt.Experiment("small", ("bleu",), levels=("last-half",))


@pytest.mark.usefixtures("declarations")
def test_a_metric_of_a_program_works_by_name_in_meta() -> None:
    @dataclass(frozen=True)
    class Longer(kt.AEv):
        """AEv under another name."""

    Longer.name = "longer"
    kt.register(Longer)
    experiment = kt.Experiment("small", ("longer", "aev"), ("quality",), resamples=9, trials=9)
    report = kt.meta_report(experiment, small_set(1))
    values = {row.metric: row.value for row in report.rows if row.level == "system"}
    assert values["longer"] == values["aev"]
    assert {str(scatter.metric) for scatter in report.scatters} == {"longer", "aev"}


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_the_table_and_a_picture(name: str) -> None:
    page = RESULTS[name]._repr_html_()
    assert "<table" in page
    assert '<img src="data:image/svg+xml;base64,' in page


def test_settings_and_signature_of_a_plane_say_all() -> None:
    demo = kt.load_evalset("demo")
    fit = kt.fit_plane(demo, "fluency", resamples=9, permutations=9, normalise="z")
    study = RESULTS["PlaneStudy"]
    assert "|nrefs=3|" in fit.signature
    assert fit.signature == study.signature
    assert (fit.settings["normalise"], fit.settings["permutations"]) == ("z", 24)  # all there are
    assert (study.settings["normalise"], study.settings["splits"]) == ("none", 2)


# ---------------------------------------------------------------------- outputs of system scores


@pytest.mark.parametrize(
    ("level", "system_scores", "judged", "note"),
    [
        ("system", "judged", 11, "to compare with them, add --system-scores all"),
        ("system-mean", "judged", 11, "to compare with them, add --system-scores all"),
        ("system", "all", 11, "as in mt-metrics-eval and WMT's tables"),
        ("system", "judged", 12, None),
        ("segment", "judged", 11, None),
    ],
)
def test_a_note_says_which_outputs_system_scores_come_from(
    level: str, system_scores: str, judged: int, note: str | None
) -> None:
    demo = kt.load_evalset("demo")
    rows = [
        (system, segment, "ann", "q", float(i + len(system)))
        for system in demo.systems
        for i, segment in enumerate(demo.segments[:judged])
    ]
    texts = {name: list(outputs) for name, outputs in demo.systems.items()}
    references = [list(group) for group in demo.references]
    evalset = kt.make_evalset(
        "partly", texts, references=references, judgements=rows, dimensions=["q"]
    )
    experiment = kt.Experiment(
        "partly", ("bleu",), ("q",), (level,), system_scores=system_scores, resamples=0, trials=0
    )
    notes = [text for text in kt.meta_evaluate(experiment, evalset).notes if "mt-metrics" in text]
    assert len(notes) == (note is not None)
    if note is not None:
        assert note in notes[0]
