"""compare() and score(): what they refuse, what they count, and in which order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.errors import InputError, MetricError
from karat.stats.resampling import bootstrap_sums, interval

REFERENCES = ["a b c d e", "f g h i j", "k l m n o", "p q r s t", "u v w x y"] * 4
GOOD = [text.replace("c", "z") for text in REFERENCES]
POOR = [text.replace("b", "z").replace("g", "z").replace("w", "z") for text in REFERENCES]
SYSTEMS = {"poor": POOR, "good": GOOD, "copy": REFERENCES}
METRICS = ["bleu", "rouge1", "chrf"]


def test_rows_are_best_first_within_each_metric() -> None:
    comparison = kt.compare(SYSTEMS, REFERENCES, METRICS, trials=20)
    assert [(row.system, str(row.metric)) for row in comparison.rows] == [
        (system, name) for name in METRICS for system in ("copy", "good", "poor")
    ]
    for row in comparison.rows:
        assert row.low <= row.score.value <= row.high or row.system == "poor"
        alone = row.metric.corpus(SYSTEMS[row.system], REFERENCES)
        assert (row.score.value, row.score.parts) == (alone.value, alone.parts)
        options = "|test=bootstrap|trials=20|bootstrap=20|seed=12345"
        assert row.score.signature == alone.signature + options


def test_the_baseline_is_the_first_or_the_named_one() -> None:
    first = kt.compare(SYSTEMS, REFERENCES, "bleu", trials=20)
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", baseline="good", trials=20)
    assert (first.baseline, comparison.baseline) == ("poor", "good")
    base = comparison["good", "bleu"]
    assert base[5:] == (None,) * 10
    values = {name: comparison[name, "bleu"].score.value for name in SYSTEMS}
    assert comparison["poor", "bleu"].delta == pytest.approx(
        values["poor"] - values["good"], abs=1e-12
    )
    assert comparison["poor", "bleu"].delta < 0 < comparison["copy", "bleu"].delta
    assert comparison["copy", "bleu"].better == 1
    assert comparison["poor", "bleu"].better < 0.5


def test_wins_losses_and_ties_are_counted_by_segments() -> None:
    comparison = kt.compare(SYSTEMS, REFERENCES, "rouge1", trials=10)
    row = comparison["good", "rouge1"]  # differs in segment 1 of 5, poor in segments 1, 2 and 5
    assert (row.wins, row.losses, row.ties) == (8, 0, 12)
    turned = kt.compare(SYSTEMS, REFERENCES, "rouge1", baseline="good", trials=10)
    row = turned["poor", "rouge1"]
    assert (row.wins, row.losses, row.ties) == (0, 8, 12)


def test_differences_are_the_largest_first() -> None:
    systems = {"a": ["x y z", "x y z", "x y z", "q"], "b": ["x y z", "x", "x y", "x y z"]}
    comparison = kt.compare(systems, ["x y z"] * 4, "rs:n=1,w=inf", trials=5)
    differences = comparison.differences("a", "b", "rs:n=1,w=inf", 10)
    assert [d.segment for d in differences] == [3, 1, 2]
    assert [d.delta for d in differences] == pytest.approx([1, -2 / 3, -1 / 3])
    assert (differences[1].first, differences[1].second) == pytest.approx((1, 1 / 3))
    assert [d.segment for d in comparison.differences("a", "b", "rs:n=1,w=inf", 1)] == [3]
    assert comparison.differences("a", "a", "rs:n=1,w=inf", 3) == []


def test_of_equal_differences_the_earlier_segment_comes_first() -> None:
    systems = {"a": ["x", "y", "x"], "b": ["y", "x", "y"]}
    comparison = kt.compare(systems, ["x"] * 3, "rouge1", trials=5)
    assert [d.segment for d in comparison.differences("a", "b", "rouge1", 9)] == [0, 1, 2]


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_all_metrics_are_resampled_with_the_same_draws(test: str) -> None:
    settings = {"test": test, "trials": 60, "seed": 5}
    together = kt.compare(SYSTEMS, REFERENCES, METRICS, **settings)
    for name in METRICS:
        alone = kt.compare(SYSTEMS, REFERENCES, name, **settings)
        for system in SYSTEMS:
            custom, peer_result = together[system, name], alone[system, name]
            assert (custom.low, custom.high) == pytest.approx(
                (peer_result.low, peer_result.high), abs=1e-12
            )
            assert custom.p == peer_result.p
            assert custom.better == peer_result.better


def test_systems_added_later_change_no_number() -> None:
    two = {name: SYSTEMS[name] for name in ("poor", "good")}
    fewer = kt.compare(two, REFERENCES, METRICS, trials=50)
    more = kt.compare(SYSTEMS, REFERENCES, METRICS, trials=50)
    for row in fewer.rows:
        other = more[row.system, str(row.metric)]
        assert (other.p, other.wins, other.losses) == (row.p, row.wins, row.losses)
        assert (other.low, other.high) == pytest.approx((row.low, row.high), abs=1e-12)


def test_intervals_are_those_of_the_statistics() -> None:
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", trials=80, seed=3)
    metric = kt.metric("bleu")
    stats = metric.stats(GOOD, REFERENCES).astype(float)
    expected = interval(metric.measure(bootstrap_sums(stats, 80, 3))["value"])
    row = comparison["good", "bleu"]
    assert (row.low, row.high) == pytest.approx(expected, abs=1e-12)


def test_the_number_of_trials_and_resamples() -> None:
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", trials=30)
    assert (comparison.test, comparison.trials, comparison.resamples) == ("bootstrap", 30, 30)
    comparison = kt.compare(
        SYSTEMS, REFERENCES, "bleu", test="randomization", trials=30, resamples=7
    )
    assert (comparison.test, comparison.trials, comparison.resamples) == ("randomization", 30, 7)
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu")
    assert (comparison.trials, comparison.resamples, comparison.seed) == (1000, 1000, 12345)


def test_the_seed_decides() -> None:
    def low(seed: int) -> float:
        return kt.compare(SYSTEMS, REFERENCES, "bleu", trials=50, seed=seed)["poor", "bleu"].low

    assert low(1) == low(1)
    assert len({low(seed) for seed in range(6)}) > 1


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_threads_change_no_number(test: str) -> None:
    systems = {name: texts * 100 for name, texts in SYSTEMS.items()}
    runs = [
        kt.compare(systems, REFERENCES * 100, METRICS, test=test, trials=30, threads=threads)
        for threads in (1, 2)
    ]
    assert runs[0].rows == runs[1].rows


def test_metrics_are_scored_once_however_they_are_named() -> None:
    comparison = kt.compare(SYSTEMS, REFERENCES, ["bleu", kt.BLEU(), "BLEU:n=4"], trials=5)
    assert len(comparison.rows) == 3
    with pytest.raises(KeyError):
        comparison["good", "chrf"]
    assert comparison.references == 1
    expected = kt.BLEU().segments(GOOD, REFERENCES).tolist()
    assert comparison.values["good", kt.BLEU(eff=True)].tolist() == expected
    assert comparison.segment_scores("good", "bleu").tolist() == expected


def test_comparisons_that_make_no_sense_are_refused() -> None:
    refused = {
        "one system was given: a comparison needs at least two": {"systems": {"a": GOOD}},
        r"baseline 'goood' is not one of the systems: .*did you mean good\?": {"baseline": "goood"},
        "test 't': expected one of bootstrap, randomization": {"test": "t"},
        "trials=0: expected 1 to 1,000,000": {"trials": 0},
        "resamples=0: expected 1 to 1,000,000": {"test": "randomization", "resamples": 0},
        "no metric was given": {"metrics": []},
        "no system was given": {"systems": {}},
        "system good has 20 segments and system short has 1 segment:": {
            "systems": {"good": GOOD, "short": ["a"]}
        },
        "unknown metric 'blew'": {"metrics": ["blew"]},
    }
    for sentence, settings in refused.items():
        data = {"systems": SYSTEMS, "references": REFERENCES, "metrics": "bleu", **settings}
        with pytest.raises(InputError, match=sentence):
            kt.compare(**data)


# --------------------------------------------------------------------------------------- score()


def test_scores_without_intervals() -> None:
    scores = kt.score(SYSTEMS, REFERENCES, METRICS)
    assert [(row.system, str(row.metric)) for row in scores.rows] == [
        (system, name) for system in SYSTEMS for name in METRICS
    ]
    for row in scores.rows:
        alone = row.metric.corpus(SYSTEMS[row.system], REFERENCES)
        assert row.score == alone
        assert (row.low, row.high) == (None, None)
    assert scores.values == {}


def test_scores_with_bootstrap() -> None:
    scores = kt.score(SYSTEMS, REFERENCES, METRICS, resamples=50, seed=4)
    other = kt.compare(SYSTEMS, REFERENCES, METRICS, trials=50, seed=4)
    for row in scores.rows:
        equal_value = other[row.system, str(row.metric)]
        assert (row.low, row.high) == pytest.approx((equal_value.low, equal_value.high), abs=1e-12)
        assert row.low <= row.high
    assert (scores.resamples, scores.seed) == (50, 4)


def test_scores_of_segments_and_of_one_system() -> None:
    scores = kt.score(GOOD, REFERENCES, "chrf", segments=True)
    assert (
        scores["candidate", "chrf"].score.value == kt.metric("chrf").corpus(GOOD, REFERENCES).value
    )
    expected = kt.metric("chrf").segments(GOOD, REFERENCES)
    assert np.array_equal(scores.values["candidate", kt.ChrF()], expected)


def test_scores_of_files(tmp_path: Path) -> None:
    paths = {name: tmp_path / name for name in ("good", "reference")}
    paths["good"].write_text("\n".join(GOOD) + "\n")
    paths["reference"].write_text("\n".join(REFERENCES) + "\n")
    scores = kt.score({"good": paths["good"]}, paths["reference"], "bleu")
    assert scores["good", "bleu"].score == kt.metric("bleu").corpus(GOOD, REFERENCES)


def test_scores_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="resamples=-1: expected 0 to 1,000,000"):
        kt.score(SYSTEMS, REFERENCES, resamples=-1)
    with pytest.raises(MetricError, match="unknown metric"):
        kt.score(SYSTEMS, REFERENCES, "blew")
    with pytest.raises(InputError, match="they must be equal"):
        kt.score(SYSTEMS, REFERENCES[:-1])
