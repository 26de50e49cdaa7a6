"""pass@k and pass^k: the mean over questions, in every command; names, notes and refusals."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import answer_formulas as oracle

import karat as kt
from karat.errors import InputError, MetricError
from karat.metrics.pass_k import PassAtK
from karat.scoring import SystemStats
from karat.stats.repeated import jeffreys
from karat.stats.units import Units

QUESTIONS = ["a"] * 4 + ["b"] * 4
HALF = {"s": ["x"] * 4 + ["y"] * 4}  # four right answers of four, and none of four


def score(metrics: Any, systems: Any = None, questions: Any = None, **settings: Any) -> Any:
    systems = systems or HALF
    n = len(next(iter(systems.values())))
    return kt.score(systems, ["x"] * n, metrics, units=questions or QUESTIONS, **settings)


def answers(counts: list[tuple[int, int]]) -> tuple[list[str], list[str]]:
    """Answers and their questions, from right answers and answers of each question."""
    texts = [text for c, n in counts for text in ["x"] * c + ["y"] * (n - c)]
    return texts, [f"q{at}" for at, (_, n) in enumerate(counts) for _ in range(n)]


# ------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("intervals", [False, True])
def test_the_mean_over_questions_never_pooled_counts(intervals: bool) -> None:
    scoring = score(["pass@2", "pass^2", "pass@1", "em"], intervals=intervals)
    assert [row.score.value for row in scoring.rows] == [0.5, 0.5, 0.5, 0.5]  # pooled: .786, .214
    parts = scoring["s", "pass@2"].score.parts
    assert parts == {"correct": 4, "segments": 8, "questions": 2}


@st.composite
def counted(draw: st.DrawFn) -> tuple[list[tuple[int, int]], int]:
    sizes = draw(st.lists(st.integers(1, 7), min_size=2, max_size=8))
    counts = [(draw(st.integers(0, n)), n) for n in sizes]
    return counts, draw(st.integers(1, min(sizes)))


@given(counted(), st.sampled_from("@^"), st.randoms(use_true_random=False))
def test_against_binomial_coefficients(
    drawn: tuple[list[tuple[int, int]], int], symbol: str, rng: random.Random
) -> None:
    counts, k = drawn
    formula = oracle.pass_at_k if symbol == "@" else oracle.pass_all_k
    expected = [float(formula(c, n, k)) for c, n in counts]
    pairs = list(zip(*answers(counts), strict=True))
    rng.shuffle(pairs)  # the order of answers does not matter
    texts, questions = zip(*pairs, strict=True)
    name = f"pass{symbol}{k}"
    row = score(name, {"s": list(texts)}, list(questions), intervals=True).rows[0]
    assert row.score.value == pytest.approx(fmean(expected), rel=1e-12, abs=1e-300)
    assert 0 <= row.low <= row.score.value <= row.high <= 1
    assert row.high > row.low  # however well the answers agree
    sizes = [n for _, n in counts]
    note = f"questions have {min(sizes)} to {max(sizes)} answers"
    assert row.score.notes == ((note,) if len({*sizes}) > 1 else ())


@given(counted())
def test_the_jackknife_leaves_out_questions(drawn: tuple[list[tuple[int, int]], int]) -> None:
    counts, k = drawn
    texts, questions = answers(counts)
    rows = kt.metric(f"pass@{k}").stats(texts, ["x"] * len(texts))
    stats = SystemStats(rows.sum(axis=0), (rows,), None)
    estimate = stats.estimate(kt.metric(f"pass@{k}"), Units.from_labels("question", questions))
    exact = [oracle.pass_at_k(c, n, k) for c, n in counts]
    mean = sum(exact, Fraction(0)) / len(exact)
    assert estimate.influence.tolist() == pytest.approx([float(x - mean) for x in exact], abs=1e-12)


def test_one_answer_of_each_question_is_exact_match() -> None:
    texts = ["x", "y", "x", "x"]
    both = kt.score({"s": texts}, ["x"] * 4, ["pass@1", "pass^1", "em"], intervals=True)
    assert len({(row.score.value, row.low, row.high) for row in both.rows}) == 1


def test_numbers_do_not_depend_on_threads() -> None:
    rng = random.Random(3)
    counts = [(rng.randint(0, 9), 9) for _ in range(600)]
    texts, questions = answers(counts)
    scores = {
        score("pass@4", {"s": texts}, questions, intervals=True, threads=n).rows[0] for n in (1, 3)
    }
    assert len(scores) == 1


# ------------------------------------------------------------------------------- logs, commands


def inspect_log(path: Path, model: str, right: list[list[int]]) -> Path:
    samples = [
        {
            "id": f"q{at}",
            "epoch": epoch,
            "input": f"question {at}",
            "target": "Paris",
            "output": {"completion": "Paris." if is_right else "Rome"},
            "scores": {},
        }
        for epoch in range(1, len(right[0]) + 1)
        for at, is_right in enumerate(row[epoch - 1] for row in right)
    ]
    header = {"version": 2, "status": "success", "eval": {"model": model, "task": "t"}}
    file = path / f"2026-01-02T10-00-00-00-00_{model}_a.json"
    file.write_text(json.dumps({**header, "samples": samples}))
    return file


def test_epochs_of_a_log_are_answers_to_one_question(tmp_path: Path) -> None:
    rng = random.Random(5)
    right = {m: [[rng.randint(0, 1) for _ in range(3)] for _ in range(12)] for m in ("m1", "m2")}
    for model, table in right.items():
        inspect_log(tmp_path, model, table)
    evalset = kt.load_evalset(tmp_path)
    expected = {
        m: fmean(float(oracle.pass_at_k(sum(row), 3, 2)) for row in table)
        for m, table in right.items()
    }
    for results in (
        kt.score(evalset, metrics=["em", "pass@2"]),
        kt.score(evalset, metrics=["em", "pass@2"], intervals=True),
        kt.compare(evalset, metrics=["em", "pass@2"]),
    ):
        scores = {m: results[m, "pass@2"].score.value for m in right}
        assert scores == pytest.approx(expected, rel=1e-12)
    assert "|unit=question" in kt.score(evalset, metrics="pass@2").signature
    compared = kt.compare(evalset, metrics=["pass@2"])["m2", "pass@2"]
    assert (compared.units, compared.delta) == (12, pytest.approx(expected["m2"] - expected["m1"]))
    assert compared.wins + compared.losses + compared.ties == 36  # single answers, by em
    by_question = kt.score(evalset, metrics=["pass@2"], level="document").documents
    assert len(by_question) == 24
    means = {m: fmean(d.score.value for d in by_question if d.system == m) for m in right}
    assert means == pytest.approx(expected)
    analysis = kt.power(evalset, metrics=["pass@2"], difference=0.1)
    assert analysis.rows[0].delta == pytest.approx(expected["m2"] - expected["m1"])


def test_fewer_than_six_questions_are_questions_all_the_same(tmp_path: Path) -> None:
    for model in ("m1", "m2"):
        inspect_log(tmp_path, model, [[1, 1, 1, 1], [0, 0, 0, 0]])
    scoring = kt.score(kt.load_evalset(tmp_path), metrics=["pass@2", "em"], intervals=True)
    assert scoring["m1", "pass@2"].score.value == 0.5
    compared = kt.compare(kt.load_evalset(tmp_path), metrics=["pass@2", "em"])
    assert {row.units for row in compared.rows if row.units} == {2}
    assert "2 questions are too few to tell systems apart" in compared.summary


def test_given_scores_of_code_that_ran(tmp_path: Path) -> None:
    """HumanEval's way: an answer passed its tests, or did not."""
    counts = [(1, 5), (3, 5), (0, 5), (5, 5)]
    texts, questions = answers(counts)
    lines = ["system\tsegment\tscore"]
    lines += [f"s\t{at}\t{int(text == 'x')}" for at, text in enumerate(texts, 1)]
    (tmp_path / "ran.tsv").write_text("\n".join(lines) + "\n")
    name = f"pass@3:of=given:file={tmp_path / 'ran.tsv'}"
    scoring = kt.score({"s": texts}, None, name, units=questions)  # no references are needed
    expected = fmean(float(oracle.pass_at_k(c, n, 3)) for c, n in counts)
    assert scoring.rows[0].score.value == pytest.approx(expected, rel=1e-12)
    (tmp_path / "ran.tsv").write_text("\n".join(lines).replace("\t1\t1", "\t1\t0.5") + "\n")
    with pytest.raises(InputError, match=r"segment 1 scores 0.5 by given:.*: expected 1 or 0"):
        kt.score({"s": texts}, ["x"] * 20, name, units=questions)


