"""Headlines and notes of paraphrase reports, each with a case in which it must not be drawn."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.evalset.draft import make_evalset
from karat.paraphrase.generate.paraphraser import EMPTY, generated_notes
from karat.paraphrase.pem.combination import SvrSetting
from karat.paraphrase.pem.evaluation import (
    MEAN,
    NO_CONTROLS,
    Correlation,
    Gain,
    paired_gains,
    resampled_r,
    resampled_system_r,
)
from karat.paraphrase.pem.judged_pairs import JudgedPairs, add_controls, judged_rows
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.pem.scoring import SystemRow
from karat.paraphrase.report.documents import evaluation_answer, scores_answer
from karat.paraphrase.reproduction import Evidence, between_system_means, combined_verdict

IN = ["I want to buy a new car.", "Could you help me, please?", "She has a big house."]
OUT = ["I would like to purchase a new automobile.", "Please help.", "Her house is big."]

# --------------------------------------------------------------------------------------- score

SCORES = kt.score_paraphrases({"a": OUT, "b": IN}, IN, resamples=50)


def scored(*rows: tuple[str, float, float | None, float | None]) -> tuple[str, ...]:
    system_rows = (
        SystemRow(name, 9, low, high, pem, 0.5, -1, 0.5) for name, pem, low, high in rows
    )
    return scores_answer(replace(SCORES, rows=tuple(system_rows)))


def test_intervals_that_overlap_are_named() -> None:
    rows = ("a", 3.0, 2.5, 3.5), ("b", 2.6, 2.2, 2.9), ("c", 2.0, 1.5, 2.4)
    (answer,) = scored(*rows)
    assert answer == (
        "a has the highest mean PEM (copies=good): a 3.00 [2.50, 3.50]; b 2.60 [2.20, 2.90] and "
        "c 2.00 [1.50, 2.40]. Its interval overlaps that of b."
    )
    (apart,) = scored(rows[0], rows[2])
    assert "overlaps" not in apart


def test_a_tie_has_no_best_system() -> None:
    (answer,) = scored(("a", 3.0, 2.5, 3.5), ("b", 3.0 * (1 + 1e-15), 2.5, 3.5))
    assert "has the highest" not in answer
    assert answer == (
        "Several systems share the highest mean PEM: b 3.00 [2.50, 3.50] and a 3.00 [2.50, 3.50]."
    )


def test_without_resamples_there_is_no_interval() -> None:
    assert scored(("a", 3.0, None, None)) == (
        "Mean PEM (copies=good) on a scale from 1 to 5: a 3.00.",
    )
    (answer,) = scored(("a", 3.0, None, None), ("b", 2.9, None, None))
    assert answer == "a has the highest mean PEM (copies=good): a 3.00; b 2.90."
    scores = kt.score_paraphrases({"a": OUT, "b": IN}, IN, resamples=0)
    assert {(row.low, row.high) for row in scores.rows} == {(None, None)}
    assert not {"low", "high"} & scores.records()[0].keys()
    for form in ("text", "json", "md", "html", "tsv"):
        assert "nan" not in scores.render(form).lower().replace("financ", "")
    assert {"low", "high"} < SCORES.records()[0].keys()


def test_a_model_without_a_score_has_no_headline() -> None:
    plain = PEM.open()
    scores = kt.score_paraphrases(OUT, IN, PEM.of(plain.pivots, plain.language))
    assert scores.summary == ""
    assert scores.notes == (
        "The model has parts, but no PEM score: train it with --judged or --combine mean.",
    )
    assert not {"low", "high"} & scores.records()[0].keys()
    assert not any("no PEM score" in note for note in SCORES.notes)


def test_only_a_bundled_model_has_a_caution(tmp_path: Path) -> None:
    assert "This is the small bundled model" in SCORES.notes[0]
    PEM.open().save(tmp_path / "own.npz")
    notes = kt.score_paraphrases(OUT, IN, tmp_path / "own.npz", copies="bad").notes
    assert notes == ()


# ------------------------------------------------------------------------------------- evaluate

EVALUATED = kt.evaluate_paraphrases(
    "demo-paraphrases", folds=2, grid=[SvrSetting()], resamples=20, controls=True
)
HUMAN, REAL = "human average", f"human average, {NO_CONTROLS}"


def answered(*gains: tuple[float, float, float, str], **rows: float) -> tuple[str, ...]:
    gain_rows = [
        Gain("PEM", "BLEU", 0.5, 0.5 - value, value, low, high, 0.5, pairs)
        for value, low, high, pairs in gains
    ]
    correlations = [
        Correlation("PEM", name, 9, r, r, 3, r) for name, r in (rows or {HUMAN: 0.5}).items()
    ]
    return evaluation_answer(replace(EVALUATED, rows=tuple(correlations), gains=tuple(gain_rows)))


ABOVE, BELOW, AROUND = (0.3, 0.1, 0.5), (-0.3, -0.5, -0.1), (0.0, -0.2, 0.2)


@pytest.mark.parametrize(
    ("with_controls", "real", "verdict"),
    [
        (ABOVE, ABOVE, "It agrees better than without pivot languages"),
        (BELOW, BELOW, "It agrees less well than without pivot languages"),
        *((*both, "The set does not decide") for both in product((ABOVE, BELOW), (AROUND,))),
        *((*both, "The set does not decide") for both in product((AROUND,), (ABOVE, BELOW))),
        (ABOVE, BELOW, "The set does not decide"),  # it rests on the controls
        (AROUND, AROUND, "The set does not decide"),
    ],
)
def test_a_gain_that_rests_on_controls_is_undecided(
    with_controls: tuple[float, float, float], real: tuple[float, float, float], verdict: str
) -> None:
    _, notes = answered((*with_controls, "all"), (*real, NO_CONTROLS))
    assert notes.startswith(verdict)
    assert "] without controls)" in notes
    _, alone = answered((*with_controls, "all"))
    assert "without controls" not in alone


def test_resamples_without_an_interval_decide_nothing() -> None:
    nan = float("nan")
    _, notes = answered((0.3, nan, nan, "all"))
    assert (
        notes == "The set does not decide whether pivot languages help (PEM against BLEU: +0.300)."
    )


def test_agreement_without_controls_stands_beside_that_with_them() -> None:
    first, *_ = EVALUATED.document().answer
    all_pairs, real = EVALUATED.rows[:2]
    assert (
        f"at r = {all_pairs.pearson:.3f} (Pearson, 280 paraphrases); without the controls" in first
    )
    assert f"r = {real.pearson:.3f} (160 paraphrases)." in first
    plain = kt.evaluate_paraphrases("demo-paraphrases", folds=2, grid=[SvrSetting()], resamples=0)
    assert "controls" not in plain.summary
    assert "pivot languages help" not in plain.summary  # no resamples, no verdict
    assert "nan" not in plain.render("text")


def test_equal_scores_have_no_headline() -> None:
    assert answered(**{HUMAN: float("nan")}) == ()


def test_the_models_own_score_is_named_where_it_has_one() -> None:
    assert "The model's own score, with nothing learned from this set: r = " in EVALUATED.summary
    assert MEAN in {row.first for row in EVALUATED.rows}
    paper = kt.evaluate_paraphrases(
        "demo-paraphrases", "bundled-paper", folds=2, grid=[SvrSetting()], resamples=0
    )
    assert "own score" not in paper.summary
    assert not any("learned from no judgements" in note for note in paper.notes)


NOTES = {
    "controls": "Controls are artificial pairs",
    "rivals": "The others are the same regression",
    "metrics": "All regressions have the metrics",
    "resamples": "Intervals of differences: 95%",
    "mean": "PEM is a regression learned from this set. The model itself has a mean",
    "bundled": "those of the small bundled model",
    "folds": "Cross-validated in 2 folds",
}


def test_notes_of_an_evaluation_are_drawn_only_where_they_are_true(tmp_path: Path) -> None:
    for words in NOTES.values():
        assert any(words in note for note in EVALUATED.notes), words
    plain = PEM.open()
    PEM.of(plain.pivots, plain.language).save(tmp_path / "own.npz")
    evaluation = kt.evaluate_paraphrases(
        "demo-paraphrases",
        tmp_path / "own.npz",
        train_first=20,
        grid=[SvrSetting()],
        resamples=0,
        compare_with={},
    )
    for words in NOTES.values():
        assert not any(words in note for note in evaluation.notes), words
    assert evaluation.notes[0].startswith(
        "Trained on the first 20 originals, tested on the other 20;"
    )
    assert evaluation.notes[1].startswith(
        "The features are the paper's, but not the language model"
    )
    assert not any("The features are the paper's" in note for note in EVALUATED.notes)


# --------------------------------------------------------------------------- explain, generate


def test_only_many_ngrams_are_said_to_be_cut() -> None:
    words = "heaviest n-grams of each kind are shown"
    short = kt.explain_paraphrases(["a car"], ["a car"])
    assert words not in short.render("text")
    long = kt.explain_paraphrases([" ".join(OUT)], [" ".join(IN)])
    assert words in long.render("text")


def test_explanations_say_pem_only_if_the_model_has_it() -> None:
    plain = PEM.open()
    parts = PEM.of(plain.pivots, plain.language)
    assert kt.explain_paraphrases(OUT, IN).summary.startswith("PEM ")
    assert kt.explain_paraphrases(OUT, IN, parts).summary.startswith("The translations of the two")
    several = kt.explain_paraphrases(OUT, IN, parts, segments=[1, 2]).summary
    assert several.startswith("2 pairs: pivot F1 from ")


def test_generation_counts_lines_with_and_without_a_paraphrase() -> None:
    generated = kt.generate_paraphrases(["I want to buy a new car.", "", "Xyzzy."], confidence=0)
    assert generated.summary.startswith("1 of 3 sentences has a paraphrase; ")
    none = kt.generate_paraphrases(["Xyzzy."])
    assert none.summary.startswith("0 of 1 sentence has a paraphrase; 1 has none (")


def test_notes_of_generation() -> None:
    pem = replace(PEM.open(), name="own")
    assert [*generated_notes([], 0.3, pem)] == []
    unsure, empty = generated_notes(["unsure", EMPTY, EMPTY], 0.3, pem)
    assert unsure.startswith("1 line has no paraphrase of confidence 0.3 or more")
    assert empty == "2 lines are empty, without a paraphrase."
    (note,) = generated_notes(["unsure"] * 2, 0, pem)
    assert note == "2 lines have no paraphrase: the model knows no other wording."
    (rank,) = generated_notes([], 0.3, replace(pem, combination=None))
    assert rank == "The model was trained without judgements: there is no PEM to rank by."


# ---------------------------------------------------------------------------------- reproduction


@pytest.mark.parametrize(
    ("all_evidence", "real", "verdict"),
    [
        (ABOVE, ABOVE, "holds"),
        (BELOW, BELOW, "fails"),
        (ABOVE, AROUND, "undecided"),  # .441 and .198, without controls .188 and .186
        (ABOVE, BELOW, "undecided"),
        (AROUND, ABOVE, "undecided"),
        (BELOW, AROUND, "undecided"),
        (AROUND, AROUND, "undecided"),
        (ABOVE, (0.3, float("nan"), float("nan")), "undecided"),
    ],
)
def test_a_conclusion_that_rests_on_controls_is_undecided(
    all_evidence: tuple[float, float, float], real: tuple[float, float, float], verdict: str
) -> None:
    assert combined_verdict(Evidence("", *all_evidence), Evidence("", *real)) == verdict


def test_evidence_without_an_interval_says_so() -> None:
    nan = float("nan")
    assert str(Evidence("PEM 0.1", 0.1, nan, nan)) == "PEM 0.1, margin 0.100 no interval"


# --------------------------------------------------------------------------------- resampled r


def pairs(originals: int = 12) -> JudgedPairs:
    rng = np.random.default_rng(3)
    sources = [f"s{i}" for i in range(originals)]
    rows = [
        (system, str(i + 1), judge, "overall", float(rng.integers(1, 6)))
        for system in ("x", "y", "z")
        for i in range(originals)
        for judge in ("ann", "bob")
    ]
    systems = {name: [f"{name} {text}" for text in sources] for name in ("x", "y", "z")}
    evalset = make_evalset("s", systems, sources=sources, judgements=rows, dimensions=["overall"])
    return judged_rows(add_controls(evalset))


def test_resampled_correlations_are_those_of_the_rows_that_were_drawn() -> None:
    """The first value is numpy's; a resample that draws each original once has the same."""
    judged, rng = pairs(), np.random.default_rng(4)
    column = judged.human + rng.normal(size=len(judged))
    column[judged.real.nonzero()[0][:5]] = np.nan
    has_score = ~np.isnan(column)
    resamples = resampled_r(judged, column, judged.human, 200)
    assert resamples[0] == pytest.approx(
        np.corrcoef(column[has_score], judged.human[has_score])[0, 1]
    )
    assert len(resamples) == 201
    assert np.quantile(resamples[1:], 0.01) < resamples[0] < np.quantile(resamples[1:], 0.99)
    names = np.array(judged.systems)
    means = [
        [values[has_score & (names == name)].mean() for name in dict.fromkeys(judged.systems)]
        for values in (column, judged.human)
    ]
    by_system = resampled_system_r(judged, column, judged.human, 200)
    assert by_system[0] == pytest.approx(np.corrcoef(*means)[0, 1])
    nothing = resampled_r(judged, np.full(len(judged), np.nan), judged.human, 3)
    assert np.isnan(nothing).all()


