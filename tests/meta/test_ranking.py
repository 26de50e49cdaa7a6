"""Metrics ranked against each other."""

from __future__ import annotations

import numpy as np
import pytest

from karat.errors import InputError
from karat.meta.agreement import agreement, bootstrap, perm_both
from karat.meta.evaluation import rank_metrics
from karat.stats.significance import holm


def metrics(seed: int = 1) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Two good metrics, two bad ones, one constant; not in order."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(6, 150))
    noise = rng.normal(size=(4, *human.shape))
    return human, {
        "bad": human + 3 * noise[0],
        "good": human + noise[1],
        "flat": np.full_like(human, 0.1),
        "other bad": -human - 3.02 * noise[2],
        "other good": human + 1.01 * noise[3],
    }


def test_metrics_that_cannot_be_told_apart_share_a_rank() -> None:
    human, metric_scores = metrics()
    metric_scores["other bad"] *= -1
    ranking = rank_metrics(human, metric_scores, trials=200, resamples=20)
    ranks = {row.metric: row.rank for row in ranking.rows}
    assert ranks == {"good": 1, "other good": 1, "bad": 2, "other bad": 2, "flat": None}
    values = [row.value for row in ranking.rows[:-1]]
    assert values == sorted(values, reverse=True)
    assert ranking.rows[-1].note == "undefined: the metric scores are constant"
    for row in ranking.rows[:-1]:
        assert row.value == agreement(human, metric_scores[row.metric]).value
        assert row.low < row.value < row.high
    assert ranking.notes[0].startswith("Intervals: 95%, from 20 bootstrap resamples of systems and")


def test_p_values_are_those_of_the_test_between_two() -> None:
    human, metric_scores = metrics(2)
    ranking = rank_metrics(human, metric_scores, "spearman", "item", trials=50, resamples=0)
    assert len(ranking.tests) == 6
    for test in ranking.tests:
        pair = metric_scores[test.better], metric_scores[test.worse]
        assert test.p == perm_both(human, *pair, "spearman", "item", 50).p


def test_corrections_are_applied_to_all_pairs() -> None:
    human, metric_scores = metrics(3)
    plain, corrected = (
        [
            test.p
            for test in rank_metrics(
                human, metric_scores, trials=100, resamples=0, correction=options
            ).tests
        ]
        for options in ("none", "holm")
    )
    assert corrected == holm(plain).tolist()
    with pytest.raises(InputError, match="correction='bonferroni' is not one of none, holm, bh"):
        rank_metrics(human, metric_scores, correction="bonferroni")
    with pytest.raises(InputError, match="level 'document': expected one of system, segment"):
        rank_metrics(human, metric_scores, level="document")


def test_progress_counts_pairs() -> None:
    human, metric_scores = metrics(4)
    reports: list[tuple[int, int, str]] = []
    rank_metrics(
        human,
        metric_scores,
        trials=10,
        resamples=0,
        progress=lambda *report: reports.append(report),
    )
    assert reports[0] == (10, 60, "comparing metrics")
    assert reports[-1] == (60, 60, "comparing metrics")


@pytest.mark.parametrize("level", ["system", "item"])
def test_differences_have_intervals_from_the_same_draws(level: str) -> None:
    human, metric_scores = metrics(6)
    metric_scores["other bad"] *= -1
    ranking = rank_metrics(human, metric_scores, "pearson", level, trials=20, resamples=40)
    names = [name for name in metric_scores if name != "flat"]
    resamples = bootstrap(
        human, [metric_scores[name] for name in names], "pearson", level, "both", 40
    )
    draws = dict(zip(names, resamples, strict=True))
    best = ranking.rows[0]
    assert (best.delta, best.delta_low, best.delta_high) == (None, None, None)
    for row in ranking.rows[1:-1]:
        assert row.delta == row.value - best.value
        ends = np.sort(draws[row.metric] - draws[best.metric])[[1, 38]].tolist()
        assert [row.delta_low, row.delta_high] == ends
    assert ranking.rows[-1].delta is None  # flat
    for test in ranking.tests:
        ends = np.sort(draws[test.better] - draws[test.worse])[[1, 38]].tolist()
        assert [test.low, test.high] == ends
    texts = [row["delta"] for row in ranking.records()]
    assert texts == [row.delta for row in ranking.rows]
    assert f"{ranking.rows[1].delta:+.3f} [" in ranking.render("text")


def test_without_resamples_differences_have_no_interval() -> None:
    human, metric_scores = metrics(6)
    ranking = rank_metrics(human, metric_scores, trials=5, resamples=0)
    assert ranking.rows[1].delta == ranking.rows[1].value - ranking.rows[0].value
    ends = [ranking.rows[1].delta_low, ranking.tests[0].low, ranking.tests[0].high]
    assert np.isnan(ends).all()


