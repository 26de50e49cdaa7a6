"""What a copy of the original is worth: in scores, in training, in names and in old models."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat as kt
from karat.errors import InputError, MetricError
from karat.paraphrase.pem.combination import (
    BAD,
    COPIES,
    GOOD,
    IGNORE,
    CalibratedMean,
    ControlMean,
    judge_copies,
    score_copies,
)
from karat.paraphrase.pem.features import as_features
from karat.paraphrase.pem.judged_pairs import JudgedPairs, judged_rows
from karat.paraphrase.pem.model import PEM
from karat.paraphrase.pem.training import train_pem
from karat.storage.store import read_store, write_store

IN = ["I want to buy a new car.", "Could you help me, please?", "She has a big house."]
OUT = ["I would like to purchase a new automobile.", "could you  help ME, please?", "Go home."]


def judged() -> JudgedPairs:
    return judged_rows(kt.load_evalset("demo-paraphrases"))


def untrained(form: str = "unigram", *metrics: str) -> PEM:
    model = PEM.open()
    return PEM.of(model.pivots, model.language, form, metrics=as_features(metrics))


def copies_by_hand(originals: list[str], paraphrases: list[str]) -> list[bool]:
    """Oracle: letter by letter, with runs of spaces as one."""
    pairs = []
    for texts in zip(originals, paraphrases, strict=True):
        words = [[word.casefold() for word in text.split()] for text in texts]
        pairs.append(words[0] == words[1])
    return pairs


# ---------------------------------------------------------------------------------- worked values


def test_worked_values() -> None:
    predicted, is_copy = np.array([0.2, 3.0, 4.0]), np.array([False, True, False])
    assert score_copies(predicted, is_copy, BAD).tolist() == [1, 3, 4]
    assert score_copies(predicted, is_copy, GOOD).tolist() == [1, 5, 4]
    np.testing.assert_array_equal(score_copies(predicted, is_copy, IGNORE), [1, np.nan, 4])


def test_what_is_learned_of_copies() -> None:
    human, is_copy = np.array([2.0, 3.0, 1.0]), np.array([True, False, False])
    for copies, rows, scores in (
        (GOOD, [True, True, True], [5, 3, 1]),
        (BAD, [True, True, True], [2, 3, 1]),
        (IGNORE, [False, True, True], [2, 3, 1]),
    ):
        is_used, used = judge_copies(human, is_copy, copies)
        assert (is_used.tolist(), used.tolist()) == (rows, scores)


def test_a_mean_without_the_loss_of_near_copies() -> None:
    """a = .5 and 1, so A = 4, whatever the target F1; bad copies lose at .5 a 64th of the way."""
    rows = np.array([[0.6, 120.0, 0.5], [1.0, 90.0, 1.0]])
    for copies, expected in ((GOOD, [4, 5]), (IGNORE, [4, 5]), (BAD, [4 - 2 / 64, 2])):
        mean = ControlMean(np.array([0.2, 10.0]), np.array([1.0, 90.0]), copies)
        assert mean.predict(rows).tolist() == pytest.approx(expected, abs=1e-15)


def mean_by_hand(row: list[float], none: list[float], copy: list[float], copies: str) -> float:
    """Oracle: the formulas of the docstring, number by number."""
    *adequacy, target = row
    total = 0.0
    for x, low, high in zip(adequacy, none, copy, strict=True):
        total += min(max((x - low) / (high - low), 0.0), 1.0)
    value = 1 + 4 * total / len(adequacy)
    c = target**6
    return (1 - c) * value + 2 * c if copies == BAD else value


@pytest.mark.parametrize("copies", COPIES)
def test_means_are_those_of_slow_loops(copies: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        none, copy = rng.random(3), rng.random(3) + rng.choice([-2.0, 2.0], 3)
        rows = np.column_stack([rng.normal(size=(9, 3)), rng.random(9)])
        mean = ControlMean(none, copy, copies)
        expected = [
            mean_by_hand(row, none.tolist(), copy.tolist(), copies) for row in rows.tolist()
        ]
        assert mean.predict(rows).tolist() == pytest.approx(expected, rel=1e-12)
        line = CalibratedMean(mean, -0.5, 1.25).predict(rows).tolist()
        assert line == pytest.approx([-0.5 + 1.25 * value for value in expected], rel=1e-12)


def test_case_and_spaces_make_no_difference() -> None:
    paraphrases = [*OUT, "a cat", "A  CAT ", "a cat.", "cat a", "", "Straße"]
    originals = [*IN, "a cat", "a cat", "a cat", "a cat", "", "STRASSE"]
    features = PEM.open().features(originals, paraphrases)
    assert features.is_copy.tolist() == copies_by_hand(originals, paraphrases)
    assert features.is_copy.tolist() == [False, True, False, True, True, False, False, True, True]


# --------------------------------------------------------------------------------------- models


@pytest.mark.parametrize("copies", COPIES)
def test_a_mean_takes_any_choice(copies: str) -> None:
    model = untrained().train_on_controls(IN, copies=copies)
    for choice, of_copy in ((GOOD, 5.0), (BAD, None), (IGNORE, np.nan)):
        scores = model.with_copies(choice).score(IN, OUT).pem
        assert np.isnan(scores[1]) if choice == IGNORE else scores[1] <= 5
        if of_copy == 5.0:
            assert scores[1] == 5
    assert model.with_copies(BAD).score(IN, IN).pem.tolist() == [2, 2, 2]
    assert model.with_copies(None) is model.with_copies(copies) is model


@pytest.mark.parametrize("copies", COPIES)
def test_what_has_learned_keeps_its_choice(tmp_path: Path, copies: str) -> None:
    pytest.importorskip("sklearn")
    model = untrained().train(judged(), copies=copies)
    is_copy = model.features(judged().originals, judged().paraphrases).is_copy
    assert is_copy.sum() == 2
    assert model.about["judged"]["paraphrases"] == 160 - (2 if copies == IGNORE else 0)
    (tmp_path / "x").mkdir()
    model.save(tmp_path / "x" / "m.npz")
    again = PEM.open(tmp_path / "x" / "m.npz")
    assert again.copies == copies
    assert again.digest == model.digest
    assert again.description.endswith(f",copies={copies}")
    assert repr(again).endswith(f"; copies {copies}>")
    for other in COPIES:
        if other in (copies, IGNORE):
            assert np.isnan(again.with_copies(other).score(IN, IN).pem).all() == (other == IGNORE)
        else:
            with pytest.raises(InputError, match=f"copies={other}: .*learned .* copies={copies}"):
                again.with_copies(other)
    if copies == GOOD:
        assert again.score(IN, OUT).pem[1] == 5


def test_the_default_depends_on_the_form() -> None:
    pytest.importorskip("sklearn")
    assert untrained("paper").train(judged()).copies == BAD
    assert untrained("unigram").train(judged()).copies == GOOD
    assert untrained("unigram").train_on_controls(IN).copies == GOOD
    assert (PEM.open().copies, PEM.open("bundled-paper").copies) == (GOOD, BAD)


def test_models_of_earlier_versions_have_bad_copies(tmp_path: Path) -> None:
    """They lack the field; their mean gave copies 2."""
    store = read_store(PEM.open().name, "paraphrase model", 1)
    about = {key: value for key, value in store.about.items() if key not in ("copies", "karat")}
    write_store(tmp_path / "old.npz", "paraphrase model", 1, about, store.arrays)
    old = PEM.open(tmp_path / "old.npz")
    assert old.copies == BAD
    assert old.score(IN, IN).pem.tolist() == [2, 2, 2]
    assert old.with_copies(GOOD).score(IN, IN).pem.tolist() == [5, 5, 5]
    np.testing.assert_array_equal(
        old.with_copies(GOOD).score(IN, OUT).pem, PEM.open().score(IN, OUT).pem
    )


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="copies=nice: expected one of good, bad, ignore"):
        PEM.open().with_copies("nice")
    with pytest.raises(InputError, match="copies=nice: expected one of good, bad, ignore"):
        untrained().train(judged(), copies="nice")
    with pytest.raises(MetricError, match="copies=nice"):
        kt.metric("pem:copies=nice")
    replace(PEM.open(), about={**PEM.open().about, "copies": "nice"}).save(tmp_path / "m.npz")
    with pytest.raises(InputError, match="its copies are 'nice'"):
        PEM.open(tmp_path / "m.npz")
    with pytest.raises(InputError, match="copies=good: bundled-paper learned from judgements"):
        PEM.open("bundled-paper").with_copies(GOOD)
    with pytest.raises(InputError, match="copies=ignore changes nothing: without judgements"):
        train_pem({}, copies=IGNORE)
    assert untrained().with_copies(GOOD).copies == GOOD  # it has learned from nothing
    same = judged().select(PEM.open().features(judged().originals, judged().paraphrases).is_copy)
    with pytest.raises(InputError, match="no original is too few to learn from"):
        untrained().train(same, copies=IGNORE)


# ------------------------------------------------------------------------------ a calibrated mean


def line_by_hand(x: list[float], y: list[float]) -> tuple[float, float]:
    """Oracle: least squares of a line by the sums of textbooks."""
    n, sx, sy = len(x), sum(x), sum(y)
    sxx, sxy = sum(a * a for a in x), sum(a * b for a, b in zip(x, y, strict=True))
    slope = (n * sxy - sx * sy) / (n * sxx - sx * sx)
    return (sy - slope * sx) / n, slope


def falling(rows: JudgedPairs) -> JudgedPairs:
    """The judgements turned round: these invented judges reward other words."""
    return replace(rows, human=6 - rows.human)


@pytest.mark.parametrize("copies", COPIES)
def test_a_line_of_least_squares(tmp_path: Path, copies: str) -> None:
    mean, rows = PEM.open().with_copies(copies), falling(judged())
    model = mean.calibrate(rows, copies=copies)
    features = mean.features(rows.originals, rows.paraphrases)
    assert isinstance(mean.combination, ControlMean)
    x = mean.combination.predict(mean.combination.inputs(features)[1])
    is_used, human = judge_copies(rows.human, features.is_copy, copies)
    intercept, slope = line_by_hand(x[is_used].tolist(), human[is_used].tolist())
    assert isinstance(model.combination, CalibratedMean)
    assert model.combination.intercept == pytest.approx(intercept, rel=1e-9)
    assert model.combination.slope == pytest.approx(slope, rel=1e-9)
    scores = model.score(IN, OUT).pem
    expected = np.clip(intercept + slope * PEM.open().with_copies(copies).score(IN, OUT).pem, 1, 5)
    np.testing.assert_allclose(scores[[0, 2]], expected[[0, 2]], rtol=1e-9)
    assert (scores[1] == 5) == (copies == GOOD)
    model.save(tmp_path / "m.npz")
    again = PEM.open(tmp_path / "m.npz")
    np.testing.assert_array_equal(again.score(IN, OUT).pem, scores)
    assert (again.digest, again.copies) == (model.digest, copies)
    assert "|combine=mean" in again.description
    assert ",learned=demo-paraphrases,controls=0" in again.description
    assert "mean on the scale of controls of 884 sentences, learned from" in repr(again)
    with pytest.raises(InputError, match="has no mean to calibrate"):
        again.calibrate(rows)


def test_judgements_that_fall_with_the_mean_are_refused() -> None:
    with pytest.raises(InputError, match="do not rise with the mean of the features"):
        PEM.open().calibrate(judged())


@pytest.mark.parametrize("line", [[1.0], [1.0, -1.0], [1.0, 0.0], [1.0, np.nan]])
def test_damaged_lines(line: list[float]) -> None:
    arrays = {"mean_none": np.zeros(1), "mean_copy": np.ones(1), "line": np.array(line)}
    with pytest.raises(ValueError, match=r"slope|finite|nan|number"):
        CalibratedMean.from_arrays(arrays, GOOD)


# --------------------------------------------------------------------------- the metric and results


def test_the_metric_states_its_choice() -> None:
    assert "@7ed6b50a,copies=good|" in kt.metric("pem").signature()
    bad = kt.metric("pem:copies=bad")
    assert str(bad) == "pem:copies=bad"
    assert ",copies=bad|" in bad.signature()
    assert kt.metric(bad.signature()) == bad
    assert (
        kt.metric(kt.metric("pem").signature()) == kt.metric("pem") == kt.metric("pem:copies=good")
    )
    assert bad.segments(IN, [[text] for text in IN]).tolist() == [2, 2, 2]
    with pytest.raises(InputError, match=r"copies=good: .*learned from judgements"):
        kt.metric("pem:model=bundled-paper,copies=good").corpus(OUT, IN)


def test_copies_that_are_ignored_have_no_score() -> None:
    metric = kt.metric("pem:copies=ignore")
    values = metric.segments(OUT, [[text] for text in IN])
    expected = PEM.open().score(IN, OUT).pem
    np.testing.assert_array_equal(values, [expected[0], np.nan, expected[2]])
    assert metric.corpus(OUT, IN).value == pytest.approx((expected[0] + expected[2]) / 2)
    two = metric.segments(OUT[1:2], [[OUT[1], IN[0]]])
    assert two.tolist() == kt.metric("pem").segments(OUT[1:2], [[IN[0]]]).tolist()
    (row,) = kt.score({"a": OUT}, IN, ["pem:copies=ignore"]).rows
    assert row.score.value == metric.corpus(OUT, IN).value
    compared = kt.compare({"a": OUT, "b": OUT[::-1]}, IN, metrics=["pem:copies=ignore"])
    assert len(compared.rows) == 2


@pytest.mark.parametrize(
    ("copies", "note"), [("good", "the highest score"), ("ignore", "no score"), ("bad", None)]
)
def test_reports_flag_copies(copies: str, note: str | None) -> None:
    result = kt.score_paraphrases({"a": OUT}, IN, copies=copies)
    assert f",copies={copies}|" in result.signature
    assert result.settings["copies"] == copies
    if copies != "ignore":
        assert f"Mean PEM (copies={copies})" in result.summary
    flags = [text for text in result.notes if "equals its original" in text]
    expected = "a: 1 of 3 paraphrases equals its original but for case and spaces: "
    expected += f"{note} (copies={copies})."
    assert flags == ([expected] if note else [])
    parts = [row.pem for row in result.segments if not np.isnan(row.pem)]
    assert result.rows[0].pem == pytest.approx(np.mean(parts))
    assert len(parts) == (2 if copies == "ignore" else 3)
    assert "nan" not in result.render("text").lower()


def test_only_copies_and_no_score() -> None:
    result = kt.score_paraphrases({"a": IN}, IN, copies="ignore")
    assert np.isnan(result.rows[0].pem)
    assert (result.rows[0].low, result.rows[0].paraphrases) == (None, 3)


@pytest.fixture
def texts(folder: Path) -> None:
    for name, lines in (("in", IN), ("out", OUT)):
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    lines = [f"{a}\t{b}" for a, b in zip(IN, ["je veux", "aidez-moi", "une maison"], strict=True)]
    (folder / "pairs.tsv").write_text("\n".join(lines) + "\n")


@pytest.mark.usefixtures("texts")
def test_the_commands(output: Callable[..., str], run_karat: Callable[..., Any]) -> None:
    score = ("paraphrase", "score", "out.txt", "--originals", "in.txt", "--segments", "-f", "json")
    for copies, value in (("good", 5), ("ignore", None)):
        report = json.loads(output(*score, "--copies", copies))
        assert report["segments"][1]["pem"] == value
    explain = ("paraphrase", "explain", "out.txt", "--originals", "in.txt", "-s", "2", "-f", "json")
    assert json.loads(output(*explain))["pem"][0]["pem"] == 5
    assert json.loads(output(*explain, "--copies", "bad"))["pem"][0]["pem"] == 2
    train = ("paraphrase", "train", "fr=pairs.tsv", "-o", "m.npz", "--combine", "mean")
    assert "; copies ignore>" in output(*train, "--copies", "ignore", "--no-generate")
    assert json.loads(output(*score, "--model", "m.npz"))["segments"][1]["pem"] is None
    for wrong, message in (
        ((*score, "--copies", "nice"), "'nice' is not one of"),
        (
            (*score, "--form", "paper", "--copies", "good"),
            "learned from judgements with copies=bad",
        ),
        ((*explain, "--table", "x", "--copies", "bad"), "leave out --model, --pivot and --copies"),
        (
            ("paraphrase", "train", "fr=pairs.tsv", "-o", "n.npz", "--combine", "calibrated-mean"),
            "combine=calibrated-mean needs judgements",
        ),
    ):
        process = run_karat(*wrong)
        assert process.returncode == 2
        assert message in process.stderr
        assert "Traceback" not in process.stderr


# ------------------------------------------------------------------------------ what the score saw


def test_what_the_score_saw() -> None:
    original, paraphrase = "I want 17 cars in Paris.", "I never want 71 autos in Rome."
    result = kt.explain_paraphrases([paraphrase], [original])
    seen = {row.kind: row.evidence for row in result.evidence}
    assert seen["shared words"] == "i, want, in, ."
    assert seen["words of the original alone"] == "17, car, pari"
    assert seen["words of the paraphrase alone"] == "never, 71, auto, rome"
    assert seen["shared pivot words"].startswith(". 1")
    assert seen["numbers"] == "original 17, paraphrase 71"
    assert seen["negation"] == "original none, paraphrase never"
    assert seen["names"] == "original Paris, paraphrase Rome"
    (row,) = kt.score_paraphrases([paraphrase], [original]).segments
    assert row.changes == (
        "numbers: original 17, paraphrase 71; negation: original none, paraphrase never; "
        "names: original Paris, paraphrase Rome"
    )
    unchanged = kt.explain_paraphrases([original], [original]).evidence
    same = {row.kind: row.evidence for row in unchanged}
    assert same["numbers"] == same["negation"] == same["names"] == "no change"
    assert "What the score saw" in result.render("text")