def test_a_gate_compares_means_over_questions(tmp_path: Path) -> None:
    rng = random.Random(7)
    counts = [(rng.randint(0, 4), 4) for _ in range(30)]
    better, questions = answers(counts)
    worse, _ = answers([(max(0, c - 2), n) for c, n in counts])
    file = tmp_path / "gate.tsv"
    kt.write_baseline(better, ["x"] * 120, ["pass@2", "em"], baseline=file, units=questions)
    result = kt.gate(worse, ["x"] * 120, baseline=file, units=questions)
    assert result.failed
    formula = [float(oracle.pass_at_k(c, n, 2)) for c, n in counts]
    assert result.rows[0].baseline == pytest.approx(fmean(formula))
    assert kt.gate(better, ["x"] * 120, baseline=file, units=questions).verdict == "pass"
    with pytest.raises(InputError, match="pass@2 needs the question of each answer"):
        kt.gate(worse, ["x"] * 120, baseline=file)


# ---------------------------------------------------------------------------- names and refusals


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("pass@5", "pass@5"),
        ("PASS^5", "pass^5"),
        ("pass@01", "pass@1"),
        ("pass@5:of=em", "pass@5"),
        ("pass@2:of=EM:lang=de", "pass@2:of=em:lang=de"),
        ("pass@2:of=number:tolerance=0.5", "pass@2:of=number:tolerance=0.5"),
        (
            'pass^3:of="number:tolerance=0.5,take=only"',
            'pass^3:of="number:tolerance=0.5,take=only"',
        ),
        (
            'pass^3:of="regex:pattern=""a{1,2}"""',
            'pass^3:of="regex:pattern=""a{1,2}"""',
        ),
    ],
)
def test_names_parse_back(written: str, printed: str) -> None:
    metric = kt.metric(written)
    assert str(metric) == printed
    assert kt.metric(printed) == metric
    assert kt.metric(metric.full_name()) == metric
    assert hash(kt.metric(printed)) == hash(metric)


