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
    metric_scores = {
        "far": 0.2 * human + 3 * noise[0],
        "near": human + noise[1],
        "mid": human + 2 * noise[2],
    }
    by = by or ("tau-b" if seed % 2 else "pearson")
    return rank_metrics(human, metric_scores, by, "item", resamples=60, trials=40)


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
    average = average_rankings(results, weights)
    shares = weights or [1.0, 1.0, 1.0]
    by_name = [{row.metric: row for row in result.rows} for result in results]
    for row in average.rows:
        task_rows = [rows[row.metric] for rows in by_name]
        assert row.value == pytest.approx(mean([r.value for r in task_rows], shares), abs=1e-12)
        ranks = [float(r.rank) for r in task_rows if r.rank]
        assert row.mean_rank == pytest.approx(mean(ranks, shares))
        above = [
            float(sum(o.value > r.value for o in rows.values()) + 1)
            for r, rows in zip(task_rows, by_name, strict=True)
        ]
        assert row.place == pytest.approx(mean(above, shares))
        assert row.low < row.value < row.high
        assert 1 <= row.place_low <= row.place_high <= 3
    assert [row.metric for row in average.rows] == ["near", "mid", "far"]
    assert average.rows[0].delta is None
    assert average.rows[1].delta == pytest.approx(average.rows[1].value - average.rows[0].value)
    assert sum(average.weights) == pytest.approx(1)
    assert len(average.tasks) == 9
    assert [task.metric for task in average.tasks[:3]] == [row.metric for row in results[0].rows]


def test_intervals_and_p_are_those_of_shuffled_draws() -> None:
    """Draw r of the first set goes with draw order[r] of the second; so do exchanges."""
    left, two = matrices(1), matrices(2)
    average = average_rankings([left, two])
    (first,), (second,) = left.resampled.values(), two.resampled.values()
    seed = left.experiment.seed
    order = np.random.default_rng([seed, 1]).permutation(60)
    resampled = {m: ((first.draws[m] + second.draws[m][order]) / 2).tolist() for m in first.draws}
    for row in average.rows:
        assert (row.low, row.high) == pytest.approx(ends(resampled[row.metric]), abs=1e-12)
    moved = np.random.default_rng([seed, 1]).permutation(40)
    for test in average.tests:
        gaps = [a - b for a, b in zip(resampled[test.better], resampled[test.worse], strict=True)]
        assert (test.low, test.high) == pytest.approx(ends(gaps), abs=1e-12)
        pair = test.better, test.worse
        exchanged = [left.exchanges.get(pair) for left in (first, second)]
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
    rows = tuple(row for result in results for row in result.rows)
    tests = tuple(test for result in results for test in result.tests)
    resampled = {names: task for result in results for names, task in result.resampled.items()}
    return Ranking(results[0].experiment, rows, tests, resampled)


def test_tasks_of_one_set_do_not_count_as_independent_within_chance() -> None:
    """Two equally good metrics: one set with two tasks is as sure as with one, not surer."""
    message = {"one": 0, "apart": 0}
    for seed in range(80):
        rng = np.random.default_rng(seed)
        human = rng.normal(size=(6, 20))
        metric_scores = {name: human + 1.5 * rng.normal(size=human.shape) for name in "ab"}
        options = {"resamples": 0, "trials": 60, "seed": seed}
        tasks = [
            rank_metrics(human, metric_scores, "pearson", level, **options) for level in LEVELS
        ]
        message["one"] += average_rankings([joined(*tasks)]).tests[0].p <= 0.05
        message["apart"] += average_rankings(tasks).tests[0].p <= 0.05
    assert message["one"] <= 80 * 0.1 + 2 * math.sqrt(
        80 * 0.1 * 0.9
    )  # the better one is picked: 2 x 5%
    assert message["apart"] > message["one"]


def test_without_exchanges_p_is_that_of_resamples() -> None:
    human = np.random.default_rng(1).normal(size=(6, 30))
    noise = np.random.default_rng(2).normal(size=(2, *human.shape))
    metric_scores = {"a": human + noise[0], "b": human + 2 * noise[1]}
    results = [
        rank_metrics(human, metric_scores, by, "item", resamples=50, trials=0) for by in BOTH
    ]
    average = average_rankings(results)
    (first,), (second,) = (result.resampled.values() for result in results)
    order = np.random.default_rng([results[0].experiment.seed, 1]).permutation(50)
    gaps = first.draws["a"] - first.draws["b"] + (second.draws["a"] - second.draws["b"])[order]
    assert average.tests[0].p == (1 + sum(gaps <= 1e-12)) / 51
    assert any("(bootstrap, one-sided)" in note for note in average.notes)


