"""`--labels model`: scores from a model's labels, with intervals for its unknown error."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from nuggets.nugget_world import world

import karat as kt
from karat.nuggets.prediction.base_rates import PRIOR_SPREAD
from karat.nuggets.prediction.intervals import RunIntervals
from karat.nuggets.prediction.model_labels import (
    MAX_EVIDENCE,
    PRIOR_RIGHT,
    PRIOR_WRONG,
    ErrorCounts,
    ErrorRates,
    LabelledRun,
    ModelLabels,
    condition_on_labels,
    draw_carried,
    draw_error_rates,
)
from karat.nuggets.sets.judgements import JudgedResponse, Judgements
from karat.nuggets.sets.keys_and_runs import Nugget, Question
from karat.nuggets.sets.nugget_set import NuggetSet

KEY, RUNS, JUDGED = world(questions=24, runs=4, seed=3)
SETTINGS = kt.OfficialSettings()
NOTHING = ErrorCounts()


def by_model(
    rows: tuple[JudgedResponse, ...], wrong: float = 0.0, judge: str = "gpt"
) -> tuple[JudgedResponse, ...]:
    """Return the judgements as labels of a model that is wrong in a share of pairs."""
    is_wrong = np.random.default_rng(2).random(len(rows)) < wrong
    return tuple(
        row._replace(value=1 - row.value if flip else row.value, judge=judge, kind="model")
        for row, flip in zip(rows, is_wrong, strict=True)
    )


def labelled_set(*rows: JudgedResponse, runs: int = 4) -> NuggetSet:
    selected = MappingProxyType({run.tag: run for run in RUNS[:runs]})
    return NuggetSet("world", KEY, selected, Judgements(rows))


def score(*rows: JudgedResponse, **options: Any) -> Any:
    return kt.score_nuggets(labelled_set(*rows), labels="model", **options)


# ------------------------------------------------------------------------------- arithmetic


def test_judged_nuggets_count_by_the_formula() -> None:
    rates = draw_error_rates(ErrorCounts(30, 10, 5, 0), 200_000, np.random.default_rng(1))
    for draws, right, wrong in ((rates.sensitivity, 30, 10), (rates.specificity, 5, 0)):
        weight = 1 / (PRIOR_SPREAD.dispersion * (1 + (right + wrong) / MAX_EVIDENCE))
        a, b = PRIOR_RIGHT + weight * right, PRIOR_WRONG + weight * wrong
        assert draws.mean() == pytest.approx(a / (a + b), abs=2e-3)
        assert draws.var() == pytest.approx(a * b / ((a + b) ** 2 * (a + b + 1)), rel=0.03)


def test_the_prior_is_what_the_docs_say() -> None:
    draws = draw_error_rates(NOTHING, 200_000, np.random.default_rng(1)).sensitivity
    low, high = np.quantile(draws, [0.025, 0.975])
    assert (round(low, 2), round(draws.mean(), 2), round(high, 2)) == (0.52, 0.8, 0.97)


def test_any_number_of_judgements_leaves_the_difference_between_runs() -> None:
    counts = ErrorCounts(850_000, 150_000, 850_000, 150_000)
    deviation = draw_error_rates(counts, 100_000, np.random.default_rng(1)).sensitivity.std()
    assert deviation == pytest.approx(0.034, abs=0.003)


@pytest.mark.parametrize(
    ("s", "c", "rate", "carried"),
    [(0.9, 0.8, 0.5, 3 / 7), (1.0, 1.0, 0.3, 0.3), (0.7, 0.95, 0.4, 0.35 / 0.65)],
)
def test_the_carried_share_is_that_of_rogan_and_gladen(
    s: float, c: float, rate: float, carried: float
) -> None:
    n, draws = 4_000, 400
    labels = np.arange(n) < rate * n
    rates = ErrorRates(np.full(draws, s), np.full(draws, c))
    drawn = draw_carried(
        labels, np.arange(n) % 2 > 0, np.arange(n) // 10, rates, np.random.default_rng(1)
    )
    assert drawn.mean() == pytest.approx(carried, abs=0.01)
    if s == c == 1:
        assert (drawn == labels).all()


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.filterwarnings("error")
def test_equal_labels_of_few_nuggets_leave_a_doubt(value: bool) -> None:
    shares = []
    for n in (7, 700):  # weights of 1/7 sum to more than 1
        labels, rng = np.full(n, value), np.random.default_rng(1)
        prior = draw_error_rates(NOTHING, 40_000, rng)
        rates = condition_on_labels(prior, labels, 4_000, rng)
        drawn = draw_carried(labels, np.ones(n, bool), np.zeros(n, int), rates, rng)
        shares.append(float((drawn != value).mean()))
    assert shares[0] > 0.005
    assert shares[1] < shares[0] / 2


def test_rates_that_explain_labels_agree_with_a_grid() -> None:
    """The slow oracle integrates the uniform share of carried nuggets on a grid."""
    labels, rng = np.arange(100) < 88, np.random.default_rng(1)
    drawn = condition_on_labels(draw_error_rates(NOTHING, 400_000, rng), labels, 100_000, rng)
    grid = (np.arange(400) + 0.5) / 400
    prior = grid ** (PRIOR_RIGHT - 1) * (1 - grid) ** (PRIOR_WRONG - 1)
    rate = 88.5 / 101
    variance = PRIOR_SPREAD.dispersion * rate * (1 - rate) / 101
    density = np.zeros((400, 400))  # of s and c
    for share in grid:
        mean = share * grid[:, None] + (1 - share) * (1 - grid)
        density += np.exp(-((mean - rate) ** 2) / (2 * variance))
    density *= prior[:, None] * prior
    density /= density.sum()
    assert drawn.sensitivity.mean() == pytest.approx((density.sum(1) * grid).sum(), abs=0.005)
    assert drawn.specificity.mean() == pytest.approx((density.sum(0) * grid).sum(), abs=0.005)


def test_labels_that_nothing_explains_keep_all_rates() -> None:
    rng = np.random.default_rng(1)
    rates = ErrorRates(np.full(1_000, 0.6), np.full(1_000, 0.9))
    kept = condition_on_labels(rates, np.ones(1_000, bool), 50, rng)
    assert set(kept.sensitivity.tolist()) == {0.6}


# ------------------------------------------------------------------------------- intervals


def make_run(n_open: int = 0, n_settled: int = 0, settled: float = 0.0) -> LabelledRun:
    """Return a run whose labels are half positive; its first nuggets may be open or settled."""
    nuggets = tuple(Nugget(f"n{k}", ("",), "vital" if k % 2 else "okay") for k in range(6))
    key = tuple(Question(f"q{k}", nuggets) for k in range(40))
    values = (np.random.default_rng(4).random(240) < 0.5).astype(np.float64)
    at = np.arange(240)
    values[at < max(n_open, n_settled)] = settled
    return LabelledRun(key, np.full(40, 300.0), values, at < n_settled, at < n_open)


def ends_of(run: LabelledRun, counts: ErrorCounts = NOTHING) -> RunIntervals:
    intervals = run.intervals({False: counts, True: counts}, SETTINGS)
    assert intervals is not None
    return intervals


def widths(counts: ErrorCounts) -> tuple[float, float]:
    intervals = ends_of(make_run(), counts)
    assert intervals.macro is not None
    return intervals.share.width, intervals.macro.width


def test_intervals_narrow_without_a_step() -> None:
    sizes = (0, 4, 10, 19, 20, 21, 40, 100, 400)
    counts = [ErrorCounts(*np.multiply((0.45, 0.05, 0.45, 0.05), n).tolist()) for n in sizes]
    a, f = np.array([widths(count) for count in counts]).T
    assert a[0] > 1.15 * a[2] > 1.15 * 1.05 * a[4]
    assert a[-1] < 0.45 * a[0]
    assert f[-1] < 0.5 * f[0]
    around_20 = a[3:6]
    assert around_20.max() - around_20.min() < 0.02


def test_a_judge_at_chance_leaves_the_score_unknown() -> None:
    assert widths(ErrorCounts(100, 100, 100, 100))[0] > 0.85


def test_scores_are_those_of_the_labels() -> None:
    labels = by_model(JUDGED.rows, 0.1)
    as_people = tuple(row._replace(kind="", judge="someone") for row in labels)
    scoring = score(*labels)
    people = kt.score_nuggets(labelled_set(*as_people), guess=False)
    for row, expected in zip(scoring.rows, people.rows, strict=True):
        assert (row.macro, row.micro, row.A, row.W) == (
            *(expected.macro, expected.micro, expected.A, expected.W),
        )
        assert (row.labelled, row.guessed, row.known_share) == (1, 0, 0)
        assert 0 <= row.low <= row.A <= row.high <= 1
        assert 0 <= row.f_low <= row.macro <= row.f_high <= 1
        assert 0 <= row.micro_low <= row.micro <= row.micro_high <= 1
    assert scoring.settings["labels"] == "model"
    assert "|labels=model:gpt,prior=8+2,checked=0|guess=none|" in scoring.signature
    assert {row.by for row in scoring.decisions} == {"label"}


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.filterwarnings("error")
def test_equal_labels_of_all_nuggets_have_an_interval_and_share_the_lead(value: float) -> None:
    rows = by_model(tuple(row._replace(value=value) for row in JUDGED.rows))
    scoring = score(*rows)
    for row in scoring.corrected_scores:
        assert row.A_by_labels == value
        assert row.low <= row.A_by_labels <= row.high
        assert abs(row.A_corrected - value) < 0.2
    assert " share the highest F(3), " in scoring.summary


def test_a_run_has_the_same_interval_alone() -> None:
    labels = by_model(JUDGED.rows, 0.1)
    together = score(*labels)
    alone = kt.score_nuggets(labelled_set(*labels, runs=1), labels="model")
    assert alone.rows[0] == together.rows[0] == score(*labels).rows[0]


def test_people_decide_before_labels_and_measure_them() -> None:
    judged = tuple(row for row in JUDGED.rows if row.run == "run0")
    labels = by_model(JUDGED.rows, 0.2)
    people = kt.score_nuggets(labelled_set(*judged), guess=False).rows[0]
    scoring = score(*judged, *labels)
    first, second = scoring.rows[:2]
    assert (first.labelled, first.known_share, second.labelled) == (0, 1, 1)
    assert (first.macro, first.A) == (people.macro, people.A)
    assert first.high - first.low < second.high - second.low
    without = score(*labels).rows[1]
    assert second.high - second.low < without.high - without.low
    counts = scoring.model_labels.counts_by_kind[False]
    assert sum(counts) == scoring.model_labels.checked == len(judged)
    equal = sum(a.value == b.value for a, b in zip(JUDGED.rows, labels, strict=True) if a in judged)
    assert counts.true_positives + counts.true_negatives == equal
    assert [row.run for row in scoring.corrected_scores] == ["run1", "run2", "run3"]


def test_open_nuggets_are_0_at_the_lower_end_and_1_at_the_upper() -> None:
    open_ends, lowest, highest = map(
        ends_of, (make_run(n_open=50), make_run(n_settled=50), make_run(0, 50, 1.0))
    )
    for score_index in range(3):
        ends, low, high = (run[score_index] for run in (open_ends, lowest, highest))
        assert ends is not None
        assert low is not None
        assert high is not None
        assert (ends.low, ends.high) == (low.low, high.high)
        assert low.high < ends.high


def test_missing_labels_get_no_credit() -> None:
    labels = by_model(JUDGED.rows)
    fewer = tuple(row for row in labels if row.question != "q0" or row.run != "run0")
    scoring, complete = score(*fewer), score(*labels)
    assert scoring.rows[0].undecided == pytest.approx(1 / 24)
    assert scoring.rows[1] == complete.rows[1]
    assert any("without a judgement or a label get no credit" in note for note in scoring.notes)


def test_strict_scores_have_their_own_errors() -> None:
    partly = tuple(row._replace(value=row.value / 2) for row in by_model(JUDGED.rows))
    (lenient, strict) = (
        score(*partly, official_settings=kt.OfficialSettings(strict=s)).rows[3] for s in (0, 1)
    )
    assert lenient.macro > 0
    assert strict.macro == 0
    assert strict.f_low == 0
    assert strict.f_high < lenient.f_high
    assert (strict.A, strict.A_strict) == (lenient.A, 0)


def test_one_question_has_no_interval() -> None:
    key = replace(KEY, questions={"q0": KEY.questions["q0"]})
    runs = {
        tag: replace(run, answers={"q0": run.answers["q0"]}) for tag, run in RUNS_BY_TAG.items()
    }
    rows = tuple(row for row in by_model(JUDGED.rows) if row.question == "q0")
    scoring = kt.score_nuggets(NuggetSet("one", key, runs, Judgements(rows)), labels="model")
    assert (scoring.rows[0].low, scoring.rows[0].f_low) == (None, None)


RUNS_BY_TAG = {run.tag: run for run in RUNS}


# ------------------------------------------------------------------------------- no verdicts


def test_differences_that_rest_on_labels_are_not_tested() -> None:
    scoring = score(*by_model(JUDGED.rows))
    assert {(row.p, row.low, row.verdict) for row in scoring.differences} == {
        (None, None, "undecided")
    }
    document = scoring.document()
    assert "from a model's labels; no person checked them." in document.answer[0]
    assert "Differences between runs are not tested." in document.answer[0]
    assert "leads" not in document.answer[0]
    assert "a model's labels may be wrong in favor of one run" in document.basis


def test_two_versions_are_not_tested() -> None:
    labels = by_model(JUDGED.rows)
    old, new = (labelled_set(*labels).select(tag) for tag in ("run0", "run3"))
    changes = kt.diff_nuggets(old, new, labels="model")
    assert all(math.isnan(test.p) and test.verdict == "undecided" for test in changes.tests)
    assert "no test, since a model's labels may be wrong in favor of one run." in changes.notes[0]
    (answer,) = changes.document().answer
    assert answer.endswith("no person checked them, and the change is not tested.")
    assert {row.by for row in changes.rows} == {"label"}


def test_runs_that_people_judged_are_tested() -> None:
    scoring = score(*JUDGED.rows, *by_model(JUDGED.rows, 0.3))
    assert all(row.p is not None for row in scoring.differences)
    assert "label" not in scoring.document().answer[0]
    assert scoring.corrected_scores == ()


# ------------------------------------------------------------------------------- bad input


def test_bad_input_of_the_library() -> None:
    labels = by_model(JUDGED.rows)
    with pytest.raises(kt.InputError, match="world has no labels of a model, which --labels"):
        score(*JUDGED.rows)
    with pytest.raises(kt.InputError, match=r"2 models \('gpt', 'other'\), expected one"):
        score(*labels, *by_model(JUDGED.rows, judge="other"))
    with pytest.raises(kt.InputError, match="labels 'gpt': expected one of evidence, model"):
        kt.score_nuggets(labelled_set(*labels), labels="gpt")
    with pytest.raises(kt.InputError, match="labels=model and guess=False exclude each other"):
        score(*labels, guess=False)


@pytest.fixture
def labels_file(folder: Path, output: Callable[..., str]) -> Path:
    output(
        "judge", "nuggets", "demo-nuggets", "--endpoint", "demo", "-o", "labels.jsonl", "-f", "json"
    )
    return folder / "labels.jsonl"


def test_the_command_says_what_the_score_rests_on(
    labels_file: Path, output: Callable[..., str]
) -> None:
    args = "nuggets", "score", "heron", "--key", "demo-nuggets", "--labels", "model"
    text = output(*args, "-j", "labels.jsonl")
    assert "from a model's labels; no person checked them." in " ".join(text.split())
    report = json.loads(output(*args, "-j", "labels.jsonl", "-j", "demo-nuggets", "-f", "json"))
    assert report["rows"][0]["labelled"] == 0
    page = output(*args, "-j", "labels.jsonl", "-f", "html")
    assert "in brackets: labelled by a model." in page
    assert "(labelled)" in page
    assert "(guessed)" not in page


def test_bad_input_of_the_command(labels_file: Path, run_karat: Callable[..., Any]) -> None:
    args = "nuggets", "score", "heron", "--key", "demo-nuggets", "--labels", "model"
    lines = labels_file.read_text("utf-8").splitlines()
    row = json.loads(lines[1]) | {"nugget": "99"}
    labels_file.with_name("bad.jsonl").write_text(f"{lines[0]}\n{json.dumps(row)}\n")
    for more, message in (
        (
            ("-j", "bad.jsonl"),
            "bad.jsonl, line 2: a judgement of nugget '99', which question marlow",
        ),
        ((), "demo-nuggets has no labels of a model, which --labels model needs"),
        (("-j", "labels.jsonl", "--no-guess"), "--labels model and --no-guess exclude each other"),
        (
            ("-j", "labels.jsonl", "--classifier", "paper"),
            "--labels model and --classifier exclude",
        ),
    ):
        done = run_karat(*args, *more)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"karat: {message}")
        assert done.stderr.count("\n") == 1


# ------------------------------------------------------------------------------- real answers


def test_intervals_hold_the_scores_of_real_runs(karat_data: Path) -> None:
    """TREC RAG 2024 with a simulated judge: the scores by people are inside."""
    path = karat_data / "nuggets-rag24" / "nugget_assignment.20241108.jl"
    whole = kt.load_nuggets(path)
    nuggets = whole.select(*[*whole.runs][::6])
    people = kt.score_nuggets(nuggets, guess=False)
    rows = tuple(row for row in nuggets.judgements.rows if row.run in nuggets.runs)
    judged = replace(nuggets, judgements=Judgements(by_model(rows, 0.15)))
    scoring = kt.score_nuggets(judged, labels="model")
    inside = [
        row.low <= true.A <= row.high and row.f_low <= true.macro <= row.f_high
        for row, true in zip(scoring.rows, people.rows, strict=True)
    ]
    assert all(inside)
    assert max(row.high - row.low for row in scoring.rows) < 0.9


def test_the_name_of_a_nameless_model() -> None:
    nameless = tuple(row._replace(judge="") for row in by_model(JUDGED.rows))
    assert ModelLabels(labelled_set(*nameless)).name == "the model without a name"
