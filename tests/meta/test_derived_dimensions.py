"""Differences of two dimensions, and p of each correlation (the paper's section 4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import karat as kt
from karat.errors import InputError

DEMO = kt.load_evalset("demo")
ASKED = kt.Experiment(
    *("demo", ("bleu", "chrf"), ("adequacy - fluency",)),
    **{"levels": ("segment", "item", "system"), "resamples": 0, "trials": 0},
)


def set_with_dimensions(*names: str) -> kt.EvalSet:
    """One output, judged 1, 2, 3 … in dimensions of these names."""
    rows = [("A", "1", "j", name, value) for value, name in enumerate(names, 1)]
    return kt.make_evalset("s", {"A": ["x"]}, dimensions=names, judgements=rows)


def test_the_difference_is_that_of_what_each_gives() -> None:
    for options in ("none", "z"):
        first, second = (DEMO.human(name, options) for name in ("adequacy", "errors"))
        human_scores = DEMO.human("adequacy - errors", options)
        np.testing.assert_allclose(human_scores, first - second, rtol=0, atol=1e-11)


def test_rounding_makes_no_differences() -> None:
    values = {"1": 1.0, "2": 2.0, "3": 3.0, "4": 4.0}
    rows = [
        ("A", segment, "j", name, value + more)
        for segment, value in values.items()
        for name, more in (("a", 0.0), ("b", 0.1))
    ]
    evalset = kt.make_evalset("s", {"A": ["x"] * 5}, dimensions=("a", "b"), judgements=rows)
    human = evalset.human("b - a")[0]
    assert len(set(human[:4].tolist())) == 1
    assert abs(human[0] - 0.1) < 1e-12
    assert np.isnan(human[4])  # nobody judged it


def test_names_with_minus_signs_are_read_whole() -> None:
    evalset = set_with_dimensions("strict-all", "all")
    assert evalset.human("strict-all - all")[0, 0] == 1 - 2
    evalset = set_with_dimensions("a - b", "a", "b")
    assert evalset.human("a - b")[0, 0] == 1  # a dimension of its own
    assert evalset.human("a - b - a")[0, 0] == 1 - 2
    assert evalset.difference("b - c") is None


def test_what_could_be_two_differences_is_refused() -> None:
    evalset = set_with_dimensions("a - b", "c", "a", "b - c")
    with pytest.raises(InputError, match="the difference of 2 pairs of dimensions"):
        evalset.human("a - b - c")


def test_it_runs_like_any_dimension() -> None:
    rows = kt.meta_evaluate(ASKED).rows
    assert {row.dimension for row in rows} == {"adequacy - fluency"}
    row = next(r for r in rows if r.metric == "chrf" and r.level == "segment")
    human = DEMO.human("adequacy") - DEMO.human("fluency")
    metric = [kt.metric("chrf").segments(DEMO.systems[s], DEMO.references) for s in DEMO.systems]
    assert row.value == pytest.approx(np.corrcoef(human.ravel(), np.ravel(metric))[0, 1])
    assert row.p is None


def test_p_where_there_is_one() -> None:
    rows = kt.meta_evaluate(replace(ASKED, p_values=True, statistics=("pearson", "accuracy"))).rows
    values_by_name = {(r.level, r.statistic, r.metric): r for r in rows}
    row = values_by_name["segment", "pearson", "chrf"]
    human = DEMO.human("adequacy - fluency").ravel()
    metric = [kt.metric("chrf").segments(DEMO.systems[s], DEMO.references) for s in DEMO.systems]
    assert row.p == pytest.approx(stats.pearsonr(human, np.ravel(metric)).pvalue)
    assert values_by_name["system", "pearson", "chrf"].p is not None
    assert values_by_name["item", "pearson", "chrf"].p is None
    assert values_by_name["segment", "accuracy", "chrf"].p is None


def test_an_experiment_with_p_is_read_back() -> None:
    experiment = replace(ASKED, p_values=True)
    assert "p_values = true\n" in str(experiment)
    assert kt.read_experiment(str(experiment)) == experiment
    assert "p_values" not in str(ASKED)
    with pytest.raises(InputError, match="expected true or false"):
        kt.read_experiment(str(experiment).replace("true", "1"))


def test_judges_have_no_differences() -> None:
    with pytest.raises(InputError, match="no dimension 'adequacy - fluency'"):
        kt.judge_agreement(DEMO, dimensions=["adequacy - fluency"])


def test_the_command(output: Callable[..., str], run_karat: Callable[..., Any]) -> None:
    arguments = ("meta", "demo", "-m", "bleu", "-l", "segment", "--resamples", "0", "-f", "json")
    difference = ("-d", "adequacy - fluency")
    rows = json.loads(output(*arguments, *difference, "--p-values"))["rows"]
    assert [row["dimension"] for row in rows] == ["adequacy - fluency"] * 2
    assert all(0 < row["p"] < 1 for row in rows)
    assert all("p" not in row for row in json.loads(output(*arguments, *difference))["rows"])
    assert "p: of no correlation" in output(*arguments[:-2], *difference, "--p-values")
    done = run_karat(*arguments, "-d", "adequacy - taste")
    assert done.returncode == 2
    assert "has no dimension 'adequacy - taste'" in done.stderr
