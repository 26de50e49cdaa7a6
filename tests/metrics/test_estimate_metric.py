"""Estimated human scores as a metric: the values of `estimate`, in score, compare and gate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import karat as kt
from karat.evalset.draws import Draw
from karat.evalset.judgements import Dimension
from karat.metrics.names import metric as parse
from karat.settings import to_text
from karat.stats.population import Design, estimate_mean, unit_shares

Floats = NDArray[np.float64]
NAME = "estimate:dimension=quality,judge=model"


def made_set(
    truth: Floats,
    judge: Floats,
    is_labelled: NDArray[np.bool_],
    better: str = "higher",
    **more: Any,
) -> kt.EvalSet:
    """Systems A, B, …: people's values of some outputs, a model's and another judge's of all."""
    systems = [chr(65 + k) for k in range(len(truth))]
    places = [(k, i) for k in range(truth.shape[0]) for i in range(truth.shape[1])]
    labels = [
        (systems[k], str(i + 1), "ann", "quality", truth[k, i])
        for k, i in places
        if is_labelled[k, i]
    ]
    rated = [(systems[k], str(i + 1), "model", "quality", judge[k, i]) for k, i in places]
    texts = {name: [f"text {i}" for i in range(truth.shape[1])] for name in systems}
    evalset = kt.make_evalset(
        "made",
        texts,
        judgements=labels + rated,
        dimensions=[Dimension("quality", better)],
        judge_kinds={"model": "model"},
        **more,
    )
    other = np.cos(judge * 3) + truth / 4
    return evalset.with_scores("other", dict(zip(systems, other.tolist(), strict=True)))


