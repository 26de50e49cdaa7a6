"""Averages over tasks, against plain loops; studies as TOML; what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.small_sets import small_set

import karat as kt
from karat.errors import InputError
from karat.meta.averages import average_rankings, meta_average
from karat.meta.evaluation import Ranking, meta_evaluate, rank_metrics
from karat.meta.experiment import Experiment, MetaStudy, read_study

BOTH = ("pearson", "tau-b")
LEVELS = ("segment", "item")


def matrices(seed: int, systems: int = 6, segments: int = 40, by: str = "") -> Ranking:
    """Three metrics on a set of its own, the first the best, the last noise."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, segments))
    noise = rng.normal(size=(3, *human.shape))
    made = {
        "far": 0.2 * human + 3 * noise[0],
        "near": human + noise[1],
        "mid": human + 2 * noise[2],
    }
    by = by or ("tau-b" if seed % 2 else "pearson")
    return rank_metrics(human, made, by, "item", resamples=60, trials=40)


def ends(values: list[float]) -> tuple[float, float]:
    """2.5% cut off at both ends, as `interval` does."""
    ordered = sorted(values)
    cut = int(len(ordered) * 0.025 + 1e-9)
    return ordered[cut], ordered[-cut - 1]


def mean(values: list[float], weights: list[float]) -> float:
    return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)


# ---------------------------------------------------------------------------------- the numbers


@pytest.mark.parametrize("weights", [[], [1.0, 3.0, 2.0]])
def test_averages_are_those_of_plain_loops(weights: list[float]) -> None:
    results = [matrices(seed) for seed in (1, 2, 3)]
    found = average_rankings(results, weights)
    shares = weights or [1.0, 1.0, 1.0]
    by_name = [{row.metric: row for row in result.rows} for result in results]
    for row in found.rows:
        own = [rows[row.metric] for rows in by_name]
        assert row.value == pytest.approx(mean([r.value for r in own], shares), abs=1e-12)
        ranks = [float(r.rank) for r in own if r.rank]
        assert row.mean_rank == pytest.approx(mean(ranks, shares))
        above = [
            float(sum(o.value > r.value for o in rows.values()) + 1)
            for r, rows in zip(own, by_name, strict=True)
        ]
        assert row.place == pytest.approx(mean(above, shares))
        assert row.low < row.value < row.high
        assert 1 <= row.place_low <= row.place_high <= 3
    assert [row.metric for row in found.rows] == ["near", "mid", "far"]
    assert found.rows[0].delta is None
    assert found.rows[1].delta == pytest.approx(found.rows[1].value - found.rows[0].value)
    assert sum(found.weights) == pytest.approx(1)
    assert len(found.tasks) == 9
    assert [task.metric for task in found.tasks[:3]] == [row.metric for row in results[0].rows]


def test_intervals_and_p_are_those_of_shuffled_draws() -> None:
    """Draw r of the first set goes with draw order[r] of the second; so do exchanges."""
    one, two = matrices(1), matrices(2)
    found = average_rankings([one, two])
    (first,), (second,) = one.resampled.values(), two.resampled.values()
    seed = one.experiment.seed
    order = np.random.default_rng([seed, 1]).permutation(60)
    drawn = {m: ((first.draws[m] + second.draws[m][order]) / 2).tolist() for m in first.draws}
    for row in found.rows:
        assert (row.low, row.high) == pytest.approx(ends(drawn[row.metric]), abs=1e-12)
    moved = np.random.default_rng([seed, 1]).permutation(40)
    for test in found.tests:
        gaps = [a - b for a, b in zip(drawn[test.better], drawn[test.worse], strict=True)]
        assert (test.low, test.high) == pytest.approx(ends(gaps), abs=1e-12)
        pair = test.better, test.worse
        exchanged = [one.exchanges.get(pair) for one in (first, second)]
        null = sum(
            (x.differences[k] for x, k in zip(exchanged, (np.arange(40), moved), strict=True) if x),
            np.zeros(40),
        )
        delta = sum(x.delta for x in exchanged if x)
        assert all(exchanged)
        assert test.delta == pytest.approx(delta / 2)
        assert test.p == (1 + sum(null >= delta - 1e-12)) / 41


def joined(*results: Ranking) -> Ranking:
    """Several tasks of one set as one result."""
    rows = tuple(row for one in results for row in one.rows)
    tests = tuple(test for one in results for test in one.tests)
    resampled = {names: own for one in results for names, own in one.resampled.items()}
    return Ranking(results[0].experiment, rows, tests, resampled)


