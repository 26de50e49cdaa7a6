"""`karat reproduce` on bundled data: worked values, conclusions, JSON, bad input, pages."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser import CHROMIUM, ask, faults

import karat as kt
from karat.meta.plane import CELLS, PlaneCell
from karat.meta.plane_study import Region
from karat.registry import declared
from karat.reproduction import aev, gtm
from karat.reproduction.papers import REPRODUCTIONS, DataFolder, ReproductionRequest
from karat.reproduction.results import (
    Conclusion,
    PaperDifference,
    ReproducedNumber,
    difference_verdict,
)

Called = Callable[..., subprocess.CompletedProcess[str]]
NAMES = ("aev", "gtm", "fergus", "pem", "nuggeteer")


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a data folder the bundled data are used."""
    monkeypatch.delenv("KARAT_DATA", raising=False)


def values(
    reproduction: kt.Reproduction, place: str
) -> dict[tuple[str, str], tuple[float | None, float]]:
    """The paper's value and ours of a table, by item and measure."""
    rows = [row for row in reproduction.rows if row.source.startswith(place) and row.at is None]
    return {(row.item, row.measure): (row.paper, round(row.value, 4)) for row in rows}


def test_the_five_papers_have_names() -> None:
    assert tuple(REPRODUCTIONS) == NAMES


def test_aev_sets_planes_of_the_demo_set_beside_tables_1_and_2() -> None:
    reproduction = kt.reproduce("aev")
    assert reproduction.summary == (
        "0 of 4 conclusions of the paper hold on demo; 4 are undecided. The judgements of the "
        "bundled set are invented."
    )
    fitted = kt.fit_plane("demo", "fluency", metric=kt.metric("aev:preset=paper"), references=(1,))
    karat_result = {str(cell): round(100 * fitted.row(cell).r2, 4) for cell in CELLS}
    table = values(reproduction, "Table 1")
    paper = {"AEv(0,1)": 31.71, "AEv(1,1)": 64.99, "AEv(0,4)": 76.1, "AEv(1,4)": 78.87}
    for cell, published in paper.items():
        assert table[cell, "R^2 %"] == (published, karat_result[cell])
    assert table["BLEU", "R^2 %"][0] == 78.52
    assert [row.detail for row in reproduction.rows if row.item == "best cell"] == [
        "AEv(1,3) in the paper, AEv(0,4) here",
        "AEv(0,4) in the paper, AEv(1,2) here",
    ]
    # four systems cannot tell cells apart
    assert [conclusion.verdict for conclusion in reproduction.conclusions] == ["undecided"] * 4
    illegible = values(reproduction, "Table 2")["AEv(0,1)", "R^2 %"]
    assert illegible[0] is None


def test_gtm_has_both_worked_figures_and_the_curves_of_reliability() -> None:
    reproduction = kt.reproduce("gtm")
    assert values(reproduction, "Figure 1") == {("unigrams", "match size"): (7.0, 7.0)}
    assert values(reproduction, "Figure 2") == {("three references", "hits that count"): (5.0, 5.0)}
    curves = kt.reliability(
        "demo",
        "adequacy",
        metrics="gtm:e=2,cap=whole,tok=13a,case=lower",
        lengths=(1, 2),
        reference_counts=(3,),
        statistics=("spearman", "pearson"),
        documents="joined",
        repeats=10,
    )
    figure = [row for row in reproduction.rows if row.item == "F, 3 references"]
    assert [row.measure for row in figure] == ["Spearman", "Spearman", "Pearson", "Pearson"]
    assert [(row.at, row.value) for row in figure] == [(r.length, r.value) for r in curves.rows]
    tests = [row.measure for row in reproduction.rows if row.item == "F and BLEU, 1 reference"]
    assert tests == ["Wilcoxon p, Spearman", "Wilcoxon p, Pearson"]
    assert [conclusion.verdict for conclusion in reproduction.conclusions] == [
        *("fails", "fails", "holds", "undecided", "fails")
    ]
    assert [figure.title for figure in reproduction.document().figures] == [
        "Figure 3: demo: adequacy, Spearman",
        "Figure 3: demo: adequacy, Pearson",
    ]


