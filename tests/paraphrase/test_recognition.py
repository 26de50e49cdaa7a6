"""Paraphrase recognition by a threshold, against loops and scikit-learn."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.recognition_loops import at, average_precision, f1

import karat as kt
from karat.errors import InputError
from karat.paraphrase.pem.judged_pairs import judged_rows
from karat.paraphrase.pem.recognition import recognition, recognition_curve

PAIRS = st.lists(
    st.tuples(st.sampled_from([0.1, 0.2, 0.5, 0.9]), st.booleans()), min_size=1, max_size=12
).filter(lambda pairs: any(positive for _, positive in pairs))


@given(pairs=PAIRS)
def test_curves_are_those_of_loops(pairs: list[tuple[float, bool]]) -> None:
    scores, positive = zip(*pairs, strict=True)
    curve = recognition_curve(np.array(scores), np.array(positive))
    assert curve.thresholds.tolist() == sorted(set(scores), reverse=True)
    points = [at(scores, positive, t) for t in curve.thresholds.tolist()]
    np.testing.assert_allclose(np.column_stack(curve[1:]), points)
    np.testing.assert_allclose(curve.f1, [f1(*point) for point in points])
    assert curve.average_precision == pytest.approx(average_precision(scores, positive))


@given(pairs=PAIRS)
def test_average_precision_is_scikit_learns(pairs: list[tuple[float, bool]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    scores, positive = map(np.array, zip(*pairs, strict=True))
    expected = metrics.average_precision_score(positive, scores)
    assert recognition_curve(scores, positive).average_precision == pytest.approx(expected)


def test_the_human_score_itself_recognises_all() -> None:
    judged = judged_rows(kt.load_evalset("demo-paraphrases"))
    rows, points = recognition(judged, {"human": judged.human, "less": -judged.human}, 4)
    perfect, worst = rows
    assert perfect[1:] == (160, int((judged.human >= 4).sum()), 1, 4, 1, 1, 1, 1)
    assert worst.average_precision < 0.3
    assert worst.f1_held_out <= worst.f1
    assert {point.measure for point in points} == {"human", "less"}
    recalls = [point.recall for point in points if point.measure == "less"]
    assert recalls == sorted(recalls)
    assert recalls[-1] == 1


@pytest.mark.parametrize(("least", "which"), [(0.5, "every"), (6, "no")])
def test_scores_that_tell_nothing_apart(least: float, which: str) -> None:
    pytest.importorskip("sklearn")
    with pytest.raises(InputError, match=f"recognise={least:g}: {which} pair of demo-paraphrases"):
        kt.evaluate_paraphrases("demo-paraphrases", folds=2, resamples=0, recognise=least)


def test_the_command_shows_the_curve(
    output: Callable[..., str], called: Callable[..., Any], folder: Path
) -> None:
    pytest.importorskip("sklearn")
    arguments = ("paraphrase", "evaluate", "demo-paraphrases", "--folds", "2", "--resamples", "0")
    found = json.loads(output(*arguments, "--recognise", "4", "-f", "json", "--charts", "drawn"))
    measures = [row["measure"] for row in found["recognition"]]
    assert measures[:4] == ["PEM", "pivot F1", "fluency", "target F1"]
    assert "bleu" in measures
    assert {row["measure"] for row in found["curves"]} == set(measures)
    drawn = [path.read_text("utf-8") for path in (folder / "drawn").glob("*.svg")]
    assert any("Paraphrase recognition" in text and "precision" in text for text in drawn)
    assert "recognition" not in json.loads(output(*arguments, "-f", "json"))
    done = called(*arguments, "--recognise", "9")
    assert done.returncode == 2
    assert "recognise=9: no pair of demo-paraphrases" in done.stderr


def test_new_pairs_are_recognised(output: Callable[..., str], folder: Path) -> None:
    (folder / "in.txt").write_text("I want a new car.\nthe cat\n")
    (folder / "out.txt").write_text("I want a new automobile.\nshe sings\n")
    arguments = ("paraphrase", "score", "out.txt", "--originals", "in.txt", "--segments")
    found = json.loads(output(*arguments, "--threshold", "0.9", "-f", "json"))
    assert found["rows"][0]["recognised"] == 0.5
    assert [row["recognised"] for row in found["segments"]] == [True, False]
    assert "recognised" not in json.loads(output(*arguments, "-f", "json"))["rows"][0]
    one = found["segments"][0]["pivot_f1"]
    edge = kt.score_paraphrases(["I want a new automobile."], ["I want a new car."], threshold=one)
    assert edge.segments[0].recognised
    with pytest.raises(InputError, match="threshold=2: expected 0 to 1, as pivot F1 is"):
        kt.score_paraphrases(["a"], ["a"], threshold=2)
