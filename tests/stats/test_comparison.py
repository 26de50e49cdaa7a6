"""compare() and score(): what they refuse, what they count, and in which order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.comparison import CompareRow
from karat.errors import InputError, MetricError
from karat.stats.jackknife import jackknife

REFERENCES = ["a b c d e", "f g h i j", "k l m n o", "p q r s t", "u v w x y"] * 4
GOOD = [text.replace("c", "z") for text in REFERENCES]
POOR = [text.replace("b", "z").replace("g", "z").replace("w", "z") for text in REFERENCES]
SYSTEMS = {"poor": POOR, "good": GOOD, "copy": REFERENCES}
METRICS = ["bleu", "rouge1", "chrf"]


def test_rows_are_best_first_within_each_metric() -> None:
    comparison = kt.compare(SYSTEMS, REFERENCES, METRICS)
    assert [(row.system, str(row.metric)) for row in comparison.rows] == [
        (system, name) for name in METRICS for system in ("copy", "good", "poor")
    ]
    for row in comparison.rows:
        assert row.low <= row.score.value <= row.high
        alone = row.metric.corpus(SYSTEMS[row.system], REFERENCES)
        assert (row.score.value, row.score.parts) == (alone.value, alone.parts)
        options = "|test=jackknife|correction=simultaneous|ci=jackknife"
        assert row.score.signature == alone.signature + options


def test_the_baseline_is_the_first_or_the_named_one() -> None:
    first = kt.compare(SYSTEMS, REFERENCES, "bleu")
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", baseline="good")
    assert (first.baseline, comparison.baseline) == ("poor", "good")
    base = comparison["good", "bleu"]
    tested = {name: value for name, value in base._asdict().items() if value is not None}
    assert tested.keys() == {"system", "metric", "score", "low", "high", "is_leading"}
    values = {name: comparison[name, "bleu"].score.value for name in SYSTEMS}
    assert comparison["poor", "bleu"].delta == pytest.approx(
        values["poor"] - values["good"], abs=1e-12
    )
    assert comparison["poor", "bleu"].delta < 0 < comparison["copy", "bleu"].delta
    assert first["copy", "bleu"].verdict == "better"
    assert (
        kt.compare(SYSTEMS, REFERENCES, "bleu", baseline="copy")["poor", "bleu"].verdict == "worse"
    )


def test_wins_losses_and_ties_are_counted_by_segments() -> None:
    comparison = kt.compare(SYSTEMS, REFERENCES, "rouge1")
    row = comparison["good", "rouge1"]  # differs in segment 1 of 5, poor in segments 1, 2 and 5
    assert (row.wins, row.losses, row.ties) == (8, 0, 12)
    turned = kt.compare(SYSTEMS, REFERENCES, "rouge1", baseline="good")
    row = turned["poor", "rouge1"]
    assert (row.wins, row.losses, row.ties) == (0, 8, 12)


def test_differences_are_the_largest_first() -> None:
    systems = {"a": ["x y z", "x y z", "x y z", "q"], "b": ["x y z", "x", "x y", "x y z"]}
    comparison = kt.compare(systems, ["x y z"] * 4, "rs:n=1,w=inf")
    differences = comparison.differences("a", "b", "rs:n=1,w=inf", 10)
    assert [d.segment for d in differences] == [3, 1, 2]
    assert [d.delta for d in differences] == pytest.approx([1, -2 / 3, -1 / 3])
    assert (differences[1].first, differences[1].second) == pytest.approx((1, 1 / 3))
    assert [d.segment for d in comparison.differences("a", "b", "rs:n=1,w=inf", 1)] == [3]
    assert comparison.differences("a", "a", "rs:n=1,w=inf", 3) == []


def test_of_equal_differences_the_earlier_segment_comes_first() -> None:
    systems = {"a": ["x", "y", "x"], "b": ["y", "x", "y"]}
    comparison = kt.compare(systems, ["x"] * 3, "rouge1")
    assert [d.segment for d in comparison.differences("a", "b", "rouge1", 9)] == [0, 1, 2]


def test_each_metric_alone_has_the_numbers_that_it_has_among_others() -> None:
    together = kt.compare(SYSTEMS, REFERENCES, METRICS, correction="none")
    for name in METRICS:
        alone = kt.compare(SYSTEMS, REFERENCES, name, correction="none")
        for system in SYSTEMS:
            row, other = together[system, name], alone[system, name]
            assert row._replace(score=other.score) == other
            assert row.score == other.score


@pytest.mark.parametrize("test", ["sacrebleu-bootstrap", "sacrebleu-ar"])
def test_all_metrics_are_resampled_with_the_same_draws(test: str) -> None:
    settings = {"test": test, "trials": 60, "seed": 5}
    together = kt.compare(SYSTEMS, REFERENCES, METRICS, **settings)
    for name in METRICS:
        alone = kt.compare(SYSTEMS, REFERENCES, name, **settings)
        for system in SYSTEMS:
            assert together[system, name].sacrebleu_p == alone[system, name].sacrebleu_p


def test_systems_added_later_change_only_corrected_numbers() -> None:
    two = {name: SYSTEMS[name] for name in ("poor", "good")}
    fewer = kt.compare(two, REFERENCES, METRICS)
    more = kt.compare(SYSTEMS, REFERENCES, METRICS)
    for row in fewer.rows:
        other = more[row.system, str(row.metric)]
        same = ("low", "high", "delta", "wins", "losses", "ties", "units")
        assert [getattr(row, name) for name in same] == [getattr(other, name) for name in same]
        if row.delta is not None:  # more tests
            assert other.p >= row.p
            assert other.delta_low <= row.delta_low <= row.delta_high <= other.delta_high
    rows = kt.compare(two, REFERENCES, METRICS, correction="none").rows
    uncorrected = kt.compare(SYSTEMS, REFERENCES, METRICS, correction="none")
    assert [uncorrected[row.system, str(row.metric)].p for row in rows] == [row.p for row in rows]


def test_intervals_are_those_of_the_statistics() -> None:
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu")
    metric = kt.metric("bleu")
    rows = metric.stats(GOOD, REFERENCES)
    has_score = np.ones(len(rows), bool)
    estimate = jackknife(lambda sums: metric.measure(sums)["value"], rows, has_score)
    low, high = estimate.interval()
    row = comparison["good", "bleu"]
    assert (row.low, row.high) == (max(low, 0), min(high, 100))


def test_the_number_of_trials() -> None:
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", test="sacrebleu-bootstrap", trials=30)
    assert (comparison.test, comparison.trials) == ("sacrebleu-bootstrap", 30)
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu")
    assert (comparison.test, comparison.trials, comparison.seed) == ("jackknife", None, 12345)
    comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", test="sacrebleu-bootstrap")
    assert comparison.trials == 1000


def test_the_seed_decides_only_the_tests_of_sacrebleu() -> None:
    def row(seed: int, **settings: object) -> CompareRow:
        comparison = kt.compare(SYSTEMS, REFERENCES, "bleu", seed=seed, **settings)
        return comparison["good", "bleu"]

    test = {"test": "sacrebleu-bootstrap", "trials": 50}
    assert row(1, **test) == row(1, **test)
    assert len({row(seed, **test).sacrebleu_p for seed in range(6)}) > 1
    assert row(1) == row(2)


@pytest.mark.parametrize("test", ["jackknife", "sacrebleu-bootstrap", "sacrebleu-ar"])
def test_threads_change_no_number(test: str) -> None:
    systems = {name: texts * 100 for name, texts in SYSTEMS.items()}
    trials = None if test == "jackknife" else 30
    runs = [
        kt.compare(systems, REFERENCES * 100, METRICS, test=test, trials=trials, threads=threads)
        for threads in (1, 2)
    ]
    assert runs[0].rows == runs[1].rows


def test_metrics_are_scored_once_however_they_are_named() -> None:
    comparison = kt.compare(SYSTEMS, REFERENCES, ["bleu", kt.BLEU(), "BLEU:n=4"])
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
        "test 't': expected one of jackknife, sacrebleu-bootstrap, sacrebleu-ar": {"test": "t"},
        "correction 'holm': expected one of simultaneous, none": {"correction": "holm"},
        "trials=0: expected 1 to 1,000,000": {"test": "sacrebleu-ar", "trials": 0},
        "seed=-1: expected": {"seed": -1},
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


def test_scores_with_intervals() -> None:
    scores = kt.score(SYSTEMS, REFERENCES, METRICS, intervals=True)
    other = kt.compare(SYSTEMS, REFERENCES, METRICS)
    for row in scores.rows:
        assert (row.low, row.high) == other[row.system, str(row.metric)][3:5]
        assert row.low <= row.score.value <= row.high
    assert scores.signature.count("|ci=jackknife") == 3


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
    with pytest.raises(InputError, match="buckets=-1: expected 2 to 65,536, or 0"):
        kt.score(SYSTEMS, REFERENCES, intervals=True, buckets=-1)
    with pytest.raises(MetricError, match="unknown metric"):
        kt.score(SYSTEMS, REFERENCES, "blew")
    with pytest.raises(InputError, match="they must be equal"):
        kt.score(SYSTEMS, REFERENCES[:-1])
