"""`kt.estimate(raters=...)`: these raters and raters in general, contributions, and refusals."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat as kt
from karat.evalset.judgements import JudgedPair
from karat.stats.raters import crossed_mean

Output = Callable[..., str]
ITEMS = 24


def ratings(raters: int = 4, seed: int = 0) -> np.ndarray:
    """Made-up ratings, systems x items x raters, with severe and mild raters."""
    rng = np.random.default_rng(seed)
    return (
        60.0
        + 8 * np.arange(2)[:, None, None]
        + 6 * rng.normal(size=(1, ITEMS, 1))
        + 5 * rng.normal(size=(2, ITEMS, 1))
        + 9 * rng.normal(size=(1, 1, raters))
        + 4 * rng.normal(size=(2, 1, raters))
        + 6 * rng.normal(size=(2, ITEMS, raters))
    )


def a_set(
    values: np.ndarray,
    *,
    names: str = "abcdefgh",
    segments: int = ITEMS,
    groups: list[str] | None = None,
    dimensions: tuple[str, ...] = ("quality",),
    **more: Any,
) -> kt.EvalSet:
    """A set of ratings of two systems, systems x items x raters; NaN where there is none."""
    rows = [
        (f"s{k}", str(i + 1), names[r], name, float(values[k, i, r]) + d)
        for d, name in enumerate(dimensions)
        for k, i, r in np.argwhere(~np.isnan(values)).tolist()
    ]
    texts = {f"s{k}": [f"{k} says {i}" for i in range(segments)] for k in range(len(values))}
    references = [f"it says {i}" for i in range(segments)]
    return kt.make_evalset(
        "made-up",
        texts,
        references=references,
        judgements=rows,
        groups=groups,
        dimensions=dimensions,
        **more,
    )


# ------------------------------------------------------------------------------------- numbers


def test_these_raters_are_the_default_and_the_signature_does_not_say_so() -> None:
    evalset = a_set(ratings())
    plain, these = (kt.estimate(evalset, population="new", **s) for s in ({}, {"raters": "these"}))
    assert plain.rows == these.rows
    assert plain.signature == these.signature
    assert "raters" not in plain.signature
    assert ",raters=any" in kt.estimate(evalset, raters="any").signature


def test_new_items_and_raters_in_general_have_the_errors_of_the_table() -> None:
    values = ratings()
    estimate = kt.estimate(a_set(values), population="new", raters="any", baseline="s0")
    by_system = {row.system: row for row in estimate.contributions if row.baseline is None}
    for k in range(2):
        expected = crossed_mean(values[k])
        row = by_system[f"s{k}"]
        assert row.error_any == pytest.approx(expected.error_any)
        assert row.error_these == pytest.approx(expected.error_these)
        assert row.freedom == pytest.approx(expected.freedom_any)
        assert row[3:6] == pytest.approx(expected.parts.shares)
        assert estimate.rows[k].form == "student"
    difference = crossed_mean(values[1], values[0])
    row = estimate.contributions[-1]
    assert (row.system, row.baseline, row.raters) == ("s1", "s0", 4)
    assert row.error_any == pytest.approx(difference.error_any)
    compared = estimate.differences[0]
    assert compared.p == pytest.approx(difference.p_value(), rel=0.2)  # corrected for skewness
    assert (compared.p < 0.05) == (compared.low > 0 or compared.high < 0)


def test_a_set_that_is_labelled_in_full_has_intervals_for_raters_in_general() -> None:
    """All items are known, so what is left is the mean square of raters."""
    values = ratings()
    these, general = (kt.estimate(a_set(values), raters=raters) for raters in ("these", "any"))
    assert [row.form for row in these.rows] == ["exact"] * 2
    assert [row.form for row in general.rows] == ["student"] * 2
    for k, row in enumerate(general.contributions[:2]):
        means = values[k].mean(axis=0)
        assert row.error_any == pytest.approx(means.std(ddof=1) / 2)
        assert row.freedom == pytest.approx(3)
        assert (row.error_these, row.unit_share) == (0, pytest.approx(0))
        assert general.rows[k].estimate == these.rows[k].estimate
    assert these.differences[0].verdict == "not tested"
    assert general.differences[0].verdict in ("better", "worse", "undecided")


def test_a_sample_of_the_set_is_between_both() -> None:
    values = ratings()
    evalset = a_set(values, segments=2 * ITEMS)
    these = kt.estimate(evalset)
    in_set, new = (kt.estimate(evalset, raters="any", population=p) for p in ("set", "new"))
    for k in range(2):
        assert these.rows[k].low > in_set.rows[k].low
        assert in_set.contributions[k].error_any < new.contributions[k].error_any
        row, parts = in_set.contributions[k], crossed_mean(values[k]).parts
        expected = parts.items / 2 + parts.raters + parts.rest  # half of the items are known
        assert row.error_any**2 == pytest.approx(expected)


def test_a_document_is_one_unit() -> None:
    values = ratings()
    groups = [f"d{i // 2}" for i in range(2 * ITEMS)]
    doubled = np.repeat(values, 2, axis=1)
    by_group, by_segment = (
        kt.estimate(
            a_set(doubled, segments=2 * ITEMS, groups=groups),
            raters="any",
            population="new",
            unit=unit,
        )
        for unit in ("group", "segment")
    )
    expected = crossed_mean(values[0]).error_any
    assert by_group.contributions[0].error_any == pytest.approx(expected)
    assert by_segment.contributions[0].error_any < expected


def test_identical_raters_count_once() -> None:
    values = ratings(3)
    twins = np.concatenate([values, values[:, :, :1]], axis=2)
    single, double = (kt.estimate(a_set(v), raters="any") for v in (values, twins))
    assert [row.raters for row in double.contributions] == [3, 3, 3]
    for row, other in zip(single.rows, double.rows, strict=True):
        assert row[4:7] == pytest.approx(other[4:7])


def test_a_judge_does_not_change_what_raters_contribute() -> None:
    values = ratings()
    evalset = a_set(values, segments=2 * ITEMS).with_scores(
        "judge", {f"s{k}": [*values[k].mean(axis=1), *([60.0] * ITEMS)] for k in range(2)}
    )
    estimate = kt.estimate(evalset, judges="judge", raters="any")
    row, parts = estimate.contributions[0], crossed_mean(values[0]).parts
    assert row.rater_share * row.error_any**2 == pytest.approx(parts.raters)
    assert math.isnan(estimate.worth)  # no number of labels replaces raters


def test_more_labels_do_not_replace_raters() -> None:
    values = ratings(3, seed=1)
    evalset = a_set(values, segments=10 * ITEMS)
    assert all(row.more for row in kt.estimate(evalset).rows)
    general = kt.estimate(evalset, raters="any")
    assert [row.more for row in general.rows] == [None, None]
    assert all(row.rater_share > 0.25 for row in general.contributions[:2])


def test_a_difference_of_dimensions_is_taken_within_raters() -> None:
    evalset = a_set(ratings(), dimensions=("quality", "fluency"))
    estimate = kt.estimate(evalset, "quality - fluency", raters="any")
    assert [row.estimate for row in estimate.rows] == pytest.approx([-1, -1])
    assert [row.error_any for row in estimate.contributions] == pytest.approx([0, 0, 0], abs=1e-9)


# ---------------------------------------------------------------------------- what is not known


def test_one_rater_gives_no_interval_for_raters_in_general() -> None:
    estimate = kt.estimate(a_set(ratings(1)), raters="any")
    assert all(math.isnan(row.low) and row.form == "none" for row in estimate.rows)
    assert (estimate.contributions, estimate.differences[0].verdict) == ((), "undecided")
    assert any("one rater does not show how raters differ" in note for note in estimate.notes)


def test_unnamed_raters_give_no_interval_either() -> None:
    rows = [
        (f"s{k}", str(i + 1), "all", "quality", float(i + k)) for k in (0, 1) for i in range(20)
    ]
    texts = {f"s{k}": [f"{k} {i}" for i in range(20)] for k in range(2)}
    evalset = kt.make_evalset(
        "x", texts, references=["it"] * 20, judgements=rows, dimensions=["quality"]
    )
    estimate = kt.estimate(evalset, raters="any")
    assert math.isnan(estimate.rows[0].high)
    assert any("the raters are not named" in note for note in estimate.notes)


def test_comparisons_give_no_interval_for_raters_in_general() -> None:
    rows = [
        JudgedPair("s0", str(i + 1), rater, "win", float(i % 3 > 0), "s1")
        for i in range(20)
        for rater in "ab"
    ]
    texts = {f"s{k}": [f"{k} {i}" for i in range(20)] for k in range(2)}
    win = kt.Dimension("win", low=0, high=1)
    plain = kt.make_evalset("x", texts, references=["it"] * 20, dimensions=[win])
    evalset = replace(plain, pairs=tuple(rows))
    estimate = kt.estimate(evalset, raters="any")
    assert math.isnan(estimate.rows[0].high)
    assert any("people compared outputs" in note for note in estimate.notes)


def test_dimensions_with_other_raters_cannot_be_generalized() -> None:
    values = ratings()
    evalset = a_set(values).with_judgements(
        [
            (f"s{k}", str(i + 1), "zoe", "fluency", float(k + i))
            for k in range(2)
            for i in range(ITEMS)
        ],
        dimensions=["fluency"],
    )
    estimate = kt.estimate(evalset, "quality - fluency", raters="any")
    assert any("quality and fluency of some outputs have other raters" in n for n in estimate.notes)


def test_wrong_values_are_refused() -> None:
    with pytest.raises(kt.InputError, match=r"raters='anyone' is not one of these, any; did you"):
        kt.estimate(a_set(ratings()), raters="anyone")
    nuggets = kt.load_nuggets("demo-nuggets")
    with pytest.raises(kt.InputError, match="raters=any: only ratings of an evaluation set"):
        kt.estimate(nuggets, raters="any")


# -------------------------------------------------------------------------------------- reports


def test_the_answer_states_the_question_and_what_raters_contribute(output: Output) -> None:
    these, general = (
        " ".join(output("estimate", "demo-labels", "--raters", raters).split())
        for raters in ("these", "any")
    )
    assert (
        "Intervals and tests are for these 2 raters. For raters in general (--raters any)," in these
    )
    assert "Variance for raters" not in these
    assert (
        "Intervals and tests are for raters in general, estimated from these 2 raters:" in general
    )
    assert "Variance for raters in general, by source" in general
    assert "2 raters show little of how raters differ" in general


def test_programs_get_the_shares(output: Output) -> None:
    rows = json.loads(output("estimate", "demo-labels", "--format", "json"))["raters"]
    assert [row["baseline"] for row in rows] == [None] * 4 + ["atlas"] * 3
    for row in rows:
        assert row["unit_share"] + row["rater_share"] + row["rest_share"] == pytest.approx(1)
        assert row["error_any"] >= row["error_these"]


def test_one_rater_is_not_mentioned_where_nobody_asked() -> None:
    document = kt.estimate(a_set(ratings(1)), population="new").document()
    assert "raters" not in document.basis


def test_the_page_of_meta_has_intervals_for_raters_in_general() -> None:
    from karat.meta.experiment import Experiment
    from karat.meta.full_report import human_means, meta_report

    reports = {
        raters: meta_report(Experiment("demo", ("bleu",), ("adequacy",), raters=raters, trials=0))
        for raters in ("these", "any")
    }
    general, evaluation = reports["any"], reports["any"].evaluation
    assert 'raters = "any"' in str(evaluation.experiment)
    assert "raters" not in str(reports["these"].evaluation.experiment)
    humans = [row for row in general.systems if row.source == "human"]
    for row, mean in zip(humans, human_means(evaluation, "adequacy"), strict=True):
        assert mean is not None
        assert row.value == pytest.approx(mean.mean)
        assert (row.low, row.high) == mean.interval("any")[1:3]
    shares = general.rater_shares[0]
    assert (shares.dimension, shares.fewest, shares.most) == ("adequacy", 3, 3)
    assert 0 < shares.share < 1
    before = [row for row in reports["these"].systems if row.source == "human"]
    assert all(row.low <= row.value <= row.high for row in before)


def test_raters_dominate_in_a_large_real_set(karat_data: Path) -> None:
    if not (karat_data / "mt-believability").exists():
        pytest.skip("mt-believability is not in KARAT_DATA")
    estimate = kt.estimate("believability", "fluency", population="new", raters="any")
    scores = [row for row in estimate.contributions if row.baseline is None]
    assert [row.raters for row in scores] == [27, 10, 26]
    assert all(row.rater_share > 0.9 and row.error_any > 4 * row.error_these for row in scores)
    assert all(row.freedom < row.raters - 1 for row in scores)  # some raters rated far more
