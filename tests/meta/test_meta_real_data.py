"""Meta-evaluation of real sets with few resamples; one figure by independent tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
import Stemmer
from oracles import pair_loops
from oracles.definers import words
from oracles.family import Family
from scipy import stats as scipy_stats

import karat as kt
from karat.evalset.catalogue import VARIABLE
from karat.evalset.loading import KNOWN
from karat.meta.evaluation import meta_evaluate
from karat.meta.experiment import Experiment
from karat.meta.plane import fit_plane, plane_data
from karat.meta.plane_study import predicted, verdict
from karat.meta.reliability import reliability
from karat.meta.scores import score_evalset
from karat.text.tokens import stop_words

Load = Callable[[str], kt.EvalSet]


@pytest.fixture
def load(karat_data: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Load a known set, or skip the test where it is absent."""
    monkeypatch.setenv(VARIABLE, str(karat_data))

    def run(name: str) -> kt.EvalSet:
        if not (karat_data / KNOWN[name].place).exists():
            pytest.skip(f"{KNOWN[name].place} is not in KARAT_DATA")
        return kt.load_evalset(name)

    return run


def test_bleu_on_ted_correlates_as_independent_tools_say(load: Load) -> None:
    evalset = load("ted-zhen")
    experiment = Experiment(
        "ted-zhen", ("bleu",), ("mqm",), ("system",), ("pearson", "spearman", "tau-b"), resamples=0
    )
    values_by_name = {r.statistic: r.value for r in meta_evaluate(experiment, evalset).rows}
    references = [group[0] for group in evalset.references]
    human = []
    for name in evalset.systems:
        data = [row.value for row in evalset.judgements if row[0] == name and row[3] == "mqm"]
        human.append(-sum(data) / len(data))
    bleu = [
        sacrebleu.corpus_bleu(list(texts), [references]).score for texts in evalset.systems.values()
    ]
    assert values_by_name["pearson"] == pytest.approx(scipy_stats.pearsonr(human, bleu).statistic)
    assert values_by_name["spearman"] == pytest.approx(scipy_stats.spearmanr(human, bleu).statistic)
    assert values_by_name["tau-b"] == pytest.approx(scipy_stats.kendalltau(human, bleu).statistic)


@pytest.mark.parametrize(("name", "dimension"), [("ted-zhen", "mqm"), ("summeval", "coherence")])
def test_every_level_of_a_real_set_has_an_answer(load: Load, name: str, dimension: str) -> None:
    evalset = load(name)
    levels = ("system", "system-mean", "segment", "item", "by-system")
    experiment = Experiment(name, ("bleu", "rouge1"), (dimension,), levels, resamples=3, trials=3)
    evaluation = meta_evaluate(experiment, evalset)
    assert len(evaluation.rows) == 2 * 2 * len(levels)
    for row in evaluation.rows:
        assert -1 < row.value < 1
        assert row.low <= row.high
        assert row.rank in {1, 2}


def test_missing_outputs_are_left_out(load: Load) -> None:
    evalset = load("rag24")
    scored = score_evalset(evalset, "rouge1")
    missing = ~scored.present
    assert missing.any()
    assert np.isnan(scored.segments(kt.metric("rouge1")))[missing].all()
    for dimension in evalset.dimensions:
        assert np.isnan(evalset.human(dimension))[missing].all()


def test_the_plane_of_ted(load: Load) -> None:
    metric = kt.AEv()
    scored = score_evalset(load("ted-zhen"), metric)
    fit = fit_plane(plane_data(scored, metric, "fluency"), "fluency", resamples=10, permutations=50)
    assert not np.isnan(fit.r).any()
    assert fit.permutations == 50
    assert fit.pick is not None
    assert fit.q2.max() <= 1
    assert verdict(fit, predicted("mt", "fluency")).words in {"holds", "fails", "undecided"}


@pytest.mark.parametrize(
    ("scope", "best", "first", "last"),
    [("unigrams", "AEv(0,2)", 77.8, 73.6), ("sequence", "AEv(0,1)", 77.8, 43.8)],
)
def test_what_stop_words_concern_decides_the_best_cell_of_realsumm(
    load: Load, scope: str, best: str, first: float, last: float
) -> None:
    """The figures of docs/lab/plane.md; AEv(0,4) by loops over words, too."""
    evalset = load("realsumm")
    metric = kt.metric(f"aev:preset=paper,stop_scope={scope}")
    assert isinstance(metric, kt.AEv)
    fit = kt.fit_plane(evalset, "coverage", metric=metric, resamples=0, permutations=1)
    assert str(fit.maximum) == best
    result = {(row.alpha, row.n): round(100 * row.r2, 1) for row in fit.rows}
    assert (result[0.0, 1], result[0.0, 4]) == (first, last)
    stem = Stemmer.Stemmer("porter").stemWord
    family = Family(alpha=0.0, stem=stem, stop=stop_words("en"), stop_scope=scope)
    references = [[words("13a", text, True) for text in group] for group in evalset.references]
    scores = [
        family.corpus([words("13a", text or "", True) for text in texts], references)
        for texts in evalset.systems.values()
    ]
    r = scipy_stats.pearsonr(np.nanmean(evalset.human("coverage"), axis=1), scores).statistic
    assert 100 * r**2 == pytest.approx(last, abs=0.05)


