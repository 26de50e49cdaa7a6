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
SET = "expected EvalSet or str or PathLike of str"
NUGGETS = "expected NuggetSet or str or PathLike of str"
PATH = "expected str or PathLike of str"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: kt.load_evalset(5), f"load_evalset: name_or_path is 5, {PATH}"),
        (lambda: kt.load_nuggets(5), f"load_nuggets: key is 5, {PATH}"),
        (lambda: kt.check_evalset(5), "check_evalset: given is 5, expected str or PathLike of "),
        (lambda: kt.convert_evalset(5, "new"), f"convert_evalset: given is 5, {PATH}"),
        (lambda: kt.save_evalset(5, "new"), f"save_evalset: evalset is 5, {SET}"),
        (lambda: kt.save_evalset("demo", 5), f"save_evalset: path is 5, {PATH}"),
        (lambda: kt.save_nuggets(5, "new"), f"save_nuggets: nuggets is 5, {NUGGETS}"),
        (lambda: kt.describe_nuggets(3), f"describe_nuggets: nuggets is 3, {NUGGETS}"),
        (lambda: kt.score_nuggets(3), f"score_nuggets: nuggets is 3, {NUGGETS}"),
        (lambda: kt.diff_nuggets(3, 4), f"diff_nuggets: old is 3, {NUGGETS}"),
        (lambda: kt.tune_nuggets(None), f"tune_nuggets: nuggets is None, {NUGGETS}"),
        (lambda: kt.evaluate_nuggets([]), f"evaluate_nuggets: nuggets is [], {NUGGETS}"),
        (lambda: kt.score_nuggets("demo-nuggets", 5), "score_nuggets: how is 5, expected Official"),
        (lambda: kt.meta_evaluate(5), "meta_evaluate: experiment is 5, expected Experiment"),
        (lambda: kt.meta_report(5), "meta_report: experiment is 5, expected Experiment"),
        (lambda: kt.study_plane(5), f"study_plane: evalset is 5, {SET}"),
        (
            lambda: kt.study_plane("demo", dimensions=5),
            "study_plane: dimensions is 5, expected Seq",
        ),
        (lambda: kt.fit_plane(5, "fluency"), f"fit_plane: given is 5, {SET}"),
        (lambda: kt.flood("demo", 5), "flood: how is 5, expected Flood"),
        (lambda: kt.reliability(5, "fluency"), f"reliability: given is 5, {SET}"),
        (
            lambda: kt.judge_agreement(5),
            "found 5, expected an evaluation set, its name or path",
        ),
        (lambda: kt.statistic(5), "statistic 5: expected one of pearson, spearman"),
        (lambda: kt.metric(5), "int is no metric: give its name"),
        (lambda: kt.list_metrics(5), "int is no metric: give its name"),
        (lambda: kt.compare(5, A), "system candidate is int, expected a list of strings"),
        (
            lambda: kt.compare({"A": A, "B": A}, A, 5),
            "compare: metrics is 5, expected Sequence of ",
        ),
        (
            lambda: kt.score({"A": A}, A, 5),
            "score: metrics is 5, expected Sequence of str or Metric",
        ),
        (lambda: kt.make_evalset("x", 5), "make_evalset: systems is 5, expected Mapping of"),
        (lambda: kt.make_evalset("x", {"A": 5}), "make_evalset: systems is {'A': 5}, expected Map"),
        (lambda: kt.read_conllu(5), f"read_conllu: path is 5, {PATH}"),
        (lambda: kt.read_experiment(5), "read_experiment: text is 5, expected str"),
        (lambda: kt.train_realizer(5), "train_realizer: treebank is 5, expected Treebank"),
        (lambda: kt.realize_trees(5, 6), "realize_trees: model is 5, expected RealizerModel"),
        (lambda: kt.explain_pair(5, "a", "b"), "explain_pair: table is 5, expected PhraseTable"),
        (
            lambda: kt.score_texts(A, 2.5),
            "score_texts: model is 2.5, expected LanguageModel or str",
        ),
        (lambda: kt.recommend([5], "fluency"), "recommend: task is [5], expected str"),
        (lambda: kt.wilcoxon("demo", A), "found 'demo', expected numbers"),
        (lambda: kt.williams([1], [2], {"a": 5}), "found {'a': 5}, expected numbers"),
        (lambda: kt.rank_metrics("demo", {"a": [[1]]}), "found 'demo', expected numbers"),
    ],
)
def test_one_sentence_says_what_is_expected(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(kt.InputError, match=re.escape(said)) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_other_errors_stay_what_they_are() -> None:
    def fail(*given: object) -> None:
        raise TypeError("of the caller's own")

    with pytest.raises(TypeError, match="of the caller's own"):
        kt.tokenize(A, progress=fail)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        kt.load_evalset()  # type: ignore[call-arg]


def test_a_set_is_given_by_its_name(tmp_path: Path) -> None:
    demo = kt.load_evalset("demo")
    assert kt.study_plane("demo", dimensions=["fluency"], resamples=2, splits=2).evalset == demo
    assert kt.fit_plane("demo", "fluency", resamples=2, permutations=2).rows
    assert repr(kt.judge_agreement("demo").rows) == repr(kt.judge_agreement(demo).rows)
    assert kt.flood("demo", kt.Flood("adequacy", correct=4)).systems
    assert kt.reliability("demo", "fluency", lengths=[2], repeats=1)
    asked = kt.Experiment("other", ("bleu",), ("fluency",), ("system",), ("pearson",), **QUICK)
    assert kt.meta_evaluate(asked, "demo").name == "demo"
    assert kt.score("demo", metrics="bleu").rows == kt.score(demo, metrics="bleu").rows
    assert kt.compare("demo", metrics="bleu", trials=2).rows
    kt.save_evalset("demo", tmp_path / "new")
    assert kt.study_plane(tmp_path / "new", dimensions=["fluency"], resamples=2, splits=2).fits


def test_a_nugget_set_is_given_by_its_name(tmp_path: Path) -> None:
    found = kt.score_nuggets("demo-nuggets", guess=False)
    assert found.rows == kt.score_nuggets(kt.load_nuggets("demo-nuggets"), guess=False).rows
    kt.save_nuggets("demo-nuggets", tmp_path / "new.jsonl")
    assert kt.describe_nuggets(tmp_path / "new.jsonl").rows[0].runs == 4
    assert kt.tune_nuggets("demo-nuggets").rows
