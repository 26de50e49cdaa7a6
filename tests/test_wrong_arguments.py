"""Arguments of the wrong type: one sentence; a set may be given by its name or its path."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import karat as kt

A = ["a b", "c"]
QUICK: dict[str, Any] = {"resamples": 2, "trials": 2}
SET = "found 5, expected an evaluation set, its name, a path, a data frame or a list of dicts"
NUGGET_SET = "found 5, expected a set, its name or its path"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kt.load_evalset(5), SET),
        (lambda: kt.load_evalset("demo", judgements=5), "found 5, expected the path of a file"),
        (lambda: kt.load_evalset("demo", draws=5), "found 5, expected the path of a file"),
        (lambda: kt.load_evalset("demo", model_judges="gpt"), "demo has no judge 'gpt'"),
        (lambda: kt.load_nuggets(5), NUGGET_SET),
        (lambda: kt.convert_evalset(5, "new"), SET),
        (lambda: kt.save_evalset(5, "new"), SET),
        (lambda: kt.save_nuggets(5, "new"), NUGGET_SET),
        (lambda: kt.describe_nuggets(5), NUGGET_SET),
        (lambda: kt.score_nuggets(5), NUGGET_SET),
        (lambda: kt.diff_nuggets(5, 5), NUGGET_SET),
        (lambda: kt.tune_nuggets(5), NUGGET_SET),
        (lambda: kt.evaluate_nuggets(5), NUGGET_SET),
        (lambda: kt.study_plane(5), SET),
        (lambda: kt.fit_plane(5, "fluency"), SET),
        (lambda: kt.reliability(5, "fluency"), SET),
        (lambda: kt.judge_agreement(5), SET),
        (lambda: kt.statistic(5), "statistic 5: expected one of pearson, spearman"),
        (lambda: kt.metric(5), "int is no metric: give its name"),
        (lambda: kt.list_metrics(5), "int is no metric: give its name"),
        (lambda: kt.compare(5, A), "system candidate is int, expected a list of strings"),
        (lambda: kt.compare({"A": A, "B": A}, A, seed=None), "seed=None: expected a whole number"),
        (lambda: kt.compare({"A": A, "B": A}, A, seed=-1), "seed=-1: expected a whole number, 0"),
        (lambda: kt.score(A, A, threads="x"), "threads='x': expected a whole number, at least 1"),
        (lambda: kt.compare({"A": A, "B": A}, A, examples=-1), "examples=-1: expected a whole"),
        (lambda: kt.Experiment("demo", ("bleu",), seed="x"), "seed='x' is str, expected a whole"),
        (lambda: kt.wilcoxon("demo", A), "found 'demo', expected numbers"),
        (lambda: kt.williams([1], [2], {"a": 5}), "found {'a': 5}, expected numbers"),
        (lambda: kt.rank_metrics("demo", {"a": [[1]]}), "found 'demo', expected numbers"),
    ],
)
def test_one_sentence_says_what_is_expected(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(kt.InputError, match=re.escape(message)) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_set_is_given_by_its_name(tmp_path: Path) -> None:
    demo = kt.load_evalset("demo")
    assert kt.study_plane("demo", dimensions=["fluency"], resamples=2, splits=2).evalset == demo
    assert kt.fit_plane("demo", "fluency", resamples=2, permutations=2).rows
    assert repr(kt.judge_agreement("demo").rows) == repr(kt.judge_agreement(demo).rows)
    assert kt.flood("demo", kt.Flood("adequacy", correct=4)).systems
    assert kt.reliability("demo", "fluency", lengths=[2], repeats=1)
    experiment = kt.Experiment("other", ("bleu",), ("fluency",), ("system",), ("pearson",), **QUICK)
    assert kt.meta_evaluate(experiment, "demo").name == "demo"
    assert kt.score("demo", metrics="bleu").rows == kt.score(demo, metrics="bleu").rows
    assert kt.compare("demo", metrics="bleu").rows
    kt.save_evalset("demo", tmp_path / "new")
    assert kt.study_plane(tmp_path / "new", dimensions=["fluency"], resamples=2, splits=2).fits


def test_a_nugget_set_is_given_by_its_name(tmp_path: Path) -> None:
    scoring = kt.score_nuggets("demo-nuggets", guess=False)
    assert scoring.rows == kt.score_nuggets(kt.load_nuggets("demo-nuggets"), guess=False).rows
    kt.save_nuggets("demo-nuggets", tmp_path / "new.jsonl")
    assert kt.describe_nuggets(tmp_path / "new.jsonl").rows[0].runs == 4
    assert kt.tune_nuggets("demo-nuggets").rows
