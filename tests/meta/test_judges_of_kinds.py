"""Agreement of judges where some are models and some outputs were adjudicated."""

from __future__ import annotations

import math

import numpy as np
import pytest

import karat as kt

ANN, BOB, CLEO = [1, 2, 3, 4, 5, 4], [2, 2, 3, 5, 5, 4], [1, 3, 3, 4, 4, 5]
WILD = [5, 1, 4, 2, 1, 3]
FINAL = [1, 2, 3, 4]
KINDS = {"gpt": "model", "final": "adjudicated"}


def rows(**judges: list[int]) -> list[tuple[str, str, str, str, float]]:
    return [
        ("A" if k < 3 else "B", str(k % 3 + 1), judge, "q", value)
        for judge, values in judges.items()
        for k, value in enumerate(values)
    ]


def make_set(kinds: dict[str, str] = KINDS, **judges: list[int]) -> kt.EvalSet:
    texts = {"A": ["a"] * 3, "B": ["b"] * 3}
    selected = {judge: kind for judge, kind in kinds.items() if judge in judges}
    return kt.make_evalset(
        "made", texts, dimensions=["q"], judgements=rows(**judges), judge_kinds=selected
    )


PEOPLE = {"ann": ANN, "bob": BOB, "cleo": CLEO}


def test_agreement_is_that_of_people() -> None:
    alone = kt.judge_agreement(make_set(**PEOPLE))
    agreement = kt.judge_agreement(make_set(**PEOPLE, gpt=WILD, final=FINAL))
    assert agreement.rows == alone.rows
    assert [row.judge for row in agreement.judges] == ["ann", "bob", "cleo", "gpt"]
    for row, before in zip(agreement.judges, alone.judges, strict=False):
        assert row[:11] == before[:11]


def test_a_model_is_compared_with_the_mean_of_people() -> None:
    agreement = kt.judge_agreement(make_set(**PEOPLE, gpt=WILD))
    model = agreement.judges[-1]
    expected = np.corrcoef(WILD, np.mean([ANN, BOB, CLEO], axis=0))[0, 1]
    assert (model.kind, model.flagged, model.shared) == ("model", False, 6)
    assert model.r == pytest.approx(expected)
    assert [row.kind for row in agreement.judges] == ["person"] * 3 + ["model"]
    message = "1 judge is a model: gpt. It is compared with the mean of people and never flagged."
    assert any(note.startswith(message) for note in agreement.notes)


def test_adjudicated_values_are_no_judge_s() -> None:
    agreement = kt.judge_agreement(make_set(**PEOPLE, gpt=WILD, final=FINAL))
    for row, values in zip(agreement.judges, (ANN, BOB, CLEO, WILD), strict=True):
        assert row.adjudicated == 4
        assert row.r_adjudicated == pytest.approx(np.corrcoef(values[:4], FINAL)[0, 1])
    assert agreement.judges[0].r_adjudicated == pytest.approx(1)
    assert any(note.startswith("r adj.:") for note in agreement.notes)


def test_one_person_and_a_model() -> None:
    agreement = kt.judge_agreement(make_set(ann=ANN, gpt=BOB))
    (row,), (person, model) = agreement.rows, agreement.judges
    assert (row.judges, row.shared, math.isnan(row.ordinal)) == (1, 0, True)
    assert person.note == "one judge: cannot be compared"
    assert model.r == pytest.approx(np.corrcoef(ANN, BOB)[0, 1])
    assert not agreement.flaggable


def test_models_alone() -> None:
    agreement = kt.judge_agreement(make_set(gpt=ANN))
    (row,), (model,) = agreement.rows, agreement.judges
    assert (row.judges, row.outputs) == (0, 0)
    assert model.note == "no overlap with people: cannot be compared"


def test_sets_without_kinds_say_nothing_of_them() -> None:
    plain = kt.judge_agreement(make_set(**PEOPLE, gpt=WILD, kinds={}))
    assert {row.kind for row in plain.judges} == {""}
    document = plain.document("x")
    assert [column.key for column in document.tables[1].columns if column.key == "kind"] == []
    assert not any("model" in note for note in plain.notes)


def test_meta_counts_people() -> None:
    texts = {s: [f"{s} the cat", "a dog", "one two"] for s in "AB"}
    judged = kt.make_evalset(
        "made",
        texts,
        references=["the cat", "a dog", "one three"],
        dimensions=["q"],
        judgements=rows(ann=ANN, gpt=BOB),
        judge_kinds={"gpt": "model"},
    )
    experiment = kt.Experiment("made", ("bleu",), levels=("segment",), resamples=0, trials=0)
    evaluation = kt.meta_evaluate(experiment, judged)
    assert evaluation.size.judges == ("ann",)
    assert "1 model judge is left out of the human scores: gpt" in evaluation.notes