def test_the_recommended_metric_has_the_agreement_of_its_evidence(load: Load) -> None:
    evalset = load("realsumm")
    (row, _) = kt.recommend("summary", "coverage").rows
    people = np.nanmean(evalset.human("coverage"), axis=1)

    def r2(name: str) -> float:
        scores = [
            kt.metric(name).corpus([text or "" for text in texts], evalset.references).value
            for texts in evalset.systems.values()
        ]
        return float(scipy_stats.pearsonr(people, scores).statistic ** 2)

    assert r2(row.metric) == pytest.approx(0.778, abs=0.001)
    assert r2(f"{row.metric},case=mixed") == pytest.approx(0.023, abs=0.001)


def test_f_is_twice_as_reliable_as_the_bleu_of_2003_on_single_segments(load: Load) -> None:
    """The finding of GTM's paper, as docs/lab/reliability.md reports it."""
    curves = reliability(
        load("believability"),
        "adequacy",
        metrics=["gtm:preset=paper,tok=13a,case=lower", "bleu:smooth=none,case=lower"],
        lengths=[1],
        statistics=["spearman"],
        documents="joined",
        repeats=1,
    )
    assert [round(row.value, 3) for row in curves.rows] == [0.574, 0.274]


def test_longer_documents_are_more_reliable(load: Load) -> None:
    scored = score_evalset(load("ted-zhen"), "rouge1")
    curves = reliability(scored, "mqm", lengths=[1, 20], statistics=["pearson"], repeats=3)
    assert curves.rows[0].value < curves.rows[1].value


# ------------------------------------------------------------------- WMT's statistics, averages


def rows_of(matrix: np.ndarray, metric: np.ndarray) -> list[tuple[list[float], list[float]]]:
    """Segments as groups: the scores of the systems that have both."""
    both = ~(np.isnan(matrix) | np.isnan(metric))
    return [
        (h[k].tolist(), m[k].tolist()) for h, m, k in zip(matrix.T, metric.T, both.T, strict=True)
    ]


def test_statistics_of_pairs_on_wmt23_are_those_of_plain_loops(karat_data: Path) -> None:
    place = karat_data / "mt-wmt23-ende"
    if not place.exists():
        pytest.skip("mt-wmt23-ende is not in KARAT_DATA")
    evalset = kt.load_evalset(place)
    by = ("kendall-like", "darr", "tau-23", "pdp")
    experiment = Experiment(
        *(str(place), ("chrf", "bleu"), ("da-sqm",), ("item",), by), resamples=0, trials=0
    )
    result = meta_evaluate(experiment, evalset)
    values_by_name = {(row.statistic, row.metric): row.value for row in result.rows}
    human = evalset.human("da-sqm")
    for metric in result.scored.metrics:
        groups = rows_of(human, result.scored.segments(metric))
        taus = [pair_loops.tau_23(*group) for group in groups if len(group[0]) > 1]
        differences = [
            [np.subtract.outer(np.array(x), np.array(x)).ravel() for x in group] for group in groups
        ]
        pooled = [np.concatenate([pair[side] for pair in differences]) for side in (0, 1)]
        expected = {
            "kendall-like": pair_loops.kendall_like(groups),
            "darr": pair_loops.kendall_like(groups, 25),
            "tau-23": sum(taus) / len(taus),
            "pdp": scipy_stats.pearsonr(*pooled).statistic,
        }
        for name, value in expected.items():
            assert values_by_name[name, str(metric.of_segments())] == pytest.approx(value, abs=1e-9)


def test_system_scores_and_averages_of_two_sets_are_those_of_plain_means(
    load: Load, karat_data: Path
) -> None:
    """chrF of all and of judged outputs as texts of their own, r by scipy, the mean of two sets."""
    if not (karat_data / "mt-wmt23-ende").exists():
        pytest.skip("mt-wmt23-ende is not in KARAT_DATA")
    wmt, ted = kt.load_evalset(karat_data / "mt-wmt23-ende"), load("ted-zhen")
    results, expected = {}, {}
    for variant in ("judged", "all"):
        experiment = Experiment(
            *("wmt", ("chrf", "bleu"), ("mqm",), ("system",), ("pearson",)),
            resamples=5,
            trials=5,
            system_scores=variant,
        )
        for name, evalset in (("wmt", wmt), ("ted", ted)):
            result = meta_evaluate(replace(experiment, evalset=name), evalset)
            results[variant, name] = result
            human = evalset.human("mqm")
            scores = []
            for texts, single in zip(evalset.systems.values(), human, strict=True):
                selected = [
                    j for j in range(len(single)) if variant == "all" or not np.isnan(single[j])
                ]
                outputs = [str(texts[j]) for j in selected]
                references = [list(evalset.references[j]) for j in selected]
                scores.append(kt.metric("chrf").corpus(outputs, references).value)
            r = scipy_stats.pearsonr(np.nanmean(human, axis=1), scores).statistic
            expected[variant, name] = r
            row = next(row for row in result.rows if row.metric == "chrf")
            assert row.value == pytest.approx(r, abs=1e-9)
    assert expected["all", "wmt"] != pytest.approx(expected["judged", "wmt"], abs=1e-3)
    both = kt.average_rankings([results["all", "wmt"], results["all", "ted"]], [3, 1])
    chrf = next(row for row in both.rows if row.metric == "chrf")
    mean = (3 * expected["all", "wmt"] + expected["all", "ted"]) / 4
    assert chrf.value == pytest.approx(mean, abs=1e-9)
