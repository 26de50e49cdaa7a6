"""Covariates: their values, predictions against an oracle, coverage, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from oracles import covariate_loops

import karat as kt
from karat.estimation import covariates as covariates_module
from karat.estimation.covariates import CovariateTexts, consensus, make_covariates, texts_of
from karat.estimation.evalset_samples import make_sample
from karat.estimation.samples import JudgeValues, Sample
from karat.estimation.settings import COVARIATES
from karat.estimation.system_estimates import (
    add_covariates,
    covariates_change_differences,
    difference_prediction,
    estimate_system,
    predict,
    predict_by_judges,
)
from karat.evalset.judgements import JudgedPair
from karat.stats.population import Design, Prediction, fit_covariates, tune_prediction

WORDS = ("tea", "Rome", "12", "a", "blue", "House", "7th", "and", "window")
SEGMENTS = 60


def outputs(systems: int = 3, segments: int = SEGMENTS, seed: int = 0) -> list[list[str]]:
    """Outputs of random words; later segments are longer."""
    rng = np.random.default_rng(seed)
    return [
        [" ".join(rng.choice(WORDS, 2 + i // 6 + k)) + f" w{i}" for i in range(segments)]
        for k in range(systems)
    ]


SOURCES = [f"source {'x' * (i % 17)}" for i in range(SEGMENTS)]


def a_set(
    labelled: Sequence[int] = range(0, SEGMENTS, 2),
    *,
    systems: int = 3,
    sources: Sequence[str] | None = SOURCES,
    label: Callable[[str], float] = lambda text: float(len(text)),
    noise: float = 5.0,
    texts: Sequence[Sequence[str]] | None = None,
) -> kt.EvalSet:
    """Labels are lengths of texts and noise, and a judge sees labels with noise."""
    rng = np.random.default_rng(5)
    texts = outputs(systems) if texts is None else texts
    names = [f"s{k}" for k in range(len(texts))]
    y = np.array([[label(text) for text in row] for row in texts])
    y = y + noise * rng.normal(size=y.shape)
    rows = [
        (name, str(i + 1), "ann", "quality", float(y[k, i]))
        for k, name in enumerate(names)
        for i in labelled
    ]
    evalset = kt.make_evalset(
        "made-up",
        dict(zip(names, texts, strict=True)),
        sources=sources,
        judgements=rows,
        dimensions=[kt.Dimension("quality")],
    )
    judge = y + 10 * rng.normal(size=y.shape)
    return evalset.with_scores("judge", {n: list(judge[k]) for k, n in enumerate(names)})


def a_sample(evalset: kt.EvalSet, judged: bool = True, covariates: str = "auto") -> Sample:
    scores = evalset.offered["judge"]()
    values = np.array([scores.in_order[name] for name in evalset.systems])
    judges = [JudgeValues("judge", values, 0, "")] if judged else []
    columns = make_covariates(texts_of(evalset), covariates).values
    return make_sample(evalset, "quality", judges, covariates=columns)


# ------------------------------------------------------------------------------ values of texts


def test_worked_values() -> None:
    texts = CovariateTexts("set", [["In 1999 Rome", "tea"], ["in Rome", "In tea"]], ["ab", ""])
    values = {column.name: column.values for column in make_covariates(texts, "auto").values}
    assert values["source-length"].tolist() == [[2, 0], [2, 0]]
    assert values["length"].tolist() == [[12, 3], [7, 6]]
    assert values["ratio"] == pytest.approx(np.log([[13 / 3, 4], [8 / 3, 7]]))
    assert values["digits"] == pytest.approx(np.array([[4 / 12, 0], [0, 0]]))
    assert values["capitals"] == pytest.approx(np.array([[2 / 3, 0], [1 / 2, 1 / 2]]))
    assert values["rare"] == pytest.approx(np.array([[2 / 3, 1], [1, 1 / 2]]))
    assert list(values) == list(COVARIATES)


@pytest.mark.parametrize("name", COVARIATES)
def test_values_are_those_of_loops(name: str) -> None:
    texts = outputs()
    texts[1][4] = ""
    (column,) = make_covariates(CovariateTexts("set", texts, SOURCES), [name]).values
    assert column.values == pytest.approx(np.array(covariate_loops.values(name, texts, SOURCES)))


def test_the_consensus_is_the_mean_chrf_to_the_outputs_that_are_there() -> None:
    texts: list[list[str | None]] = [["a cat sat", "x", "alone"], ["the cat", None, None]]
    texts.append(["a cat", "xy", None])
    values = make_covariates(CovariateTexts("set", texts, None), "consensus").values[0].values

    def chrf(output: str, other: str) -> float:
        return float(kt.score([output], [other], ["chrf"]).rows[0].score)

    first = (chrf("a cat sat", "the cat") + chrf("a cat sat", "a cat")) / 2
    assert values[0, 0] == pytest.approx(first)
    assert values[2, 1] == pytest.approx(chrf("xy", "x"))
    present = [values[k, i] for k, i in ((0, 0), (0, 1), (1, 0), (2, 0), (2, 1))]
    assert values[0, 2] == pytest.approx(np.mean(present))
    assert values[1, 1] == values[1, 2] == values[2, 2] == 0


def test_batches_do_not_change_the_consensus(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = consensus(outputs())
    monkeypatch.setattr(covariates_module, "BATCH_CHARACTERS", 100)
    assert (consensus(outputs()) == whole).all()


def test_a_consensus_that_takes_long_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covariates_module, "MAX_PAIR_CHARACTERS", 100)
    texts = CovariateTexts("set", outputs(), SOURCES)
    automatic = make_covariates(texts, "auto")
    assert "consensus" not in [column.name for column in automatic.values]
    reason = "the set has too many outputs to compare each with all others"
    assert automatic.notes == (f"Covariates left out, since {reason}: consensus.",)
    assert make_covariates(texts, "consensus").values


# --------------------------------------------------------------------------------- predictions


def made_up(seed: int, units: int, systems: int = 3, weighted: bool = False) -> Any:
    """A random sample with some outputs and labels missing."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(1, 40, 2))
    x = np.concatenate(
        [rng.normal(size=(systems, 40, 2)), np.broadcast_to(shared, (systems, 40, 2))], axis=2
    )
    y = x @ rng.normal(size=4) * rng.choice([0.0, 1.0]) + rng.normal(size=(systems, 40))
    labelled = np.zeros((systems, 40), bool)
    labelled[:, rng.permutation(40)[:units]] = True
    labelled &= rng.random(labelled.shape) < 0.9
    y = np.where(labelled, y, np.nan)
    names = tuple(f"s{k}" for k in range(systems))
    drawn = np.where(labelled.any(axis=0), rng.uniform(0.1, 0.9, 40), np.nan)
    rounds = np.where(labelled.any(axis=0), 1, 0)
    design = Design(np.ones(40), drawn, rounds) if weighted else Design.simple(np.ones(40))
    about = "set", "quality", names, tuple(map(str, range(40))), "segment"
    columns = np.where(labelled[:, :, None], x, 0.0)
    present = np.ones(y.shape, bool)
    judges = tuple("abcd")
    return Sample(*about, y, columns, x, present, judges, design).values()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("with_base", [False, True])
