"""Kinds of judges in evaluation sets, and judgements that are added to a set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import karat as kt

ROWS = [
    *(("A", "1", "ann", "q", 1), ("A", "1", "bob", "q", 2), ("A", "1", "gpt", "q", 9)),
    *(("A", "1", "final", "q", 5), ("A", "2", "ann", "q", 3), ("A", "2", "gpt", "q", 8)),
    *(("B", "1", "gpt", "q", 7), ("B", "2", "bob", "q", 4)),
]
KINDS = {"gpt": "model", "final": "adjudicated", "ann": "person"}
NAN = float("nan")


def build_set(rows: Any = ROWS, kinds: Any = KINDS, **more: Any) -> kt.EvalSet:
    texts = {"A": ["a", "b"], "B": ["c", "d"]}
    arguments = {"references": ["x", "y"], "dimensions": ["q"], **more}
    return kt.make_evalset("made", texts, judgements=rows, judge_kinds=kinds, **arguments)


def saved(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def rating(value: object, system: str = "A", segment: str = "1", **more: Any) -> dict[str, Any]:
    actual = {"system": system, "segment": segment, "judge": "m", "dimension": "q", "value": value}
    return {**actual, **more}


def check_same(actual: Any, expected: list[list[float]]) -> None:
    np.testing.assert_array_equal(actual, np.array(expected))


# ------------------------------------------------------------------------------- human scores


def test_human_scores_are_what_people_said() -> None:
    evalset = build_set()
    # A on 1 was adjudicated; B on 1 only the model judged
    check_same(evalset.human("q"), [[5, 3], [NAN, 4]])
    check_same(evalset.rated_by("gpt", "q"), [[9, 8], [7, NAN]])
    check_same(evalset.human("q", judges=["ann", "bob"]), [[1.5, 3], [NAN, 4]])
    check_same(evalset.human("q", judges=["gpt", "ann"]), [[5, 5.5], [7, NAN]])
    assert evalset.model_judges == ("gpt",)
    assert evalset.judgements.judge_kinds == KINDS
    message = "1 model judge is left out of the human scores: gpt"
    assert (evalset.notes, evalset.remarks) == ((message,), ())


def test_without_kinds_everybody_is_a_person() -> None:
    evalset = build_set(kinds={})
    check_same(evalset.human("q"), [[17 / 4, 5.5], [7, 4]])
    assert (evalset.model_judges, evalset.notes) == ((), ())


def test_z_scores_keep_to_the_kinds() -> None:
    rows = [("A", "1", "ann", "q", 1), ("A", "2", "ann", "q", 3), ("A", "1", "gpt", "q", 1)]
    rows += [("B", "1", "gpt", "q", 5), ("A", "1", "final", "q", 5)]
    evalset = build_set(rows, {"gpt": "model", "final": "adjudicated"})
    # the adjudicator gave one value and has no scale, so that ann's counts
    np.testing.assert_allclose(evalset.human("q", "z"), [[-(0.5**0.5), 0.5**0.5], [NAN, NAN]])


def test_lower_is_better_for_every_judge() -> None:
    rows = [("A", "1", "gpt", "errors", 3)]
    evalset = build_set(rows, {"gpt": "model"}, dimensions=[kt.Dimension("errors", "lower")])
    check_same(evalset.rated_by("gpt", "errors"), [[-3, NAN], [NAN, NAN]])


def test_dimensions_that_only_models_judged() -> None:
    rows = [*ROWS, ("A", "1", "gpt", "style", 1)]
    evalset = build_set(rows, dimensions=["q", "style", "never"])
    assert evalset.chosen_dimensions() == evalset.human_dimensions == ("q", "never")
    for names in (["style"], ["q - style"]):
        with pytest.raises(kt.InputError, match="made has no human scores of style: only models"):
            evalset.chosen_dimensions(names, differences=True)
    alone = build_set([("A", "1", "gpt", "q", 1)], {"gpt": "model"})
    with pytest.raises(kt.InputError, match=r"no human scores: only models judged it \(gpt\)"):
        alone.chosen_dimensions()


def test_contents_count_people() -> None:
    rows = [*ROWS, ("A", "1", "gpt", "style", 1)]
    check = kt.check_evalset(build_set(rows, dimensions=["q", "style"]))
    assert (check.rows[0].judgements, check.rows[0].judges) == (5, 3)
    assert [(row.judged, row.judgements) for row in check.systems] == [(2, 4), (1, 1)]
    q, style = check.dimensions
    assert (q.judgements, q.judges, q.items, q.highest) == (5, 3, 3, 5)
    assert (style.judgements, style.judges) == (0, 0)
    assert "1 model judge is left out of the human scores: gpt" in check.notes
    assert "style: judged by models alone: gpt" in check.notes


# ------------------------------------------------------------------------------------ formats


@pytest.mark.parametrize("format", ["dir", "jsonl"])
def test_kinds_round_trip(tmp_path: Path, format: str) -> None:
    evalset = build_set()
    kt.save_evalset(evalset, tmp_path / "x", format)
    assert kt.load_evalset(tmp_path / "x", format) == evalset
    assert kt.load_evalset(tmp_path / "x", format) != build_set(kinds={})


def test_kinds_are_written_where_some_are_known(tmp_path: Path) -> None:
    kt.save_evalset(build_set(), tmp_path / "kinds")
    kt.save_evalset(build_set(kinds={}), tmp_path / "plain")
    lines = [(tmp_path / n / "human.tsv").read_text().splitlines() for n in ("kinds", "plain")]
    assert lines[0][:3] == [
        "system\tsegment\tjudge\tdimension\tvalue\tkind",
        "A\t1\tann\tq\t1.0\tperson",
        "A\t1\tbob\tq\t2.0\t",
    ]
    assert lines[1][:2] == ["system\tsegment\tjudge\tdimension\tvalue", "A\t1\tann\tq\t1.0"]
    kt.save_evalset(build_set(), tmp_path / "x.jsonl", "jsonl")
    rows = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()[3:]]
    assert [row.get("kind") for row in rows[:3]] == ["person", None, "model"]


SET = [{"evalset": "s", "dimensions": ["q"]}, {"id": "1", "outputs": {"A": "a", "B": "b"}}]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [rating(1, kind="robot")],
            "line 3: found the kind 'robot', expected one of person, model",
        ),
        ([rating(1, kind=3)], "line 3: found 3 for 'kind', expected a string"),
        ([rating(1, evidence=["x"])], r"line 3: found \['x'\] for 'evidence', expected a string"),
        (
            [rating(1, kind="model"), rating(1, "B", kind="person")],
            "line 4: judge 'm' is of the kind person here and model before: expected one kind",
        ),
    ],
)
def test_kinds_that_are_none(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        kt.load_evalset(saved(tmp_path / "s.jsonl", *SET, *rows))


def test_a_kind_holds_for_all_rows_of_a_judge(tmp_path: Path) -> None:
    rows = rating(1, evidence="quoted"), rating(2, "B", kind="model")
    evalset = kt.load_evalset(saved(tmp_path / "s.jsonl", *SET, *rows))
    assert evalset.model_judges == ("m",)


def test_tables_with_kinds(tmp_path: Path) -> None:
    kt.save_evalset(build_set(), tmp_path / "x")
    table = tmp_path / "x" / "human.tsv"
    text = table.read_text()
    table.write_text(text.replace("B\t1\tgpt\tq\t7.0\tmodel", "B\t1\tgpt\tq\t7.0\tperson"))
    with pytest.raises(
        kt.InputError, match=r"human.tsv, line 8: judge 'gpt' is of the kind person"
    ):
        kt.load_evalset(tmp_path / "x")
    table.write_text(text.replace("\tkind\n", "\tsort\n"))
    with pytest.raises(kt.InputError, match=r"dimension, value \(and perhaps kind and other\)"):
        kt.load_evalset(tmp_path / "x")


def test_judge_kinds_of_python() -> None:
    with pytest.raises(kt.InputError, match="made has no judge 'gtp'; did you mean gpt"):
        build_set(kinds={"gtp": "model"})
    with pytest.raises(kt.InputError, match="found the kind 'human', expected one of"):
        build_set(kinds={"ann": "human"})


def test_selections_keep_kinds() -> None:
    assert build_set().select(systems=["B"]).judgements.judge_kinds == {"gpt": "model"}


# -------------------------------------------------------------------------- added judgements

HEADER = {
    "judgements": "log",
    "dimensions": [{"name": "q"}, {"name": "style", "low": 1, "high": 5}],
}


def test_a_log_is_added_to_a_set(tmp_path: Path) -> None:
    kt.save_evalset(build_set(ROWS[:2], {}), tmp_path / "x")
    rows = rating(4, kind="model", evidence="…"), rating(2, "B", dimension="style", kind="model")
    log = saved(tmp_path / "log.jsonl", HEADER, *rows)
    evalset = kt.load_evalset(tmp_path / "x", judgements=log)
    check_same(evalset.human("q"), [[1.5, NAN], [NAN, NAN]])
    check_same(evalset.rated_by("m", "q"), [[4, NAN], [NAN, NAN]])
    assert evalset.dimensions["style"] == kt.Dimension("style", low=1, high=5)
    assert evalset.judgements.judges == ("ann", "bob", "m")
    again = kt.load_evalset(tmp_path / "x").with_judgements(log)
    assert again == evalset
    assert again.remarks == ()
    kt.save_evalset(evalset, tmp_path / "both")
    assert kt.load_evalset(tmp_path / "both") == evalset


def test_a_table_is_added_to_a_set(tmp_path: Path) -> None:
    table = tmp_path / "more.tsv"
    table.write_text("system\tsegment\tjudge\tdimension\tvalue\nB\t2\tgpt\tq\t6\nA\t1\tann\tq\t1\n")
    kt.save_evalset(build_set(ROWS[:2], {}), tmp_path / "x", "jsonl")
    evalset = kt.load_evalset(tmp_path / "x", "jsonl", judgements=[table], model_judges=["gpt"])
    check_same(evalset.rated_by("gpt", "q"), [[NAN, NAN], [NAN, 6]])
    assert len(evalset.judgements) == 3  # ann's stands in both, with equal values
    assert evalset.model_judges == ("gpt",)


def test_comparisons_become_shares(tmp_path: Path) -> None:
    texts = {"A": ["a"], "B": ["b"], "C": ["c"]}
    three = kt.make_evalset("three", texts, references=["x"])

    def pair(first: str, second: str, value: float) -> dict[str, Any]:
        return rating(value, first, other=second, dimension="preference", kind="model")

    # A beats B, ties with C in one order and loses in the other; B beats C
    rows = [pair("A", "B", 1), pair("A", "C", 0.5), pair("C", "A", 1), pair("B", "C", 1)]
    log = saved(tmp_path / "log.jsonl", *rows, pair("A", "B", 1))
    evalset = three.with_judgements(log)
    shares = [(1 + 0.25) / 2, (0 + 1) / 2, (0.75 + 0) / 2]
    check_same(evalset.rated_by("m", "preference"), [[share] for share in shares])
    assert evalset.dimensions["preference"] == kt.Dimension("preference", low=0.0, high=1.0)
    assert evalset.remarks == ("dimension preference was added: higher is better",)


PAIR = rating(1, other="B", dimension="preference")


@pytest.mark.parametrize("format", ["dir", "jsonl"])
def test_judged_pairs_are_stored_and_selected(tmp_path: Path, format: str) -> None:
    texts = {name: ["x", "y"] for name in "ABC"}
    plain = kt.make_evalset("three", texts, judgements=[("A", "1", "ann", "q", 3)], dimensions="q")
    rows = [
        rating(1, "A", other="B", dimension="win", judge="ann", kind="person"),
        rating(0, "A", other="C", dimension="win", judge="ann"),
        rating(0.5, "B", "2", other="C", dimension="win", judge="bob"),
    ]
    evalset = plain.with_judgements(saved(tmp_path / "log.jsonl", *rows))
    check_same(evalset.human("win"), [[0.5, NAN], [0, 0.5], [1, 0.5]])
    kt.save_evalset(evalset, tmp_path / "x", format)
    again = kt.load_evalset(tmp_path / "x", format)
    assert (again.pairs, again.judgements) == (evalset.pairs, evalset.judgements)
    assert len(again.pairs) == 3
    fewer = again.without("C")
    assert [pair.other for pair in fewer.pairs] == ["B"]
    check_same(fewer.human("win"), [[1, NAN], [0, NAN]])
    # another comparison by the same judge changes what was won
    item = saved(tmp_path / "one.jsonl", rating(0, "B", other="C", dimension="win", judge="ann"))
    check_same(again.with_judgements(item).human("win"), [[0.5, NAN], [0, 0.5], [1, 0.5]])
    two = saved(tmp_path / "two.jsonl", rating(1, "B", other="C", dimension="win", judge="ann"))
    check_same(again.with_judgements(two).human("win"), [[0.5, NAN], [0.5, 0.5], [0.5, 0.5]])
    three = saved(tmp_path / "three.jsonl", rating(0, "A", other="B", dimension="win", judge="ann"))
    with pytest.raises(kt.InputError, match=r"gave win of system 'A' .* 0 here and 1.0 before"):
        again.with_judgements(three)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([rating(1, "C")], "line 1: a judgement of system 'C', which is not in the set"),
        ([rating(1, segment="9")], "line 1: a judgement of segment '9', which is not in the set"),
        ([rating("x")], "line 1: found the value 'x', expected a number"),
        ([rating(1, dimension="")], "line 1: dimension '': expected a name"),
        (
            [rating(1), rating(2)],
            "line 2: judge 'm' gave q of system 'A' on segment '1' 2 here and",
        ),
        ([rating(3, judge="ann")], r"line 1: judge 'ann' gave .* 3 here and 1.0 before \(made\)"),
        ([rating(1, judge="ann", kind="model")], "kind model here and person before"),
        ([{"question": "q"}], "line 1: found an object with question, expected system, segment"),
        ([{"judgements": "x", "models": []}], "line 1: found the name 'models', expected judgem"),
        (
            [{"judgements": "x", "dimensions": [{"name": "q", "better": "lower"}]}],
            "dimension q has better=lower here and better=higher before: expected the same",
        ),
        ([{**PAIR, "other": "A"}], "line 1: a comparison of system 'A' with itself"),
        ([{**PAIR, "other": "C"}], "line 1: a judgement of system 'C', which is not in the set"),
        ([{**PAIR, "value": 2}], "line 1: found the value 2 of a comparison, expected 0 to 1"),
        ([PAIR, {**PAIR, "value": 0}], "line 2: judge 'm' gave preference of system 'A'"),
    ],
)
def test_additions_that_do_not_fit(
    tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(kt.InputError, match=rf"log.jsonl.*{message}"):
        build_set().with_judgements(saved(tmp_path / "log.jsonl", *rows))


def test_comparisons_under_a_dimension_of_ratings(tmp_path: Path) -> None:
    rated = build_set(dimensions=[kt.Dimension("q", low=1, high=9)])
    with pytest.raises(kt.InputError, match="under dimension q, which has ratings"):
        rated.with_judgements(saved(tmp_path / "log.jsonl", rating(1, other="B")))


def test_names_of_models_that_are_none() -> None:
    with pytest.raises(kt.InputError, match="demo has no judge 'gpt'"):
        kt.load_evalset("demo", model_judges=["gpt"])
    with pytest.raises(kt.InputError, match=r"no_such.jsonl: No such file"):
        kt.load_evalset("demo", judgements="no_such.jsonl")


def test_a_person_is_not_named_as_a_model(tmp_path: Path) -> None:
    kt.save_evalset(build_set(), tmp_path / "x")
    with pytest.raises(kt.InputError, match="'ann' is named as a model, but is of the kind person"):
        kt.load_evalset(tmp_path / "x", model_judges=["gpt", "ann"])


def test_rows_of_python_are_added() -> None:
    rows = [("B", "1", "llm", "style", 2), kt.Judgement("A", "1", "ann", "q", 1)]
    options: Any = {"judge_kinds": {"llm": "model"}, "dimensions": [kt.Dimension("style", "lower")]}
    evalset = build_set().with_judgements(rows, **options)
    check_same(evalset.rated_by("llm", "style"), [[NAN, NAN], [-2, NAN]])
    assert (evalset.model_judges, len(evalset.judgements)) == (("gpt", "llm"), len(ROWS) + 1)
    with pytest.raises(kt.InputError, match="no judge 'lmm'; did you mean llm"):
        build_set().with_judgements(rows, judge_kinds={"lmm": "model"})
    with pytest.raises(kt.InputError, match=r"judgements\[0\]: found 'x', expected \(system"):
        build_set().with_judgements(["x"])  # type: ignore[list-item]


def test_every_problem_of_an_addition_is_listed(tmp_path: Path) -> None:
    log = saved(tmp_path / "log.jsonl", rating(1, "C"), rating(1, "D"))
    check = kt.check_evalset("demo", judgements=[log])
    assert (check.evalset, check.problem_count) == (None, 2)


def test_values_of_models_off_the_scale_are_counted_apart() -> None:
    check = kt.check_evalset(build_set(dimensions=[kt.Dimension("q", low=1, high=5)]))
    assert "q: 3 judgements of models are off the stated scale" in check.notes
    assert check.dimensions[0].off_scale == 0
    wider = kt.check_evalset(build_set(dimensions=[kt.Dimension("q", low=1, high=9)]))
    assert not any("off the stated scale" in note for note in wider.notes)
