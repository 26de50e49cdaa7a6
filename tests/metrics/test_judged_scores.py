"""Scores that come with a set as metrics: its columns, its judgements, and default metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

import karat as kt
from karat.evalset.judgements import Dimension
from karat.scoring import default_metrics

SEGMENTS = tuple(f"q{question}.{answer}" for question in range(8) for answer in range(3))
QUESTIONS = tuple(name.partition(".")[0] for name in SEGMENTS)
JUDGES = ("ann", "bo")


def rating(system: str, index: int, judge: str) -> float:
    """A rating from 1 to 5, better for system B."""
    return 1 + (index * 7 + 3 * (judge == "bo") + 2 * (index // 3)) % 4 + (system == "B")


def make_set(texts: bool = True, references: bool = False) -> kt.EvalSet:
    """Two systems with three answers to each of eight questions; A's last answer is unjudged."""
    rows = [
        (system, name, judge, dimension, value)
        for system in "AB"
        for index, name in enumerate(SEGMENTS)
        for judge in JUDGES
        for dimension, value in (
            ("quality", rating(system, index, judge)),
            ("mistakes", 5 - rating(system, index, judge)),
        )
        if (system, name) != ("A", SEGMENTS[-1])
    ]
    rows += [("A", name, "gpt", "quality", 2 + index % 3) for index, name in enumerate(SEGMENTS)]
    rows += [("B", name, "gpt", "quality", 3) for name in SEGMENTS]
    rows += [(system, name, "gpt", "style", 4) for system in "AB" for name in SEGMENTS]
    evalset = kt.make_evalset(
        "runs",
        {system: [f"{system} says {name}" for name in SEGMENTS] for system in "AB"},
        references=[["a reference"]] * len(SEGMENTS) if references else [[]] * len(SEGMENTS),
        segments=SEGMENTS,
        groups=QUESTIONS,
        sources=QUESTIONS,
        judgements=rows,
        dimensions=[
            Dimension("quality", "higher", 1, 5),
            Dimension("mistakes", "lower", 0, None),
            "style",
        ],
        judge_kinds={"gpt": "model"},
    )
    if texts:
        return evalset
    return replace(evalset, systems={name: (None,) * len(SEGMENTS) for name in "AB"})


def with_latency(evalset: kt.EvalSet) -> kt.EvalSet:
    """Add a column of latencies; one is missing."""
    slow: list[float | None] = [2.0 + index % 5 for index in range(len(SEGMENTS))]
    quick = [x and x - 1 for x in slow]
    return evalset.with_scores("latency", {"A": [None, *slow[1:]], "B": quick})


def means(system: str, dimension: str = "quality") -> list[float | None]:
    """The mean of both people for each segment."""
    values: list[float | None] = [
        fmean(
            rating(system, i, judge) if dimension == "quality" else 5 - rating(system, i, judge)
            for judge in JUDGES
        )
        for i in range(len(SEGMENTS))
    ]
    return [*values[:-1], None] if system == "A" else values