@pytest.mark.parametrize(("seed", "units"), [(0, 12), (1, 25), (2, 30), (3, 15), (4, 40), (5, 9)])
def test_predictions_are_those_of_loops(
    seed: int, units: int, with_base: bool, weighted: bool
) -> None:
    labelled = made_up(seed, units, weighted=weighted)
    is_unit_mean = np.array([False, False, True, True])
    base = None
    if with_base:
        column = np.random.default_rng(seed).normal(size=(*labelled.y.shape, 1))
        x = np.where(np.isnan(labelled.y)[:, :, None], 0.0, column + labelled.x[:, :, :1])
        base = tune_prediction(labelled.with_columns(x, column + labelled.all_values[:, :, :1]))
    prediction = fit_covariates(labelled, is_unit_mean, base)
    expected = covariate_loops.fit(labelled, is_unit_mean.tolist(), base)
    if expected is None:
        assert prediction is base
        return
    assert prediction is not None
    has_label = ~np.isnan(labelled.y)
    assert prediction.units[has_label] == pytest.approx(expected[0][has_label])
    assert prediction.all_outputs == pytest.approx(expected[1])
    assert prediction.means == pytest.approx(expected[1].mean(axis=1))


def test_the_oracle_sees_both_cases() -> None:
    outcomes = {
        covariate_loops.fit(made_up(seed, 25), [False, False, True, True], None) is None
        for seed in range(6)
    }
    assert outcomes == {True, False}


