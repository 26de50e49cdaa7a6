"""Estimates from comparisons of people: worked values, loops, coverage, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.judged_pair_loops import both_orders, score_and_error

import karat as kt
from karat.estimation.evalset_samples import make_sample
from karat.estimation.samples import JudgeValues
from karat.estimation.system_estimates import (
    difference_prediction,
    estimate_difference,
    estimate_system,
    predict,
)
from karat.evalset.judgements import JudgedPair, win_shares
from karat.stats.estimates import spread_over_units, unit_values

SEGMENTS = 60
NAMES = ("A", "B", "C")
PAIRS = [*combinations(range(3), 2)]
Choose = Callable[[int, tuple[int, int]], bool]


def utilities(seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(3, SEGMENTS)) + np.array([[0.0], [0.3], [0.8]])


def a_set(choose: Choose = lambda i, pair: True, seed: int = 0, **more: Any) -> kt.EvalSet:
    """A set in which ann compared some pairs; she prefers the output of higher utility."""
    u = utilities(seed)
    texts = {name: [f"{name} {i}" for i in range(SEGMENTS)] for name in NAMES}
    plain = kt.make_evalset("made", texts, dimensions=[kt.Dimension("win", low=0, high=1)], **more)
    pairs = tuple(
        JudgedPair(NAMES[a], str(i + 1), "ann", "win", float(u[a, i] > u[b, i]), NAMES[b])
        for i in range(SEGMENTS)
        for a, b in PAIRS
        if choose(i, (a, b))
    )
    return replace(plain, pairs=pairs)


def judge(seed: int = 0) -> JudgeValues:
    noise = np.random.default_rng(seed + 1).normal(size=(3, SEGMENTS))
    return JudgeValues("judge", utilities(seed) + noise, 0, "")


def one_pair(i: int, pair: tuple[int, int]) -> bool:
    return PAIRS[(i * 7 + i // 5) % 3] == pair


# ------------------------------------------------------------------------------ worked values


def test_values_of_units_by_hand() -> None:
    """A beat B on segment 1 and lost on 2; it beat C on 2 and 3 and lost on 4."""
    judged = np.array([[1.0, 1, 0, 0], [0, 1, 1, 1]])
    sums = np.array([[1.0, 0, 0, 0], [0, 1, 1, 0]])[:, :, None]
    values = unit_values(judged, sums, np.ones(4), np.full(4, 0.5))[:, 0]
    theta = (1 / 2 + 2 / 3) / 2
    b, c = sqrt((3 / 4) / (1 / 2)) * 2, sqrt((3 / 4) / (2 / 3)) * 4 / 3
    apart = [b * 0.5, -b * 0.5 + c / 3, c / 3, -c * 2 / 3]
    assert values == pytest.approx([theta + x / 2 for x in apart])
    assert values.mean() == pytest.approx(theta)


def test_units_that_were_judged_wholly_have_their_own_shares() -> None:
    judged = np.array([[2.0, 1], [2, 1]])
    sums = np.array([[1.5, 1], [0, 0]])[:, :, None]
    assert unit_values(judged, sums, np.array([2.0, 1]), np.ones(2))[:, 0].tolist() == [0.375, 0.5]


def test_probabilities_weigh_the_pairs() -> None:
    """One opponent, three of four segments of two groups: pairs of the first count twice."""
    judged, sums = np.array([[1.0, 2]]), np.array([[1.0, 1]])[:, :, None]
    sizes, probability = np.array([2.0, 2]), np.array([0.25, 0.5])
    values = unit_values(judged, sums, sizes, probability)[:, 0]
    weights = sizes / probability
    assert (values * weights).sum() / weights.sum() == pytest.approx((4 * 1 + 2 * 1) / (4 + 4))


def test_values_on_more_units_have_the_same_mean_and_error() -> None:
    values, single = np.array([1.0, 0, 0.5, 1]), np.array([0, 2, 3, 5])
    wide = spread_over_units(values, single, np.ones(6))
    assert wide.mean() == pytest.approx(values.mean())
    assert ((wide - wide.mean()) ** 2).sum() / 36 == pytest.approx(
        ((values - values.mean()) ** 2).sum() / 16
    )


# -------------------------------------------------------------------------------------- loops


@pytest.mark.parametrize(
    "choose",
    [one_pair, lambda i, pair: (i + pair[0] + 2 * pair[1]) % 3 > 0, lambda i, pair: i % 2 == 0],
)
def test_scores_and_differences_are_those_of_plain_loops(choose: Choose) -> None:
    evalset = a_set(choose)
    sample = make_sample(evalset, "win", [])
    shares = both_orders([(p.segment, p.system, p.other, p.value) for p in evalset.pairs])
    for k, name in enumerate(NAMES):
        value, error = score_and_error(shares, {name: 1.0}, NAMES)
        system_estimate = estimate_system(sample, k, None, False)
        assert (system_estimate.interval.mean, system_estimate.interval.error) == pytest.approx(
            (value, error)
        )
    for a, b in PAIRS:
        value, error = score_and_error(shares, {NAMES[a]: 1.0, NAMES[b]: -1.0}, NAMES)
        apart = estimate_difference(sample, (a, b), None, False)
        assert apart is not None
        # the loops have one factor n / (n - 1) for both systems, and each system its own c
        assert apart.intervals.mean == pytest.approx(value)
        assert apart.intervals.error == pytest.approx(error, rel=1e-6)


def test_shares_of_whole_segments_are_ratings() -> None:
    """With all pairs of drawn segments judged, people's estimates are those of shares as labels."""
    evalset = a_set(lambda i, pair: i % 2 == 0)
    shares = [row[:5] for row in win_shares(("", pair) for pair in evalset.pairs)]
    rated = replace(evalset, pairs=()).with_judgements(shares)
    karat_result, peer_result = (kt.estimate(difference, "win") for difference in (evalset, rated))
    for first_row, other in zip(karat_result.rows, peer_result.rows, strict=True):
        assert first_row[1:7] == pytest.approx(other[1:7])
    for difference, their in zip(karat_result.differences, peer_result.differences, strict=True):
        assert difference[2:6] == pytest.approx(their[2:6])


