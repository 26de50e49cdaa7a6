"""Judges who gave identical values count as one judge, in human scores and in agreement."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.estimation.evalset_samples import pair_labels
from karat.evalset.judgements import JudgedPair, identical_judges
from karat.stats.correlation import pearson
from karat.stats.judges import intraclass_correlation, krippendorff_alpha

N = 60


def ratings(seed: int = 1) -> dict[str, np.ndarray]:
    """Two judges who agree a little, and a copy of the first; 2 systems x N segments."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(2, N)) + np.array([[0], [0.5]])
    ann, bob = (np.clip(np.round(3 + quality + rng.normal(size=(2, N))), 1, 5) for _ in range(2))
    return {"ann": ann, "bob": bob, "copy": ann.copy()}


def rated(values: dict[str, np.ndarray], dimension: str = "quality") -> kt.EvalSet:
    rows = [
        (system, str(i + 1), judge, dimension, value)
        for judge, matrix in values.items()
        for system, row in zip(("A", "B"), matrix, strict=True)
        for i, value in enumerate(row.tolist())
        if not np.isnan(value)
    ]
    texts = {name: [f"{name} text {i}" for i in range(N)] for name in ("A", "B")}
    references = [f"text {i}" for i in range(N)]
    return kt.make_evalset(
        "rated", texts, references=references, judgements=rows, dimensions=["quality"]
    )


def test_human_scores_count_identical_judges_once() -> None:
    values = ratings()
    evalset = rated(values)
    np.testing.assert_array_equal(
        evalset.human("quality"), np.mean([values["ann"], values["bob"]], axis=0)
    )
    assert evalset.representatives("quality") == {"ann": "ann", "bob": "bob", "copy": "ann"}
    assert evalset.notes == (
        "Judges ann, copy gave identical values (quality): they count as one judge",
    )
    z = {name: (x - x.mean()) / x.std(ddof=1) for name, x in values.items()}
    assert np.allclose(evalset.human("quality", "z"), (z["ann"] + z["bob"]) / 2)


def test_a_copy_counts_where_the_first_did_not_judge() -> None:
    values = ratings()
    values["ann"][0, :5] = np.nan
    evalset = rated(values).human("quality")
    np.testing.assert_array_equal(evalset[0, :5], (values["copy"] + values["bob"])[0, :5] / 2)


def test_agreement_counts_identical_judges_once() -> None:
    values = ratings()
    table = np.stack([values["ann"].ravel(), values["bob"].ravel()])
    (row,) = kt.judge_agreement(rated(values)).rows
    assert (row.judges, row.shared) == (2, 2 * N)
    assert row.ordinal == krippendorff_alpha(table, "ordinal").value
    assert row.r == pytest.approx(pearson(*table))
    assert row.icc == intraclass_correlation(table)


def test_results_say_that_identical_judges_count_as_one() -> None:
    evalset = rated(ratings())
    actual_answer = kt.judge_agreement(evalset).document().answer
    assert "ann and copy gave identical values: they count as one judge." in actual_answer
    experiment = kt.Experiment("rated", ("chrf",), resamples=0, trials=0)
    note = "Judges ann, copy gave identical values (quality): they count as one judge"
    meta = kt.meta_evaluate(experiment, evalset)
    assert note in meta.notes
    assert meta.size.judges == ("ann", "bob")
    assert note in kt.estimate(evalset, "quality").notes


def test_judges_who_differ_are_no_copies() -> None:
    values = ratings()
    del values["copy"]
    evalset = rated(values)
    assert evalset.notes == ()
    assert "identical" not in " ".join(kt.judge_agreement(evalset).document().answer)


@pytest.mark.parametrize("units", [3, 200])
def test_judges_who_call_everything_good_are_not_identical(units: int) -> None:
    assert identical_judges(np.full((2, units), 5.0)) == [0, 1]


def test_equal_values_on_few_units_are_chance() -> None:
    rng = np.random.default_rng(3)
    row = rng.integers(1, 6, 100).astype(float)
    assert identical_judges(np.stack([row, row])) == [0, 0]
    few_labels = np.where(np.arange(100) < 4, row, np.nan)
    assert identical_judges(np.stack([row, few_labels])) == [0, 1]


def test_judges_who_share_nothing_are_identical_through_a_third() -> None:
    row = np.random.default_rng(3).integers(1, 6, 200).astype(float)
    units = np.arange(200)
    first, second = np.where(units < 100, row, np.nan), np.where(units >= 100, row, np.nan)
    assert identical_judges(np.stack([first, second])) == [0, 1]
    assert identical_judges(np.stack([first, second, row])) == [0, 0, 0]


def test_judges_who_differ_are_not_identical_through_a_third() -> None:
    row = np.random.default_rng(3).integers(1, 6, 300).astype(float)
    units = np.arange(300)
    ann = np.where(units < 200, row, np.nan)
    bob = np.where(units >= 100, row, np.nan)  # equals ann and cy on what they share
    cy = np.where(units < 100, 6 - row, row)
    assert identical_judges(np.stack([ann, bob, cy])) == [0, 0, 2]
    assert identical_judges(np.stack([cy, bob, ann])) == [0, 0, 2]


def test_a_single_judge_stored_twice_has_no_agreement() -> None:
    values = ratings()
    del values["bob"]
    agreement = kt.judge_agreement(rated(values))
    assert (agreement.rows[0].judges, agreement.rows[0].shared) == (1, 0)
    assert agreement.document().answer[0] == (
        "No output has two different judges: their agreement cannot be measured."
    )
    assert not any(note.startswith("Too little overlap") for note in agreement.notes)


def test_models_are_not_merged_with_people() -> None:
    values = ratings()
    rows = rated(values)
    copied = kt.make_evalset(
        "rated",
        {name: list(texts) for name, texts in rows.systems.items()},  # type: ignore[arg-type]
        references=[group[0] for group in rows.references],
        judgements=list(rows.judgements),
        dimensions=["quality"],
        judge_kinds={"copy": "model"},
    )
    assert copied.representatives("quality")["copy"] == "copy"
    assert copied.notes == ("1 model judge is left out of the human scores: copy",)


def test_comparisons_of_identical_judges_count_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    choices = {"ann": rng.integers(0, 2, N), "bob": rng.integers(0, 2, N)}
    choices["copy"] = choices["ann"]
    texts = {name: [f"{name} {i}" for i in range(N)] for name in ("A", "B")}
    bare = kt.make_evalset("pairs", texts, references=["x"] * N, dimensions=["better"])
    pairs = [
        JudgedPair("A", str(i + 1), judge, "better", float(value), "B")._asdict()
        for judge, values in choices.items()
        for i, value in enumerate(values.tolist())
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(f"{json.dumps(pair)}\n" for pair in pairs), "utf-8")
    evalset = bare.with_judgements(file)
    labels = pair_labels(evalset, "better", np.ones(N, np.bool_))[0, 1]
    np.testing.assert_array_equal(labels.shares, (choices["ann"] + choices["bob"]) / 2)


def test_flagged_judges_come_first_then_identical_ones() -> None:
    rng = np.random.default_rng(2)
    quality = rng.normal(size=(2, N))
    honest = {name: np.round(2 * (quality + rng.normal(size=(2, N)) / 3)) for name in "abcd"}
    values = {**honest, "e": honest["b"].copy(), "odd": -honest["a"] + np.arange(N) % 3}
    judges = kt.judge_agreement(rated(values)).judges
    assert [row.judge for row in judges] == ["odd", "b", "e", "a", "c", "d"]
    assert [row.flagged for row in judges] == [True, False, False, False, False, False]