def test_a_covariate_that_knows_everything_leaves_little_to_doubt() -> None:
    alone = kt.estimate(a_set(noise=0.5), covariates="length")
    assert alone.uses_covariates
    assert alone.ratio < 0.2
    (row,) = alone.covariates
    assert row.r > 0.99
    assert row.alone < 0.2
    assert row.without > 5


def test_noise_is_left_out_and_the_estimate_is_that_without() -> None:
    evalset = a_set(label=lambda text: 0.0)
    auto = kt.estimate(evalset, judges="judge")
    none = kt.estimate(evalset, judges="judge", covariates="none")
    assert not auto.uses_covariates
    assert auto.rows == none.rows
    assert none.covariates == ()
    assert none.data != auto.data


@pytest.mark.parametrize("seed", range(8))
def test_intervals_are_never_wider_on_average_than_by_judges_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    evalset = a_set(sorted(rng.permutation(SEGMENTS)[:20].tolist()), noise=float(seed * 6))
    sample = a_sample(evalset)
    by_judges = predict_by_judges(sample)
    widths = [
        sum(estimate_system(sample, k, p, True).interval.width for k in range(3))
        for p in (add_covariates(sample, by_judges), by_judges)
    ]
    assert widths[0] <= widths[1]


def test_columns_of_the_source_do_not_count_for_differences() -> None:
    sample = a_sample(a_set(), covariates="source-length")
    by_judges = predict_by_judges(sample)
    both, alone = (difference_prediction(s, by_judges) for s in (sample, sample.by_judges))
    assert both is not None
    assert alone is not None
    for k in (1, 2):
        for a, b in ((both.units, alone.units), (both.all_outputs, alone.all_outputs)):
            assert a[0] - a[k] == pytest.approx(b[0] - b[k])


def test_columns_of_outputs_make_differences_more_precise() -> None:
    evalset = a_set(noise=1.0)
    widths = [
        np.mean([row.high - row.low for row in kt.estimate(evalset, covariates=c).differences])
        for c in ("length", "none")
    ]
    assert widths[0] < 0.5 * widths[1]


def test_covariates_of_differences_alone_are_reported() -> None:
    """Segments differ much, and outputs of a segment by their lengths."""
    rng = np.random.default_rng(1)
    effects = rng.normal(0, 300, SEGMENTS)
    texts = [
        [" ".join(rng.choice(WORDS, rng.integers(3, 20))) + f" w{i}" for i in range(SEGMENTS)]
        for _ in range(3)
    ]
    evalset = a_set(
        texts=texts,
        sources=None,
        noise=1.0,
        label=lambda text: len(text) + effects[int(text.rpartition("w")[2])],
    )
    used, none = (kt.estimate(evalset, covariates=c) for c in ("length", "none"))
    assert used.rows == none.rows
    assert used.differences != none.differences
    assert not used.uses_covariates
    assert used.covariates_in_differences
    assert not none.covariates_in_differences
    assert "are used only for differences" in used.summary
    assert any("differences those of people and covariates" in note for note in used.notes)