def test_tasks_of_one_set_do_not_count_as_independent_within_chance() -> None:
    """Two equally good metrics: one set with two tasks is as sure as with one, not surer."""
    told = {"one": 0, "apart": 0}
    for seed in range(80):
        rng = np.random.default_rng(seed)
        human = rng.normal(size=(6, 20))
        made = {name: human + 1.5 * rng.normal(size=human.shape) for name in "ab"}
        how = {"resamples": 0, "trials": 60, "seed": seed}
        tasks = [rank_metrics(human, made, "pearson", level, **how) for level in LEVELS]
        told["one"] += average_rankings([joined(*tasks)]).tests[0].p <= 0.05
        told["apart"] += average_rankings(tasks).tests[0].p <= 0.05
    assert told["one"] <= 80 * 0.1 + 2 * math.sqrt(
        80 * 0.1 * 0.9
    )  # the better one is picked: 2 x 5%
    assert told["apart"] > told["one"]


def test_without_exchanges_p_is_that_of_resamples() -> None:
    human = np.random.default_rng(1).normal(size=(6, 30))
    noise = np.random.default_rng(2).normal(size=(2, *human.shape))
    made = {"a": human + noise[0], "b": human + 2 * noise[1]}
    results = [rank_metrics(human, made, by, "item", resamples=50, trials=0) for by in BOTH]
    found = average_rankings(results)
    (first,), (second,) = (one.resampled.values() for one in results)
    order = np.random.default_rng([results[0].experiment.seed, 1]).permutation(50)
    gaps = first.draws["a"] - first.draws["b"] + (second.draws["a"] - second.draws["b"])[order]
    assert found.tests[0].p == (1 + sum(gaps <= 1e-12)) / 51
    assert any("(bootstrap, one-sided)" in note for note in found.notes)


def test_a_task_whose_order_is_the_other_way_round_counts_against() -> None:
    """Exchanges are kept as better minus worse of each task: the sign follows the average."""
    rng = np.random.default_rng(3)
    human = rng.normal(size=(6, 50))
    noise = rng.normal(size=(2, *human.shape))
    how = {"resamples": 20, "trials": 50}
    one = rank_metrics(human, {"a": human + noise[0], "b": human + 3 * noise[1]}, **how)
    two = rank_metrics(human, {"a": human + 2 * noise[0], "b": human + 1.5 * noise[1]}, **how)
    assert (one.rows[0].metric, two.rows[0].metric) == ("a", "b")
    (test,) = average_rankings([one, two]).tests
    (own,), (other,) = (r.resampled.values() for r in (one, two))
    shuffled = other.exchanges["b", "a"].differences[
        np.random.default_rng([12345, 1]).permutation(50)
    ]
    null = own.exchanges["a", "b"].differences - shuffled
    delta = own.exchanges["a", "b"].delta - other.exchanges["b", "a"].delta
    assert (test.better, test.p) == ("a", (1 + sum(null >= delta - 1e-12)) / 51)


def test_all_exchanges_of_few_systems_are_sampled_and_their_p_is_near() -> None:
    human = np.random.default_rng(4).normal(size=(6, 1))
    noise = np.random.default_rng(5).normal(size=(2, 6, 1))
    made = {"a": human + 0.4 * noise[0], "b": human + noise[1]}
    one = rank_metrics(human, made, resamples=0, trials=5000)  # 64 exchanges
    found = average_rankings([one])
    assert found.tests[0].p == pytest.approx(one.tests[0].p, abs=0.03)


def test_accuracies_with_ties_are_averaged_over_sets() -> None:
    """Each set has one task, so that its exchanges of pairs are those of no other."""
    found = average_rankings([matrices(k, by="acc-eq") for k in (1, 2)])
    assert any("PERM-BOTH" in note for note in found.notes)
    order = np.random.default_rng([12345, 1]).permutation(40)
    one, two = (next(iter(own.resampled.values())).exchanges for own in found.results)
    test = next(test for test in found.tests if {test.better, test.worse} == {"near", "far"})
    first, second = (own["near", "far"] for own in (one, two))
    null = (first.differences + second.differences[order]) / 2
    assert test.delta == pytest.approx((first.delta + second.delta) / 2)
    assert test.p == (1 + np.count_nonzero(null >= test.delta - 1e-12)) / 41