@pytest.mark.parametrize(
    ("wins_inside", "systems", "verdict"),
    [
        (20, 6, "holds"),
        (19, 6, "holds"),
        (18, 6, "undecided"),
        (2, 6, "undecided"),
        (1, 6, "fails"),
        (20, 5, "undecided"),
        (0, 5, "undecided"),
    ],
)
def test_the_best_cell_is_decided_by_resamples(
    wins_inside: int, systems: int, verdict: str
) -> None:
    region = Region(0.0, 0.3, 1, 1)
    draws = np.full((len(CELLS), 20), 0.1)
    draws[CELLS.index(PlaneCell(0.0, 1)), :wins_inside] = 0.9
    draws[CELLS.index(PlaneCell(1.0, 4)), wins_inside:] = 0.9
    fit = kt.fit_plane("demo", "adequacy", resamples=20)
    names = [f"system {k}" for k in range(systems)]
    conclusion = aev.best_cell_conclusion(
        replace(fit, draws=draws, systems=names), region, "Table 3", "data"
    )
    assert conclusion.verdict == verdict
    assert conclusion.evidence.endswith(f"; there in {wins_inside / 20:.0%} of resamples")
    no_cell = replace(fit, r=np.full(len(CELLS), -0.5))
    assert aev.best_cell_conclusion(no_cell, region, "Table 3", "data").verdict == "undecided"


@pytest.mark.parametrize(
    ("difference", "verdict"),
    [(0.1, "holds"), (-0.1, "fails"), (0.0, "undecided"), (float("nan"), "undecided")],
)
def test_equal_and_undefined_values_decide_nothing(difference: float, verdict: str) -> None:
    assert difference_verdict(difference) == verdict


def test_a_conclusion_that_shuffling_changes_is_undecided() -> None:
    curves = kt.reliability(
        "demo",
        ["adequacy", "fluency"],
        metrics=tuple(gtm.METRICS.values()),
        lengths=(1, 2, 3),
        reference_counts=(1,),
        statistics=gtm.STATISTICS,
        documents="joined",
        repeats=4,
    )
    names = dict(zip(gtm.METRICS, curves.asked_settings.metrics, strict=True))
    study = gtm.CorrelationCurves(gtm.DEMO[0], {1: curves}, names, "demo")
    by_shuffle = [study._replace(shuffle=shuffle).mean("F") for shuffle in range(4)]
    assert sum(by_shuffle) / 4 == pytest.approx(study.mean("F"))
    threshold = sorted(by_shuffle)[2]  # true of two of the four shuffles

    def holds(limit: float) -> str:
        return gtm._conclusion(
            study, "A claim.", lambda curves: curves.mean("F") >= limit, "evidence"
        ).verdict

    assert holds(min(by_shuffle)) == "holds"
    assert holds(threshold) == "undecided"
    assert holds(max(by_shuffle) + 1e-9) == "fails"
    undefined = [np.where(curves.shuffles[1] == 0, np.nan, values) for values in curves.values]
    without = study._replace(by_references={1: replace(curves, values=tuple(undefined))})
    verdict = gtm._conclusion(without, "A claim.", lambda curves: False, "evidence")
    assert verdict.verdict == "undecided"
    assert verdict.evidence == "evidence; correlations are undefined in 1 of 4 shuffles"


def test_fergus_beats_its_baseline_but_not_on_the_papers_own_tree() -> None:
    reproduction = kt.reproduce("fergus")
    assert values(reproduction, "section 3.2") == {
        ("simple", "accuracy"): (0.44, 0.4444),
        ("generation", "accuracy"): (0.56, 0.5556),
        ("simple tree", "accuracy"): (0.33, 0.3333),
        ("generation tree", "accuracy"): (0.67, 0.6667),
    }
    table = values(reproduction, "Table 1")
    assert table["supertags: simple tree", "accuracy"][0] == 0.657
    assert table["LR, random trees: simple", "accuracy"][0] == 0.412
    assert [difference.verdict for difference in reproduction.conclusions] == ["holds", "fails"]
    assert reproduction.conclusions[1].evidence == "there no was estimate cost for the second phase"
    sizes = [
        (difference.subject, difference.reproduction) for difference in reproduction.differs[:2]
    ]
    assert sizes == [
        ("training text", "the bundled treebank: 163 sentences, 1,553 words"),
        ("test text", "19 sentences, 195 words"),
    ]