@pytest.mark.parametrize("name", ["source-length", "length"])
def test_covariates_in_differences_are_those_that_change_them(name: str) -> None:
    sample = a_sample(a_set(noise=1.0), covariates=name)
    by_judges = predict_by_judges(sample)
    by_difference = difference_prediction(sample, by_judges)
    changed = covariates_change_differences(sample, by_judges, by_difference)
    assert changed is (name == "length")


def test_covariates_that_are_constant_are_named_in_a_note() -> None:
    texts = CovariateTexts("set", [["tea", "a tea"], ["milk", "a"]], None)
    columns = make_covariates(texts, "auto")
    assert "digits" not in {column.name for column in columns.values}
    assert columns.notes[-1] == (
        "Covariates left out, since the set has the same value for every output: digits, capitals."
    )


@pytest.mark.parametrize("judged", [False, True])
def test_equal_inputs_give_equal_bits(judged: bool) -> None:
    judges = ["judge"] if judged else []
    first, second = (kt.estimate(a_set(), judges=judges) for _ in range(2))
    assert first.rows == second.rows
    assert first.signature == second.signature


@pytest.mark.parametrize("judges", [[], ["judge"]])
def test_the_order_of_systems_does_not_change_a_bit(judges: list[str]) -> None:
    evalset = a_set(systems=5, noise=12.0)
    turned = evalset.select(systems=[*evalset.systems][::-1])
    first, second = (kt.estimate(s, judges=judges) for s in (evalset, turned))
    assert first.uses_covariates
    for row in first.rows:
        (other,) = (r for r in second.rows if r.system == row.system)
        if judges:
            assert row[4:7] == pytest.approx(other[4:7], rel=1e-12)
        else:
            assert row[:12] == other[:12]


def test_intervals_hold_for_the_set() -> None:
    """Labels follow lengths in part; 25 of 200 units are labelled 120 times."""
    texts = outputs(4, 200, seed=3)
    full = a_sample(
        a_set(range(200), texts=texts, sources=None, noise=40.0, systems=4), judged=False
    )
    truth, rng, held, widths = full.y.mean(axis=1), np.random.default_rng(1), [], []
    for _ in range(120):
        is_labelled = np.zeros(200, bool)
        is_labelled[rng.permutation(200)[:25]] = True
        sample = replace(full, y=np.where(is_labelled, full.y, np.nan))
        prediction: Prediction | None = predict(sample)
        for k in range(4):
            interval = estimate_system(sample, k, prediction, True).interval
            alone = estimate_system(sample, k, None, True).interval
            held.append(interval.low <= truth[k] <= interval.high)
            widths.append(interval.width / alone.width)
    assert np.mean(held) > 0.92
    assert np.mean(widths) < 0.9


# ------------------------------------------------------------------------------- kinds of sets


def test_comparisons_have_covariates() -> None:
    texts, rng = outputs(), np.random.default_rng(2)
    plain = kt.make_evalset(
        "pairs",
        {f"s{k}": row for k, row in enumerate(texts)},
        dimensions=[kt.Dimension("win", low=0, high=1)],
    )
    pairs = tuple(
        JudgedPair(f"s{a}", str(i + 1), "ann", "win", float(gap > 0), f"s{b}")
        for i in range(0, SEGMENTS, 2)
        for a, b in combinations(range(3), 2)
        for gap in [len(texts[a][i]) - len(texts[b][i]) + 3 * rng.normal()]
    )
    estimate = kt.estimate(replace(plain, pairs=pairs))
    assert estimate.uses_covariates
    assert estimate.ratio < 0.98
    names = tuple(row.covariate for row in estimate.covariates)
    assert names == ("length", "digits", "capitals", "rare", "consensus")
    assert estimate.settings["covariates"] == names


def test_raters_in_general_take_covariates() -> None:
    estimate = kt.estimate("demo-labels", judges=["chrf"], raters="any", covariates="length")
    assert [row.covariate for row in estimate.covariates] == ["length"]
    assert np.isnan(estimate.student_ratio)  # Student's intervals are for these raters