def simulated(
    seed: int, n: int = 20, n_segments: int = 60, systems: int = 2
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Values of people and a judge, the second system 1 better, and n labels of each."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=n_segments)
    truth = hard + rng.normal(size=(systems, n_segments)) + np.arange(systems)[:, None]
    judge = 0.5 * truth + rng.normal(size=truth.shape)
    is_labelled = np.zeros(truth.shape, bool)
    is_labelled[:, rng.permutation(n_segments)[:n]] = True
    return truth, judge, is_labelled


# ------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("judge", [None, "model", "other", "model+other"])
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_a_score_is_that_of_estimate(judge: str | None, better: str) -> None:
    evalset = made_set(*simulated(1), better)
    name = f"estimate:dimension=quality{'' if judge is None else f',judge={judge}'}"
    scoring = kt.score(evalset, metrics=name)
    expected = kt.estimate(evalset, "quality", judge.split("+") if judge else ())
    for row in expected.rows:
        assert scoring[row.system, name].score.value == pytest.approx(row.estimate, rel=1e-12)
    assert scoring.rows[0].metric.sign == (1 if better == "higher" else -1)


def test_a_score_by_hand() -> None:
    """The mean of lambda f over all outputs, corrected by that of the labels."""
    truth = np.array([[1.0, 2.0, 3.0, 4.0, 5.0] * 2 + [0.0, 0.0]])
    judge = np.array([[0.0, 2.0, 4.0, 4.0, 5.0] * 2 + [10.0, 1.0]])
    is_labelled = np.array([[True] * 10 + [False] * 2])
    f, y = judge[0, :10], truth[0, :10]
    factor = ((y - y.mean()) * (f - f.mean())).sum() / ((f - f.mean()) ** 2).sum()
    scoring = kt.score(made_set(truth, judge, is_labelled), metrics=NAME, segments=True)
    value = factor * judge.mean() + (y - factor * f).mean()
    assert scoring["A", NAME].score.value == pytest.approx(value)
    guessed = factor * judge[0, 10:] + (y - factor * f).mean()
    assert scoring.segment_scores("A", NAME) == pytest.approx([*y, *guessed])


def test_without_judges_people_speak_alone() -> None:
    evalset = kt.load_evalset("demo-labels")
    scoring = kt.score(evalset, metrics="estimate", segments=True)
    human = evalset.human("quality")
    for k, row in enumerate(scoring.rows):
        assert row.score.value == pytest.approx(np.nanmean(human[k]))
        system_scores = np.where(np.isnan(human[k]), np.nanmean(human[k]), human[k])
        assert scoring.segment_scores(row.system, "estimate") == pytest.approx(system_scores)
    assert any("people alone" in note for note in scoring.notes)


@pytest.mark.parametrize("judge", ["chrf", "chrf+bleu"])
def test_where_all_is_labelled_it_is_the_mean_of_labels(judge: str) -> None:
    evalset = kt.load_evalset("demo")
    scoring = kt.score(evalset, metrics=f"estimate:dimension=fluency,judge={judge}")
    assert [row.score.value for row in scoring.rows] == pytest.approx(
        evalset.human("fluency").mean(axis=1)
    )


def test_draws_with_known_probabilities_count() -> None:
    """Two rounds, the second with unequal probabilities: as `estimate` has them."""
    truth, judge, is_labelled = simulated(4)
    units = np.flatnonzero(is_labelled[0])
    first = [Draw(str(i + 1), 0.2, "random", 1) for i in units[:12]]
    second = [Draw(str(i + 1), 0.1 + 0.05 * k, "useful", 2) for k, i in enumerate(units[12:])]
    evalset = made_set(truth, judge, is_labelled, draws=[*first, *second])
    actual_score, plain = (
        kt.score(item, metrics=NAME) for item in (evalset, made_set(truth, judge, is_labelled))
    )
    for row in kt.estimate(evalset, "quality", "model").rows:
        assert actual_score[row.system, NAME].score.value == pytest.approx(row.estimate, rel=1e-12)
        assert actual_score[row.system, NAME].score.value != plain[row.system, NAME].score.value


def test_shares_give_the_mean_of_rounds() -> None:
    rng = np.random.default_rng(0)
    design = Design(rng.uniform(1, 3, 9), rng.uniform(0.1, 0.9, 9), np.array([1, 2, 3] * 3))
    values, units, all_items = rng.normal(size=6), np.arange(6), np.arange(9)
    share = unit_shares(units, design, all_items)
    assert share.sum() == pytest.approx(1.0)
    assert (share * values).sum() == pytest.approx(
        estimate_mean(values, units, design, all_items).mean
    )


def test_intervals_hold_the_mean_of_new_segments() -> None:
    held = 0
    for seed in range(80):
        evalset = made_set(*simulated(seed, n=25, n_segments=75, systems=1))
        row = kt.score(evalset, metrics=NAME, intervals=True).rows[0]
        held += float(row.low or 0) <= 0 <= float(row.high or 0)
    assert 0.87 <= held / 80 <= 0.99


# ------------------------------------------------------------------------- compare and gate


def test_two_systems_are_compared() -> None:
    evalset = made_set(*simulated(2, n=40))
    comparison = kt.compare(evalset, metrics=[NAME], examples=1)
    row = comparison["B", NAME]
    assert float(row.delta_low or 0) < 1 < float(row.delta_high or 0)
    assert row.verdict == "better"
    assert comparison.examples[0].metric == NAME
    lower = kt.compare(made_set(*simulated(2, n=40), "lower"), metrics=[NAME])
    assert lower["B", NAME].verdict == "worse"
    random = kt.compare(evalset, metrics=[NAME], test="sacrebleu-ar", trials=300)
    assert random["B", NAME].sacrebleu_p < 0.05  # type: ignore[operator]


def test_a_judge_narrows_intervals() -> None:
    truth, _, is_labelled = simulated(3, n=30, n_segments=300)
    near = made_set(truth, truth + 0.1 * np.sin(np.arange(300)), is_labelled)
    wide, narrow = (
        kt.compare(near, metrics=[name])["B", name] for name in ("estimate:judge=other", NAME)
    )
    assert narrow.high - narrow.low < 0.7 * (wide.high - wide.low)


def test_a_gate_passes_and_fails(tmp_path: Path) -> None:
    evalset, file = made_set(*simulated(2, n=40)), tmp_path / "gate.tsv"
    a, b = (evalset.select(systems=[name]) for name in "AB")
    kt.write_baseline(a, None, [NAME], baseline=file)
    assert kt.gate(b, baseline=file).verdict == "pass"
    kt.write_baseline(b, None, [NAME], baseline=file)
    worse = kt.gate(a, baseline=file)
    assert worse.verdict == "fail"
    assert worse.rows[0].delta == pytest.approx(
        -kt.compare(evalset, metrics=[NAME])["B", NAME].delta, abs=0.1
    )
    with pytest.raises(kt.InputError, match="another signature: judge=model, now judge=other"):
        kt.gate(a, None, [NAME.replace("model", "other")], baseline=file)


def test_commands_take_it(run_karat: Callable[..., Any], folder: Path) -> None:
    name = "estimate:dimension=quality,judge=chrf"
    done = run_karat("compare", "atlas", "cinder", "--set", "demo-labels", "-m", name)
    assert (done.returncode, done.stderr) == (0, "")
    assert "cinder is worse than atlas by" in done.stdout
    on = "--set", "demo-labels", "-b", "gate.tsv"
    assert run_karat("gate", "atlas", *on, "-m", name, "--update").returncode == 0
    assert run_karat("gate", "atlas", *on).returncode == 0
    assert run_karat("gate", "cinder", *on).returncode == 1


# -------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    "name",
    [
        "estimate",
        "estimate:dimension=fluency,judge=chrf",
        "estimate:judge=chrf+GEMBA-MQM,unit=segment",
        "estimate:judge=chrf:words=2+bleu",
    ],
)
def test_names_parse_back(name: str) -> None:
    actual_metric = kt.metric(name)
    assert str(actual_metric) == name
    assert (parse(str(actual_metric)), hash(parse(name))) == (actual_metric, hash(actual_metric))
    assert all(to_text(getattr(actual_metric, f.name)) for f in actual_metric.settings())