def test_settings_of_the_metric_of_answers_are_signed() -> None:
    assert score("pass@2").signature.startswith("pass@2:of=em:lang=en|nrefs=1|karat=")
    assert kt.metric("pass@2") != kt.metric("pass@3") != kt.metric("pass^3")
    listed = [row.metric for row in kt.list_metrics().rows]
    assert {"pass@1", "pass^1"} <= {*listed}
    assert isinstance(kt.metric("pass@2"), PassAtK)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("pass@0", "pass@0: k=0 is out of range: expected at least 1"),
        ("pass@", "unknown metric 'pass@'"),
        ("pass@k", "unknown metric 'pass@k'; did you mean pass@1?"),
        ("pass@2:of=bleu", "of=bleu does not score an answer 1 or 0: expected em, contains"),
        ("pass@2:of=f1", "of=f1 does not score an answer 1 or 0"),
        ("pass@2:of=pass^2", r"of=pass\^2 does not score an answer 1 or 0"),
        ("pass@2:of=nothing", "unknown metric 'nothing'"),
        ("pass@2:k=3", "has no setting 'k'"),
    ],
)
def test_metrics_that_are_none(name: str, sentence: str) -> None:
    with pytest.raises(MetricError, match=sentence):
        kt.metric(name)


def test_questions_are_needed() -> None:
    texts = {"s": ["x"] * 8, "t": ["y"] * 8}
    unknown = "pass@2 needs the question of each answer"
    for call in (
        lambda: kt.score(texts, ["x"] * 8, "pass@2"),
        lambda: kt.score(texts, ["x"] * 8, "pass@2", units="segment", intervals=True),
        lambda: kt.compare(texts, ["x"] * 8, "pass@2"),
        lambda: kt.metric("pass@2").corpus(texts["s"], ["x"] * 8),
    ):
        with pytest.raises(InputError, match=unknown):
            call()
    with pytest.raises(InputError, match="pass@5: question 'a' has 4 answers: give at most pass@4"):
        score("pass@5")
    few = ["a"] * 5 + ["b"] * 2 + ["c"]
    with pytest.raises(
        InputError, match="question 'c' has 1 answer, and k is 2: give at most pass@1"
    ):
        score("pass@2", questions=few)
    with pytest.raises(InputError, match="4 buckets mix them: use no buckets"):
        score("pass@2", {"s": ["x"] * 32}, [at // 4 for at in range(32)], intervals=True, buckets=4)
    with pytest.raises(InputError, match="test sacrebleu-ar draws segments, and pass@2 is a mean"):
        kt.compare(texts, ["x"] * 8, "pass@2", units=QUESTIONS, test="sacrebleu-ar", trials=10)


# ---------------------------------------------------------------- intervals and variances by unit


def test_intervals_where_all_answers_are_right() -> None:
    texts, questions = answers([(3, 3)] * 20)
    row = score("pass@3", {"s": texts}, questions, intervals=True).rows[0]
    assert (row.score.value, row.high) == (1, 1)
    assert 0.8 < row.low < 0.95  # 20 questions cannot show more
    em = score("em", {"s": texts}, questions, intervals=True).rows[0]
    assert em.low == row.low  # identical answers: 60 segments are worth 20


def test_single_answers_have_jeffreys_interval() -> None:
    texts = ["x"] * 18 + ["y"] * 2
    row = kt.score({"s": texts}, ["x"] * 20, "em", intervals=True).rows[0]
    assert (row.score.value, row.low, row.high) == pytest.approx(jeffreys(18, 20), rel=1e-12)
    compared = kt.compare({"s": texts, "t": texts[::-1]}, ["x"] * 20, "em")
    assert (compared.rows[0].low, compared.rows[0].high) == (row.low, row.high)


def test_variances_by_unit_of_identical_answers() -> None:
    texts, questions = answers([(5, 5)] * 12 + [(0, 5)] * 8)
    (row,) = score("em", {"s": texts}, questions, intervals=True).variances
    assert (row.units, row.segments) == (20, 100)
    assert row.design_effect == pytest.approx(99 / 19)
    assert (row.within, row.between) == (0, pytest.approx(0.6 * 0.4 * 20 / 19))
    assert (row.more_units, row.more_segments) == (60, None)  # more answers do not help


@given(st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), min_size=2, max_size=8))
def test_variances_by_one_way_analysis(groups: list[list[int]]) -> None:
    texts = ["x" if right else "y" for group in groups for right in group]
    questions = [at for at, group in enumerate(groups) for _ in group]
    results = kt.score({"s": texts}, ["x"] * len(texts), "em", units=questions, intervals=True)
    (row,) = results.variances
    between, within = oracle.components([list(map(float, group)) for group in groups])
    assert row.between == pytest.approx(between, abs=1e-12)
    assert row.within == pytest.approx(within, abs=1e-12)