def test_system_scores_of_all_cells_are_those_of_matrices_with_all_human_scores_known() -> None:
    """Metric means of all cells against human means of judged ones."""
    human, metric_scores = metrics(7)
    metric_scores.pop("flat")
    judged = human.copy()
    judged[:, 90:] = np.nan
    judged[2, :30] = np.nan
    options = {"trials": 30, "resamples": 10}
    rows = {
        name: {
            r.metric: r
            for r in rank_metrics(judged, metric_scores, "pearson", "system", **more).rows
        }
        for name, more in (("judged", options), ("all", {**options, "system_scores": "all"}))
    }
    for name, scores in metric_scores.items():
        means = np.nanmean(judged, axis=1)
        reports = np.where(np.isnan(judged), np.nan, scores)
        expected = {"judged": np.nanmean(reports, axis=1), "all": scores.mean(axis=1)}
        for variant, single in expected.items():
            assert rows[variant][name].value == pytest.approx(np.corrcoef(means, single)[0, 1])
    with pytest.raises(InputError, match="system_scores='some' is not one of judged, all"):
        rank_metrics(judged, metric_scores, system_scores="some")
    short = {"a": human[:, :5]}
    with pytest.raises(InputError, match="expected the same, systems x segments"):
        rank_metrics(human, short, "pearson", "system", system_scores="all")


@pytest.mark.parametrize(
    ("by", "level"),
    [
        *(("pearson", at) for at in ("system", "segment", "item", "by-system")),
        *(("tau-b", at) for at in ("system", "segment", "item", "by-system")),
        ("spearman", "item"),
        ("acc-eq", "item"),
        ("spa", "system"),
        *((by, "item") for by in ("tau-23", "kendall-like", "darr", "pdp")),
    ],
)
def test_threads_do_not_change_a_ranking(by: str, level: str) -> None:
    human, metric_scores = metrics(6)
    human[0, :4] = np.nan
    rankings = [
        rank_metrics(human, metric_scores, by, level, resamples=20, trials=20, threads=n)
        for n in (1, 2, 3)
    ]
    assert repr(rankings[0].rows) == repr(rankings[1].rows) == repr(rankings[2].rows)
    assert rankings[0].tests == rankings[1].tests == rankings[2].tests
    first, *rivals = (next(iter(ranking.resampled.values())) for ranking in rankings)
    assert [*first.exchanges] == [(test.better, test.worse) for test in rankings[0].tests]
    for other in rivals:
        np.testing.assert_equal(other.draws, first.draws)
        np.testing.assert_equal(other.exchanges, first.exchanges)


@pytest.mark.parametrize(
    ("by", "level"), [("pearson", "item"), ("acc-eq", "item"), ("spa", "system")]
)
def test_kept_differences_are_those_that_were_counted(by: str, level: str) -> None:
    human, metric_scores = metrics(6)
    ranking = rank_metrics(human, metric_scores, by, level, resamples=0, trials=30, threads=2)
    (resampled,) = ranking.resampled.values()
    assert len(ranking.tests) >= 3
    for test in ranking.tests:
        permutation = resampled.exchanges[test.better, test.worse]
        assert (permutation.delta, len(permutation.differences)) == (test.delta, 30)
        beyond = np.count_nonzero(permutation.differences >= test.delta - 1e-12)
        assert test.p == (1 + beyond) / 31


@pytest.mark.parametrize(("by", "level"), [("acc-eq", "item"), ("spa", "system")])
def test_metrics_without_common_pairs_have_undefined_differences(by: str, level: str) -> None:
    """Each has its own segments: alone they have values, together they have no cell."""
    human = np.random.default_rng(3).normal(size=(5, 40))
    left, right = human.copy(), human.copy()
    left[:, 20:] = right[:, :20] = np.nan
    ranking = rank_metrics(human, {"a": left, "b": right}, by, level, resamples=0, trials=10)
    assert np.isnan(ranking.tests[0].p)
    (resampled,) = ranking.resampled.values()
    assert np.isnan(resampled.exchanges["a", "b"].differences).tolist() == [True] * 10


def test_soft_pairwise_accuracy_keeps_to_judged_segments() -> None:
    human, metric_scores = metrics(7)
    human[:, 90:] = np.nan
    options = {"resamples": 3, "trials": 20}
    judged, all_values = (
        rank_metrics(human, metric_scores, "spa", "system", system_scores=variant, **options)
        for variant in ("judged", "all")
    )
    assert repr(judged.rows) == repr(all_values.rows)
    assert judged.tests == all_values.tests
    assert len(judged.tests) >= 3


def test_ranks_by_soft_pairwise_accuracy() -> None:
    human, metric_scores = metrics(7)
    options = {"resamples": 0, "trials": 50}
    rankings = [
        rank_metrics(human, metric_scores, "spa", "system", threads=n, **options) for n in (1, 2)
    ]
    assert rankings[0].tests == rankings[1].tests
    assert rankings[0].rows[0].rank == 1
    assert not any("No ranks" in note for note in rankings[0].notes)


def test_the_ranking_of_matrices_has_a_document() -> None:
    human, metric_scores = metrics(5)
    ranking = rank_metrics(human, metric_scores, trials=10, resamples=5)
    assert ranking.signature == ""
    assert [row["metric"] for row in ranking.records()] == [row.metric for row in ranking.rows]