def test_widths_are_beside_those_of_plain_student_intervals() -> None:
    evalset = a_set(range(0, SEGMENTS, 3))
    estimate = kt.estimate(evalset)
    for row, labels in zip(estimate.rows, evalset.human("quality"), strict=True):
        y = labels[~np.isnan(labels)]
        error = y.std(ddof=1) / np.sqrt(20) * np.sqrt(1 - 20 / SEGMENTS)
        assert row.student_ratio == pytest.approx((row.high - row.low) / (2 * 2.093024 * error))
    new = kt.estimate(evalset, population="new", covariates="none").rows[0]
    y = evalset.human("quality")[0, ::3]
    width = 2 * 2.093024 * y.std(ddof=1) / np.sqrt(20)
    assert new.student_ratio == pytest.approx((new.high - new.low) / width)


def test_one_system_uses_what_it_has() -> None:
    estimate = kt.estimate(a_set(systems=1, noise=3.0))
    note = (
        "Covariates left out, since the set has no segment with outputs of two systems: consensus."
    )
    assert note in estimate.notes
    assert estimate.uses_covariates
    assert estimate.ratio < 0.5


def test_ratings_without_texts_have_none() -> None:
    rows = [{"system": "a", "segment": str(i), "judge": "ann", "quality": i % 5} for i in range(20)]
    evalset = kt.load_evalset(rows)
    assert not evalset.has_texts
    estimate = kt.estimate(evalset)
    assert not estimate.covariates
    assert any("since the set has no texts: source-length, length" in n for n in estimate.notes)
    with pytest.raises(kt.InputError, match=r"^covariate 'length': .* has no texts: leave it out$"):
        kt.estimate(evalset, covariates="length")


# ------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("covariates", "message"),
    [
        ("lenght", "covariate 'lenght': expected one of auto, none, source-length, length"),
        ("length,length", "covariate 'length' is named twice: name it once"),
        ("auto,length", "covariates auto, length: auto must be the only one"),
        (["none", "length"], "covariates none, length: none must be the only one"),
        ("", "covariate '': expected one of auto"),
        ([], "no covariate is named"),
        (3, "covariates=3: expected names of covariates"),
        ([3], "covariate 3: expected one of auto"),
    ],
)
def test_wrong_names_are_refused(covariates: Any, message: str) -> None:
    with pytest.raises(kt.InputError, match=f"^{message}"):
        kt.estimate(a_set(), covariates=covariates)


def test_a_covariate_without_its_texts_is_refused() -> None:
    without = a_set(sources=None)
    message = "^covariate 'ratio': made-up has no sources: leave it out$"
    with pytest.raises(kt.InputError, match=message):
        kt.estimate(without, covariates="length,ratio")
    note = "Covariates left out, since the set has no sources: source-length, ratio."
    assert note in kt.estimate(without).notes
    message = "^covariate 'consensus': made-up has no segment with outputs of two systems"
    with pytest.raises(kt.InputError, match=message):
        kt.estimate(a_set(systems=1), covariates="consensus")


def test_a_constant_covariate_is_refused_and_by_default_left_out() -> None:
    texts = [["abc"] * SEGMENTS, ["abd"] * SEGMENTS]
    evalset = a_set(texts=texts, label=lambda text: 0.0)
    message = "^covariate 'length' has the same value for every output of made-up"
    with pytest.raises(kt.InputError, match=message):
        kt.estimate(evalset, covariates="length")
    names = [row.covariate for row in kt.estimate(evalset).covariates]
    assert names == ["source-length", "ratio"]


def test_the_command_names_the_problem_in_a_sentence(run_karat: Any) -> None:
    result = run_karat("estimate", "demo-labels", "--covariates", "size")
    assert result.returncode == 2
    assert "covariate 'size': expected one of auto, none, source-length" in result.stderr


def test_the_command_takes_names(run_karat: Any) -> None:
    result = run_karat("estimate", "demo-labels", "--covariates", "length,consensus", "-f", "json")
    assert result.returncode == 0
    assert '"covariate": "length"' in result.stdout
    assert '"digits"' not in result.stdout
