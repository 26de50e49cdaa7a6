"""Metric scores of WMT23 en-de ranked by their agreement with MQM, against plain scipy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.stats

import karat as kt

NAMES = ("COMET", "MetricX-23", "GEMBA-MQM", "BERTscore", "chrF", "BLEU", "Random-sysname")
OWN = ("chrf", "bleu")
Matrix = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


@pytest.fixture(scope="module")
def place(karat_data: Path) -> Path:
    result = karat_data / "mt-wmt23-ende"
    if not result.is_dir():
        pytest.skip(f"{result} is not there")
    return result


@pytest.fixture(scope="module")
def evaluation(place: Path) -> kt.MetaEvaluation:
    metrics = (*(f"given:metric={name}" for name in (*NAMES, "slide")), *OWN)
    experiment = kt.Experiment(
        str(place), metrics, ("mqm",), resamples=20, trials=0, over="segments"
    )
    return kt.meta_evaluate(experiment)


def matrix(path: Path, systems: list[str]) -> Matrix:
    """Systems x segments of a file of mt-metrics-eval, NaN where it says None."""
    rows: dict[str, list[float]] = {}
    for line in path.read_text("utf-8").splitlines():
        system, score = line.split()
        rows.setdefault(system, []).append(np.nan if score == "None" else float(score))
    return np.array([rows[system] for system in systems])


def expected(human: Matrix, metric: Matrix, unsplit: Matrix | None) -> dict[tuple[str, str], float]:
    """The agreement at every level; `whole` are scores of systems that are not means."""
    has_score = ~np.isnan(human)
    kinds = {"pearson": scipy.stats.pearsonr, "tau-b": scipy.stats.kendalltau}
    means = unsplit if unsplit is not None else np.where(has_score, metric, np.nan)
    metric_means = means if unsplit is not None else np.nanmean(means, axis=1)
    values = {}
    for name, of in kinds.items():
        values["system", name] = of(np.nanmean(human, axis=1), metric_means)[0]
        values["segment", name] = of(human[has_score], metric[has_score])[0]
        columns = [
            (human[k, j], metric[k, j])
            for j in range(human.shape[1])
            if (k := has_score[:, j]).any()
        ]
        defined = [of(h, m)[0] for h, m in columns if np.ptp(h) > 0 and np.ptp(m) > 0]
        values["item", name] = float(np.mean(defined))
    return values


def test_figures_are_those_of_scipy(place: Path, evaluation: kt.MetaEvaluation) -> None:
    systems = list(evaluation.evalset.systems)
    human = matrix(place / "human-scores" / "en-de.mqm.seg.score", systems)
    rows = {(row.level, row.statistic, row.metric): row.value for row in evaluation.rows}
    for name in NAMES:
        (segments,) = (place / "metric-scores" / "en-de").glob(f"{name}-*.seg.score")
        metric = matrix(segments, systems)
        single = matrix(Path(str(segments).replace(".seg.", ".sys.")), systems)[:, 0]
        fixed = not np.allclose(single, metric.mean(axis=1), rtol=1e-6, atol=0)
        assert fixed == (name in ("chrF", "BLEU"))
        for (level, by), value in expected(human, metric, single if fixed else None).items():
            assert rows[level, by, f"given:metric={name}"] == pytest.approx(value, abs=1e-9)


def test_a_random_metric_comes_last(evaluation: kt.MetaEvaluation) -> None:
    for level in ("system", "segment", "item"):
        for statistic in ("pearson", "tau-b"):
            rows = [r for r in evaluation.rows if (r.level, r.statistic) == (level, statistic)]
            defined = [row for row in rows if not np.isnan(row.value)]
            assert defined[-1].metric == "given:metric=Random-sysname"
            assert len(defined) == len(NAMES) + len(OWN) + (level == "system")


def test_system_scores_alone_agree_at_the_level_of_systems(evaluation: kt.MetaEvaluation) -> None:
    rows = [row for row in evaluation.rows if row.metric == "given:metric=slide"]
    assert {row.level for row in rows if not np.isnan(row.value)} == {"system"}
    assert "given:metric=slide: systems have scores, segments have none." in evaluation.notes
    fixed = [row for row in rows if row.level == "system"]
    humans_move = {(row.low, row.high) for row in fixed}  # of drawn segments
    assert all(low < high for low, high in humans_move)


def test_segments_of_our_own_metrics_are_those_of_their_files(
    evaluation: kt.MetaEvaluation,
) -> None:
    values = {(r.level, r.statistic, r.metric): r.value for r in evaluation.rows}
    for level in ("segment", "item"):
        for karat_result, peer_result in (("chrf", "chrF"), ("bleu:eff=yes", "BLEU")):
            equal_value = values[level, "pearson", f"given:metric={peer_result}"]
            assert values[level, "pearson", karat_result] == pytest.approx(equal_value, abs=2e-4)


def test_patterns_take_all_that_a_set_offers(place: Path) -> None:
    evalset = kt.load_evalset(place)
    everything = kt.score(evalset, metrics="given:metric=*")
    assert len({row.metric for row in everything.rows}) == len(evalset.offered) == 15
    scores = kt.score(evalset, metrics="given:metric=*COMET*")
    names = {str(row.metric) for row in scores.rows}
    assert names == {"given:metric=COMET", "given:metric=XCOMET-Ensemble"}
    subset = evalset.select(systems=["ONLINE-B"], segments=["1", "2"])
    value = kt.score(subset, metrics="given:metric=COMET").rows[0].score.value
    column = matrix(place / "metric-scores/en-de/COMET-refA.seg.score", ["ONLINE-B"])[0]
    assert value == pytest.approx(column[:2].mean(), abs=1e-12)


@pytest.mark.parametrize("statistic", ["acc-eq", "accuracy", "tau-23", "tau-c"])
def test_resamples_of_pairs_lie_around_the_estimate(place: Path, statistic: str) -> None:
    metrics = ("given:metric=GEMBA-MQM", "chrf")
    experiment = kt.Experiment(
        str(place), metrics, ("mqm",), ("item", "system"), (statistic,), resamples=60, trials=0
    )
    evaluation = kt.meta_evaluate(experiment)
    for row in evaluation.rows:
        draws = evaluation.resampled[row.dimension, row.level, row.statistic].draws[row.metric]
        low, high = np.nanquantile(draws, [0.025, 0.975])  # not extended to the estimate
        assert low <= row.value <= high
        if row.level == "item":  # drawing a system twice adds no agreement
            assert abs(np.nanmean(draws) - row.value) < 0.25 * (high - low)
