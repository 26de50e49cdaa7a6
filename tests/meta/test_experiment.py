"""Experiments: saved and read back, run on small sets with known answers, and refused."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.pair_loops import pearson
from oracles.small_sets import small_set

import karat as kt
from karat.errors import InputError
from karat.meta.agreement import MATRIX_LEVELS, agreement
from karat.meta.evaluation import MetaEvaluation, meta_evaluate
from karat.meta.experiment import Experiment, read_experiment
from karat.meta.views import LEVELS
from karat.stats.correlation import STATISTICS

BASE = Experiment("small", ("bleu", "ter"), ("quality",), resamples=20, trials=20)
OF_POINTS = [name for name in STATISTICS if STATISTICS[name].of_segments is None]
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def run(evalset: kt.EvalSet | None = None, **settings: object) -> MetaEvaluation:
    changed = replace(BASE, **settings)  # type: ignore[arg-type]
    return meta_evaluate(changed, small_set(1) if evalset is None else evalset)


def values(result: MetaEvaluation) -> dict[tuple[str, str, str], float]:
    return {(r.level, r.statistic, r.metric): r.value for r in result.rows}


# ------------------------------------------------------------------------------------- as TOML


@given(
    st.builds(
        Experiment,
        NAMES,
        st.lists(NAMES, min_size=1, max_size=3).map(tuple),
        st.lists(NAMES, unique=True, max_size=3).map(tuple),
        st.lists(st.sampled_from(list(LEVELS)), min_size=1, unique=True).map(tuple),
        st.lists(st.sampled_from(OF_POINTS), min_size=1, unique=True).map(tuple),
        normalise=st.sampled_from(["none", "z"]),
        references=st.lists(st.integers(1, 9), unique=True, max_size=3).map(tuple),
        level=st.floats(1e-300, 0.999),
        seed=st.integers(0, 2**62),
    )
)
def test_an_experiment_reads_back(experiment: Experiment) -> None:
    assert read_experiment(str(experiment)) == experiment


def test_an_experiment_prints_every_field() -> None:
    added = {"judgements": ("log.jsonl",), "model_judges": ("gpt",)}
    lines = str(replace(BASE, p_values=True, raters="any", **added)).splitlines()
    assert [line.split(" = ")[0] for line in lines] == [field.name for field in fields(Experiment)]
    assert 'metrics = ["bleu", "ter"]' in lines
    assert "level = 0.05" in lines
    assert 'judgements = ["log.jsonl"]' in lines
    assert "judgements" not in str(BASE)


GOOD = 'evalset = "demo"\nmetrics = ["bleu"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metrics = [", "x.toml: not valid TOML"),
        ("a = " + "[" * 100_000, "x.toml: not valid TOML"),
        ('metrics = ["bleu"]', "x.toml: evalset is missing: an experiment needs it"),
        ('evalset = "demo"', "x.toml: metrics is missing"),
        (GOOD + "colour = 1", "x.toml: found the key 'colour', expected evalset, metrics, dim"),
        ('evalset = 3\nmetrics = ["bleu"]', "x.toml: evalset=3 is int, expected a string"),
        ('evalset = "d"\nmetrics = "bleu"', "x.toml: metrics='bleu' is str, expected a list"),
        (
            'evalset = "d"\nmetrics = [1]',
            r"x.toml: metrics: found 1, expected the name of a metric",
        ),
        ('evalset = "d"\nmetrics = []', "x.toml: an experiment needs at least one metric"),
        (GOOD + "resamples = 1.5", "x.toml: resamples=1.5 is float, expected a whole number"),
        (GOOD + "resamples = true", "x.toml: resamples=True is bool, expected a whole number"),
        (
            GOOD + "trials = -1",
            "trials=-1 is out of range: expected at least 0 and at most 1,000,000",
        ),
        (GOOD + "seed = -1", "x.toml: seed=-1 is out of range: expected at least 0"),
        (GOOD + "level = nan", "x.toml: level=nan is out of range: expected above 0 and below 1"),
        (GOOD + "level = '5%'", "x.toml: level='5%' is str, expected a number"),
        (
            GOOD + "references = [0]",
            "references=\\(0,\\) has 0, which is out of range: expected at least 1",
        ),
        (GOOD + "references = [1, 1]", "x.toml: references=\\(1, 1\\) has 1 twice"),
        (GOOD + "levels = ['word']", "x.toml: level 'word': expected one of system, system-mean"),
        (GOOD + "levels = []", "x.toml: an experiment needs at least one metric, level and"),
        (GOOD + "statistics = ['tau']", "x.toml: statistic 'tau': expected one of pearson"),
        (GOOD + "statistics = ['r2', 'r2']", "x.toml: statistics=\\('r2', 'r2'\\) has 'r2' twice"),
        (GOOD + "over = 'words'", "x.toml: over='words' is not one of both, segments, systems"),
        (GOOD + "normalise = 'Z'", "x.toml: normalise='Z' is not one of none, z"),
        (GOOD + "correction = 'x'", "x.toml: correction='x' is not one of none, holm, bh"),
        (GOOD + "[levels]\na = 1", "levels={'a': 1} is dict, expected a list"),
    ],
)
def test_mistakes_in_a_file_are_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_experiment(text, "x.toml")


# ------------------------------------------------------------------------------------ results


@pytest.mark.parametrize("level", MATRIX_LEVELS)
def test_values_are_those_of_the_level(level: str) -> None:
    chosen_name = "system-mean" if level == "system" else level
    evalset = small_set(1)
    evaluation = run(evalset, levels=(chosen_name,), statistics=tuple(OF_POINTS), metrics=("bleu",))
    metric = kt.metric("bleu")
    human, scores = evalset.human("quality"), evaluation.scored.segments(metric)
    for row in evaluation.rows:
        value, *counts = agreement(human, scores, row.statistic, level)[:4]
        assert row.value == value or np.isnan([row.value, value]).all()
        assert [row.points, row.groups, row.left_out] == counts
        assert np.isnan(value) == (row.statistic == "darr")  # scores up to 7 are not 25 apart


def test_human_scores_are_normalised_by_judge() -> None:
    evalset = small_set(2, missing=0)
    result = values(run(evalset, normalise="z", levels=("segment",), statistics=("pearson",)))
    human, means = evalset.human("quality"), []
    for judge in ("ann", "ben"):
        single = [row for row in evalset.judgements if row.judge == judge]
        data = np.array([row.value for row in single])
        table = np.full(human.shape, np.nan)
        for row, z in zip(single, (data - data.mean()) / data.std(ddof=1), strict=True):
            table[int(row.system[1:]), int(row.segment) - 1] = z
        means.append(table)
    with np.errstate(invalid="ignore"):
        both = np.where(np.isnan(means[0]), means[1], means[0])
        both = np.where(np.isnan(means[1]), both, (both + means[1]) / 2)
    bleu = run(evalset).scored.segments(kt.metric("bleu"))
    has_score = ~np.isnan(both)
    expected = pearson(both[has_score].tolist(), bleu[has_score].tolist())
    assert result["segment", "pearson", "bleu:eff=yes"] == pytest.approx(expected)


def bleu_of(name: str, place: int, text: str) -> float:
    """A judge who gives BLEU itself."""
    references = small_set(1).references[place]
    return kt.metric("bleu:eff=yes").corpus([text], [list(references)]).value


def test_a_perfect_metric_is_found_and_told_from_another() -> None:
    evalset = small_set(1, value=bleu_of)
    evaluation = run(
        evalset, levels=("segment", "system-mean", "item"), statistics=("r2", "pearson")
    )
    best = [row for row in evaluation.rows if row.metric == "bleu:eff=yes"]
    assert [row.value for row in best] == pytest.approx([1] * 6)
    assert all(row.rank == 1 for row in best)
    p = {test.level: test.p for test in evaluation.tests if test.statistic == "pearson"}
    assert p["segment"] < 0.05
    assert {test.better for test in evaluation.tests} == {"bleu:eff=yes"}


def test_soft_pairwise_accuracy_at_a_level_without_systems_is_refused_at_once() -> None:
    with pytest.raises(kt.InputError, match="spa compares systems: choose the level system or sys"):
        kt.Experiment("demo", ("bleu",), levels=("system", "item"), statistics=("spa",))


def test_a_metric_where_lower_is_better_is_turned() -> None:
    evalset = small_set(1, missing=0)
    human = evalset.human("quality")
    ter = kt.metric("ter")
    segments = np.array(
        [
            ter.segments(list(texts), [list(group) for group in evalset.references])
            for texts in evalset.systems.values()
        ]
    )
    has_score = ~np.isnan(human)
    expected = -pearson(human[has_score].tolist(), segments[has_score].tolist())
    result = values(run(evalset, levels=("segment",), statistics=("pearson",)))
    assert result["segment", "pearson", "ter"] == pytest.approx(expected)


def test_the_order_of_systems_does_not_matter() -> None:
    evalset = small_set(3)
    turned = evalset.select(systems=list(evalset.systems)[::-1])
    levels = tuple(LEVELS)
    first, other = (values(run(e, levels=levels, resamples=0)) for e in (evalset, turned))
    assert first == pytest.approx(other)


def test_the_same_seed_gives_the_same_numbers_with_any_threads() -> None:
    first, other = (
        meta_evaluate(replace(BASE, levels=tuple(LEVELS)), small_set(1), threads=threads)
        for threads in (1, 3)
    )
    assert repr(first.rows) == repr(other.rows)  # NaN is not equal to itself
    assert repr(first.tests) == repr(other.tests)
    moved = run(levels=tuple(LEVELS), seed=7)
    assert [r.low for r in moved.rows] != [r.low for r in first.rows]


def test_four_systems_have_an_exact_p_that_no_seed_changes() -> None:
    evalset = small_set(4, systems=4)
    evaluations = [
        run(evalset, levels=("system",), seed=seed, trials=trials).tests
        for seed, trials in ((1, 5), (2, 900))
    ]
    assert [test[:7] for test in evaluations[0]] == [test[:7] for test in evaluations[1]]
    assert all(16 * test.p == round(16 * test.p) for test in evaluations[0])


def test_experiments_choose_references_and_systems() -> None:
    evalset = small_set(5)
    evaluation = run(evalset, references=(2,), exclude=("s0", "s3"))
    assert list(evaluation.evalset.systems) == ["s1", "s2", "s4"]
    assert evaluation.evalset.references == tuple((group[1],) for group in evalset.references)
    assert "|nrefs=1|" in evaluation.scored.signature(kt.metric("bleu"))
    with pytest.raises(InputError, match="segment 1 has none of the references that were chosen"):
        run(evalset, references=(3,))


def test_no_resamples_and_no_trials_give_values_alone() -> None:
    evaluation = run(resamples=0, trials=0)
    assert evaluation.tests == ()
    assert all(math.isnan(row.low) and row.rank is None for row in evaluation.rows)
    assert [row.rank for row in run(metrics=("bleu",), trials=0).rows] == [1] * 6


def test_rmse_is_best_when_least_and_is_not_tested() -> None:
    evaluation = run(levels=("segment",), statistics=("rmse",))
    low, high = (row.value for row in evaluation.rows)
    assert low < high
    assert evaluation.tests == ()


# ---------------------------------------------------------------------------- what is undefined


@pytest.mark.parametrize(
    ("evalset", "dimension", "reason"),
    [
        (small_set(1, value=lambda *_: 2.0), "quality", "the human scores are constant"),
        (small_set(1), "unjudged", "0 points, at least 2 are needed"),
        (small_set(1, systems=1), "quality", "1 point, at least 2 are needed"),
    ],
)
def test_what_has_no_correlation_says_why(evalset: kt.EvalSet, dimension: str, reason: str) -> None:
    evaluation = run(evalset, dimensions=(dimension,), levels=("system", "system-mean", "item"))
    for row in evaluation.rows:
        assert math.isnan(row.value)
        assert math.isnan(row.low)
        assert row.undefined == 20
        assert row.rank is None
        message = "in no segment do both human and metric scores differ"
        assert row.note == f"undefined: {message if row.level == 'item' else reason}"
    assert evaluation.tests == ()


def test_what_is_not_there_is_refused_before_anything_is_scored() -> None:
    reports: list[object] = []
    for settings, message in (
        (
            {"dimensions": ("taste",)},
            r"small has no dimension 'taste' \(it has quality, unjudged\)",
        ),
        ({"exclude": ("x",)}, r"small has no system 'x' \(it has s0, s1, s2, s3, s4\)"),
        ({"metrics": ("blue",)}, "blue"),
    ):
        changed = replace(BASE, **settings)  # type: ignore[arg-type]
        with pytest.raises(InputError, match=message):
            meta_evaluate(changed, small_set(1), progress=lambda *x: reports.append(x))
    flat = replace(small_set(1), groups=None)
    with pytest.raises(InputError, match="small has no documents"):
        meta_evaluate(replace(BASE, levels=("document",)), flat)
    bare = kt.make_evalset("bare", {"a": ["x"]}, references=["x"])
    with pytest.raises(InputError, match="bare has no human scores"):
        meta_evaluate(replace(BASE, dimensions=()), bare)
    assert reports == []