def test_exchanges_of_pairs_and_of_cells_do_not_add_up_in_one_set() -> None:
    where = "demo", ("bleu", "chrf"), ("adequacy",), ("item",)
    how = {"resamples": 40, "trials": 20}
    for statistics, said in (
        (("pearson", "tau-b"), "PERM-BOTH"),
        (("acc-eq",), "PERM-BOTH"),
        (("pearson", "acc-eq"), "bootstrap, one-sided"),
    ):
        found = average_rankings([meta_evaluate(Experiment(*where, statistics, **how))])
        assert [said in note for note in found.notes if note.startswith("Ranks:")] == [True]
        assert found.tests


def test_one_task_is_its_own_average() -> None:
    one = matrices(5)
    found = average_rankings([one])
    for row, own in zip(found.rows, one.rows, strict=True):
        assert (row.metric, row.value, row.low, row.high) == own[4:8]
        assert (row.delta, row.delta_low, row.delta_high) == own[-3:]
        assert (row.rank, row.mean_rank) == (own.rank, own.rank)
    assert [test.p for test in found.tests] == [test.p for test in one.tests]


def test_equal_seeds_do_not_couple_sets() -> None:
    """Two copies of one set: independent resampling halves the variance, coupled ones do not."""
    human = np.random.default_rng(1).normal(size=(6, 60))
    made = {"m": human + np.random.default_rng(2).normal(size=human.shape)}
    how = {"resamples": 1000, "trials": 0, "over": "segments"}
    one, two = (rank_metrics(human, made, "pearson", "segment", **how) for _ in range(2))
    both = average_rankings([one, two]).rows[0]
    width = (both.high - both.low) / (one.rows[0].high - one.rows[0].low)
    assert width == pytest.approx(1 / math.sqrt(2), abs=0.08)


def test_tasks_of_one_set_keep_their_draws() -> None:
    """The same task twice is as unsure as once, although it is two results of one set."""
    asked = Experiment(
        *("demo", ("bleu", "chrf"), ("fluency",), ("segment",), ("pearson",)),
        resamples=100,
        trials=0,
    )
    one = meta_evaluate(asked)
    both = average_rankings([one, meta_evaluate(asked)])
    for row, own in zip(both.rows, one.rows, strict=True):
        assert (row.value, row.low, row.high) == pytest.approx((own.value, own.low, own.high))


def test_levels_with_other_names_are_one_metric() -> None:
    """bleu is bleu:eff=yes on segments: both are averaged as bleu."""
    asked = Experiment(
        *("demo", ("bleu", "ter"), ("adequacy",), ("system", "segment"), ("pearson",)),
        resamples=20,
        trials=20,
    )
    own = meta_evaluate(asked)
    found = average_rankings([own])
    assert {row.metric for row in found.rows} == {"bleu", "ter"}
    values = [row.value for row in own.rows if row.metric.startswith("bleu")]
    bleu = next(row for row in found.rows if row.metric == "bleu")
    assert bleu.value == pytest.approx(sum(values) / 2)


def test_correlations_and_accuracies_are_put_on_one_scale() -> None:
    asked = Experiment(
        *("demo", ("bleu", "chrf"), ("adequacy",), ("item",), ("pearson", "accuracy")),
        resamples=0,
        trials=0,
    )
    own = meta_evaluate(asked)
    found = average_rankings([own])
    for row in found.rows:
        r, share = (x.value for x in own.rows if x.metric.split(":")[0] == row.metric)
        assert row.value == pytest.approx(((r + 1) / 2 + share) / 2)
        assert row.rank is None
    assert "Statistics differ in range: those from -1 to 1 count as (value + 1) / 2." in found.notes
    assert [task.value for task in found.tasks if task.statistic == "pearson"] == [
        row.value for row in own.rows if row.statistic == "pearson"
    ]


def test_a_metric_that_is_undefined_somewhere_is_last_and_says_where() -> None:
    rng = np.random.default_rng(1)
    human = rng.normal(size=(5, 20))
    flat, good = np.zeros(human.shape), human + rng.normal(size=human.shape)
    how = {"resamples": 10, "trials": 10}
    one = rank_metrics(human, {"a": human * 1.0, "b": good}, **how)
    two = rank_metrics(human, {"a": flat, "b": good}, **how)
    last = average_rankings([one, two]).rows[-1]
    assert (last.metric, last.rank) == ("a", None)
    assert math.isnan(last.value)
    assert last.note == "undefined on matrices: human, segment, pearson"