def test_gains_are_also_computed_without_controls() -> None:
    judged, rng = pairs(60), np.random.default_rng(4)
    guess = np.where(judged.real, 3 + rng.normal(size=len(judged)), judged.human)
    chance = rng.normal(size=len(judged))
    all_pairs_gain, real = paired_gains(judged, ("controls alone", guess), ("chance", chance), 500)
    assert (all_pairs_gain.pairs, real.pairs) == ("all", NO_CONTROLS)
    assert all_pairs_gain.low > 0  # though it knows nothing of real paraphrases
    assert real.low < 0 < real.high
    real_pairs = judged.select(judged.real)
    (only_gain,) = paired_gains(
        real_pairs, ("a", guess[judged.real]), ("b", chance[judged.real]), 500
    )
    assert only_gain[2:7] == real[2:7]


def test_system_means_of_judges_of_different_outputs() -> None:
    """One judge has the first half of the originals, the other the second half."""
    systems = {name: ["t"] * 200 for name in ("x", "y", "z")}
    value = {"x": 1.0, "y": 3.0, "z": 5.0}
    rows = [
        (name, str(i + 1), "ann" if i < 100 else "bob", "overall", value[name])
        for name in systems
        for i in range(200)
    ]
    sources = [f"s{i}" for i in range(200)]
    evalset = make_evalset("s", systems, sources=sources, judgements=rows, dimensions=["overall"])
    assert between_system_means(judged_rows(evalset)) == pytest.approx([1.0])
    fewer_rows = [row for row in rows if row[2] == "ann" or int(row[1]) > 170]
    evalset = make_evalset(
        "s", systems, sources=sources, judgements=fewer_rows, dimensions=["overall"]
    )
    assert between_system_means(judged_rows(evalset)) == []  # bob judged too few