def test_pem_has_its_example_and_three_tables() -> None:
    pytest.importorskip("sklearn")
    reproduction = kt.reproduce("pem")
    assert values(reproduction, "section 4.3") == {("pivot F1", "F1"): (0.38, 0.38)}
    table = values(reproduction, "Table 2")
    assert table["adequacy and overall", "r, sentences"] == (0.7635, 0.7473)
    assert table["dissimilarity and overall", "r, systems"] == (-0.3937, -0.0768)
    assert values(reproduction, "Table 1")["two judges, overall", "r, sentences"][1] == 0.9452
    assert values(reproduction, "Table 1")["two judges, overall", "r, systems"][1] == 0.999
    table = values(reproduction, "Table 3")
    assert table["PEM and human average", "r, sentences"][0] == 0.8073
    assert table["PEM and judge dora", "r, sentences"][0] == pytest.approx(0.543, abs=1e-4)
    assert table["PEM and judge emil", "r, systems"][0] == pytest.approx(0.9789, abs=1e-4)
    alone = values(reproduction, "section 6.2")
    assert alone["BLEU alone", "r, sentences"] == (0.4513, 0.112)
    assert alone["BLEU alone, no controls", "r, sentences"] == (None, -0.075)
    verdicts = [conclusion.verdict for conclusion in reproduction.conclusions]
    assert verdicts == ["holds", "undecided", "holds", "undecided", "undecided"]
    for conclusion in reproduction.conclusions:
        assert conclusion.evidence.startswith("with controls: ")
        assert "; without: " in conclusion.evidence
    assert reproduction.summary.endswith("The paraphrases and judgements are invented.")


def test_nuggeteer_has_tables_2_to_5() -> None:
    reproduction = kt.reproduce("nuggeteer")
    evaluated = kt.evaluate_nuggets("demo-nuggets", classifier="paper:preset=paper", corrected=True)
    likely = {f"model {m.model.name}": round(m.model.log10, 4) for m in evaluated.tuning.models}
    assert {
        item: karat_result
        for (item, _), (_, karat_result) in values(reproduction, "Table 4").items()
    } == likely
    assert values(reproduction, "Table 2")["Nuggeteer, micro", "Kendall's tau"] == (0.858, 1.0)
    (plain,) = [row.f for row in evaluated.judgements if row.method == "paper, default"]
    assert values(reproduction, "Table 5")["default settings", "F of decisions"] == (
        0.86,
        round(plain, 4),
    )
    assert {conclusion.verdict for conclusion in reproduction.conclusions} == {
        "holds",
        "fails",
        "undecided",
    }


def test_the_same_seed_gives_the_same_numbers_and_another_others() -> None:
    first, again, other = (kt.reproduce("aev", seed=seed).rows for seed in (1, 1, 2))
    assert first == again
    assert [row.value for row in first] == [row.value for row in other]
    assert [row.low for row in first] != [row.low for row in other]


# --------------------------------------------------------------------------------- the command


def test_json_has_rows_conclusions_and_differences(output: Callable[..., str]) -> None:
    document = json.loads(output("reproduce", "fergus", "-f", "json"))
    row = document["rows"][0]
    assert {key: row[key] for key in ("where", "item", "measure", "paper", "data")} == {
        "where": "section 3.2",
        "item": "simple",
        "measure": "accuracy",
        "paper": 0.44,
        "data": "the paper's example",
    }
    assert row["ours"] == 1 - 5 / 9
    assert document["conclusions"][0]["verdict"] == "holds"
    assert set(document["differs"][0]) == {"what", "paper", "here"}
    assert document["summary"].startswith("1 of 2 conclusions of the paper holds")