def test_variances_where_they_mean_something() -> None:
    rng = random.Random(11)
    words = [" ".join(rng.choices("abcd", k=rng.randint(2, 20))) for _ in range(40)]
    outputs = {s: [text[rng.randint(0, 3) :] + " d" for text in words] for s in "st"}
    questions = [at // 4 for at in range(40)]
    results = kt.compare(outputs, words, ["chrf", "rougeL", "pass@2"], units=questions)
    rows = {(row.system, str(row.metric)): row for row in results.variances}
    assert [*rows] == [(s, m) for m in ("chrf", "rougeL") for s in "st"]  # not of pass@k
    assert rows["s", "chrf"].design_effect is not None
    assert rows["s", "chrf"].between is None  # chrF is no mean over segments
    assert rows["s", "rougeL"].between is not None
    text = results.render("text")
    assert "Variance by unit" in text
    assert "Design effect" in text
    assert json.loads(results.render("json"))["variances"][0]["units"] == 10
    assert kt.score(outputs, words, "chrf", units=questions).variances == ()
    assert kt.compare(outputs, words, "chrf").variances == ()  # one segment in each unit
    assert kt.compare(outputs, words, "chrf", units=questions, buckets=5).variances == ()
    assert np.isfinite([row.design_effect for row in rows.values()]).all()


def test_slices_are_compared_as_if_they_were_alone() -> None:
    texts, questions = answers([(at % 4, 4) for at in range(20)])
    better, _ = answers([(min(at % 4 + 1, 4), 4) for at in range(20)])
    labels = ["first" if at < 40 else "second" for at in range(80)]
    metrics, references = ["pass@2", "pass^2"], ["x"] * 80
    systems = {"old": texts, "new": better}
    whole = kt.compare(systems, references, metrics, units=questions, slices=labels)
    assert len(whole.slices) == 4
    for row in whole.slices:
        part = slice(0, 40) if row.slice == "first" else slice(40, 80)
        alone = kt.compare(
            {name: lines[part] for name, lines in systems.items()},
            references[part],
            metrics,
            units=questions[part],
        )
        expected = alone["new", str(row.metric)]
        assert (row.score, row.delta) == pytest.approx((expected.score.value, expected.delta))
        assert row.units == expected.units == 10


def test_slices_within_questions_count_their_answers() -> None:
    texts, questions = answers([(2, 4)] * 20)
    labels = ["one" if at % 4 == 0 else "rest" for at in range(80)]
    systems = {"old": texts, "new": ["x"] * 80}
    found = kt.compare(systems, ["x"] * 80, "pass@1", units=questions, slices=labels)
    assert {row.slice: row.baseline_score for row in found.slices} == {
        "one": 1.0,
        "rest": pytest.approx(1 / 3),
    }
    with pytest.raises(InputError, match="slice 'one': pass@2: question 'q0' has 1 answer"):
        kt.compare(systems, ["x"] * 80, "pass@2", units=questions, slices=labels)


def test_metrics_with_the_same_scores_of_answers_share_examples() -> None:
    texts, questions = answers([(at % 4, 4) for at in range(10)])
    systems = {"old": texts, "new": ["x"] * 40}
    found = kt.compare(systems, ["x"] * 40, ["pass@2", "pass^2"], units=questions, examples=3)
    shown = [(example.system, example.segment) for example in found.examples]
    assert len(shown) == len(set(shown)) == 3
    assert len(kt.compare(systems, ["x"] * 40, ["em", "chrf"], examples=3).examples) == 6