def test_a_task_whose_order_is_the_other_way_round_counts_against() -> None:
    """Exchanges are kept as better minus worse of each task: the sign follows the average."""
    rng = np.random.default_rng(3)
    human = rng.normal(size=(6, 50))
    noise = rng.normal(size=(2, *human.shape))
    options = {"resamples": 20, "trials": 50}
    ranking = rank_metrics(human, {"a": human + noise[0], "b": human + 3 * noise[1]}, **options)
    two = rank_metrics(human, {"a": human + 2 * noise[0], "b": human + 1.5 * noise[1]}, **options)
    assert (ranking.rows[0].metric, two.rows[0].metric) == ("a", "b")
    (test,) = average_rankings([ranking, two]).tests
    (first_task,), (other,) = (r.resampled.values() for r in (ranking, two))
    shuffled = other.exchanges["b", "a"].differences[
        np.random.default_rng([12345, 1]).permutation(50)
    ]
    null = first_task.exchanges["a", "b"].differences - shuffled
    delta = first_task.exchanges["a", "b"].delta - other.exchanges["b", "a"].delta
    assert (test.better, test.p) == ("a", (1 + sum(null >= delta - 1e-12)) / 51)


def test_all_exchanges_of_few_systems_are_sampled_and_their_p_is_near() -> None:
    human = np.random.default_rng(4).normal(size=(6, 1))
    noise = np.random.default_rng(5).normal(size=(2, 6, 1))
    metric_scores = {"a": human + 0.4 * noise[0], "b": human + noise[1]}
    ranking = rank_metrics(human, metric_scores, resamples=0, trials=5000)  # 64 exchanges
    average = average_rankings([ranking])
    assert average.tests[0].p == pytest.approx(ranking.tests[0].p, abs=0.03)


def test_accuracies_with_ties_are_averaged_over_sets() -> None:
    """Each set has one task, so that its exchanges of pairs are those of no other."""
    average = average_rankings([matrices(k, by="acc-eq") for k in (1, 2)])
    assert any("PERM-BOTH" in note for note in average.notes)
    order = np.random.default_rng([12345, 1]).permutation(40)
    left, two = (next(iter(result.resampled.values())).exchanges for result in average.results)
    test = next(test for test in average.tests if {test.better, test.worse} == {"near", "far"})
    first, second = (result["near", "far"] for result in (left, two))
    null = (first.differences + second.differences[order]) / 2
    assert test.delta == pytest.approx((first.delta + second.delta) / 2)
    assert test.p == (1 + np.count_nonzero(null >= test.delta - 1e-12)) / 41


def test_exchanges_of_pairs_and_of_cells_do_not_add_up_in_one_set() -> None:
    place = "demo", ("bleu", "chrf"), ("adequacy",), ("item",)
    options = {"resamples": 40, "trials": 20}
    for statistics, message in (
        (("pearson", "tau-b"), "PERM-BOTH"),
        (("acc-eq",), "PERM-BOTH"),
        (("pearson", "acc-eq"), "bootstrap, one-sided"),
    ):
        average = average_rankings([meta_evaluate(Experiment(*place, statistics, **options))])
        assert [message in note for note in average.notes if note.startswith("Ranks:")] == [True]
        assert average.tests


def test_one_task_is_its_own_average() -> None:
    first_ranking = matrices(5)
    average = average_rankings([first_ranking])
    for row, first_row in zip(average.rows, first_ranking.rows, strict=True):
        assert (row.metric, row.value, row.low, row.high) == first_row[4:8]
        assert (row.delta, row.delta_low, row.delta_high) == first_row[-3:]
        assert (row.rank, row.mean_rank) == (first_row.rank, first_row.rank)
    assert [test.p for test in average.tests] == [test.p for test in first_ranking.tests]


def test_equal_seeds_do_not_couple_sets() -> None:
    """Two copies of one set: independent resampling halves the variance, coupled ones do not."""
    human = np.random.default_rng(1).normal(size=(6, 60))
    metric_scores = {"m": human + np.random.default_rng(2).normal(size=human.shape)}
    options = {"resamples": 1000, "trials": 0, "over": "segments"}
    first, two = (
        rank_metrics(human, metric_scores, "pearson", "segment", **options) for _ in range(2)
    )
    both = average_rankings([first, two]).rows[0]
    width = (both.high - both.low) / (first.rows[0].high - first.rows[0].low)
    assert width == pytest.approx(1 / math.sqrt(2), abs=0.08)


def test_tasks_of_one_set_keep_their_draws() -> None:
    """The same task twice is as unsure as once, although it is two results of one set."""
    experiment = Experiment(
        *("demo", ("bleu", "chrf"), ("fluency",), ("segment",), ("pearson",)),
        resamples=100,
        trials=0,
    )
    evaluation = meta_evaluate(experiment)
    both = average_rankings([evaluation, meta_evaluate(experiment)])
    for row, first_row in zip(both.rows, evaluation.rows, strict=True):
        assert (row.value, row.low, row.high) == pytest.approx(
            (first_row.value, first_row.low, first_row.high)
        )


def test_levels_with_other_names_are_one_metric() -> None:
    """bleu is bleu:eff=yes on segments: both are averaged as bleu."""
    experiment = Experiment(
        *("demo", ("bleu", "ter"), ("adequacy",), ("system", "segment"), ("pearson",)),
        resamples=20,
        trials=20,
    )
    evaluation = meta_evaluate(experiment)
    average = average_rankings([evaluation])
    assert {row.metric for row in average.rows} == {"bleu", "ter"}
    values = [row.value for row in evaluation.rows if row.metric.startswith("bleu")]
    bleu = next(row for row in average.rows if row.metric == "bleu")
    assert bleu.value == pytest.approx(sum(values) / 2)