def test_bundled_data_are_asked_for_by_name(
    output: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KARAT_DATA", str(tmp_path))
    assert "the bundled treebank" in output("reproduce", "fergus", "--data", "bundled")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["fergs"], "paper 'fergs': expected one of aev, gtm, fergus, pem, nuggeteer; did you "
         "mean fergus?"),
        (["aev", "--data", ""], 'data="": expected a folder, or'),
        (["aev", "--data", "nowhere"], "nowhere: no such folder; expected a data folder, or "
         "bundled for the bundled data"),
        (["fergus", "--data", "empty"], "empty: expected treebank-ewt/en_ewt-ud-train.conllu and "
         "treebank-ewt/en_ewt-ud-dev.conllu in this folder: name the data folder with --data, or "
         "use the bundled data with --data bundled"),
        (["gtm", "--data", "empty"], "empty: expected any of mt-believability, "),
        (["pem", "--data", "empty"], "empty: expected mt-ted-zhen/mqm_ted_zhen.tsv and parallel-"),
        (["nuggeteer", "--data", "empty"], "empty: expected any of nuggets-rag24/"),
        (["aev", "--data", "empty", "-o", "page.docx"], "page.docx: cannot write .docx files"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(
    run_karat: Called, folder: Path, args: list[str], message: str
) -> None:
    (folder / "empty").mkdir()
    before = sorted(folder.iterdir())
    done = run_karat("reproduce", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"karat: {message}")
    assert done.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_the_folder_that_the_variable_names_must_hold_the_data(
    run_karat: Called, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KARAT_DATA", str(tmp_path))
    done = run_karat("reproduce", "aev")
    assert done.returncode == 2
    assert f"{tmp_path}: expected any of mt-ted-zhen/mqm_ted_zhen.tsv" in done.stderr


def test_part_of_a_treebank_is_not_enough(run_karat: Called, folder: Path) -> None:
    (folder / "treebank-ewt").mkdir()
    (folder / "treebank-ewt" / "en_ewt-ud-train.conllu").write_text("", "utf-8")
    done = run_karat("reproduce", "fergus", "--data", ".")
    assert done.returncode == 2
    assert "expected treebank-ewt/en_ewt-ud-dev.conllu in this folder" in done.stderr


@pytest.mark.parametrize("data", [5, ["a"]])
def test_data_must_be_a_folder(data: object) -> None:
    with pytest.raises(kt.InputError, match=re.escape(f"data={data!r}: expected a folder")):
        kt.reproduce("aev", data)  # type: ignore[arg-type]


def test_a_name_must_be_one() -> None:
    with pytest.raises(kt.InputError, match="paper 5: expected one of aev"):
        kt.reproduce(5)  # type: ignore[arg-type]


def test_a_stop_ends_the_work() -> None:
    def stop(done: int, total: int, stage: str) -> None:
        raise kt.Interrupted("stopped")

    for name in ("aev", "gtm", "fergus", "nuggeteer"):
        with pytest.raises(kt.Interrupted):
            kt.reproduce(name, progress=stop)


def test_names_are_completed(karat: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    options = {
        "_KARAT_COMPLETE": "bash_complete",
        "COMP_WORDS": "karat reproduce ",
        "COMP_CWORD": "2",
    }
    split = karat(env=options).stdout.decode().split()
    assert split == [f"plain,{name}" for name in NAMES]


# ------------------------------------------------------------------------- results and plugins


def empty_reproduction(request: ReproductionRequest) -> kt.Reproduction:
    """A reproduction of nothing in particular."""
    rows = [ReproducedNumber("Table 1", f"row {i}", "r", i / 10, i / 20, "x") for i in range(5)]
    claims = [Conclusion("Table 1", "A claim.", "undecided", "0.1", "x")]
    return kt.Reproduction(
        name="own",
        paper="Somebody 2026, Something",
        data=("x", "y", "z"),
        rows=tuple(rows),
        conclusions=tuple(claims),
        differs=(PaperDifference("data", "theirs", "ours"),),
        settings=request.settings,
        signatures={"m": "metric|karat"},
    )


@pytest.fixture
def registered() -> Iterator[None]:
    kt.register(empty_reproduction, "reproductions", "own")
    yield
    del declared("reproductions")["own"]


def test_others_can_add_a_paper(registered: None) -> None:
    reproduction = kt.reproduce("own", seed=7)
    assert reproduction.settings == {"data": "bundled", "full": False, "seed": 7}
    assert reproduction.summary == (
        "0 of 1 conclusions of the paper hold on x, y and z; 1 is undecided."
    )
    assert reproduction.signature == "metric|karat"
    assert len(reproduction.to_pandas()) == 5


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda request: 5, "the reproduction of odd returned 5, expected a karat.Reproduction"),
        (lambda request: 1 / 0, "the reproduction of odd failed: ZeroDivisionError"),
    ],
)
def test_what_others_do_wrong_is_one_sentence(
    function: Callable[[ReproductionRequest], kt.Reproduction], message: str
) -> None:
    kt.register(function, "reproductions", "odd")
    try:
        with pytest.raises(kt.InputError, match=re.escape(message)):
            kt.reproduce("odd")
    finally:
        del declared("reproductions")["odd"]


def test_numbers_of_one_measure_are_drawn_against_the_papers() -> None:
    (figure,) = empty_reproduction(ReproductionRequest(DataFolder())).document().figures
    assert figure.title == "In the paper and here: r"
    assert figure.drawing.points[4][:3] == (0.4, 0.2, "row 4")


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")
def test_the_page_opens(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    kt.reproduce("fergus").save(page)
    assert faults(page) == []
    page_state = ask(
        page,
        "return {tables: document.querySelectorAll('table').length,"
        "drawings: document.querySelectorAll('svg[role=img], figure svg').length,"
        "text: document.body.innerText}",
    )
    assert page_state["tables"] >= 3
    assert page_state["drawings"] >= 1
    assert "Conclusions of the paper" in page_state["text"]
    assert "What differs" in page_state["text"]