def test_a_judge_adds_what_its_differences_tell() -> None:
    """theta = lambda mean_N(f) + theta(Y - lambda x), with differences as f and x."""
    evalset, single = a_set(one_pair), judge()
    sample = make_sample(evalset, "win", [single])
    prediction = predict(sample)
    assert prediction is not None
    factor, values = prediction.factor, single.values
    place = {name: k for k, name in enumerate(NAMES)}
    rest = []
    for p in evalset.pairs:
        a, b, i = place[p.system], place[p.other], int(p.segment) - 1
        rest.append(
            (p.segment, p.system, p.other, p.value - factor * (values[a, i] - values[b, i]))
        )
    shares = {(s, a, b): v for s, a, b, v in rest} | {(s, b, a): 1 - v for s, a, b, v in rest}
    for k, name in enumerate(NAMES):
        value, error = score_and_error(shares, {name: 1.0}, NAMES)
        rivals = [j for j in range(3) if j != k]
        gain = factor * (values[k] - values[rivals].mean(axis=0)).mean()
        system_estimate = estimate_system(sample, k, prediction, True)
        assert system_estimate.interval.mean == pytest.approx(value + gain)
        assert system_estimate.interval.error == pytest.approx(error)
        alone = estimate_system(sample, k, None, True)
        assert system_estimate.interval.width < alone.interval.width
    assert estimate_difference(sample, (0, 1), difference_prediction(sample, prediction), True)


# ------------------------------------------------------------------------------------ coverage


def test_intervals_hold() -> None:
    """Every segment has one judged pair, drawn at random: as a rating, each would be known."""
    u, base, held = utilities(), a_set(), []
    wins = (u[:, None] > u[None]).mean(axis=2)
    for seed in range(25):
        pair = np.random.default_rng(seed).integers(0, 3, SEGMENTS).tolist()
        pairs = tuple(base.pairs[3 * i + item] for i, item in enumerate(pair))
        sample = make_sample(replace(base, pairs=pairs), "win", [])
        system_estimates = [estimate_system(sample, k, None, True).interval for k in range(3)]
        held += [
            item.low <= wins[k].sum() / 2 <= item.high for k, item in enumerate(system_estimates)
        ]
    assert np.mean(held) >= 0.93


