"""The two real sets: their counts, their scores, and the way through other formats."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import karat as kt
from karat.nuggets.prediction.paper import Paper, ngram_scores
from karat.nuggets.prediction.pool import FoldedCells, folds
from karat.nuggets.prediction.thresholds import best_f_threshold
from karat.nuggets.results.contents import census, difficulty, finders, mean_interval
from karat.nuggets.results.tuning import judged_pool, trial
from karat.nuggets.scores.decisions import decide_run
from karat.nuggets.scores.official import score_shares
from karat.nuggets.sets.keys_and_runs import normal
from karat.nuggets.sets.nugget_set import NuggetSet


@pytest.fixture(scope="module")
def rag24(karat_data: Path) -> NuggetSet:
    return kt.load_nuggets(karat_data / "nuggets-rag24" / "nugget_assignment.20241108.jl")


@pytest.fixture(scope="module")
def realsumm(karat_data: Path) -> NuggetSet:
    return kt.load_nuggets(karat_data / "nuggets-realsumm")


def test_rag24_has_what_it_is_said_to_have(rag24: NuggetSet) -> None:
    counts = census(rag24)
    assert (counts.questions, counts.runs, counts.judgements) == (21, 45, 13158)
    assert sum(len(run.answers) for run in rag24.runs.values()) == 927
    assert counts.judged == 1
    assert len(rag24.judgements.contradictions) == 64


def test_realsumm_has_what_it_is_said_to_have(realsumm: NuggetSet) -> None:
    counts = census(realsumm)
    assert (counts.questions, counts.runs, counts.judgements) == (100, 25, 26400)
    assert (counts.vital, counts.okay) == (1056, 0)


def test_shares_are_the_human_scores_of_the_evaluation_set(
    rag24: NuggetSet, karat_data: Path
) -> None:
    humans = kt.load_evalset(karat_data / "nuggets-rag24" / "nugget_assignment.20241108.jl")
    names = {"A": "all", "V": "vital", "W": "weighted"}
    compared = 0
    pairs = rag24.judgements.contradictions
    twice = {(pair.second.question, normal(pair.second.response)) for pair in pairs}
    corrected = 0
    human = {(row.system, row.segment, row.dimension): row.value for row in humans.judgements}
    for tag, run in rag24.runs.items():
        key_and_judgements = rag24.key, rag24.judgements
        best = score_shares(run, rag24.key, decide_run(run, *key_and_judgements))
        for row, high in zip(
            score_shares(run, rag24.key, decide_run(run, *key_and_judgements, run_tag=tag)),
            best,
            strict=True,
        ):
            texts = [responses.text for responses in run.responses(row.question)]
            if not texts:
                continue
            assert high.A >= row.A
            corrected += high.A > row.A
            assert high == row or (row.question, normal(texts[0])) in twice
            for key, name in names.items():
                for prefix, suffix in (("", ""), ("strict-", "_strict")):
                    expected = human[tag, row.question, prefix + name]
                    assert getattr(row, key + suffix) == pytest.approx(expected)
                    compared += 1
    assert compared == 6 * 927
    assert corrected > 10


def test_coverage_is_that_of_the_evaluation_set(realsumm: NuggetSet, karat_data: Path) -> None:
    humans = kt.load_evalset(karat_data / "nuggets-realsumm").judgements
    human = {(row.system, row.segment): row.value for row in humans}
    sums = {key: [0.0, 0.0] for key in human}
    for row in realsumm.judgements.rows:
        sums[row.run, row.question][0] += row.value
        sums[row.run, row.question][1] += 1
    assert {key: got / of for key, (got, of) in sums.items()} == pytest.approx(human)


def test_through_trec_and_units(realsumm: NuggetSet, tmp_path: Path) -> None:
    nuggets = realsumm.select(*list(realsumm.runs)[:3])
    kt.save_nuggets(nuggets, tmp_path / "trec", "trec")
    trec = kt.load_nuggets(tmp_path / "trec")
    assert (trec.key, trec.runs) == (nuggets.key, nuggets.runs)
    assert trec.judgements.values == nuggets.judgements.values
    kt.save_nuggets(trec, tmp_path / "units", "units")
    units = kt.load_nuggets(tmp_path / "units")
    assert (units.key, units.runs) == (nuggets.key, nuggets.runs)


def test_finders_and_bins_add_up(rag24: NuggetSet) -> None:
    counts = finders(rag24)
    bins = difficulty(rag24)
    assert sum(b.nuggets for b in bins) == len(counts) == 298
    assert [b.label for b in bins] == ["0", "1", "2", "3-4", "5-8", "9-16", "17-32", "33-45"]
    assert bins[0].nuggets == sum(count == 0 for count in counts.values())
    question, nugget = max(counts, key=lambda key: counts[key])
    carriers = {
        row.run
        for row in rag24.judgements.rows
        if (row.question, row.nugget) == (question, nugget) and row.value
    }
    assert counts[question, nugget] >= len(carriers)  # more by identical answers


def test_spread_is_a_mean_with_its_standard_error() -> None:
    assert mean_interval([1, 2, 3, 4]) == (2.5, pytest.approx(1.96 * math.sqrt(5 / 3 / 4)))
    assert math.isnan(mean_interval([1])[1])
    assert math.isnan(mean_interval([])[0])


@pytest.mark.parametrize(
    ("informativeness", "f"), [("descriptions", (0.678, 0.704)), ("responses", (0.595, 0.639))]
)
def test_both_forms_of_informativeness(
    rag24: NuggetSet, realsumm: NuggetSet, informativeness: str, f: tuple[float, float]
) -> None:
    """The figures of the document: on whole answers the paper's form says yes to everything."""
    for nuggets, expected in zip((rag24, realsumm), f, strict=True):
        pool, labels = judged_pool(nuggets)
        cells = FoldedCells(pool, labels, folds(pool, "system"))
        tried = trial(cells, Paper(informativeness=informativeness))
        assert tried.agreement.f == pytest.approx(expected, abs=0.0005)
        assert (tried.threshold < 0) == (informativeness == "responses")


def test_the_built_in_threshold_is_near_the_best_of_both_sets(
    rag24: NuggetSet, realsumm: NuggetSet
) -> None:
    for nuggets, expected in ((rag24, 0.253), (realsumm, 0.256)):
        pool, labels = judged_pool(nuggets)
        shares = ngram_scores(pool, Paper(normalised=True))
        assert best_f_threshold(shares, labels > 0) == pytest.approx(expected, abs=0.0005)
