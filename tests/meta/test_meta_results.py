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
    found = RESULTS[name]
    assert type(found).__name__ == name
    rows = json.loads(render(found.document("karat"), "json"))["rows"]
    assert found.records() == rows
    assert len(rows) == len(found.rows)
    keys = list(rows[0])
    for record, row in zip(rows, found.rows, strict=True):
        for key in keys:
            value = getattr(row, key)
            assert record[key] == (
                None if isinstance(value, float) and math.isnan(value) else value
            )
    assert list(found.to_pandas().columns) == keys
    assert found.notes == tuple(found.document().notes)
    assert all(isinstance(key, str) for key in found.settings)
    assert len(repr(found)) < 120


def test_signatures_are_those_of_the_metrics() -> None:
    signed = RESULTS["MetaEvaluation"].signature.splitlines()
    assert [line.split(":")[0] for line in signed] == ["bleu", "bleu", "ter", "set"]
    assert RESULTS["MetaReport"].signature.splitlines() == signed
    assert RESULTS["PlaneStudy"].signature.startswith("aev:")
    assert RESULTS["Recommendation"].signature == "aev:preset=paper,alpha=1,n=3"


# --------------------------------------------------------------------------------- the report


def test_a_scatter_has_its_least_squares_line() -> None:
    report = kt.meta_report(ASKED, small_set(1, missing=0))
    assert [str(one.metric) for one in report.scatters] == ["bleu", "ter"]
    for found in report.scatters:
        x, y = ([p[k] for p in found.points] for k in (0, 1))
        slope, intercept = np.polyfit(x, y, 1)
        assert found.line == pytest.approx((slope, intercept))
        row = next(r for r in report.rows if (r.level, r.metric) == ("system", str(found.metric)))
        assert found.agreement == row
        assert row.value == pytest.approx(pearson(y, x))


def test_systems_have_scores_with_the_ends_of_their_draws() -> None:
    evalset = small_set(1)
    report = kt.meta_report(ASKED, evalset)
    human = np.nanmean(evalset.human("quality"), axis=1)
    values = [one.value for one in report.systems if one.name == "quality"]
    assert values == pytest.approx(human.tolist())
    for one in report.systems:
        assert one.low <= one.value <= one.high or one.name == "bleu"
    bare = kt.meta_report(kt.Experiment("s", ("bleu",), resamples=0, trials=0), evalset)
    assert all(math.isnan(one.low) for one in bare.systems)


def test_disagreements_are_gaps_of_percentiles_largest_first() -> None:
    report = kt.meta_report(ASKED, small_set(1), examples=2)
    gaps = [one.gap for one in report.disagreements]
    assert len(gaps) == 4
    assert gaps[0] >= gaps[1] > 0 > gaps[3] >= gaps[2]
    assert all(-1 < gap < 1 for gap in gaps)
    one = report.disagreements[0]
    place = int(one.segment) - 1
    assert one.output == small_set(1).systems[one.system][place]
    assert one.references == small_set(1).references[place]


def test_a_report_says_by_which_metric_single_segments_are_scored() -> None:
    blocks = RESULTS["MetaReport"].document().blocks
    (found,) = (block for block in blocks if block.title == "Reliability by text length")
    assert "scored by bleu, not by bleu:eff=yes" in found.caption


# ---------------------------------------------------------------------------- what others add


@pytest.mark.usefixtures("declarations")
def test_a_statistic_of_a_program_works_by_name() -> None:
    mine = kt.Statistic("mine", kt.statistic("tau-b").rows, "tau-b under another name")
    kt.register(mine)
    found = kt.meta_evaluate(
        kt.Experiment("small", ("bleu",), ("quality",), statistics=("mine", "tau-b"), resamples=9),
        small_set(1),
    )
    by = {name: [r[4:] for r in found.rows if r.statistic == name] for name in ("mine", "tau-b")}
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
    asked = kt.Experiment("small", ("bleu",), ("quality",), levels=("first-half",), resamples=9)
    found = kt.meta_evaluate(asked, small_set(1, missing=0, unjudged=0))
    assert {row.points for row in found.rows} == {5 * 4}
    with pytest.raises(InputError, match="level 'last-half': expected one of system"):
        kt.Experiment("small", ("bleu",), levels=("last-half",))


@pytest.mark.usefixtures("declarations")
def test_a_metric_of_a_program_works_by_name_in_meta() -> None:
    @dataclass(frozen=True)
    class Longer(kt.AEv):
        """AEv under another name."""

    Longer.name = "longer"
    kt.register(Longer)
    asked = kt.Experiment("small", ("longer", "aev"), ("quality",), resamples=9, trials=9)
    report = kt.meta_report(asked, small_set(1))
    values = {row.metric: row.value for row in report.rows if row.level == "system"}
    assert values["longer"] == values["aev"]
    assert {str(one.metric) for one in report.scatters} == {"longer", "aev"}


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