# -------------------------------------------------------------------------- what is said of it


def test_notes_say_what_scores_are(tmp_path: Path) -> None:
    log = tmp_path / "pairs.jsonl"
    rows = [
        {**pair._asdict(), "kind": kind, "judge": kind}
        for kind in ("person", "model")
        for pair in a_set(one_pair).pairs
    ]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    estimates = kt.estimate(replace(a_set(), pairs=()).with_judgements(log), "win")
    assert [first.judge for first in estimates.judges] == ["model"]
    message = " ".join(estimates.notes)
    assert "shares of comparisons won, ties as half, against each of the other systems" in message
    assert "only some pairs of systems on 60 segments: these pairs are taken as drawn" in message
    assert "first 60 of the set" not in message
    assert {row.more for row in estimates.rows} == {None}
    assert sum(row.people for row in estimates.rows) == pytest.approx(1.5)


def test_what_was_adjudicated_counts_instead(tmp_path: Path) -> None:
    log = tmp_path / "pairs.jsonl"
    ann = a_set().pairs
    chief = [pair._replace(judge="chief", value=1.0) for pair in ann]
    rows = [{**p._asdict(), "kind": "adjudicated"} for p in chief] + [p._asdict() for p in ann]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    estimates = kt.estimate(replace(a_set(), pairs=()).with_judgements(log), "win")
    assert [row.people for row in estimates.rows] == [1, 0.5, 0]


def rated(evalset: kt.EvalSet, rows: Sequence[tuple[str, str, str, str, float]]) -> kt.EvalSet:
    plain = replace(evalset, pairs=()).with_judgements(rows)
    return replace(plain, pairs=evalset.pairs)


def test_groups_are_units_with_all_their_pairs() -> None:
    groups = [str(i // 4) for i in range(SEGMENTS)]
    draws = [kt.Draw(str(g), 0.8, "random", 1, "group") for g in range(12)]
    evalset = a_set(lambda i, pair: i < 48 and one_pair(i, pair), groups=groups, draws=draws)
    estimates = kt.estimate(evalset, "win")
    assert (estimates.unit, {row.labels for row in estimates.rows}) == ("group", {12})
    won = {pair: [] for pair in PAIRS}
    for p in evalset.pairs:
        won[NAMES.index(p.system), NAMES.index(p.other)].append(p.value)
    mean = {pair: sum(values) / len(values) for pair, values in won.items()}
    assert estimates.rows[0].people == pytest.approx((mean[0, 1] + mean[0, 2]) / 2)


@pytest.mark.parametrize(
    ("evalset", "options", "message"),
    [
        (
            a_set(lambda i, pair: pair != (0, 2) or i < 4),
            {},
            "people compared 'A' and 'C' on 4 segments: compare them on at least 5, or leave one",
        ),
        (a_set(), {"normalise": "z"}, "normalise=z: people compared outputs under 'win'"),
        (
            rated(a_set(one_pair), [("C", str(i), "bob", "win", 1.0) for i in range(1, 61)]),
            {},
            "'win' has ratings and comparisons of people: give each a dimension of its own",
        ),
        (
            a_set(one_pair),
            {"draws": [kt.Draw(str(i), 0.5, "random", 1 + i % 2) for i in range(1, 61)]},
            "drawn in 2 rounds, and some pairs of them were not compared",
        ),
    ],
)
def test_comparisons_that_do_not_do(evalset: kt.EvalSet, options: Any, message: str) -> None:
    with pytest.raises(kt.InputError, match=message):
        kt.estimate(evalset, "win", **options)


def test_the_metric_refuses_segments_judged_in_part() -> None:
    evalset = a_set(one_pair, references=["x"] * SEGMENTS)
    with pytest.raises(kt.InputError, match="only some pairs of systems on 60 segments"):
        kt.score(evalset, metrics=["estimate:dimension=win"])
