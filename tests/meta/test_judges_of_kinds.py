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


def made(kinds: dict[str, str] = KINDS, **judges: list[int]) -> kt.EvalSet:
    texts = {"A": ["a"] * 3, "B": ["b"] * 3}
    kept = {judge: kind for judge, kind in kinds.items() if judge in judges}
    return kt.make_evalset(
        "made", texts, dimensions=["q"], judgements=rows(**judges), judge_kinds=kept
    )


PEOPLE = {"ann": ANN, "bob": BOB, "cleo": CLEO}


def test_agreement_is_that_of_people() -> None:
    alone = kt.judge_agreement(made(**PEOPLE))
    found = kt.judge_agreement(made(**PEOPLE, gpt=WILD, final=FINAL))
    assert found.rows == alone.rows
    assert [row.judge for row in found.judges] == ["ann", "bob", "cleo", "gpt"]
    for row, before in zip(found.judges, alone.judges, strict=False):
        assert row[:11] == before[:11]


def test_a_model_is_compared_with_the_mean_of_people() -> None:
    found = kt.judge_agreement(made(**PEOPLE, gpt=WILD))
    model = found.judges[-1]
    expected = np.corrcoef(WILD, np.mean([ANN, BOB, CLEO], axis=0))[0, 1]
    assert (model.kind, model.flagged, model.shared) == ("model", False, 6)
    assert model.r == pytest.approx(expected)
    assert [row.kind for row in found.judges] == ["person"] * 3 + ["model"]
    told = "1 judge is a model: gpt. It is compared with the mean of people and never flagged."
    assert any(note.startswith(told) for note in found.notes)


def test_adjudicated_values_are_no_judge_s() -> None:
    found = kt.judge_agreement(made(**PEOPLE, gpt=WILD, final=FINAL))
    for row, values in zip(found.judges, (ANN, BOB, CLEO, WILD), strict=True):
        assert row.adjudicated == 4
        assert row.r_adjudicated == pytest.approx(np.corrcoef(values[:4], FINAL)[0, 1])
    assert found.judges[0].r_adjudicated == pytest.approx(1)
    assert any(note.startswith("r adj.:") for note in found.notes)


def test_one_person_and_a_model() -> None:
    found = kt.judge_agreement(made(ann=ANN, gpt=BOB))
    (row,), (person, model) = found.rows, found.judges
    assert (row.judges, row.shared, math.isnan(row.ordinal)) == (1, 0, True)
    assert person.note == "one judge: cannot be compared"
    assert model.r == pytest.approx(np.corrcoef(ANN, BOB)[0, 1])
    assert not found.flaggable


def test_models_alone() -> None:
    found = kt.judge_agreement(made(gpt=ANN))
    (row,), (model,) = found.rows, found.judges
    assert (row.judges, row.outputs) == (0, 0)
    assert model.note == "no overlap with people: cannot be compared"


def test_sets_without_kinds_say_nothing_of_them() -> None:
    plain = kt.judge_agreement(made(**PEOPLE, gpt=WILD, kinds={}))
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
    asked = kt.Experiment("made", ("bleu",), levels=("segment",), resamples=0, trials=0)
    found = kt.meta_evaluate(asked, judged)
    assert found.size.judges == ("ann",)
    assert "1 model judge is left out of the human scores: gpt" in found.notes