def test_a_signature_holds_what_was_found_in_the_set() -> None:
    evalset = made_set(*simulated(1))
    (signature,) = kt.score(evalset, metrics="estimate").signatures.values()
    assert signature.startswith("estimate:dimension=quality,judge=model,unit=auto,digest=")
    again = kt.score(evalset, metrics=signature)
    assert again.rows[0].score.signature == signature
    truth, judge, is_labelled = simulated(1)
    other = made_set(truth + 1, judge, is_labelled)
    with pytest.raises(kt.MetricError, match="they are not those of the signature"):
        kt.score(other, metrics=signature)


@pytest.mark.parametrize(
    ("judge", "wanted"),
    [("chrf++", ["chrf++"]), ("chrf+++bleu", ["chrf++", "bleu"]), ("bleu+chrf++", None)],
)
def test_a_plus_joins_judges(judge: str, wanted: list[str] | None) -> None:
    scoring = kt.score("demo-labels", metrics=f"estimate:judge={judge}")
    names = wanted or judge.split("+", 1)
    assert f"judge={'+'.join(names)}," in scoring.signature
    expected = kt.estimate("demo-labels", "quality", names).rows[0].estimate
    assert scoring.rows[0].score.value == pytest.approx(expected)


def test_a_judge_of_the_set_may_have_a_plus_in_its_name() -> None:
    evalset = made_set(*simulated(1))
    scores = {name: [float(i % 7) for i in range(60)] for name in "AB"}
    both = evalset.with_scores("a+b", scores)
    assert kt.score(both, metrics="estimate:judge=a+b").rows


# ---------------------------------------------------------------------------------- bad input

BAD = [
    ("estimate:dimension=flow", "has no dimension 'flow' (it has quality)"),
    ("estimate:judge=nobody", "judge 'nobody': demo-labels has no model and no scores"),
    ("estimate:judge=chrf+chrf", "judge 'chrf' is named twice"),
    ("estimate:judge=estimate", "estimate: it is made from human scores"),
    ("estimate:judge=bleu:tok", "'tok' is no setting"),
    ("estimate:unit=word", "unit=word is not one of auto, segment"),
]


@pytest.mark.parametrize(("name", "message"), BAD, ids=[name for name, _ in BAD])
def test_wrong_settings_are_refused(
    run_karat: Callable[..., Any], folder: Path, name: str, message: str
) -> None:
    done = run_karat("score", "--set", "demo-labels", "-m", name)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert message in done.stderr


def test_without_a_set_it_is_refused(tmp_path: Path) -> None:
    message = (
        "estimate: .* from those of an evaluation set, and none is scored: name one with --set"
    )
    with pytest.raises(kt.InputError, match=message):
        kt.score(["a"], ["a"], "estimate")
    with pytest.raises(kt.InputError, match=message):
        kt.metric("estimate").corpus(["a"], ["a"])
    table = tmp_path / "t.csv"
    table.write_text("candidate,reference\na,b\n")
    with pytest.raises(kt.InputError, match=message):
        kt.score_table(str(table), ["estimate"])


def test_labels_that_do_not_do_are_refused() -> None:
    truth, judge, is_labelled = simulated(1)
    few_labels, none = is_labelled.copy(), is_labelled.copy()
    few_labels[1] &= np.cumsum(is_labelled[1]) <= 9
    none[1] = False
    for labelled, message in ((few_labels, "9 labels"), (none, "no labels")):
        with pytest.raises(
            kt.InputError, match=f"system 'B' has {message} for 'quality': label at"
        ):
            kt.score(made_set(truth, judge, labelled), metrics=NAME)
        left = made_set(truth, judge, labelled).without("B")
        assert len(kt.score(left, metrics=NAME).rows) == 1
    with pytest.raises(kt.InputError, match="judge 'model' gives every output the same value"):
        kt.score(made_set(truth, np.ones(judge.shape), is_labelled), metrics=NAME)
    two = kt.load_evalset("demo")
    with pytest.raises(kt.InputError, match="demo has the dimensions adequacy, fluency, errors"):
        kt.score(two, metrics="estimate")


def test_labels_of_whole_documents_are_refused() -> None:
    truth, judge, is_labelled = simulated(1)
    is_labelled[:] = np.arange(60) % 6 < 2
    groups = [f"d{i % 6}" for i in range(60)]
    evalset = made_set(truth, judge, is_labelled, groups=groups)
    with pytest.raises(kt.InputError, match=r"groups of segments were drawn.* use karat estimate"):
        kt.score(evalset, metrics=NAME)
    assert kt.score(evalset, metrics=f"{NAME},unit=segment").rows


def test_its_agreement_with_people_is_not_measured(
    run_karat: Callable[..., Any], folder: Path
) -> None:
    for command in (["meta"], ["meta", "fit"], ["meta", "reliability"]):
        done = run_karat(*command, "demo-labels", "-m", "estimate:judge=chrf")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "made from human scores, so that its agreement with them means" in done.stderr