def test_correlations_and_accuracies_are_put_on_one_scale() -> None:
    experiment = Experiment(
        *("demo", ("bleu", "chrf"), ("adequacy",), ("item",), ("pearson", "accuracy")),
        resamples=0,
        trials=0,
    )
    evaluation = meta_evaluate(experiment)
    average = average_rankings([evaluation])
    for row in average.rows:
        r, share = (x.value for x in evaluation.rows if x.metric.split(":")[0] == row.metric)
        assert row.value == pytest.approx(((r + 1) / 2 + share) / 2)
        assert row.rank is None
    assert (
        "Statistics differ in range: those from -1 to 1 count as (value + 1) / 2." in average.notes
    )
    assert [task.value for task in average.tasks if task.statistic == "pearson"] == [
        row.value for row in evaluation.rows if row.statistic == "pearson"
    ]


def test_a_metric_that_is_undefined_somewhere_is_last_and_says_where() -> None:
    rng = np.random.default_rng(1)
    human = rng.normal(size=(5, 20))
    flat, good = np.zeros(human.shape), human + rng.normal(size=human.shape)
    options = {"resamples": 10, "trials": 10}
    ranking = rank_metrics(human, {"a": human * 1.0, "b": good}, **options)
    two = rank_metrics(human, {"a": flat, "b": good}, **options)
    last = average_rankings([ranking, two]).rows[-1]
    assert (last.metric, last.rank) == ("a", None)
    assert math.isnan(last.value)
    assert last.note == "undefined on matrices: human, segment, pearson"


def test_metrics_that_some_sets_lack_are_left_out_and_named() -> None:
    rng = np.random.default_rng(1)
    human = rng.normal(size=(5, 20))
    ranking = rank_metrics(human, {"a": human * 1.0, "b": -human}, resamples=5, trials=5)
    two = rank_metrics(human, {"a": human * 1.0}, resamples=5, trials=5)
    average = average_rankings([ranking, two])
    assert [row.metric for row in average.rows] == ["a"]
    assert average.left_out == ("b",)
    assert "Left out, since some results lack them: b." in average.notes
    three = rank_metrics(human, {"c": human * 1.0}, resamples=5, trials=5)
    with pytest.raises(InputError, match="the results have no metric in common"):
        average_rankings([ranking, three])


def test_what_cannot_be_averaged_is_refused() -> None:
    rng = np.random.default_rng(1)
    human = rng.normal(size=(5, 20))
    metric_scores = {"a": human + rng.normal(size=human.shape)}
    ranking = rank_metrics(human, metric_scores, resamples=5, trials=0)
    other = rank_metrics(human, metric_scores, resamples=6, trials=0)
    far = rank_metrics(human, metric_scores, "rmse", resamples=5, trials=0)
    with pytest.raises(InputError, match="resamples is 5 and 6: expected the same in all"):
        average_rankings([ranking, other])
    with pytest.raises(InputError, match="trials is 0 and 3: expected the same in all"):
        average_rankings([ranking, rank_metrics(human, metric_scores, resamples=5, trials=3)])
    with pytest.raises(InputError, match="rmse has the scale of the scores: it cannot be averaged"):
        average_rankings([ranking, far])
    with pytest.raises(InputError, match="found 1 weights, expected one for each of 2 sets"):
        average_rankings([ranking, ranking], [1])
    for bad in ([-1, 2], [0, 0], [math.nan, 1], [math.inf, 1]):
        with pytest.raises(InputError, match="weights: expected numbers that are not negative"):
            average_rankings([ranking, ranking], bad)
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
    for chosen_weights in ((), weights):
        study = MetaStudy(experiments, chosen_weights)
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
            "study: weights=('a',) has 'a', which",
        ),
    ],
)
def test_mistakes_in_a_study_are_named(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_study(text)
    assert str(caught.value).startswith(message)


def test_a_study_of_sets_is_the_average_of_their_results(tmp_path: Path) -> None:
    kt.save_evalset(small_set(1), tmp_path / "one")
    options = {"resamples": 10, "trials": 10, "levels": ("item",), "statistics": ("pearson",)}
    study = MetaStudy(
        (
            Experiment("demo", ("bleu", "chrf"), **options),
            Experiment(str(tmp_path / "one"), ("bleu", "chrf"), ("quality",), **options),
        ),
        (2.0, 1.0),
    )
    average = meta_average(study)
    expected = average_rankings(
        [meta_evaluate(experiment) for experiment in study.experiments], (2, 1)
    )
    assert average.rows == expected.rows
    assert average.settings["weights"] == pytest.approx((2 / 3, 1 / 3))
    assert {row.set for row in average.tasks} == {"demo", "small"}
    page = average.render("html")
    assert "Averages over all tasks" in page
    assert [row["metric"] for row in average.records("tasks")] == [t.metric for t in average.tasks]