def present(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


# -------------------------------------------------------------------------------- judgements


@pytest.mark.parametrize("texts", [True, False])
@pytest.mark.parametrize("dimension", ["quality", "mistakes"])
def test_the_score_is_the_mean_of_people(dimension: str, texts: bool) -> None:
    name = f"given:metric={dimension}"
    scoring = kt.score(make_set(texts), metrics=name, segments=True)
    for system in "AB":
        expected = means(system, dimension)
        assert scoring[system, name].score.value == pytest.approx(fmean(present(expected)))
        shown = [None if np.isnan(x) else x for x in scoring.segment_scores(system, name)]
        assert shown == pytest.approx(expected)
    assert scoring["A", name].score.notes == ("1 of 24 segments has no score",)
    assert scoring["B", name].score.notes == ()
    assert scoring["A", name].metric.sign == (-1 if dimension == "mistakes" else 1)
    assert scoring.best_systems(scoring.rows[0].metric) == ("B",)
    assert not scoring["A", name].metric.remarks()  # the dimension states the direction


def test_one_judge_and_a_dimension_of_models() -> None:
    evalset = make_set()
    by_ann = [rating("B", i, "ann") for i in range(len(SEGMENTS))]
    scoring = kt.score(evalset, metrics="given:metric=quality/ann", segments=True)
    assert list(scoring.segment_scores("B", "given:metric=quality/ann")) == by_ann
    by_model = kt.score(evalset, metrics="given:metric=quality/gpt")
    assert by_model["A", "given:metric=quality/gpt"].score.value == 3  # of 2, 3 and 4
    assert kt.score(evalset, metrics="given:metric=style").rows[0].score.value == 4


def test_names_with_a_slash_and_identical_judges() -> None:
    systems = {"A": ["x"] * 30, "B": ["y"] * 30}
    values = [(s, str(i), (i * 7 + (s == "B")) % 5) for s in systems for i in range(1, 31)]
    rows = [(s, i, judge, "q/a", x) for s, i, x in values for judge in ("ann", "twin", "o/1")]
    rows = [(*row[:4], 4 - row[4]) if row[2] == "o/1" else row for row in rows]
    evalset = kt.make_evalset("twins", systems, judgements=rows, dimensions=["q/a"])
    for judge, other_end in (("ann", False), ("twin", False), ("o/1", True)):
        scoring = kt.score(evalset, metrics=f"given:metric=q/a/{judge}", segments=True)
        expected = [4 - x if other_end else x for s, _, x in values if s == "A"]
        assert list(scoring.segment_scores("A", f"given:metric=q/a/{judge}")) == expected
    by_two = [(2 * x / 2 + (4 - x)) / 2 for s, _, x in values if s == "A"]  # twins count once
    scoring = kt.score(evalset, metrics="given:metric=q/a", segments=True)
    assert list(scoring.segment_scores("A", "given:metric=q/a")) == by_two


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("given:metric=quality/zoe", "runs: quality has no judge 'zoe'; it has ann, bo, gpt"),
        ("given:metric=qualty", r"no scores of 'qualty'; did you mean quality\?"),
        ("given:metric=qual*", r"the set has no scores of 'qual\*'.* dimensions quality, mistakes"),
        ("given:column=quality", "runs has no column 'quality'; it is a dimension .* given:metric"),
        ("given:column=cost", "the set has no scores of 'cost'"),
        ("quality", "'quality'; runs has judgements of that dimension: given:metric=quality"),
        ("latency", "'latency'; runs has a column of that name: given:column=latency"),
    ],
)
def test_names_that_the_set_does_not_have(name: str, message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        kt.score(with_latency(make_set()), metrics=name)


def test_scores_and_a_dimension_of_one_name_are_not_guessed() -> None:
    evalset = make_set().with_scores("quality", {s: [7.0] * len(SEGMENTS) for s in "AB"})
    with pytest.raises(kt.InputError, match="has scores and is a dimension of runs: given:column"):
        kt.score(evalset, metrics="given:metric=quality")
    assert kt.score(evalset, metrics="given:column=quality").rows[0].score.value == 7


def test_a_comparison_of_ratings_by_hand() -> None:
    """Units are questions; unjudged answers are left out for both systems."""
    name, evalset = "given:metric=quality", make_set(texts=False)
    row = kt.compare(evalset, metrics=name)["B", name]
    pairs = [(a, b) for a, b in zip(means("A"), means("B"), strict=True) if a is not None]
    assert row.delta == pytest.approx(fmean(b - a for a, b in pairs if b is not None))  # 1
    assert (row.wins, row.losses, row.ties) == (len(pairs), 0, 0)
    assert (row.units, row.unit, row.verdict) == (8, "question", "better")
    lists = kt.external_scores("quality", {s: means(s) for s in "AB"}, higher=True)
    texts = {s: ["text"] * len(SEGMENTS) for s in "AB"}
    expected = kt.compare(texts, metrics=lists, units=QUESTIONS)["B", lists]
    assert (row.delta_low, row.delta_high, row.p) == pytest.approx(
        (expected.delta_low, expected.delta_high, expected.p)
    )
    assert kt.compare(evalset, metrics=name, units="segment")["B", name].units == 23


def test_intervals_stay_on_the_scale() -> None:
    rows = [("A", str(i), "ann", "quality", 5 if i else 4) for i in range(8)]
    scale = Dimension("quality", "higher", 1, 5)
    evalset = kt.make_evalset(
        "top",
        {"A": ["x"] * 8},
        segments=[str(i) for i in range(8)],
        judgements=rows,
        dimensions=[scale],
    )
    row = kt.score(evalset, metrics="given:metric=quality", intervals=True).rows[0]
    assert row.score.value == 4.875
    assert row.high == 5


def test_power_and_gates_of_ratings(tmp_path: Path) -> None:
    evalset = make_set(texts=False)
    analysis = kt.power(evalset, metrics="given:metric=quality/gpt")
    assert analysis.rows[0].delta == pytest.approx(0)
    baseline = tmp_path / "gate.tsv"
    by = ["given:metric=quality", "given:metric=mistakes"]
    good, bad = (evalset.select(systems=[name]) for name in "BA")
    kt.write_baseline(good, metrics=by, baseline=baseline)
    assert kt.gate(good, baseline=baseline).verdict == "pass"
    result = kt.gate(bad, baseline=baseline)
    assert [row.verdict for row in result.rows] == ["fail", "fail"]
    assert [row.delta for row in result.rows] == pytest.approx([-1, -1])


# -------------------------------------------------------------------------------- independence


@pytest.mark.parametrize("name", ["quality", "quality/ann"])
def test_people_are_not_compared_with_themselves(name: str) -> None:
    evalset = make_set()
    metric, message = f"given:metric={name}", "also in the human scores of quality .* data judges"
    planned = kt.Experiment("runs", (metric,), ("quality",), trials=0, resamples=0)
    with pytest.raises(kt.InputError, match=message):
        kt.meta_evaluate(planned, evalset)
    with pytest.raises(kt.InputError, match=message):
        kt.fit_scores(evalset, [metric], ["quality"])
    with pytest.raises(kt.InputError, match=message):
        kt.estimate(evalset, "quality", judges=metric)


def test_a_part_of_a_difference_is_not_compared_with_it() -> None:
    planned = kt.Experiment("runs", ("given:metric=mistakes",), ("quality - mistakes",), trials=0)
    with pytest.raises(kt.InputError, match="also in the human scores of quality - mistakes"):
        kt.meta_evaluate(replace(planned, resamples=0), make_set())


@pytest.mark.parametrize("texts", [True, False])
def test_models_and_other_dimensions_are_compared_with_people(texts: bool) -> None:
    names = ("given:metric=quality/gpt", "given:metric=mistakes", "given:column=latency")
    planned = kt.Experiment(
        "runs", names, ("quality",), ("segment",), ("pearson",), trials=0, resamples=0
    )
    evaluation = kt.meta_evaluate(planned, with_latency(make_set(texts)))
    values = {row.metric: row.value for row in evaluation.rows}
    human = np.array([*present(means("A")), *means("B")], float)
    model = np.array([*(2 + i % 3 for i in range(23)), *[3] * 24], float)
    assert values["given:metric=quality/gpt"] == pytest.approx(np.corrcoef(human, model)[0, 1])
    assert values["given:metric=mistakes"] == pytest.approx(1)  # 5 - quality, negated


# ------------------------------------------------------------------------------------- columns


def test_a_column_of_the_set_is_a_metric() -> None:
    name = "given:column=latency"
    evalset = with_latency(make_set())
    slow = [2.0 + i % 5 for i in range(len(SEGMENTS))]
    scoring = kt.score(evalset, metrics=name)
    assert scoring["A", name].score.value == pytest.approx(fmean(slow[1:]))
    assert scoring["A", name].score.notes == ("1 of 24 segments has no score",)
    row = kt.compare(evalset, metrics=name)["B", name]
    assert row.delta == pytest.approx(-1)
    assert (row.verdict, row.wins) == ("better", 23)  # lower is better by its name
    stated = kt.compare(evalset, metrics=f"{name},higher=yes")["B", f"{name},higher=yes"]
    assert stated.verdict == "worse"


def test_a_gate_does_not_guess_a_direction(tmp_path: Path) -> None:
    evalset = make_set().with_scores("foo", {s: [1.0] * len(SEGMENTS) for s in "AB"})
    run = evalset.select(systems=["A"])
    assert "higher is assumed to be better" in " ".join(
        kt.score(run, metrics="given:column=foo").notes
    )
    message = "unknown whether higher .* as in given:column=foo,higher=no"
    with pytest.raises(kt.InputError, match=message):
        kt.write_baseline(run, metrics="given:column=foo", baseline=tmp_path / "b.tsv")
    by = "given:column=foo,higher=no"
    kt.write_baseline(run, metrics=by, baseline=tmp_path / "b.tsv")
    assert kt.gate(run, baseline=tmp_path / "b.tsv").verdict == "pass"


# ------------------------------------------------------------------------------ default metrics


def test_default_metrics_of_a_set() -> None:
    assert default_metrics(make_set(references=True)) == (("bleu",), ())
    judged = ("given:metric=quality", "given:metric=mistakes", "given:metric=style")
    note = "runs has no references: its judgements and scores are the metrics."
    assert default_metrics(make_set()) == (judged, (note,))
    chosen = default_metrics(with_latency(make_set(texts=False, references=True)))
    assert chosen.metrics == (*judged, "given:column=latency")
    assert chosen.remarks[0].startswith("runs has no texts of outputs: its judgements")
    scoring = kt.score(make_set())
    assert tuple(str(metric) for metric in dict.fromkeys(r.metric for r in scoring.rows)) == judged
    assert scoring.notes[0] == note
    assert kt.compare(make_set()).notes.count(note) == 1


def test_default_metrics_leave_out_dimensions_of_some_systems() -> None:
    rows = make_set().judgements
    some = rows.select_rows(~((rows.dimension == 2) & (rows.system == 0)))
    chosen = default_metrics(replace(make_set(), judgements=some))
    assert "given:metric=style" not in chosen.metrics
    assert chosen.remarks[1:] == ("Dimension style is left out: A has no judgement of it.",)


def test_nothing_to_score() -> None:
    bare = kt.make_evalset("bare", {"A": ["x", "y"]})
    with pytest.raises(kt.InputError, match="bare has no references, and no judgements or scores"):
        kt.score(bare)
    blank = replace(bare, systems={"A": (None, None)})
    with pytest.raises(kt.InputError, match="bare has no texts of outputs, and no judgements"):
        kt.score(blank)
    with pytest.raises(kt.InputError, match="bare has no texts of outputs, which json reads"):
        kt.score(blank, metrics="json")
    assert default_metrics(bare, ("bleu", "json")).metrics == ("json",)