def test_metrics_that_some_sets_lack_are_left_out_and_named() -> None:
    rng = np.random.default_rng(1)
    human = rng.normal(size=(5, 20))
    one = rank_metrics(human, {"a": human * 1.0, "b": -human}, resamples=5, trials=5)
    two = rank_metrics(human, {"a": human * 1.0}, resamples=5, trials=5)
    found = average_rankings([one, two])
    assert [row.metric for row in found.rows] == ["a"]
    assert found.left_out == ("b",)
    assert "Left out, since some results lack them: b." in found.notes
    three = rank_metrics(human, {"c": human * 1.0}, resamples=5, trials=5)
    with pytest.raises(InputError, match="the results have no metric in common"):
        average_rankings([one, three])


def test_what_cannot_be_averaged_is_refused() -> None:
    rng = np.random.default_rng(1)
    human = rng.normal(size=(5, 20))
    made = {"a": human + rng.normal(size=human.shape)}
    one = rank_metrics(human, made, resamples=5, trials=0)
    other = rank_metrics(human, made, resamples=6, trials=0)
    far = rank_metrics(human, made, "rmse", resamples=5, trials=0)
    with pytest.raises(InputError, match="resamples is 5 and 6: expected the same in all"):
        average_rankings([one, other])
    with pytest.raises(InputError, match="trials is 0 and 3: expected the same in all"):
        average_rankings([one, rank_metrics(human, made, resamples=5, trials=3)])
    with pytest.raises(InputError, match="rmse has the scale of the scores: it cannot be averaged"):
        average_rankings([one, far])
    with pytest.raises(InputError, match="found 1 weights, expected one for each of 2 sets"):
        average_rankings([one, one], [1])
    for bad in ([-1, 2], [0, 0], [math.nan, 1], [math.inf, 1]):
        with pytest.raises(InputError, match="weights: expected numbers that are not negative"):
            average_rankings([one, one], bad)
    with pytest.raises(InputError, match="at least one result"):
        average_rankings([])


# ------------------------------------------------------------------------------------- studies


@given(names=st.lists(st.sampled_from(["demo", 'a "b"', "\\c"]), min_size=1, max_size=3))
@settings(max_examples=20)
def test_a_study_reads_back(names: list[str]) -> None:
    experiments = tuple(
        Experiment(name, ("bleu",), seed=k, system_scores="all") for k, name in enumerate(names)
    )
    weights = tuple(k + 0.25 for k in range(len(names))) if len(names) > 1 else ()
    for own in ((), weights):
        study = MetaStudy(experiments, own)
        assert read_study(str(study)) == study


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("weights = [1]\n", "study: found the key 'weights', expected evalset, metrics"),
        ("a = 1\n[[experiment]]\n", "study: found the key 'a', expected weights and"),
        ("experiment = 3\n", "study: found experiment = 3, expected tables"),
        ("[[experiment]]\nevalset = 'a'\n", "study, experiment 1: metrics is missing"),
        (
            "weights = [1]\n" + 2 * "[[experiment]]\nevalset = 'a'\nmetrics = ['bleu']\n",
            "study: found 1 weights, expected one for each of 2 sets",
        ),
        (
            "weights = ['a']\n[[experiment]]\nevalset = 'a'\nmetrics = ['bleu']\n",
            "study: found weights = ",
        ),
    ],
)
def test_mistakes_in_a_study_are_named(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_study(text)
    assert str(caught.value).startswith(message)


def test_a_study_of_sets_is_the_average_of_their_results(tmp_path: Path) -> None:
    kt.save_evalset(small_set(1), tmp_path / "one")
    how = {"resamples": 10, "trials": 10, "levels": ("item",), "statistics": ("pearson",)}
    study = MetaStudy(
        (
            Experiment("demo", ("bleu", "chrf"), **how),
            Experiment(str(tmp_path / "one"), ("bleu", "chrf"), ("quality",), **how),
        ),
        (2.0, 1.0),
    )
    found = meta_average(study)
    wanted = average_rankings([meta_evaluate(one) for one in study.experiments], (2, 1))
    assert found.rows == wanted.rows
    assert found.settings["weights"] == pytest.approx((2 / 3, 1 / 3))
    assert {row.set for row in found.tasks} == {"demo", "small"}
    page = found.render("html")
    assert "Averages over all tasks" in page
    assert [row["metric"] for row in found.records("tasks")] == [t.metric for t in found.tasks]
